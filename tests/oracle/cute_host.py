"""CUTLASS's own headers as a judge: C++ that prints CuTe values, built for the host and run."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

_FRAME = """
#define CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED
#include <cute/tensor.hpp>
#include <cute/atom/copy_atom.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/atom/copy_traits_sm75.hpp>
#include <cute/atom/copy_traits_sm90.hpp>
#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cute/atom/mma_traits_sm90_gmma_sparse.hpp>
#include <cute/atom/mma_traits_sm120.hpp>
using namespace cute;
using namespace cutlass;
template <class... T> void row(T const&... values) { ((print(values), printf("|")), ...); printf("\\n"); }
%s
int main() {
%s
}
"""


def include_folders() -> list[Path]:
    """Where CUTLASS's and CUDA's headers are; skips the test where they are not."""
    cutlass, cuda = importlib.util.find_spec("cutlass_library"), importlib.util.find_spec("nvidia.cu13")
    if cutlass is None or cuda is None:
        pytest.skip("CUTLASS's headers are absent: pip install --no-deps nvidia-cutlass, and nvidia-cuda-nvcc")
    top = Path((cutlass.submodule_search_locations or [""])[0]) / "source" / "include"
    cu = Path((cuda.submodule_search_locations or [""])[0]) / "include"
    if not (top / "cute").is_dir() or not (cu / "cccl").is_dir():
        pytest.skip("CUTLASS's or CCCL's headers are absent: pip install --no-deps nvidia-cutlass; nvidia-cuda-cccl")
    return [top, cu, cu / "cccl"]


def printed(folder: Path, statements: Sequence[str], declarations: str = "") -> list[list[str]]:
    """What each statement prints: `row(a, b)` gives ["...", "..."], static integers without underscores."""
    includes = [f"-I{folder}" for folder in include_folders()]
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is absent")
    source, program = folder / "host.cpp", folder / "host"
    source.write_text(_FRAME % (declarations, "\n".join(statements)))
    command = [compiler, "-std=c++17", "-O0", "-w", *includes, str(source), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:4000]
    out = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    return [line.replace("_", "").split("|")[:-1] for line in out.splitlines()]
