"""Packages that drive CUDA run unchanged where there is no GPU: `ptxloom exec -- python program.py`."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptxloom.files.toolkits import find_nvcc

pytestmark = pytest.mark.oracle
PROGRAMS = Path(__file__).parent / "programs"


def _run(
    name: str,
    tmp_path: Path,
    device: str = "sm_80",
    *,
    verb: str = "exec",
    arguments: tuple[str, ...] = (),
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    known = {key: value for key, value in os.environ.items() if not key.startswith(("PTXLOOM_", "CUTE_DSL_"))}
    known |= {"CACHEDB": str(tmp_path / "tinygrad"), "CUTE_DSL_CACHE_DIR": str(tmp_path / "cute"), **environment}
    command = [sys.executable, "-m", "ptxloom", verb, "--device", device, "--", sys.executable, str(PROGRAMS / name)]
    command += arguments
    return subprocess.run(command, env=known, capture_output=True, text=True, timeout=300, check=False)


def _needs(package: str, how: str = "`make suites` installs it") -> pytest.MarkDecorator:
    def there() -> bool:
        try:
            return importlib.util.find_spec(package) is not None
        except ModuleNotFoundError:
            return False

    return pytest.mark.skipif(not there(), reason=f"{package} is not installed: {how}")


def _toolkit() -> dict[str, str]:
    """What a program needs to find nvcc."""
    home = Path(find_nvcc() or "").parents[1]
    return {"CUDA_HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"}


@_needs("cuda.core")
def test_cuda_core(tmp_path: Path) -> None:
    done = _run("core_saxpy.py", tmp_path)
    assert done.stdout.splitlines() == ["saxpy<float> True", "saxpy<double> True"], done.stderr


@_needs("numba_cuda")
def test_numba(tmp_path: Path) -> None:
    done = _run("numba_kernels.py", tmp_path)
    assert done.stdout.splitlines() == ["add True", "transposed True", "histogram True", "total True"], done.stderr


@_needs("numba_cuda")
@pytest.mark.parametrize("verb", ["why", "exec"])
def test_why_names_the_line_of_a_wrong_kernel_of_numba(verb: str, tmp_path: Path) -> None:
    lines = (PROGRAMS / "numba_wrong.py").read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if line.endswith("# wrong"))
    done = _run("numba_wrong.py", tmp_path, verb=verb, PTXLOOM_WHY="1" if verb == "exec" else "")
    assert "launched (32, 32)\n" in done.stdout, done.stderr
    said = done.stdout if verb == "why" else done.stderr
    assert "\nk-missing" in said
    assert f"numba_wrong.py:{number}" in said
    assert done.returncode == (verb == "why")


@_needs("tinygrad")
@pytest.mark.parametrize("backend", ["CUDA", "CUDA:PTX"])
def test_tinygrad(tmp_path: Path, backend: str) -> None:
    done = _run("tiny_tensors.py", tmp_path, DEV=backend)
    assert done.stdout.splitlines() == ["CUDA True", "gradient True"], done.stderr


@_needs("cutlass.cute")
@_needs("cuda.core")
@pytest.mark.parametrize("device", ["sm_80", "sm_90"])
def test_cute_dsl(tmp_path: Path, device: str) -> None:
    done = _run("cute_products.py", tmp_path, device)
    assert done.stdout.splitlines() == ["sum True", "product True"], done.stderr


@_needs("cutlass.cute")
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("device", ["sm_100", "sm_103", "sm_110"])
def test_cute_dsl_by_tensor_memory(tmp_path: Path, device: str, group: int) -> None:
    done = _run("cute_blackwell.py", tmp_path, device, arguments=(str(group),))
    assert done.stdout.splitlines() == [f"group {group} True"], done.stderr
    assert "hazard" not in done.stderr


@_needs("cuda.bindings.runtime")
def test_cuda_runtime(tmp_path: Path) -> None:
    done = _run("runtime_bindings.py", tmp_path, "sm_90")
    assert done.stdout.splitlines() == [
        "cudaSuccess 1 90 ptxloom sm_90",
        "cudaSuccess True",
        "cudaErrorInvalidDevice cudaSuccess",
    ], done.stderr


@_needs("taichi")
def test_taichi(tmp_path: Path) -> None:
    done = _run("taichi_fields.py", tmp_path, TI_OFFLINE_CACHE="0")
    assert done.stdout.splitlines()[-1:] == ["True True True"], done.stderr


@_needs("drjit")
def test_drjit(tmp_path: Path) -> None:
    done = _run("drjit_arrays.py", tmp_path, DRJIT_CACHE_DIR=str(tmp_path / "drjit"))
    assert done.stdout.splitlines() == ["True True True"], done.stderr


@_needs("halide")
def test_halide(tmp_path: Path) -> None:
    done = _run("halide_stages.py", tmp_path)
    assert done.stdout.splitlines() == ["True", "True"], done.stderr


@_needs("tilelang")
@_needs("torch", "its build for the CPU will do")
@pytest.mark.skipif(find_nvcc() is None, reason="nvcc is not installed")
def test_tilelang(tmp_path: Path) -> None:
    done = _run("tile_arrays.py", tmp_path, arguments=(), TILELANG_CACHE_DIR=str(tmp_path / "tilelang"), **_toolkit())
    assert [line for line in done.stdout.splitlines() if line.endswith("True")] == ["sum True", "product True"], (
        done.stderr
    )


@_needs("cutlass.cute")
@_needs("torch", "its build for the CPU will do")
def test_cute_dsl_on_tensors_of_pytorch(tmp_path: Path) -> None:
    done = _run("cute_torch.py", tmp_path)
    assert done.stdout.splitlines() == ["True True"], done.stderr


@_needs("torch", "its build for the CPU will do")
@_needs("triton")
def test_triton_on_tensors_of_pytorch(tmp_path: Path) -> None:
    done = _run("on_cuda.py", tmp_path, "sm_90", TRITON_CACHE_DIR=str(tmp_path / "triton"))
    assert done.stdout.splitlines()[:3] == ["moved True", "gradient True True", "a copy True cpu"], done.stderr
    assert done.stdout.splitlines()[-1] == "target 90 cuda:0"
