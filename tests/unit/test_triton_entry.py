"""What `import triton` imports of ptxloom: little, and it fails neither without the extra `run` nor in an old Triton.

Triton need not be there: a package of its name stands in, with the classes that back ends derive from.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ptxloom.extras import EXTRAS
from ptxloom.triton import OLDEST

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "ml_dtypes", "llvmlite")
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({HEAVY}))\n"
DISCOVERY = """
import sys
import triton
from triton.backends import backends
import ptxloom.triton.compiler, ptxloom.triton.driver
print(*(name for name in HEAVY if sys.modules.get(name)))
print(ptxloom.triton.driver.PtxloomDriver.is_active())
"""
TRITON = {
    "__init__": "__version__ = 'VERSION'",
    "backends/__init__": "backends = {}",
    "backends/compiler": "class BaseBackend: pass\nclass GPUTarget: pass",
    "backends/driver": "class DriverBase: pass",
    "backends/nvidia/__init__": "",
    "backends/nvidia/compiler": "from triton.backends import compiler\nclass CUDABackend(compiler.BaseBackend): pass",
}


def run(folder: Path, code: str, *, version: str = "3.8.1+cpu", asked: str = "") -> subprocess.CompletedProcess[str]:
    for name, text in TRITON.items():
        file = folder / "triton" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("VERSION", version), encoding="utf-8")
    paths = f"import sys; sys.path[:0] = {[str(folder), str(ROOT / 'src')]}\n"
    command = [sys.executable, "-c", f"{paths}HEAVY = {HEAVY}\n{code}"]
    environment = {"TRITON_DEFAULT_BACKEND": asked}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("before", "version", "active"),
    [("", "3.8.1+cpu", True), (WITHOUT, "3.8.1+cpu", False), ("", "3.4.0", False), ("", "3.10.0", True)],
)
def test_the_back_end_is_found_without_numpy_and_steps_forward_where_it_can_run(
    before: str, version: str, active: bool, tmp_path: Path
) -> None:
    done = run(tmp_path, before + DISCOVERY, version=version)
    assert done.stdout.splitlines() == ["", str(active)], done.stderr


@pytest.mark.parametrize(
    ("before", "version", "told"),
    [
        (WITHOUT, "3.8.0", "takes numpy, which is not installed: pip install 'ptxloom[run]'"),
        ("", "3.4.0", "Triton 3.4.0 is too old: ptxloom runs kernels of 3.8 or later"),
    ],
)
def test_who_asks_for_it_by_name_is_told_what_is_missing(before: str, version: str, told: str, tmp_path: Path) -> None:
    done = run(tmp_path, f"{before}{DISCOVERY}ptxloom.triton.driver.PtxloomDriver()", version=version, asked="ptxloom")
    assert done.stderr.splitlines()[-1].endswith(told)


def test_arrays_name_their_extra_too(tmp_path: Path) -> None:
    done = run(tmp_path, f"{WITHOUT}from ptxloom.triton import from_numpy")
    assert done.stderr.splitlines()[-1].startswith(
        "ptxloom.extras.MissingPart: running PTX and working on arrays takes"
    )


def test_what_is_blocked_is_the_extra_and_the_oldest_triton_is_the_packages() -> None:
    assert set(HEAVY) == set(EXTRAS["run"][1])
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert f"triton>={OLDEST[0]}.{OLDEST[1]}" in declared["triton"]
