"""CUDA C++ is compiled by what is installed, with its own messages; without it a sentence says what to install."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ptxloom as pl
from ptxloom.cli import main
from ptxloom.extras import MissingPart
from ptxloom.files import compilers, toolkits

GOOD = """
#include <cuda_fp16.h>
extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }
"""
BAD = "__global__ void k(int* a) {\n    a[0] = foo;\n}\n"


def nvcc_only(monkeypatch: pytest.MonkeyPatch) -> None:
    if toolkits.find_nvcc() is None:
        pytest.skip("nvcc is absent: pip install nvidia-cuda-nvcc")
    monkeypatch.setattr(compilers, "find_nvrtc", lambda: None)


def nvrtc_only(monkeypatch: pytest.MonkeyPatch) -> None:
    if toolkits.find_nvrtc() is None:
        pytest.skip("NVRTC is absent: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl")
    monkeypatch.setattr(compilers, "find_nvcc", lambda: None)


@pytest.fixture(params=[nvcc_only, nvrtc_only])
def compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    request.param(monkeypatch)


@pytest.mark.usefixtures("compiler")
def test_cuda_is_compiled_for_its_target() -> None:
    module = pl.cuda(GOOD)
    assert (module.target, list(module.functions)) == (("sm_90",), ["twice"])
    assert pl.cuda(GOOD, "sm_80").target == ("sm_80",)
    assert not pl.check(module)
    assert ".loc" in module.source.text
    with pytest.raises(pl.syntax.CompileError, match="unknown"):
        pl.cuda("#if N == 4\n#error unknown\n#endif", options=["-DN=4"])


@pytest.mark.usefixtures("compiler")
def test_mistakes_are_shown_as_the_compiler_shows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.cu"
    path.write_text(BAD, encoding="utf-8")
    assert main(["check", str(path)]) == 2
    said = capsys.readouterr().err
    assert f'ptxloom: {path}(2): error: identifier "foo" is undefined' in said
    assert "\n      a[0] = foo;\n             ^\n" in said


@pytest.mark.usefixtures("compiler")
def test_files_find_what_lies_beside_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "n.h").write_text("#define N 3\n", encoding="utf-8")
    path = tmp_path / "k.cu"
    path.write_text('#include "n.h"\nextern "C" __global__ void k(int* x) { *x = N; }\n', encoding="utf-8")
    assert list(pl.load(path).functions) == ["k"]
    assert main(["inspect", str(path), "--target", "sm_80"]) == 0
    assert f"{path}:ptx: PTX" in capsys.readouterr().out


TRAPS = (
    "--help.cu",
    "-o.cu",
    "@k.cu",
    "$(touch trap).cu",
    "`touch trap`.cu",
    'a";touch trap;".cu',
    "a\nb.cu",
    "a\\b.cu",
    "a b,c.cu",
    "a'b.cu",
    ".hidden.cu",
    f"{'x' * 240}.cu",
)


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("name", TRAPS)
def test_no_name_is_an_option_or_a_command(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = tmp_path / name.removesuffix(".cu")
    folder.mkdir()
    (folder / "n.h").write_text("#define N 3\n", encoding="utf-8")
    (folder / name).write_text('#include "n.h"\nextern "C" __global__ void k(int* x) { *x = N; }\n', encoding="utf-8")
    assert list(pl.load(folder / name).functions) == ["k"]


@pytest.mark.parametrize("name", TRAPS)
def test_what_nvcc_is_told_means_nothing_to_a_shell(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for tool, script in (("nvcc", f'printf "%s\\0" "$@" > {tmp_path}/told; exit 1'), ("g++", "exit 1")):
        (tmp_path / tool).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tmp_path / tool).chmod(0o755)
    (tmp_path / name).mkdir()
    (tmp_path / name / name).write_text(GOOD, encoding="utf-8")
    with pytest.raises(pl.syntax.CompileError):
        pl.load(tmp_path / name / name)
    *_, includes, _, _, file = (tmp_path / "told").read_text(encoding="utf-8").rstrip("\0").split("\0")
    assert file[0].isalnum() or file[0] == "_"
    assert not set("\"$`\\',;|&<>()*?!#\n") & set(includes + file)


def test_without_a_compiler_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(compilers, "find_nvrtc", lambda: None)
    monkeypatch.setattr(compilers, "find_nvcc", lambda: None)
    (tmp_path / "k.cu").write_text(GOOD, encoding="utf-8")
    with pytest.raises(MissingPart, match=r"k\.cu: CUDA C\+\+ is compiled by .*: pip install 'ptxloom\[cuda\]'"):
        pl.load(tmp_path / "k.cu")


def test_a_compiler_in_a_toolkit_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "bin").mkdir()
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    nvcc.chmod(0o755)
    (tmp_path / "lib64").mkdir()
    for name in ("libnvrtc.so.13", "libnvrtc-builtins.so.13.0"):
        (tmp_path / "lib64" / name).touch()
    assert toolkits.find_nvcc() == str(nvcc)
    assert Path(str(toolkits.find_nvrtc())).name == "libnvrtc.so.13"
    (tmp_path / "g++").symlink_to("/bin/true")
    with pytest.raises(pl.syntax.CompileError, match="the compiler failed without a message"):
        pl.cuda(GOOD)


def test_a_header_of_cutlass_that_is_not_found_is_told_whose_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nvrtc_only(monkeypatch)
    file = tmp_path / "gemm.cu"
    file.write_text("#include <cute/tensor.hpp>\n")
    assert main(["check", str(file)]) == 2
    assert "it is CUTLASS's: `-I FOLDER/include`" in capsys.readouterr().err
    file.write_text("#include <no_such_header.h>\n")
    assert main(["check", str(file)]) == 2
    assert "CUTLASS" not in capsys.readouterr().err
