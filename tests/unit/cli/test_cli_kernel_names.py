"""Kernels and arguments by the names of the source, in every verb that takes or prints one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from ptxloom.names import demangling

if TYPE_CHECKING:
    from pathlib import Path

    from unit.cli.conftest import Run

pytest.importorskip("pydemumble")

CUDA: Final = """
template <int N> __global__ void scale(float *x, float by) { x[threadIdx.x] *= by * N; }
template __global__ void scale<2>(float *, float);
template __global__ void scale<3>(float *, float);
"""
HEAD: Final = '.version 9.0\n.target sm_90\n.address_size 64\n.file 1 "scale.cu"\n'
KERNEL: Final = """.visible .entry _Z5scaleILi{n}EEvPff(
  .param .u64 _Z5scaleILi{n}EEvPff_param_0,
  .param .f32 _Z5scaleILi{n}EEvPff_param_1
)
{{
  .reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .f32 %f<4>;
  .loc 1 2 0
  ld.param.u64 %rd1, [_Z5scaleILi{n}EEvPff_param_0];
  ld.param.f32 %f1, [_Z5scaleILi{n}EEvPff_param_1];
  .loc 1 2 62
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd2, %r1, 4, %rd1;
  mul.f32 %f1, %f1, 0f4{digits}00000;
  ld.global.f32 %f2, [%rd2];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd2], %f3;
  ret;
}}
"""
PTX: Final = HEAD + KERNEL.format(n=2, digits="00") + KERNEL.format(n=3, digits="04")
SCALE: Final = "_Z5scaleILi3EEvPff"
X: Final = ("--arg", "x=ones:f32:64")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scale.cu").write_text(CUDA, encoding="utf-8")
    (tmp_path / "scale.ptx").write_text(PTX, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", [SCALE, "scale<3>", "scale< 3 >(float *, float)", "*Li3*", "scale<3*"])
def test_one_of_two_kernels_of_a_template_runs_by_any_of_its_names(run: Run, name: str) -> None:
    ran = run("run", "scale.ptx", "--kernel", name, "--block", "64", *X, "--arg", "2.0", "--expect", "x = x * 6")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "scale<3>(float*, float): grid 1, block 64"), ran
    assert "right: x" in ran.out


def test_a_name_that_two_kernels_have_is_asked_with_both(run: Run) -> None:
    ran = run("run", "scale.ptx", "--kernel", "scale", "--block", "64", *X, "--arg", "2.0")
    assert ran.code == 2
    assert "it must be one of scale<2>(float*, float), scale<3>(float*, float), which are all called so" in ran.err
    assert "name one with --kernel: scale<2>(float*, float), scale<3>" in run("run", "scale.ptx", "--block", "1").err


@pytest.mark.parametrize(
    "words",
    [
        ("--arg", "by=2.0", *X),
        (*X, "--arg", "by=2.0"),
        ("--arg", f"{SCALE}_param_1=2.0", *X),
        ("--arg", "by=2.0", "--arg", "ones:f32:64", "--checks", "memcheck"),
    ],
)
def test_arguments_go_to_the_parameters_that_they_name(run: Run, words: tuple[str, ...]) -> None:
    expected = ("--expect", "x = x * 6") if "x=ones:f32:64" in words else ()
    ran = run("run", "scale.ptx", "--kernel", "scale<3>", "--block", "64", *words, *expected)
    assert ran.code == 0, ran


def test_names_of_the_users_own_leave_arguments_in_their_order(run: Run) -> None:
    words = ("--arg", "by=ones:f32:64", "--arg", "factor=2.0", "--expect", "by = by * 6")
    assert run("run", "scale.ptx", "--kernel", "scale<3>", "--block", "64", *words).code == 0


def test_reports_call_arguments_as_the_source_does(run: Run) -> None:
    ran = run("run", "scale.ptx", "--kernel", "scale<3>", "--block", "64", "--arg", "ones:f32:60", "--arg", "2.0")
    assert "read of 4 bytes at x+0xf0 is out of bounds: x has 240 bytes" in ran.out
    assert "it must be 2, one for each parameter: x, by" in run("run", "scale.ptx", "--kernel", "scale<3>", *X).err


def test_a_launch_file_to_begin_with_has_the_names_and_runs(run: Run, tmp_path: Path) -> None:
    text = run("run", "--init", "scale.ptx", "--kernel", "scale<2>").out
    assert all(f"\n{line}\n" in text for line in ('kernel = "scale<2>"', 'name = "x"', 'name = "by"'))
    (tmp_path / "launch.toml").write_text(text, encoding="utf-8")
    assert run("run", "launch.toml").code == 0


def test_json_has_both_names(run: Run) -> None:
    ran = run("run", "scale.ptx", "--kernel", "scale<3>", *X, "--arg", "1.0", "--output-format", "json")
    told = json.loads(ran.out)
    assert (told["kernel"], told["demangled"]) == (SCALE, "scale<3>(float*, float)")
    functions = json.loads(run("inspect", "scale.ptx", "--output-format", "json").out)[0]["functions"]
    assert [(one["name"], one["demangled"], one["parameters"]) for one in functions] == [
        (f"_Z5scaleILi{n}EEvPff", f"scale<{n}>(float*, float)", [".u64 x", ".f32 by"]) for n in (2, 3)
    ]


@pytest.mark.parametrize("verb", [("query", "st.*"), ("graph",), ("parse",)])
def test_functions_are_chosen_by_their_names(run: Run, verb: tuple[str, ...]) -> None:
    ran = run(*verb, "scale.ptx", "--function", "scale<3>")
    assert ran.code == 0
    assert SCALE in ran.out or "scale<3>(float*, float)" in ran.out
    assert "Li2E" not in ran.out
    assert "scale<2>" not in ran.out


def test_without_a_demangler_one_line_says_what_names_take(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangling, "is_installed", lambda: False)
    monkeypatch.setattr(demangling, "_READ", {})
    monkeypatch.setattr(demangling, "_MISSED", set[str]())
    ran = run("inspect", "scale.ptx")
    assert (ran.code, ran.err.count("pip install 'ptxloom[cuda]'")) == (0, 1)
    assert f"kernel {SCALE}" in ran.out
    assert run("run", "scale.ptx", "--kernel", SCALE, *X, "--arg", "2.0").code == 0
