"""`ptxloom debug`: every stage of a kernel that nothing was prepared for, and sentences for what is no kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxloom.machine.native.llvm import compile_here

Run = Callable[..., Any]
ROOT = Path(__file__).parents[3]
KERNEL = str(ROOT / "examples" / "hgemm.ptx")
CALLS = """.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, %x;
st.param.b32 [r], %x; ret; }
.entry first(.param .u64 out) { .reg .b32 %r<3>; mov.u32 %r1, %tid.x;
{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), twice, (a); ld.param.b32 %r2, [r]; } ret; }
.entry second() { ret; }
"""


def test_the_plan_names_every_instruction_in_its_place(run: Run) -> None:
    ran = run("debug", "plan", KERNEL)
    assert (ran.code, ran.err) == (0, "")
    sites = [int(site) for site in re.findall(r"(?m)^ *(\d+) +\d+  \S", ran.out)]
    assert sites == list(range(len(sites)))
    assert f"hgemm: {len(sites)} instructions in " in ran.out
    assert "the same in all lanes" in ran.out
    assert re.search(r"(?m)^parameter +0 to 7  \.u64 hgemm_param_0$", ran.out)


def test_functions_that_are_called_are_planned_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "calls.ptx").write_text(CALLS)
    ran = run("debug", "plan", str(tmp_path / "calls.ptx"), "--function", "fir*")
    assert ran.code == 0
    assert re.search(r"(?m)^function    twice, from block \d+, frame of \d+ bytes$", ran.out)
    assert re.search(r"(?m)^block \d+ of first, after the call on line 7$", ran.out)


@pytest.mark.parametrize("more", [(), ("--part",), ("--checks", "all")])
def test_ir_is_what_llvm_takes_and_assembly_what_it_makes_of_it(run: Run, more: tuple[str, ...]) -> None:
    ir, assembly, inside = (run("debug", stage, KERNEL, *more).out for stage in ("ir", "asm", "runtime"))
    assert compile_here(ir, 0)
    called = set(re.findall(r"(?m)^declare [^@\n]*@(ptxloom_\w+)\(", ir))
    assert called
    assert called <= set(re.findall(r"(?m)^; (\S+)$", inside))
    assert "ptxloom_kernel:" in assembly
    assert all(name in assembly for name in called)


def test_tools_and_parts_of_warps_have_code_of_their_own(run: Run) -> None:
    texts = {run("debug", "ir", KERNEL, *more).out for more in ((), ("--part",), ("--checks", "racecheck"))}
    assert len(texts) == 3


def test_all_that_is_told_of_an_opcode(run: Run) -> None:
    ran = run("debug", "opcode", "ldmatrix")
    assert (ran.code, ran.err) == (0, "")
    blocks = re.split(r"(?m)^(\w[\w ]*)\n", ran.out)[1:]
    told = dict(zip(blocks[::2], blocks[1::2], strict=True))
    assert list(told) == ["forms", "rows", "words", "effects", "named in"]
    assert "  ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type r, [p];\n" in told["forms"]
    assert re.search(r"machine/semantics/matrix\.py:\d+ ldmatrix: Load matrices", told["rows"])
    assert {"read", "touch"} <= set(told["words"].split())
    assert "Touch(place=1, does='reads', space='shared', base='address')" in told["effects"]
    assert re.search(r"(?m)^  fragments/matrix_operands\.py: \d+ \(table\)", told["named in"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("plan", "nothing.ptx"), "nothing.ptx: there is no such file"),
        (("plan", "calls.ptx"), "calls.ptx holds several kernels; name one with --function: first, second"),
        (
            ("ir", "calls.ptx", "--function", "third"),
            "--function is 'third'; it must be a kernel of the module: first, second",
        ),
        (("asm", "calls.ptx", "--function", "second", "--checks", "bench"), "--checks is 'bench'"),
        (("plan", "calls.ptx", "--function", "second", "--target", "sm_1"), "it must be a target such as sm_90a"),
        (("plan", "head.ptx"), "head.ptx holds no kernel"),
        (("runtime", "wrong.ptx"), "`k` is not legal PTX: wrong.ptx:1:"),
        (("plan", "fabric.ptx"), "fabric"),
        (("stage", "calls.ptx"), "stage"),
        (("opcode", "nothing"), "the ISA data describes no instruction `nothing`"),
    ],
)
def test_what_cannot_be_shown_is_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    head = ".version 9.0 .target sm_100a .address_size 64"
    Path("calls.ptx").write_text(CALLS)
    Path("head.ptx").write_text(head)
    Path("wrong.ptx").write_text(f"{head} .entry k() {{ mov.u32 %r1, 0; ret; }}")
    Path("fabric.ptx").write_text(f"{head} .entry k() {{ fence.proxy.generic::fabric.alias.release.sys; ret; }}")
    ran = run("debug", *words)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err
