"""Programs that nvcc has linked with the shared runtime, on a driver that needs no GPU: all that they claim holds."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driver.running import PROGRAMS, Running, needs_compiler
from kept import kept
from ptxloom.cuda_driver import build
from ptxloom.cuda_driver.runtime_names import runtime_names
from ptxloom.files.toolkits import find_nvcc, include_folders

pytestmark = [needs_compiler, pytest.mark.oracle]

TOPICS = {
    "runtime": ("memory", "boxes", "symbols", "launches", "errors", "device", "streams", "graphs", "arrays"),
    "runtime_newer": ("nodes", "variables", "conditions", "contexts", "groups", "between", "batches", "allocating"),
    "algorithms": ("thrust", "cub"),
}
OF_HOPPER = ("products", "clusters", "places")
BOTH = ("-gencode=arch=compute_90,code=compute_90", "-gencode=arch=compute_90a,code=[sm_90a,compute_90a]")
NEWER = {"runtime_newer"}  # what only headers of the library's own version declare


def _nvcc_of_our_version() -> str | None:
    version = f"CUDART_VERSION  {runtime_names().version}"
    for folder in map(Path, include_folders()):
        header, nvcc = folder / "cuda_runtime_api.h", folder.parent / "bin" / "nvcc"
        if header.is_file() and nvcc.is_file() and version in header.read_text():
            return str(nvcc)
    return None


@pytest.fixture(scope="module")
def compiled() -> Callable[..., Path]:
    """Compile programs, each once as long as nothing that it is made of changes."""
    newest = _nvcc_of_our_version()
    nvcc = newest or find_nvcc()
    if nvcc is None or shutil.which("g++") is None:
        pytest.skip("nvcc is not installed: `pip install nvidia-cuda-nvcc nvidia-cuda-cccl` brings it")
    texts = {path.name: path.read_text() for path in PROGRAMS.glob("*") if path.suffix in {".cu", ".h"}}
    size, when = Path(nvcc).stat().st_size, Path(nvcc).stat().st_mtime_ns

    def compile_(name: str, *sources: str) -> Path:
        if name in NEWER and newest is None:
            pytest.skip(f"nvcc of version {runtime_names().version} is not installed")
        headers = {called: text for called, text in texts.items() if called.endswith(".h")}
        given = [headers, *sources, *(texts.get(source) for source in sources)]
        key = hashlib.sha256(repr([nvcc, size, when, build.key(), *given]).encode()).hexdigest()[:24]

        def make(folder: Path) -> None:
            command = [
                nvcc,
                "-cudart",
                "shared",
                *([] if any(one.startswith("-gencode") for one in sources) else ["-arch=sm_80"]),
                "-std=c++17",
                "-Wno-deprecated-declarations",
                f"-L{build.folder()}",
                "-o",
                str(folder / name),
            ]
            command += [*(str(PROGRAMS / source) if source.endswith(".cu") else source for source in sources)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr

        return kept(f"program-{name}", key, make) / name

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


@pytest.mark.parametrize("topic", OF_HOPPER)
def test_what_programs_for_hopper_ask(compiled: Callable[..., Path], topic: str) -> None:
    running = Running("sm_90")
    try:
        assert _ran(running, compiled("hopper", *BOTH, "hopper.cu"), topic) == f"{topic}: 0 claims failed\n"
    finally:
        running.server.close()


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(
    ("program", "topic"),
    [
        pytest.param(program, topic, marks=[pytest.mark.sweep] * (program == "algorithms"))  # slow to compile
        for program in TOPICS
        for topic in TOPICS[program]
    ],
)
def test_what_programs_ask_of_the_runtime(
    compiled: Callable[..., Path], running: Running, program: str, topic: str
) -> None:
    assert _ran(running, compiled(program, f"{program}.cu"), topic) == f"{topic}: 0 claims failed\n"


def test_parts_that_were_compiled_apart_are_linked_from_their_ptx(
    compiled: Callable[..., Path], running: Running
) -> None:
    program = compiled("parts", "-rdc=true", "parts_main.cu", "parts_other.cu")
    assert _ran(running, program) == "30 12\n"


LAUNCHING = ("-rdc=true", "launching.cu", "-lcudadevrt")


def test_kernels_launch_kernels(compiled: Callable[..., Path], running: Running) -> None:
    assert _ran(running, compiled("launching", *LAUNCHING)) == "0 claims failed\n"


def test_a_kernel_that_a_kernel_launched_is_named_where_it_goes_wrong(
    compiled: Callable[..., Path], running: Running
) -> None:
    done = subprocess.run(
        [str(compiled("launching", *LAUNCHING)), "wild"],
        capture_output=True, text=True, check=False, env=running.environment, timeout=300,
    )  # fmt: skip
    assert done.stdout == "cudaErrorIllegalAddress\n"
    assert "`_Z4wildPi`, which a kernel launched: the kernel was ended by an error" in running.report.summary()
