"""The hot tier: results, reports and counts are those of the first one; who has none, and why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from attack.ir_text import functions
from ptxloom.machine import semantics
from ptxloom.machine.compile.hot_variant import hot_plan, hot_variant
from ptxloom.machine.compile.tiers import LONGEST
from ptxloom.machine.hot.refusal import NotHot
from ptxloom.machine.instruments.wanted import PROFILE
from ptxloom.machine.plan.planner import plan

if TYPE_CHECKING:
    from ptxloom.machine.results.outcome import LaunchResult

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .b32 %r<16>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<6>; .shared .align 16 .b8 s[4096];"
START = "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;"
#: Numbers, infinities and NaNs of all signs and payloads, by lanes; results that are one of PTX's, and what follows.
NANS = (
    "mul.lo.u32 %r12, %r1, 0x8421; and.b32 %r13, %r1, 3; shl.b32 %r13, %r13, 30; or.b32 %r12, %r12, %r13;"
    "or.b32 %r13, %r12, 0x7f800000; and.b32 %r14, %r1, 4; setp.ne.u32 %p3, %r14, 0; selp.b32 %r12, %r13, %r12, %p3;"
    "mov.b32 %f1, %r12; sub.f32 %f2, %f1, %f1; mul.f32 %f3, %f2, %f1; fma.rn.f32 %f4, %f1, %f3, %f2;"
    "sqrt.rn.f32 %f5, %f4; add.f32 %f5, %f5, %f4;"
)
BODIES = {
    "contiguous": "ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, 3; st.global.u32 [%d3], %r2;",
    "one word": "ld.global.v2.u32 {%r2, %r3}, [%d1+8]; add.u32 %r2, %r2, %r3; st.global.u32 [%d3], %r2;",
    "scattered": "xor.b32 %r4, %r1, 21; mul.wide.u32 %d4, %r4, 4; add.u64 %d4, %d1, %d4; ld.global.u32 %r2, [%d4];"
    "bar.sync 0; st.global.u32 [%d3], %r2;",
    "predicated": "and.b32 %r5, %r1, 3; setp.eq.u32 %p1, %r5, 1; mov.u32 %r2, 7; @%p1 ld.global.u32 %r2, [%d3];"
    "add.u32 %r2, %r2, 1; @!%p1 st.global.u32 [%d3], %r2;",
    "parted": "and.b32 %r5, %r1, 1; mov.u32 %r6, 5; mov.u32 %r7, %r1; setp.eq.u32 %p1, %r5, 0; @%p1 bra E;"
    "mad.lo.u32 %r7, %r7, %r6, 9; bra.uni F; E: add.u32 %r7, %r7, 100; F: bar.warp.sync -1; add.u32 %r7, %r7, %r6;"
    "st.global.u32 [%d3], %r7;",
    "loop": "mov.u32 %r2, 0; mov.u32 %r3, %r1; L: add.u32 %r2, %r2, %r3; shr.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0;"
    "@%p1 bra L; st.global.u32 [%d3], %r2;",
    "long loop": "mov.u32 %r2, 0; mov.u32 %r3, 9; L: mad.lo.u32 %r2, %r2, 5, %r1; add.u32 %r3, %r3, 1;"
    "setp.lt.u32 %p1, %r3, 99999; @%p1 bra L; st.global.u32 [%d3], %r2;",
    "shared": "mov.u32 %r8, s; shl.b32 %r9, %r1, 2; add.u32 %r9, %r8, %r9; st.shared.u32 [%r9], %r1; bar.sync 0;"
    "xor.b32 %r10, %r1, 63; shl.b32 %r10, %r10, 2; add.u32 %r10, %r8, %r10; ld.shared.u32 %r2, [%r10];"
    "st.global.u32 [%d3], %r2;",
    "exchange": "mov.u32 %r2, %r1; shfl.sync.down.b32 %r3|%p1, %r2, 3, 31, -1; @%p1 add.u32 %r2, %r2, %r3;"
    "vote.sync.ballot.b32 %r4, %p1, -1; xor.b32 %r2, %r2, %r4; st.global.u32 [%d3], %r2;",
    "some leave": "setp.lt.u32 %p1, %r1, 40; @%p1 exit; st.global.u32 [%d3], %r1;",
    "atomic": "atom.global.add.u32 %r2, [%d1], 1; atom.shared.add.u32 %r3, [s], 1; st.global.u32 [%d3+4], %r1;",
    "spin": "setp.ne.u32 %p1, %r1, 0; @%p1 bra W; st.volatile.global.u32 [%d1], 12345; W:"
    "ld.volatile.global.u32 %r2, [%d1]; setp.ne.u32 %p2, %r2, 12345; @%p2 bra W; st.global.u32 [%d3+256], %r2;",
    "beyond": "shl.b32 %r4, %r1, 20; mul.wide.u32 %d4, %r4, 4; add.u64 %d4, %d1, %d4; ld.global.u32 %r2, [%d4];"
    "st.global.u32 [%d3], %r2;",
    "one beyond": "add.u64 %d4, %d3, 1860; ld.global.u32 %r2, [%d4]; st.global.u32 [%d3], %r2;",
    "misaligned": "ld.global.u32 %r2, [%d3+2]; st.global.u32 [%d3], %r2;",
    "barrier loop": "mov.u32 %r8, s; shl.b32 %r9, %r1, 2; add.u32 %r9, %r8, %r9; mov.u32 %r2, 0; mov.u32 %r3, 0;"
    "xor.b32 %r10, %r9, 4; mov.u32 %r11, 77; L: add.u32 %r4, %r2, %r1; st.shared.u32 [%r9], %r4; bar.sync 0;"
    "ld.shared.u32 %r5, [%r10]; mad.lo.u32 %r2, %r2, 3, %r5; add.u32 %r2, %r2, %r11; bar.sync 0;"
    "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 9; @%p1 bra L; st.global.u32 [%d3], %r2;",
    "nans": f"{NANS} st.global.f32 [%d3], %f4; st.global.f32 [%d3+512], %f5;",
    "nans in passing": "mov.u32 %r8, s; shl.b32 %r9, %r1, 2; add.u32 %r9, %r8, %r9; xor.b32 %r10, %r9, 84;"
    f"st.shared.u32 [%r9], %r1; bar.sync 0; {NANS} ld.shared.f32 %f6, [%r10]; fma.rn.f32 %f5, %f4, %f6, %f5;"
    "xor.b32 %r5, %r1, 85; bar.sync 0; mov.b32 %r5, %f4; st.global.u32 [%d3], %r5; st.global.f32 [%d3+512], %f5;",
    "nans in a loop": f"mov.f32 %f6, 0f3F800000; mov.u32 %r3, 0; L: {NANS} add.u32 %r3, %r3, 1;"
    "fma.rn.f32 %f6, %f6, %f5, %f4; setp.lt.u32 %p1, %r3, 3; @%p1 bra L; st.global.f32 [%d3], %f6;",
    "nans kept": f"mov.f32 %f6, 0f3F800000; mov.u32 %r3, 0; L: {NANS} add.u32 %r3, %r3, 1;"
    "fma.rn.f32 %f6, %f6, %f5, %f4; bar.sync 0; setp.lt.u32 %p1, %r3, 3; @%p1 bra L;"
    "st.global.f32 [%d3], %f4; st.global.f32 [%d3+512], %f6;",
    "parted barrier": "setp.lt.u32 %p1, %r1, 7; @%p1 bra E; bar.sync 0; bra.uni F; E: bar.sync 0; F: ret;",
}


def text(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 p)\n{{\n{REGISTERS}\n{START}\n{body}\nret;\n}}\n"


def counted(result: LaunchResult) -> str:
    """What a profile counts, line by line."""
    return "" if result.profile is None else f"{result.profile.totals} {result.profile.rows}"


def launched(
    monkeypatch: pytest.MonkeyPatch, tier: str, ptx: str, threads: int, *, profile: bool = False
) -> tuple[str, bytes, int, str]:
    """How a launch ended with what hazards; what it wrote; how many instructions it ran; what was counted."""
    monkeypatch.setenv("PTXLOOM_TIER", tier)
    data = np.arange(512, dtype=np.uint32)
    made = pl.kernel(pl.parse(ptx), "k")
    try:
        result: LaunchResult = made.launch(2, threads, [data], threads=1, profile=profile)
    except pl.LaunchError as error:
        said = re.sub("0x[0-9a-f]+", "ADDRESS", f"{error.reason} {[str(h) for h in error.hazards]}")
        return said, data.tobytes(), 0, ""
    return str([str(h) for h in result.hazards]), data.tobytes(), result.instructions, counted(result)


@pytest.mark.parametrize("threads", [32, 64, 100])
@pytest.mark.parametrize("name", BODIES)
def test_both_tiers_give_the_same(monkeypatch: pytest.MonkeyPatch, name: str, threads: int) -> None:
    ptx = text(BODIES[name])
    assert hot_variant(plan(pl.parse(ptx), "k", semantics.BlockCuts()), frozenset()).ir  # it has hot code
    first = launched(monkeypatch, "first", ptx, threads)
    assert launched(monkeypatch, "hot", ptx, threads) == first


@pytest.mark.parametrize("name", BODIES)
def test_both_tiers_count_the_same(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    ptx = text(BODIES[name])
    assert hot_variant(plan(pl.parse(ptx), "k", semantics.BlockCuts()), frozenset((PROFILE,))).ir
    first = launched(monkeypatch, "first", ptx, 100, profile=True)
    assert launched(monkeypatch, "hot", ptx, 100, profile=True) == first


def test_what_controls_hot_code_is_never_left_open() -> None:
    for body in BODIES.values():
        variant = hot_variant(plan(pl.parse(text(body)), "k", semantics.BlockCuts()), frozenset())
        (kernel,) = (f for f in functions(variant.ir) if f.name == "ptxloom_kernel")
        own = kernel.code[next(n for n, one in enumerate(kernel.code) if one.block == "B0") :]
        made = {one.result: one for one in own if one.result}
        conditions = [one.text.split(" ")[2].rstrip(",") for one in own if one.text.startswith(("br i1", "switch"))]
        assert conditions
        for one in (made[name] for name in conditions if name[0] == "%"):
            asked = re.match(r"icmp (?:eq|ne) i32 (%\S+), 0", one.text)  # what a function answers is a number
            assert one.opcode == "freeze" or (asked is not None and made[asked[1]].opcode == "call"), one.text


CALLER = f"""{HEAD}.func (.reg .b32 o) twice(.reg .b32 i) {{ add.u32 o, i, i; ret; }}
.visible .entry k(.param .u64 p) {{ .reg .b32 %r<3>; mov.u32 %r1, 3; call (%r2), twice, (%r1); ret; }}
"""


@pytest.mark.parametrize(
    ("ptx", "why"),
    [
        (CALLER, "it calls functions"),
        (text("add.u32 %r1, %r1, 1;" * LONGEST), "instructions, more than"),
        (text("setp.eq.u32 %p1, %r1, 3; bar.red.popc.u32 %r2, 0, %p1; st.global.u32 [%d3], %r2;"), "by itself"),
    ],
)
def test_a_kernel_without_hot_code_runs_the_first(monkeypatch: pytest.MonkeyPatch, ptx: str, why: str) -> None:
    program = plan(pl.parse(ptx), "k", semantics.BlockCuts())
    with pytest.raises(NotHot, match=why):
        hot_variant(program, frozenset())
    assert why in hot_plan(program, frozenset())
    assert launched(monkeypatch, "hot", ptx, 64) == launched(monkeypatch, "first", ptx, 64)


def test_the_plan_says_which_accesses_are_in_line() -> None:
    program = plan(pl.parse(text(BODIES["spin"] + BODIES["contiguous"])), "k", semantics.BlockCuts())
    found = hot_plan(program, frozenset())
    assert "`ld.volatile.global.u32 %r2, [%d1];`: a call: others look at it" in found
    assert "`ld.global.u32 %r2, [%d3];`: in line" in found
    assert "no hot code: a tool" in hot_plan(program, frozenset({"racecheck"}))


def test_a_time_limit_is_not_spent_on_hot_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_TIER", "hot")
    monkeypatch.setenv("PTXLOOM_CACHE", "")
    made: list[object] = []

    def hot(*of: object) -> None:
        made.append(of)

    monkeypatch.setattr("ptxloom.machine.compile.hot_variant.hot_variant", hot)
    data = np.zeros(512, np.uint32)
    pl.kernel(pl.parse(text(BODIES["loop"])), "k").launch(1, 32, [data], timeout=60)
    assert data[31] == 57
    assert made == []


def test_a_tier_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_TIER", "warm")
    with pytest.raises(pl.UsageError, match="PTXLOOM_TIER"):
        pl.kernel(pl.parse(text(BODIES["loop"])), "k").launch(1, 32, [np.zeros(99, np.uint32)])
