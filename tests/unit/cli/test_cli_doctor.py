"""`ptxloom doctor`: what it says where everything is there, and where parts are absent, broken or of another build."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from ptxloom.cli import surroundings
from ptxloom.extras import EXTRAS
from ptxloom.files import toolkits

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]
COMPILER = (
    '#!/bin/sh\necho "NAME: NVIDIA (R) Cuda compiler driver"\necho "Cuda compilation tools, release 13.1, V13.1.42"\n'
)
TORCH = """from typing import Optional
__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']
__version__ = '2.13.0+BUILD'
debug = False
cuda: Optional[str] = CUDA
hip: Optional[str] = HIP
"""


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without compilers or toolkits; what lies in the folder can be imported, what lies in its `bin` run."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(toolkits, "_homes", lambda: iter(()))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def program(folder: Path, name: str) -> None:
    (folder / "bin" / name).write_text(COMPILER.replace("NAME", name), encoding="utf-8")
    (folder / "bin" / name).chmod(0o755)


def told(run: Run) -> dict[str, dict[str, Any]]:
    """By name, what it says of each part and tool."""
    done = run("doctor", "--output-format", "json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    return {one["name"]: one for one in found["parts"] + found["tools"]}


def torch(folder: Path, build: str, cuda: str = "None", hip: str = "None") -> None:
    text = TORCH.replace("BUILD", build).replace("CUDA", cuda).replace("HIP", hip)
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text("raise RuntimeError('nobody imports it')\n", encoding="utf-8")
    (folder / "torch" / "version.py").write_text(text, encoding="utf-8")


def test_of_what_is_there_it_names_version_and_place(run: Run, bare: Path) -> None:
    for name in ("nvcc", "ptxas", "g++", "gcc"):
        program(bare, name)
    torch(bare, "cpu")
    found = told(run)
    assert set(EXTRAS) < set(found)
    for extra in EXTRAS:
        assert found[extra]["works"], found[extra]
        assert not found[extra]["remedy"]
    assert f"numpy {version('numpy')}" in found["run"]["found"]
    assert f"pillow {version('pillow')}" in found["pictures"]["found"]
    assert found["CUDA C++"]["found"] == [f"nvcc 13.1.42 ({bare}/bin/nvcc)", f"g++ ({bare}/bin/g++)"]
    assert found["ptxas"]["found"] == [f"13.1.42 ({bare}/bin/ptxas)"]
    assert found["CUDA driver"]["works"] == sys.platform.startswith("linux")
    assert (found["PyTorch"]["found"], found["PyTorch"]["works"]) == (["torch 2.13.0+cpu"], True)


def test_of_what_is_missing_it_says_for_what_and_how_to_get_it(
    run: Run, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("shtab", "pygls", "lsprotocol", "triton", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    found = told(run)
    assert not [
        name for name in ("completion", "lsp", "CUDA C++", "ptxas", "CUDA driver", "Triton") if found[name]["works"]
    ]
    assert found["lsp"]["lacks"] == "not installed: pygls, lsprotocol"
    assert found["lsp"]["remedy"] == "pip install 'ptxloom[lsp]'"
    assert (found["CUDA C++"]["found"], found["CUDA C++"]["remedy"]) == ([], "pip install 'ptxloom[cuda]'")
    assert found["PyTorch"]["remedy"] == "pip install torch --index-url https://download.pytorch.org/whl/cpu"
    text = run("doctor").out
    assert "  lsp         missing: the language server\n" in text
    assert "not installed: pygls, lsprotocol: pip install 'ptxloom[lsp]'\n" in text
    program(bare, "nvcc")
    assert told(run)["CUDA C++"]["lacks"] == "nvcc takes one of g++, c++, clang++, cl"


def test_a_part_that_is_there_and_does_not_load_is_told_so(
    run: Run, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare / "broken_part.py").write_text("raise ImportError('libLLVM.so: cannot open')\n", encoding="utf-8")
    monkeypatch.setitem(EXTRAS, "run", ("running", ("numpy", "broken_part")))
    found = told(run)["run"]
    assert found["lacks"] == "cannot be imported: ImportError: libLLVM.so: cannot open"
    assert found["found"][1] == "broken_part of an unknown version"


@pytest.mark.parametrize(
    ("stated", "lacks"), [(("cu130", "'13.0'"), "CUDA 13.0"), (("rocm7", "None", "'7.0'"), "HIP 7.0")]
)
def test_a_build_of_pytorch_for_a_gpu_is_named_with_the_command_for_the_other(
    run: Run, bare: Path, stated: tuple[str, ...], lacks: str
) -> None:
    torch(bare, *stated)
    found = told(run)["PyTorch"]
    assert found["lacks"] == f"it is built with {lacks}, but only the build for the CPU has that device"
    assert found["remedy"] == "pip install torch==2.13.0+cpu --index-url https://download.pytorch.org/whl/cpu"


def test_an_old_triton_is_told_so(run: Run, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "triton.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(surroundings, "_version", "3.4.0, as all are {}".format)
    found = told(run)["Triton"]
    assert (found["lacks"], found["remedy"]) == ("it is older than 3.8", "pip install 'triton>=3.8'")
