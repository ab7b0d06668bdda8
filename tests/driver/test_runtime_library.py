"""The runtime's library: every name of CUDA's under its version, structures laid out as NVIDIA's, errors named."""

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from driver.running import without_warnings
from ptxloom.cuda_driver import build, error_words
from ptxloom.cuda_driver.runtime_names import major, runtime_names
from ptxloom.files.toolkits import include_folders

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler for Linux here"
)
_HERE = Path(__file__).parent
_SOURCES = Path(build.__file__).parent / "libcudart"


@pytest.fixture(scope="module")
def folder() -> Path:
    return without_warnings()


@pytest.fixture
def library(folder: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(folder / f"libcudart.so.{major()}"))


def test_every_name_is_exported_under_the_version_of_the_library(library: ctypes.CDLL) -> None:
    versioned = ctypes.CDLL(None).dlvsym
    versioned.restype = ctypes.c_void_p
    known = runtime_names()
    for symbol in (*known.functions, *known.aliases):
        handle = ctypes.c_void_p(library._handle)
        assert versioned(handle, symbol.encode(), f"libcudart.so.{major()}".encode()), symbol


def test_what_nobody_has_written_is_not_supported_and_remembered(library: ctypes.CDLL) -> None:
    assert library.cudaImportExternalMemory(None, None) == 801
    assert (library.cudaPeekAtLastError(), library.cudaGetLastError(), library.cudaGetLastError()) == (801, 801, 0)


def test_errors_have_names_and_words(library: ctypes.CDLL) -> None:
    library.cudaGetErrorName.restype = library.cudaGetErrorString.restype = ctypes.c_char_p
    for number, name in runtime_names().errors.items():
        assert library.cudaGetErrorName(number) == name.encode()
        assert library.cudaGetErrorString(number)
    assert library.cudaGetErrorName(12345) == b"unrecognized error code"


def test_the_words_of_errors_are_those_that_programs_look_for(folder: Path, library: ctypes.CDLL) -> None:
    installed = [path for one in include_folders() for path in Path(one).parent.glob("lib*/libcudart.so.*")]
    if not installed:
        pytest.skip("NVIDIA's runtime is not installed")
    driver, nvidia = ctypes.CDLL(str(folder / "libcuda.so.1")), ctypes.CDLL(str(installed[0]))
    library.cudaGetErrorString.restype = nvidia.cudaGetErrorString.restype = ctypes.c_char_p
    text = ctypes.c_char_p()
    for number in error_words.WORDS:
        wanted = nvidia.cudaGetErrorString(number)
        assert library.cudaGetErrorString(number) == wanted
        if driver.cuGetErrorString(number, ctypes.byref(text)) == 0:
            assert text.value == wanted


def test_without_a_driver_that_runs_there_is_no_device(folder: Path) -> None:
    calls = "r.cudaGetDeviceCount(None), r.cudaMalloc(ctypes.byref(p), 4), r.cudaGetLastError()"
    code = f"import ctypes, sys; r = ctypes.CDLL(sys.argv[1]); p = ctypes.c_void_p(); print({calls})"
    command = [sys.executable, "-c", code, str(folder / "libcudart.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={})
    assert done.stdout == "100 100 100\n"
    assert "start the program by `ptxloom exec`" in done.stderr


@pytest.mark.oracle
def test_structures_are_laid_out_as_in_the_headers() -> None:
    folders = [one for one in map(Path, include_folders()) if (one / "cuda_runtime_api.h").is_file()]
    if not folders:
        pytest.skip("CUDA's headers are not installed: `pip install nvidia-cuda-runtime` brings them")
    includes = [f"-I{one}" for one in (folders[0], _SOURCES)]
    command = ["cc", "-std=gnu11", "-fsyntax-only", *includes, str(_HERE / "layouts.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.oracle
def test_what_is_passed_on_has_as_many_arguments_on_both_sides() -> None:
    folders = [one for one in map(Path, include_folders()) if (one / "cuda_runtime_api.h").is_file()]
    if not folders or not (folders[0] / "cuda.h").is_file():
        pytest.skip("CUDA's headers are not installed: `pip install nvidia-cuda-runtime` brings them")
    theirs = _arguments(folders[0] / "cuda_runtime_api.h") | _arguments(folders[0] / "cuda.h")
    rows = re.findall(r"^FORWARD\((\d), (\w+), (\w+)\)", (_SOURCES / "forwards.c").read_text(), re.MULTILINE)
    known = [
        (name, int(count), theirs[name], theirs[target])
        for count, name, unversioned in rows
        for target in (unversioned, re.sub(r"_v\d$", "", unversioned))[: 1 + (unversioned not in theirs)]
        if name in theirs and target in theirs
    ]
    assert len(known) > len(rows) - 10 > 100
    assert [row for row in known if len({*row[1:]}) > 1] == []


def _arguments(header: Path) -> dict[str, int]:
    """How many each function of a header takes, as it is declared first: older versions follow."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header.read_text(), flags=re.DOTALL)
    declared = re.findall(r"(?:CUDARTAPI|CUDAAPI)\s+(\w+)\s*\(([^;]*?)\)\s*;", text)
    return {name: sum(one.strip() not in {"", "void"} for one in told.split(",")) for name, told in declared[::-1]}


@pytest.mark.oracle
def test_the_names_are_those_of_the_headers() -> None:
    folders = [one for one in map(Path, include_folders()) if (one / "cuda_runtime_api.h").is_file()]
    text, version = (_SOURCES / "names.txt").read_text(), f"CUDART_VERSION  {runtime_names().version}"
    if not folders or version not in (folders[0] / "cuda_runtime_api.h").read_text():
        pytest.skip(f"CUDA's headers of version {runtime_names().version} are not installed")
    tool = _HERE.parents[1] / "tools" / "runtime_names.py"
    done = subprocess.run([sys.executable, str(tool), str(folders[0])], capture_output=True, text=True, check=True)
    assert done.stdout == text
