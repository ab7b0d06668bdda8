"""Addresses that loads and stores add up for themselves are those that the adds would have given."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.machine import semantics
from ptxloom.machine.compile import variant
from ptxloom.machine.plan import planner

OUT, DATA = np.zeros((2, 1024), np.uint32)  # at the same addresses each time: errors name them
CHECKS = frozenset(("memcheck", "synccheck"))


def text(body: str) -> str:
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 data)
{{
.reg .pred %p<99>; .reg .b32 %r<99>; .reg .b64 %rd<299>;
ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [data]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r3, %r2, 64, %r1; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3;
{body}
ret;
}}"""


def sums(body: str) -> int:
    """How many adds are left to loads and stores."""
    planned = planner.plan(pl.parse(text(body)), "k", semantics.BlockCuts())
    return len({sum_.site for sum_ in planned.sums.values()})


def unsummed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every add made."""

    def none(*_: object) -> dict[int, object]:
        return {}

    monkeypatch.setattr(planner, "find_sums", none)


def result(body: str) -> tuple[Any, str]:
    OUT[:] = 0
    DATA[:] = np.arange(100, 1124)
    try:
        pl.kernel(pl.parse(text(body)), "k").launch(
            2, 64, [OUT, DATA], threads=1
        )  # one CTA reads what the other writes
    except pl.LaunchError as error:
        return OUT.copy(), str(error)
    return OUT.copy(), ""


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("add.s64 %rd5, %rd2, %rd3; ld.global.u32 %r4, [%rd5]; st.global.u32 [%rd4], %r4;", 2),
        ("add.s64 %rd5, %rd3, %rd2; ld.global.v2.u32 {%r4, %r5}, [%rd5+8]; st.global.u32 [%rd4], %r5;", 2),
        (
            "add.s64 %rd5, %rd3, %rd2; ld.u32 %r4, [%rd5+-8]; ld.u32 %r5, [%rd5+16]; st.global.u32 [%rd4], %r5;",
            2,
        ),
        ("add.s64 %rd5, %rd4, 64; st.global.u32 [%rd5], %r1; st.global.u32 [%rd5+4], %r1;", 1),
        ("add.s64 %rd5, %rd2, %rd3; mov.u64 %rd3, 0; ld.global.u32 %r4, [%rd5]; st.global.u32 [%rd4], %r4;", 0),
        ("add.s64 %rd5, %rd2, %rd3; ld.global.u32 %r4, [%rd5]; mov.u64 %rd3, 0; st.global.u32 [%rd4], %r4;", 1),
        (
            "add.s64 %rd5, %rd2, %rd3; ld.global.u32 %r4, [%rd5]; sub.s64 %rd6, %rd5, %rd2; st.u64 [%rd1], %rd6;",
            0,
        ),
        ("add.s64 %rd5, %rd2, %rd3; st.global.u64 [%rd5], %rd5;", 0),
        ("add.s64 %rd5, %rd2, %rd3; bra ON; ON: ld.global.u32 %r4, [%rd5]; st.global.u32 [%rd4], %r4;", 0),
        ("add.s64 %rd3, %rd3, %rd2; ld.global.u32 %r4, [%rd3]; st.global.u32 [%rd4], %r4;", 0),
        ("setp.lt.u32 %p1, %r1, 9; @%p1 add.s64 %rd3, %rd2, %rd3; @%p1 ld.global.u32 %r4, [%rd3];", 0),
        (
            "setp.lt.u32 %p1, %r1, 9; add.s64 %rd5, %rd2, %rd3; @%p1 ld.u32 %r4, [%rd5]; st.global.u32 [%rd4], %r4;",
            2,
        ),
        ("add.s64 %rd5, %rd2, %rd3; ld.shared.u32 %r4, [%rd5];", 0),
        ("add.s64 %rd5, %rd2, %rd3; atom.global.add.u32 %r4, [%rd5], 1;", 0),
        ("add.s64 %rd5, %rd2, %rd3; ld.global.u32 %r4, [%rd5]; st.global.u32 [%rd5], 1; mov.u64 %rd5, 0;", 0),
        ("add.s64 %rd5, %rd2, %rd3; ld.global.u32 %r4, [%rd5+4096];", 1),
        ("add.s64 %rd5, %rd3, -4096; st.global.u32 [%rd5], 1;", 1),
        ("add.s64 %rd5, %rd3, 2; add.s64 %rd6, %rd5, %rd2; st.global.u32 [%rd6], 1;", 1),
    ],
)
def test_what_is_left_and_that_it_makes_no_difference(monkeypatch: pytest.MonkeyPatch, body: str, left: int) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", "")
    assert sums(body) == left
    found = result(body)
    unsummed(monkeypatch)
    made = result(body)
    assert np.array_equal(found[0], made[0])
    assert found[1] == made[1]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("seed", range(6))
def test_random_kernels_write_the_same(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", "")
    rng = random.Random(seed)
    lines: list[str] = []
    for n in range(10, 90):
        source = rng.choice(("%rd2", "%rd1", "64", "1024"))
        varying = rng.choice(("%rd3", f"%rd{n - 1}" if n > 10 and source.isdecimal() else "%rd3"))
        lines.append(f"add.s64 %rd{n}, {varying}, {source if varying == '%rd3' else 4};")
        place = f"%rd{n}" if source.startswith("%") and varying == "%rd3" else "%rd4"
        guard = rng.choice(("", "", "@%p1 ", "@!%p1 "))
        lines.append(rng.choice((f"{guard}ld.global.u32 %r{n}, [{place}+{4 * rng.randrange(64)}];", "")))
        if rng.random() < 0.3:
            lines.append(f"{guard}st.global.u32 [%rd4+{4 * rng.randrange(64, 128)}], %r{rng.randrange(n, n + 1)};")
        if rng.random() < 0.1:
            lines.append(f"setp.gt.u32 %p{n}, %r1, {rng.randrange(64)}; @%p{n} bra L{n}; add.s64 %rd3, %rd3, 4; L{n}:")
        if rng.random() < 0.1:
            lines.append("setp.lt.u32 %p1, %r3, 77; xor.b64 %rd3, %rd3, 4;")
    body = "setp.lt.u32 %p1, %r1, 40;\n" + "\n".join(lines)
    assert sums(body) > 5
    found = result(body)
    unsummed(monkeypatch)
    made = result(body)
    assert np.array_equal(found[0], made[0])
    assert found[1] == made[1]


def test_who_looks_on_sees_every_add() -> None:
    planned = planner.plan(pl.parse(text("st.global.u32 [%rd4], %r1;")), "k", semantics.BlockCuts())
    add = "add <8 x i64>"
    plain, watched, profiled = (
        variant.translate(planned, whole=True, checks=CHECKS | more).ir
        for more in (frozenset[str](), frozenset(("racecheck",)), frozenset(("profile",)))
    )
    assert add not in plain
    assert "add <" in watched
    assert "add <" in profiled
