"""The line of a load that a compiler moved is not that of the code around it; the line of an index that loads share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import ptxloom as pl
from ptxloom.diagnosis.lines.moved import shared_index, where_used

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Program

HEAD: Final = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 S, .param .u64 T, .param .u64 Y) {
.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;
.loc 1 2 0
ld.param.u64 %d1, [S]; ld.param.u64 %d2, [T]; ld.param.u64 %d3, [Y]; mov.u32 %r1, %tid.x;
mul.wide.u32 %d4, %r1, 4; add.s64 %d1, %d1, %d4;
"""
TAIL: Final = """
st.global.f32 [%d3], %f3; ret; }
.file 1 "kernel.cu"
"""


def _program(text: str) -> Program:
    return pl.kernel(pl.parse(HEAD + text + TAIL), "k").program


LOAD: Final = "ld.global.f32 %f1, [%d1];"


@pytest.mark.parametrize(
    ("fourth", "fifth", "sixth", "told"),
    [
        (f"add.u32 %r2, %r1, 1; {LOAD}", "mul.f32 %f3, %f1, %f1;", "", "mul"),  # by its place alone of line 4
        (LOAD, "mul.f32 %f3, %f1, %f1;", "", "ld"),  # which it begins here
        (f"add.s64 %d1, %d1, 8; {LOAD}", "mul.f32 %f3, %f1, %f1;", "", "ld"),  # its address is computed there
        (f"add.u32 %r2, %r1, 1; {LOAD} neg.f32 %f2, %f1;", "mul.f32 %f3, %f1, %f2;", "", "ld"),  # it is used there, too
        (f"ld.global.f32 %f2, [%d2]; {LOAD}", "mul.f32 %f3, %f1, %f1;", "", "ld"),  # the second load of a line
        (f"add.u32 %r2, %r1, 1; {LOAD}", "neg.f32 %f2, %f1;", "mul.f32 %f3, %f1, %f2;", "ld"),  # used at two lines
    ],
)
def test_a_moved_load_is_told_where_its_result_is_used(fourth: str, fifth: str, sixth: str, told: str) -> None:
    program = _program(f".loc 1 4 0\n{fourth}\n.loc 1 5 0\n{fifth}\n.loc 1 6 0\n{sixth}")
    load = next(op for op in program.ops if op.text == LOAD)
    assert where_used(load, program).opcode == told


def test_the_index_that_two_loads_share_is_told() -> None:
    text = """.loc 1 4 0
shr.u32 %r2, %r1, 3;
.loc 1 5 0
mul.wide.u32 %d5, %r2, 4; add.s64 %d5, %d1, %d5; ld.global.f32 %f1, [%d5];
.loc 1 6 0
mul.wide.u32 %d6, %r2, 8; add.s64 %d6, %d2, %d6; ld.global.f32 %f2, [%d6];
.loc 1 7 0
mul.f32 %f3, %f1, %f2;"""
    program = _program(text)
    loads = [op for op in program.ops if op.has("global") and op.opcode == "ld"]
    found = shared_index(loads, program)
    assert found is not None
    assert found.text == "shr.u32 %r2, %r1, 3;"
    assert shared_index([], program) is None
