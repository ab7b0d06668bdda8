"""Outlined instructions: who shares a function, and what is outlined at all."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import ptxloom as pl
from attack.kernel_audit import broken_rules
from machine.opcode_cases import families
from machine.opcode_kernels import HEADER, kernel
from machine.opcode_recording import FOLDER, load
from ptxloom.machine import semantics
from ptxloom.machine.codegen import lengths
from ptxloom.machine.codegen.builder import Builder
from ptxloom.machine.codegen.outlining import Outlines
from ptxloom.machine.codegen.strips import fits
from ptxloom.machine.compile import variant
from ptxloom.machine.plan.planner import plan

if TYPE_CHECKING:
    from ptxloom.machine.codegen.family import Row
    from ptxloom.machine.program.model import Op, Program

REGISTERS = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .shared .b32 s[4];"


def program_of(body: str) -> Program:
    text = f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n{REGISTERS}\n{body} ret;\n}}"
    return plan(pl.parse(text), "k", semantics.BlockCuts())


def called(b: Builder, outlines: Outlines, op: Op, row: Row) -> list[str]:
    """The function that an instruction calls, of one basic block, and the call with its arguments."""
    start = len(b.lines)
    outlines.call(op, row)
    lines = b.lines[start:]
    name = lines[-1].split("@")[1].split("(")[0]
    (function,) = (f for f in outlines.functions if f"@{name}(" in f)
    assert "label %" not in function, op.text
    numbers: dict[str, str] = {}
    text = re.sub(r"%t\d+", lambda found: numbers.setdefault(found[0], f"%{len(numbers)}"), "\n".join(lines))
    return [function.replace(name, "f"), text.replace(name, "f")]


@pytest.mark.parametrize("whole", [True, False])
def test_every_instruction_calls_the_function_that_would_be_made_for_it_alone(*, whole: bool) -> None:
    for name, known in families():
        recorded = tuple(load(FOLDER / f"{name}.npz.xz", known))
        program = plan(pl.parse(HEADER + kernel("cases", recorded[::9])), "cases", semantics.BlockCuts())
        b = Builder(program, whole)
        shared = Outlines(b)
        for op in program.ops:
            row = semantics.find(op)
            if row is not None and op.site not in program.knowledge.uniform_ops and fits(b, op, row):
                assert called(b, shared, op, row) == called(b, Outlines(b), op, row), op.text


def test_instructions_share_a_function_if_they_differ_in_their_registers_alone() -> None:
    several = (
        "add.s32 %r1, %r2, %r3; add.s32 %r3, %r1, %r2; add.s32 %r4, %r4, %r2; add.s32 %r1, %r2, 7; add.s32 %r1, %r2, 8;"
    )
    program = program_of(f"mov.u32 %r2, %tid.x; ld.shared.u32 %r3, [s]; {several} @%p1 add.s32 %r1, %r2, 7;")
    b = Builder(program, whole=True)
    outlines = Outlines(b)
    made: list[int] = []
    for op in program.ops[2:-2]:
        row = semantics.find(op)
        assert row is not None
        outlines.call(op, row)
        made.append(len(outlines.functions))
    assert made == [1, 1, 2, 3, 4, 5]


def test_what_a_loop_repeats_is_not_outlined(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = "L: xor.b32 %r4, %r4, %r5; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 9; @%p1 bra L;"
    program = program_of(
        f"mov.u32 %r5, %tid.x; mul.lo.u32 %r4, %r5, 3; {loop} mul.lo.u32 %r5, %r4, %r4; st.shared.u32 [s], %r5;"
    )
    assert "outlined" not in variant.translate(program, whole=True).ir  # it is short
    monkeypatch.setattr(lengths, "LONG", 4)
    made = variant.translate(program, whole=True)
    assert made.ir.count("call void @ptxloom_outlined") == 3
    assert "outlined" not in variant.translate(program, whole=True, checks=frozenset({"racecheck"})).ir
    assert broken_rules(made) == []


def test_the_judge_sees_outlined_instructions_that_break_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "LONG", 0)
    body = "mov.u32 %r5, %tid.x; mul.lo.u32 %r4, %r5, 3; st.shared.u32 [s], %r4;"
    made = variant.translate(program_of(body), whole=True)
    assert broken_rules(made) == []
    for old, new, why in (
        (r"(ptr %at0, i64) 64", r"\1 99999999", "no register"),
        (r"(ptr %at0, i64) 64", r"\1 %x", "the kernel moves"),
        (r"(call void @ptxloom_outlined_0\(ptr %w, i64) \d+", r"\1 2052", "no register"),
        (r"(call void @ptxloom_outlined_0\(ptr %w, i64) \d+", r"\1 99999999", "no register"),
        (r"(ptr %w, i64) %offset1\n", r"\1 2048\n", "in the warp's"),
    ):
        function = made.ir.replace("\n%t1 =", "\n%x = load i64, ptr %at0\n%t1 =", 1)
        ir = re.sub(old, new, function, count=1)
        assert ir != function
        assert any(why in one for one in broken_rules(replace(made, ir=ir))), why
