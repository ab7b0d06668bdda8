"""Programs that nvcc has linked with the shared runtime, on a driver that needs no GPU: all that they claim holds."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driver.running import PROGRAMS, Running, needs_compiler
from ptxloom.cuda_driver import build
from ptxloom.files.toolkits import find_nvcc

pytestmark = [needs_compiler, pytest.mark.oracle, pytest.mark.slow]

TOPICS = ("memory", "boxes", "symbols", "launches", "errors", "device", "streams", "graphs", "arrays")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile programs, each once."""
    nvcc = find_nvcc()
    if nvcc is None or shutil.which("g++") is None:
        pytest.skip("nvcc is not installed: `pip install nvidia-cuda-nvcc nvidia-cuda-cccl` brings it")
    place = tmp_path_factory.mktemp("programs")

    def compile_(name: str, *sources: str) -> Path:
        program = place / name
        if not program.exists():
            command = [
                nvcc,
                "-cudart",
                "shared",
                "-arch=sm_80",
                "-std=c++17",
                f"-L{build.folder()}",
                "-o",
                str(program),
            ]
            command += [*(str(PROGRAMS / source) if source.endswith(".cu") else source for source in sources)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return program

    return compile_


@pytest.fixture
def running() -> Iterator[Running]:
    made = Running()
    yield made
    made.server.close()


def _ran(running: Running, program: Path, *arguments: str) -> str:
    command = [str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=running.environment, timeout=300)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("topic", TOPICS)
def test_what_programs_ask_of_the_runtime(compiled: Callable[..., Path], running: Running, topic: str) -> None:
    assert _ran(running, compiled("runtime", "runtime.cu"), topic) == f"{topic}: 0 claims failed\n"


def test_parts_that_were_compiled_apart_are_linked_from_their_ptx(
    compiled: Callable[..., Path], running: Running
) -> None:
    program = compiled("parts", "-rdc=true", "parts_main.cu", "parts_other.cu")
    assert _ran(running, program) == "30 12\n"
