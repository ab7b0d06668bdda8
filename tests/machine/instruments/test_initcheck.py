"""Initcheck: uses of what is unwritten are found to the bit, and the same kernels with the write are silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from machine.small_kernels import entry

if TYPE_CHECKING:
    from ptxloom.machine import Hazard, Kernel

BEFORE = ".shared .align 16 .b8 tile[4096];\n.shared .align 8 .b64 gate;\n"
HELPER = """
.func (.param .b32 back) twice(.param .b32 given)
{
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [given];
    add.u32 %r1, %r1, %r1;
    WRITE
    ret;
}
"""
CHECKS = ("memcheck", "synccheck", "initcheck")


def kernel_of(body: str, before: str = BEFORE) -> Kernel:
    """A kernel with `%r0` = tid.x, `%r10` = tile + 4 tid.x, `%r12` = tile + 16 lane, and 64 bytes of local memory."""
    start = """
    .local .align 16 .b8 stack[64]; .reg .b32 %never<4>; .reg .pred %q<3>;
    mov.u32 %r20, tile; mad.lo.u32 %r10, %r0, 4, %r20; and.b32 %r22, %r0, 31; mad.lo.u32 %r12, %r22, 16, %r20;
    setp.lt.u32 %p1, %r0, 16; setp.eq.u32 %p3, %r0, 0;
    """
    return entry(start + body, before=before)


def hazards(body: str, before: str = BEFORE, block: int = 32) -> tuple[Hazard, ...]:
    """What initcheck says of a kernel of one CTA."""
    out = np.zeros(block, np.uint32)
    result = kernel_of(body, before).launch(1, block, [out], checks=CHECKS, threads=1, timeout=300)
    assert all(h.tool == "initcheck" for h in result.hazards)
    return tuple(result.hazards)


@dataclass(frozen=True)
class Pair:
    """A kernel with `@` where the write belongs, that write, and what is reported without it where `used` is used."""

    name: str
    body: str
    write: str
    space: str = "shared"
    lanes: tuple[int, ...] = tuple(range(32))
    used: str = "%r1"
    address: int = 0
    size: int = 4
    wrong: str = ""


def use(register: str) -> str:
    """A predicate that depends on a register steers an instruction."""
    return f"setp.lt.u{64 if 'd' in register else 32} %p7, {register}, 12345;\n@%p7 mov.u32 %r31, 1;"


LOAD = "ld.shared.u32 %r1, [%r10];"
PAIRS = (
    Pair("shared", f"@\n{LOAD}", "st.shared.u32 [%r10], %r0;"),
    Pair(
        "by half the warp",
        f"@\n{LOAD}",
        "st.shared.u32 [%r10], %r0;",
        lanes=tuple(range(16, 32)),
        address=64,
        wrong="@%p1 st.shared.u32 [%r10], %r0;",
    ),
    Pair(
        "one byte",
        "@\nld.shared.u32 %r1, [tile];",
        "st.shared.u32 [tile], %r0;",
        address=2,
        size=1,
        wrong="st.shared.u16 [tile], 1;\nst.shared.u8 [tile+3], 1;",
    ),
    Pair(
        "a vector",
        "@\nld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r12];",
        "st.shared.v4.b32 [%r12], {%r0, %r0, %r0, %r0};",
        address=12,
        used="%r4",
        wrong="st.shared.v2.b32 [%r12], {%r0, %r0};\nst.shared.b32 [%r12+8], %r0;",
    ),
    Pair(
        "ldmatrix",
        "@\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r12];",
        "st.shared.v4.b32 [%r12], {%r0, %r0, %r0, %r0};",
        size=16,
    ),
    Pair("stmatrix", "@\nld.shared.u32 %r1, [%r10];", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r12], {%r0};"),
    Pair("cp.async", f"@\n{LOAD}", "cp.async.ca.shared.global [%r10], [%rd0], 4;\ncp.async.wait_all;"),
    Pair(
        "an atomic reads",
        "@\natom.shared.add.u32 %r1, [tile+8], 1;",
        "st.shared.u32 [tile+8], 0;",
        address=8,
        lanes=(0,),
    ),
    Pair(
        "an mbarrier is written",
        "@\nld.shared.b64 %rd5, [gate];",
        "@%p3 mbarrier.init.shared.b64 [gate], 1;",
        address=4096,
        size=8,
        used="%rd5",
    ),
    Pair(
        "generic", "cvt.u64.u32 %rd6, %r10; cvta.shared.u64 %rd6, %rd6;\n@\nld.u32 %r1, [%rd6];", "st.u32 [%rd6], %r0;"
    ),
    Pair("local", "@\nld.local.u32 %r1, [stack+8];", "st.local.u32 [stack+8], %r0;", "local", address=24),
    Pair(
        "local, half of it",
        "@\nld.local.u64 %rd5, [stack];",
        "st.local.u64 [stack], %rd0;",
        "local",
        address=20,
        used="%rd5",
        wrong="st.local.u32 [stack], %r0;",
    ),
    Pair(
        "generic local",
        "mov.u64 %rd6, stack; cvta.local.u64 %rd6, %rd6;\n@\nld.u8 %r1, [%rd6+63];",
        "st.u8 [%rd6+63], 1;",
        "local",
        address=79,
        size=1,
    ),
)


@pytest.mark.parametrize("pair", PAIRS, ids=[p.name for p in PAIRS])
def test_a_read_of_unwritten_memory_is_found_and_its_twin_is_silent(pair: Pair) -> None:
    wrong, right = (f"{pair.body.replace('@', text)}\n{use(pair.used)}" for text in (pair.wrong, pair.write))
    (found,) = hazards(wrong)
    assert (found.kind, found.space, found.party.lanes) == ("uninitialised", pair.space, pair.lanes)
    assert (found.address, found.size) == (pair.address, pair.size)
    if found.other is not None:
        assert found.instruction.startswith("@%p7")
        assert found.other.lanes == pair.lanes[:1]
    assert hazards(right) == ()


REGISTERS = (
    ("add.u32 %r1, %never1, 1;" + use("%r1"), "mov.u32 %never1, 3;", tuple(range(32))),
    ("@%p1 mov.u32 %never1, 4;\nadd.u32 %r1, %never1, 1;" + use("%r1"), "mov.u32 %never1, 3;", tuple(range(16, 32))),
    ("@%q1 add.u32 %r1, %r0, 1;", "setp.eq.u32 %q1, %r0, 1;", tuple(range(32))),
    ("@%p1 bra T;\nmov.u32 %never1, 1;\nT: st.global.u32 [%rd0], %never1;", "mov.u32 %never1, 9;", tuple(range(16))),
    (
        "mov.b32 %never2, %never1;\nselp.b32 %never3, %never2, %r0, %p1;\nst.global.u32 [%rd0], %never3;",
        "mov.u32 %never1, 1;",
        tuple(range(16)),
    ),
    (
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%never1}, {%r0}, {%f4,%f5,%f6,%f7};",
        "mov.u32 %never1, 1;\nmov.f32 %f4, 0f00000000;\nmov.f32 %f5, %f4;\nmov.f32 %f6, %f4;\nmov.f32 %f7, %f4;",
        tuple(range(32)),
    ),
    (
        "prmt.b32 %never2, %never1, %never1, 0x3340;\nprmt.b32 %never3, %r0, %never2, 0x7654;\nnot.b32 %r1, %never3;"
        + use("%r1"),
        "mov.u32 %never1, 1;",
        tuple(range(32)),
    ),
    ("prmt.b32 %r1, %r0, %r0, %never1;" + use("%r1"), "mov.u32 %never1, 1;", tuple(range(32))),
    (
        "@%p1 mov.b32 %never1, 1;\nmov.b64 %rd5, {%never1,%never2};\nmov.b64 {%never3,_}, %rd5;\nnot.b32 %r1, %never3;"
        + use("%r1"),
        "mov.u32 %never1, 1;",
        tuple(range(16, 32)),
    ),
    (  # what is chosen, in the bits in which both differ
        "selp.b32 %r1, %r0, %r10, %q1;\nand.b32 %r1, %r1, 32;" + use("%r1"),
        "setp.eq.u32 %q1, %r0, 1;",
        tuple(lane for lane in range(32) if lane & 8),
    ),
    (  # the half that is unwritten
        "mov.b64 %rd5, {%r0,%never1};\nmov.b64 {_,%r1}, %rd5;" + use("%r1"),
        "mov.u32 %never1, 1;",
        tuple(range(32)),
    ),
    ("and.b32 %r1, %never1, 0xff00;\nor.b32 %r1, %r1, 0xfe00;" + use("%r1"), "mov.u32 %never1, 1;", tuple(range(32))),
    ("vote.sync.ballot.b32 %r1, %q1, -1;", "setp.eq.u32 %q1, %r0, 1;", tuple(range(32))),
    ("add.f16x2 %r1, %never1, %r0;\nshr.u32 %r2, %r1, 16;" + use("%r2"), "mov.u32 %never1, 1;", tuple(range(32))),
    ("and.b32 %r2, %never1, 1024;\nld.shared.u32 %r1, [%r2];", "mov.u32 %never1, 1024;", tuple(range(32))),
    ("atom.global.add.u32 %r1, [%rd0], %never1;", "mov.u32 %never1, 0;", tuple(range(32))),
    ("red.global.add.u32 [%rd0], %never1;", "mov.u32 %never1, 0;", tuple(range(32))),
    (
        (
            "st.shared.v4.b32 [%r12], {%r0, %r0, %r0, %r0};\nbar.sync 0;\ncvt.u64.u32 %rd5, %r20;\n"
            "@%p3 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd5], %never1;"
        ),
        "mov.u32 %never1, 1;",
        (0,),
    ),
    ("shfl.sync.bfly.b32 %r1, %never1, 1, 31, -1;" + use("%r1"), "mov.u32 %never1, 1;", tuple(range(32))),
    (  # kept by the matrix that is stored
        f"wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [%r20], {{{', '.join(['%never1'] * 8)}}}, 16;\n"
        "bar.sync 0;\nld.shared.u32 %r1, [tile];" + use("%r1"),
        "mov.u32 %never1, 1;",
        tuple(range(32)),
    ),
    (
        "@%p1 mov.u32 %never1, 1;\nshfl.sync.down.b32 %r1|%p4, %never1, 16, 31, -1;" + use("%r1"),
        "mov.u32 %never1, 1;",
        tuple(range(32)),
    ),
    ("mov.u32 %r2, 5;\nshl.b32 %r1, %r2, %never1;" + use("%r1"), "mov.u32 %never1, 1;", tuple(range(32))),
    ("selp.b32 %r1, %r0, %r10, %q1;" + use("%r1"), "setp.eq.u32 %q1, %r0, 1;", tuple(range(1, 32))),  # both are 0
    ("setp.eq.and.u32 %p4, %never1, 1, %p1;\n@%p4 mov.u32 %r1, 1;", "mov.u32 %never1, 1;", tuple(range(16))),
    ("and.pred %p4, %q1, %p1;\n@%p4 mov.u32 %r1, 1;", "setp.eq.u32 %q1, %r0, 1;", tuple(range(16))),
    (
        "st.shared.u32 [%r10], %never1;\nld.shared.u32 %r1, [%r10];\nst.local.u32 [stack], %r1;\n"
        "ld.local.u16 %r1, [stack+2];" + use("%r1"),
        "mov.u32 %never1, 1;",
        tuple(range(32)),
    ),
)


@pytest.mark.parametrize(("body", "write", "lanes"), REGISTERS)
def test_a_use_of_an_unwritten_register_is_found(body: str, write: str, lanes: tuple[int, ...]) -> None:
    found = hazards(body)
    assert found[0].party.lanes == lanes
    if found[0].kind != "uninitialised":
        assert {h.kind for h in found} == {"uninitialised-register"}
        assert "`%never" in found[0].message or "`%q1`" in found[0].message or "`%f" in found[0].message
    assert hazards(f"{SHARED}{write}\n{body}") == ()


SHARED = "st.shared.u32 [tile+1024], 1;\n"


@pytest.mark.parametrize(
    "body",
    [
        "mov.b32 %r1, %never1;\nselp.b32 %r2, %never1, %r0, %p1;",  # copied, and never looked at
        "selp.b32 %r2, %r0, %never1, %p1;\n@%p1 add.u32 %r3, %r2, 1;",
        "selp.b32 %r2, %r0, %never1, %p1;\n@%p1 st.global.u32 [%rd0], %r2;",
        "@%p1 mov.u32 %never1, 1;\n@%p1 add.u32 %r1, %never1, 1;",
        "mov.b64 %rd5, {%r0, %never1};\nadd.u64 %rd5, %rd5, 1;\nmov.b64 {%r1, _}, %rd5;" + use("%r1"),
        "mov.b64 %rd5, {%never1, %r0};\nmov.b64 {_, %r1}, %rd5;\nadd.u32 %r1, %r1, 1;" + use("%r1"),
        "prmt.b32 %r2, %never1, %never2, 0x3340;\nprmt.b32 %r3, %r0, %r2, 0x5410;\nst.global.u16 [%rd0], %r3;",
        "prmt.b32 %r2, %never1, %r0, 0x7654;\nadd.u32 %r3, %r2, 1;" + use("%r3"),
        "prmt.b32.b4e %r2, %never1, %r0, 1;\nadd.u32 %r3, %r2, 1;",
        (
            "mov.u32 %r1, 0;\nL: @%p1 mov.u32 %never1, %r1;\n@%p1 add.u32 %r2, %never1, 1;\nadd.u32 %r1, %r1, 1;\n"
            "setp.lt.u32 %p2, %r1, 4;\n@%p2 bra L;"
        ),
        "and.b32 %r1, %never1, 0;" + use("%r1"),
        "or.b32 %r1, %never1, -1;" + use("%r1"),
        "and.b32 %r1, %never1, 0xff00;\nshr.u32 %r1, %r1, 16;" + use("%r1"),
        "selp.b32 %r1, %r0, %r0, %q1;" + use("%r1"),  # a choice between equals
        "or.b32 %r1, %never1, 16;\nsetp.eq.u32 %p4, %r1, 3;\n@%p4 bra E;\nE:",  # what is written differs already
        "lop3.b32 %r1, %never1, 0, %r0, 0xc0;" + use("%r1"),
        "mul.lo.u32 %r1, %never1, 256;\nand.b32 %r2, %never1, 0xff00;\nadd.u32 %r2, %r2, %r0;\nand.b32 %r2, %r2, 255;"
        + use("%r2"),
        "bfi.b32 %r1, %r0, %never1, 8, 8;\nbfe.u32 %r2, %r1, 8, 8;" + use("%r2"),
        "cvt.u32.u16 %r1, %h1;\nshr.u32 %r1, %r1, 16;" + use("%r1"),
        "setp.eq.u32 %p4, %r0, 99;\nsetp.eq.and.u32 %p5, %never1, 1, %p4;\n@%p5 bra E;\nE:",
        "setp.eq.u32 %p4, %r0, 99;\nsetp.lt.s32 %p5, %never1, 1;\nand.pred %p5, %p5, %p4;\n@%p5 bra E;\nE:",
        (  # half of a pair
            "add.f16x2 %r1, %never1, %r0;\nmov.b32 {%h1, %h2}, %r0;\nmov.b32 %r2, {%h1, %h3};\n"
            "add.f16x2 %r2, %r2, %r2;\nmov.b32 {%h4, _}, %r2;\nst.global.u16 [%rd0], %h4;"
        ),
        "@%p1 mov.u32 %never1, 1;\nshfl.sync.idx.b32 %r1, %never1, 3, 31, -1;" + use("%r1"),  # a lane that has it
        (
            "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r12];\nst.shared.v2.u32 [%r12], {%r0, %r0};\n"
            "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r12];\nst.global.u32 [%rd0], %r2;"
        ),
        "st.shared.u32 [%r10], %never1;\nst.shared.u32 [%r10], %r0;\nld.shared.u32 %r1, [%r10];" + use("%r1"),
        "st.local.u64 [stack], %rd9;\nst.local.u32 [stack+4], %r0;\nld.local.u32 %r1, [stack+4];" + use("%r1"),
    ],
)
def test_what_nobody_uses_is_no_hazard(body: str) -> None:
    assert hazards(body) == ()


def test_a_load_thrown_away_is_no_hazard() -> None:
    """As compilers hoist loads above their tests, and load what a vector of three lacks."""
    body = """
    setp.lt.u32 %p4, %r0, 20; @%p4 st.shared.v2.u32 [%r12], {%r0, %r0}; @%p4 st.shared.u32 [%r12+8], %r0;
    mov.u32 %r7, 0;
    LOOP: ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r12];
    add.u32 %r5, %r1, %r2; add.u32 %r5, %r5, %r3; selp.b32 %r6, %r5, 7, %p4;
    add.u32 %r7, %r7, 1; setp.lt.u32 %p5, %r7, 5; @%p5 bra LOOP;
    st.global.u32 [%rd0], %r6;"""
    out = np.zeros(32, np.uint32)
    result = kernel_of(body).launch(1, 32, [out], checks=CHECKS, threads=1)
    assert tuple(result.hazards) == ()
    assert out.tolist() == [3 * lane if lane < 20 else 7 for lane in range(32)]
    (found,) = hazards(body.replace("selp.b32 %r6, %r5, 7, %p4", "mov.b32 %r6, %r5"))
    assert found.lanes == tuple(range(20, 32))
    assert found.instruction.startswith("st.global")


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("checks", [("initcheck",), ("initcheck", "racecheck"), ("initcheck", "racecheck:global")])
@pytest.mark.parametrize("block", [20, 32, 96])
def test_following_poison_changes_no_result(block: int, checks: tuple[str, ...]) -> None:
    """A kernel with divergence, calls, exchange and matrices computes the same while it follows poison."""
    helper = HELPER.replace("WRITE", "st.param.b32 [back], %r1;")
    body = """
    ld.shared.u32 %r30, [%r10]; selp.b32 %r30, %r30, %r0, %p3; // lane 0 holds poison from here on
    mov.u32 %r5, 0; and.b32 %r6, %r0, 7;
    AGAIN: @%p1 bra LOW; mad.lo.u32 %r5, %r5, 3, %r6; bra.uni BOTH;
    LOW: { .param .b32 a; .param .b32 b; st.param.b32 [a], %r5; call.uni (b), twice, (a); ld.param.b32 %r5, [b]; }
    add.u32 %r5, %r5, %r0;
    BOTH: shfl.sync.bfly.b32 %r7, %r5, 1, 31, -1; add.u32 %r5, %r5, %r7; st.shared.u32 [%r10+512], %r5; bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [tile+512]; add.u32 %r5, %r5, %r8; bar.sync 0;
    add.u32 %r9, %r9, 1; sub.u32 %r9, %r9, 1; atom.shared.add.u32 %r11, [tile+2048], 0;
    add.u32 %r14, %r14, 1; setp.lt.u32 %p5, %r14, %r6; vote.sync.any.pred %p6, %p5, -1; @%p6 bra.uni AGAIN;
    st.global.u32 [%rd0], %r5;"""
    body = body.replace("-1;", "%r4;" if block == 20 else "-1;")
    ready = kernel_of(
        f"mov.u32 %r4, 0xfffff; mov.u32 %r14, 0; mov.u32 %r9, 7; st.shared.u32 [tile+2048], %r0;\n{body}",
        BEFORE + helper,
    )
    plain, watched = np.zeros(block, np.uint32), np.zeros(block, np.uint32)
    ready.launch(1, block, [plain], checks=("memcheck",), timeout=300)
    ready.launch(1, block, [watched], checks=checks, timeout=300)
    assert plain.tolist() == watched.tolist()
    assert len(set(plain.tolist())) > 8


CALL = (
    "{ .param .b32 a; .param .b32 b; @st.param.b32 [a], %r0; call.uni (b), twice, (a); ld.param.b32 %r1, [b]; }\n"
    + use("%r1")
)


def test_arguments_and_results_count_as_what_they_were_copied_from() -> None:
    good = BEFORE + HELPER.replace("WRITE", "st.param.b32 [back], %r1;")
    bad = BEFORE + HELPER.replace("WRITE", "")
    call = CALL.replace("@st.param", "st.param")
    assert hazards(call, good) == ()
    assert [h.instruction for h in hazards(CALL.replace("@st.param.b32 [a], %r0;", ""), good)] == [
        "@%p7 mov.u32 %r31, 1;"
    ]
    assert [h.other.instruction for h in hazards(call, bad) if h.other] == ["ld.param.b32 %r1, [b];"]


def test_a_frame_is_unwritten_at_every_call() -> None:
    helper = """
.func leave() { .local .b32 mine; .reg .b32 %r<2>; mov.u32 %r1, 1; st.local.u32 [mine], %r1; ret; }
.func look() { .local .b32 mine; .reg .b32 %r<2>; .reg .pred %p;
ld.local.u32 %r1, [mine]; setp.eq.u32 %p, %r1, 5; @%p ret; ret; }
"""
    (found,) = hazards("call.uni leave, ();\ncall.uni look, ();", BEFORE + helper)
    assert found.other is not None
    assert found.other.instruction.startswith("ld.local")


def test_a_cta_starts_with_nothing_written() -> None:
    body = "mov.u32 %r5, %ctaid.x; setp.eq.u32 %p4, %r5, 0;\n@%p4 st.shared.u32 [tile], 1;\nld.shared.u32 %r1, [tile];"
    out = np.zeros(32, np.uint32)
    result = kernel_of(f"{body}\n{use('%r1')}").launch(4, 32, [out], checks=CHECKS, threads=1)
    assert [(h.count, len(h.lanes)) for h in result.hazards] == [(3, 32)]


def test_global_memory_that_holds_nothing_yet() -> None:
    kernel = kernel_of(f"@%p1 st.global.u32 [%rd0], 5;\nld.global.u32 %r1, [%rd0];\n{use('%r1')}")
    out = np.zeros(32, np.uint32)
    checks = ("memcheck", "initcheck:global")
    assert tuple(kernel.launch(1, 32, [out], checks=checks).hazards) == ()
    for named in (0, out):
        (found,) = kernel.launch(1, 32, [out], checks=checks, uninitialised=[named]).hazards
        assert (found.space, found.party.lanes, found.size) == ("global", tuple(range(16, 32)), 4)


@pytest.mark.parametrize("taken", ["0", "1", "16", "%r5"])
def test_a_copy_reads_what_it_takes(taken: str) -> None:
    """All lanes take of the same 16 bytes, or none of them: then it does not matter what is there."""
    body = f"""mov.u32 %r6, %tid.x; and.b32 %r5, %r6, 1; mov.u32 %r7, room; shl.b32 %r8, %r6, 4; add.u32 %r7, %r7, %r8;
    ld.param.u64 %rd7, [out]; cp.async.cg.shared.global [%r7], [%rd7], 16, {taken}; cp.async.wait_all;"""
    kernel = kernel_of(body, BEFORE + ".shared .align 16 .b8 room[512];\n")
    out = np.zeros(32, np.uint32)
    found = kernel.launch(1, 32, [out], checks=("memcheck", "initcheck:global"), uninitialised=[0]).hazards
    first = {"0": [], "%r5": [1]}.get(taken, [0])
    assert [(one.space, one.party.lanes) for one in found] == [("global", (lane,)) for lane in first]


def test_memory_from_malloc_holds_nothing() -> None:
    call = (
        "{ .param .b64 a; .param .b64 b; mov.u64 %rd5, 16; st.param.b64 [a], %rd5;\n"
        "call.uni (b), malloc, (a); ld.param.b64 %rd6, [b]; }"
    )
    before = BEFORE + ".extern .func (.param .b64 r) malloc(.param .b64 s);\n"
    kernel = kernel_of(call + "\nst.u32 [%rd6], %r0;\nld.u64 %rd7, [%rd6];\n" + use("%rd7"), before)
    out = np.zeros(32, np.uint32)
    (found,) = kernel.launch(1, 32, [out], checks=("initcheck", "initcheck:global"), threads=1).hazards
    assert (found.space, found.size) == ("global", 4)


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("ld.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%rd0], %r1;", True),
        ("ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd0+128], %r1;", False),
        ("ld.global.u32 %r1, [%rd0];\nshl.b32 %r1, %r1, 8;\nor.b32 %r1, %r1, 3;\nst.global.u32 [%rd0], %r1;", False),
        (
            "ld.global.u32 %r1, [%rd0];\nadd.u32 %r2, %r1, 1;\nor.b32 %r1, %r1, %r2;\nst.global.u32 [%rd0], %r1;",
            True,
        ),
        (
            "ld.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\nselp.u32 %r1, 7, %r1, %p1;\nst.global.u32 [%rd0], %r1;",
            True,
        ),
        ("ld.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\nmov.u32 %r1, 7;\nst.global.u32 [%rd0], %r1;", False),
        (
            (
                "ld.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\nst.shared.u32 [tile], %r1;\n"
                "ld.shared.u32 %r2, [tile];\nst.global.u32 [%rd0], %r2;"
            ),
            True,
        ),
        (
            (
                "ld.global.u32 %r1, [%rd0];\nst.shared.u32 [tile], %r1;\nld.shared.u32 %r2, [tile];\n"
                "st.global.u32 [%rd0], %r2;"
            ),
            False,
        ),
    ],
)
def test_what_is_computed_with_is_used_where_the_host_sees_it(body: str, reported: bool) -> None:
    """Into unwritten memory, too: to copy what is unwritten is no use, to compute with it is."""
    out = np.zeros(64, np.uint32)
    run = kernel_of(body).launch(1, 32, [out], checks=("initcheck", "initcheck:global"), uninitialised=[out])
    assert [h.rule for h in run.hazards] == ["initcheck.uninitialised"] * reported


def test_memory_that_was_given_what_is_computed_counts_as_written() -> None:
    """One use is reported, not all that follow from it."""
    body = "ld.global.u32 %r1, [%rd0];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%rd0], %r1;\n"
    out = np.zeros(64, np.uint32)
    run = kernel_of(body * 3).launch(1, 32, [out], checks=("initcheck", "initcheck:global"), uninitialised=[out])
    assert [h.line for h in run.hazards] == [min(h.line for h in run.hazards)]
