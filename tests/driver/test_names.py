"""Every function that the headers of an installed CUDA toolkit declare is a name of our libraries."""

import subprocess
import sys
from pathlib import Path

import pytest

from driver.running import needs_compiler
from ptxloom.cuda_driver.names import names
from ptxloom.cuda_driver.runtime_names import runtime_names
from ptxloom.files.toolkits import include_folders

ROOT = Path(__file__).parents[2]


def declared(tool: str) -> set[str]:
    """The names that a toolkit's headers hold, by the tool that writes our lists."""
    folders = [one for one in include_folders() if (one / "cudaGL.h").is_file()]
    if not folders:
        pytest.skip("no headers of CUDA are installed: `pip install nvidia-cuda-runtime` brings them")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / tool), str(folders[0])], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    functions = {word for kind, *words in lines if kind == "function" for word in words if not word.isdecimal()}
    return functions | {words[0] for kind, *words in lines if kind == "alias"}


@needs_compiler
@pytest.mark.oracle
def test_the_headers_functions_are_the_drivers_names() -> None:
    symbols = {symbol for versions in names().functions.values() for _, symbol in versions}
    assert declared("driver_names.py") <= symbols | {*names().functions} | {*names().aliases}


@needs_compiler
@pytest.mark.oracle
def test_the_headers_functions_are_the_runtimes_names() -> None:
    assert declared("runtime_names.py") <= {*runtime_names().functions} | {*runtime_names().aliases}


def test_doors_to_graphics_are_names() -> None:
    for name in (
        "cuGraphicsGLRegisterBuffer",
        "cuGraphicsGLRegisterImage",
        "cuGLGetDevices",
        "cuEGLStreamConsumerConnect",
    ):
        assert name in names().functions
    assert "cudaGraphicsGLRegisterBuffer" in runtime_names().functions
