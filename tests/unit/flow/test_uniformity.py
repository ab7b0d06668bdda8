from __future__ import annotations

import pytest

from ptxloom.flow import flow_graphs
from ptxloom.flow.uniformity import Uniformity
from ptxloom.readings.bits import Level
from ptxloom.syntax import parse

HEAD = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n){directives}
{{
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>; .shared .b8 tile[64]; .local .b8 stack[64];
"""
UNIFORM, DIVERGENT, UNKNOWN = Level


def lanes_at_end(body: str, directives: str = "") -> Uniformity:
    """The analysis of a kernel whose last instruction is `ret`."""
    module = parse(f"{HEAD.format(directives=directives)}{body}\nEND: ret;\n}}")
    assert module.diagnostics == ()
    return Uniformity(flow_graphs(module)[0])


def level(body: str, register: str, directives: str = "") -> Level:
    """How a register differs at a kernel's end."""
    lanes = lanes_at_end(body, directives)
    return lanes.register(len(lanes.graph.blocks) - 1, 0, register).level


STRAIGHT = {
    "mov.u32 %r1, %ctaid.x;": UNIFORM,
    "mov.u32 %r1, %tid.x;": DIVERGENT,
    "mov.u32 %r1, %laneid;": DIVERGENT,
    "mov.u32 %r1, %warpid;": UNIFORM,
    "mov.u32 %r1, %clock;": UNKNOWN,
    "ld.param.u32 %r1, [n];": UNIFORM,
    "ld.shared.u32 %r1, [tile];": UNIFORM,
    "ld.local.u32 %r1, [stack];": UNKNOWN,
    "mov.u32 %r2, %tid.x; ld.shared.u32 %r1, [%r2];": DIVERGENT,
    "mov.u32 %r2, %tid.x; shr.u32 %r1, %r2, 5;": UNIFORM,
    "mov.u32 %r2, %tid.x; shr.u32 %r1, %r2, 4;": DIVERGENT,
    "mov.u32 %r2, %tid.x; div.u32 %r1, %r2, 96;": UNIFORM,
    "mov.u32 %r2, %tid.x; div.s32 %r1, %r2, 33;": DIVERGENT,
    "mov.u32 %r2, %tid.x; and.b32 %r1, %r2, -32;": UNIFORM,
    "mov.u32 %r2, %tid.x; and.b32 %r1, %r2, 31;": DIVERGENT,
    "mov.u32 %r2, %tid.x; bfe.u32 %r1, %r2, 5, 3;": UNIFORM,
    "mov.u32 %r2, %tid.x; lop3.b32 %r1, %r2, 96, 0, 0xc0;": UNIFORM,
    "mov.u32 %r2, %tid.x; sub.u32 %r3, %r2, 128; shr.s32 %r1, %r3, 5;": UNIFORM,
    "mov.u32 %r2, %tid.x; sub.u32 %r3, %r2, 1; shr.s32 %r1, %r3, 5;": DIVERGENT,
    # a signed division by 32, as compilers write it
    """mov.u32 %r2, %tid.x; shr.s32 %r3, %r2, 31; shr.u32 %r4, %r3, 27; add.s32 %r5, %r2, %r4;
       shr.s32 %r1, %r5, 5;""": UNIFORM,
    # the index of a warp in the grid
    """mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %ctaid.x; mad.lo.s32 %r5, %r3, %r4, %r2;
       shr.u32 %r1, %r5, 5;""": UNIFORM,
    "mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 64; selp.u32 %r1, 1, 2, %p1;": UNIFORM,
    "mov.u32 %r2, %tid.x; setp.gt.s32 %p1, %r2, 63; selp.u32 %r1, 1, 2, %p1;": UNIFORM,
    "mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 65; selp.u32 %r1, 1, 2, %p1;": DIVERGENT,
    "mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 4096; selp.u32 %r1, 1, 2, %p1;": UNIFORM,
    "mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; selp.u32 %r1, 1, 2, %p1;": DIVERGENT,
    "mov.u32 %r2, %tid.x; mov.b64 %d1, {%r2, %r2}; mov.b64 {%r3, %r4}, %d1; shr.u32 %r1, %r4, 5;": UNIFORM,
    "mov.u32 %r2, %tid.x; cvt.u64.u32 %d1, %r2; shr.u64 %d2, %d1, 5; cvt.u32.u64 %r1, %d2;": UNIFORM,
    "mov.u32 %r2, %tid.x; shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;": UNIFORM,
    "mov.u32 %r2, %tid.x; shfl.sync.idx.b32 %r1, %r2, 0, 0x181f, -1;": UNKNOWN,  # of 8 lanes each
    "mov.u32 %r2, %tid.x; shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;": UNKNOWN,
    "mov.u32 %r2, %ctaid.x; shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;": UNIFORM,
    "mov.u32 %r2, %tid.x; redux.sync.add.u32 %r1, %r2, -1;": UNIFORM,
    "mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 3; vote.sync.ballot.b32 %r1, %p1, -1;": UNIFORM,
    # a register of the function that hides a special one
    ".reg .b32 %laneid; mov.u32 %laneid, %ctaid.x; mov.u32 %r1, %laneid;": UNIFORM,
    ".reg .b32 %laneid; mov.u32 %r1, %laneid;": UNIFORM,
    "mov.u32 %r1, %laneid; .reg .b32 %laneid;": DIVERGENT,
    ".reg .v4 .b32 %ctaid; mov.u32 %r1, %ctaid.x;": UNKNOWN,
    "elect.sync _|%p1, -1; selp.u32 %r1, 1, 2, %p1;": DIVERGENT,
    "atom.shared.add.u32 %r1, [tile], 1;": DIVERGENT,
    "mov.u32 %r1, 1; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 3; @%p1 mov.u32 %r1, 2;": DIVERGENT,
    "mov.u32 %r1, 1; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 3; @%p1 mov.u32 %r1, 2;": UNIFORM,
}


@pytest.mark.parametrize("body", STRAIGHT)
def test_straight_line(body: str) -> None:
    assert level(body, "%r1") is STRAIGHT[body]


SIZES = {
    (".reqntid 16, 16, 1", "%tid.x", 4): UNIFORM,
    (".reqntid 16, 16, 1", "%tid.x", 3): DIVERGENT,
    (".reqntid 16, 16, 1", "%tid.y", 1): UNIFORM,
    (".reqntid 16, 16, 1", "%tid.y", 0): DIVERGENT,
    (".reqntid 64, 2, 1", "%tid.y", 0): UNIFORM,
    (".reqntid 48, 2, 1", "%tid.x", 5): DIVERGENT,
    (".reqntid 48, 2, 1", "%tid.y", 0): DIVERGENT,
    (".reqntid 8, 2, 8", "%tid.z", 0): DIVERGENT,
    (".reqntid 8, 2, 8", "%tid.z", 1): UNIFORM,
    (".reqntid 40", "%tid.x", 5): UNIFORM,
    ("", "%tid.y", 0): UNIFORM,
}


@pytest.mark.parametrize("case", SIZES, ids=str)
def test_the_size_of_the_cta(case: tuple[str, str, int]) -> None:
    directives, index, by = case
    assert level(f"mov.u32 %r2, {index}; shr.u32 %r1, %r2, {by};", "%r1", directives) is SIZES[case]


LANE = "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 3; mov.u32 %r9, %ctaid.x; setp.eq.u32 %p9, %r9, 3;"
FLOW = {
    # where lanes meet that had parted, a register has what each brought along
    "@%p0 bra A; mov.u32 %r1, 1; bra END; A: mov.u32 %r1, 2;": DIVERGENT,
    "@%p9 bra A; mov.u32 %r1, 1; bra END; A: mov.u32 %r1, 2;": UNIFORM,
    "@%p0 bra A; mov.u32 %r1, 1; bra END; A: mov.u32 %r1, 1;": UNIFORM,
    "mov.u32 %r1, %ctaid.x; @%p0 bra END; mov.u32 %r2, 1;": UNIFORM,
    # on one side all is as before
    "mov.u32 %r1, 0; @%p0 bra END; @%p9 bra A; mov.u32 %r2, 1; bra B; A: mov.u32 %r2, 2; B: mov.u32 %r3, %r2;": UNIFORM,
    # an inner loop that lanes leave at different rounds
    "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 bra L;": DIVERGENT,
    "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r9; @%p1 bra L;": UNIFORM,
    # but while they are in it, they count together
    "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 bra L; mov.u32 %r1, 7;": UNIFORM,
    # strides of whole warps
    "mov.u32 %r2, %r0; L: add.u32 %r2, %r2, 128; setp.lt.u32 %p1, %r2, 1024; @%p1 bra L; shr.u32 %r1, %r2, 5;": UNIFORM,
    # two sides with one value, a third with another one
    "@%p9 bra B; mov.u32 %r1, 4; @%p0 bra A; mov.u32 %r2, 5; bra A; B: mov.u32 %r1, 6; A: mov.u32 %r3, 1;": UNIFORM,
    # of a series, needless zeros make no other register
    "mov.u32 %r1, 1; mov.u32 %r01, %tid.x;": DIVERGENT,
    "mov.u32 %r001, 1; { .reg .u32 %r2; mov.u32 %r01, %tid.x; }": DIVERGENT,
    # before its declaration inside braces, a name means what it means outside
    "mov.u32 %r1, 1; { mov.u32 %r1, %tid.x; .reg .u32 %r<4>; mov.u32 %r1, 1; }": DIVERGENT,
    # a register of the same name inside braces is another one
    "mov.u32 %r1, 1; { .reg .u32 %r1; mov.u32 %r1, %tid.x; }": UNIFORM,
}


@pytest.mark.parametrize("body", FLOW)
def test_flow(body: str) -> None:
    assert level(LANE + body, "%r1") is FLOW[body]


def test_inside_a_loop_that_lanes_leave_at_different_rounds_they_count_together() -> None:
    lanes = lanes_at_end(LANE + "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 bra L;")
    assert lanes.register(1, 1, "%r1").level is UNIFORM
    assert lanes.branch(1).level is DIVERGENT


def test_a_trap_is_no_way_out() -> None:
    body = LANE + "@%p0 bra BAD; mov.u32 %r1, 1; bra END; BAD: trap;"
    lanes = lanes_at_end(body)
    assert lanes.parting(1) is None
    out = lanes_at_end(LANE + "@%p0 bra OUT; mov.u32 %r1, 1; bra END; OUT: exit;")
    assert out.parting(1) == 0


def test_the_cause_is_named() -> None:
    lanes = lanes_at_end(LANE + "add.u32 %r2, %r0, 1; mov.u32 %r3, %r2;")
    cause = lanes.cause(len(lanes.graph.blocks) - 1, 0, "%r3")
    assert cause is not None
    assert (cause.source, cause.instruction.opcode) == ("%tid.x", "mov")
    assert lanes.cause(len(lanes.graph.blocks) - 1, 0, "%r9") is None


def test_parameters_of_a_function_are_unknown() -> None:
    module = parse(""".version 9.0
.target sm_90
.address_size 64
.func (.reg .u32 back) f(.reg .u32 given, .param .u32 stored)
{ .reg .u32 a, b; mov.u32 a, given; ld.param.u32 b, [stored]; mov.u32 back, a; ret; }""")
    lanes = Uniformity(flow_graphs(module)[0])
    assert [lanes.register(0, 3, name).level for name in ("a", "b", "given", "back")] == [UNKNOWN] * 4
