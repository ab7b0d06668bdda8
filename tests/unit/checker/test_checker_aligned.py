"""The warning about `.aligned` instructions that a part of a warp may come by: where it points, where it is silent."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.diagnostics import Diagnostic, Severity
from ptxloom.syntax import parse

HEAD = """.version 9.0
.target sm_90a
.address_size 64
.shared .align 16 .b8 tile[1024];
.func helper() {
  bar.sync 0;
  ret;
}
.func quiet() {
  ret;
}
.visible .entry k(.param .u32 n) {
  .reg .pred p, q, w; .reg .u32 t, lane, warp, n0, i; .reg .b32 r<4>;
  mov.u32 t, %tid.x; and.b32 lane, t, 31; shr.u32 warp, t, 5; ld.param.u32 n0, [n];
  setp.eq.u32 p, lane, 0;
  setp.eq.u32 w, warp, 1;
"""


def warnings(body: str) -> list[Diagnostic]:
    found = check(parse(f"{HEAD}{body}\n}}\n"))
    assert all(one.rule == "divergent-aligned" and one.severity is Severity.WARNING for one in found)
    return list(found)


BOUND = ".reg .u32 end; add.u32 end, n0, t;"
AGAIN = "setp.lt.u32 q, i, end; @q bra L; ret;"

TABLE = "T: .branchtargets A, B;"

SILENT = {
    "a whole warp": "@w bra A; bar.sync 1, 32; A: ret;",
    "a guard of a whole warp": "@w bar.sync 1, 32; ret;",
    "all lanes again": "@p bra A; mov.u32 i, 1; A: bar.sync 0; ret;",
    "no need of a whole warp": "@p bra A; barrier.sync 0; bar.warp.sync 1; A: ret;",
    "a trap": "@p bra A; bar.sync 0; ret; A: trap;",
    "a call of a function without": "@p bra A; call quiet; A: ret;",
    "unknown": "@q bra A; bar.sync 0; A: ret;",
    "after a loop": "mov.u32 i, 0; L: add.u32 i, i, 1; setp.lt.u32 q, i, lane; @q bra L; bar.sync 0; ret;",
    "a loop that ends for all at once": f"{BOUND} mov.u32 i, t; L: bar.sync 0; add.u32 i, i, n0; {AGAIN}",
    "until it meets its bound": f"{BOUND} mov.u32 i, t; L: bar.sync 0; add.u32 i, i, n0; {AGAIN.replace('lt', 'ne')}",
    "downwards": f"{BOUND} mov.u32 i, end; L: bar.sync 0; sub.u32 i, i, n0; setp.gt.u32 q, i, t; @q bra L; ret;",
    "a copy in the loop": f"{BOUND} mov.u32 i, t; L: bar.sync 0; mov.u32 r0, i; add.u32 i, r0, n0; {AGAIN}",
    "one of two steps for all": (
        f"{BOUND} mov.u32 i, t; L: bar.sync 0; @w bra A; add.u32 i, i, 1; A: add.u32 i, i, n0; {AGAIN}"
    ),
    "a list that branches share": (f"{TABLE} @w bra C; brx.idx n0, T; C: brx.idx warp, T; A: bar.sync 1, 32; B: ret;"),
    "unreachable": "ret; @p bra A; bar.sync 0; A: ret;",
    "a label that is not there": "@p bra NOWHERE; bar.sync 0; ret;",
}


@pytest.mark.parametrize("name", SILENT)
def test_silent(name: str) -> None:
    found = check(parse(f"{HEAD}{SILENT[name]}\n}}\n"))
    assert [one for one in found if one.rule == "divergent-aligned"] == []


LOUD = {
    "a branch": ("@p bra A; bar.sync 0; A: ret;", "bar.sync", ["@p bra A;", "mov.u32 t, %tid.x;"]),
    "a guard": ("@!p bar.red.popc.u32 i, 0, q; ret;", "bar.red.popc.u32", ["mov.u32 t, %tid.x;"]),
    "an early end": ("@p ret; barrier.sync.aligned 0; ret;", "barrier.sync.aligned", ["@p ret;", "mov.u32 t, %tid.x;"]),
    "a matrix move": (
        "@p bra A; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [tile]; A: ret;",
        "ldmatrix.sync.aligned",
        ["@p bra A;", "mov.u32 t, %tid.x;"],
    ),
    "a loop": (
        "mov.u32 i, 0; L: bar.sync 0; add.u32 i, i, 1; setp.lt.u32 q, i, lane; @q bra L; ret;",
        "bar.sync",
        ["@q bra L;", "mov.u32 t, %tid.x;"],
    ),
    "a call": ("@p bra A; call helper; A: ret;", "call", ["@p bra A;", "mov.u32 t, %tid.x;"]),
    "what a lane loads": (
        "ld.shared.u32 i, [t]; setp.eq.u32 q, i, 0; @q bra A; bar.sync 0; A: ret;",
        "bar.sync",
        ["@q bra A;", "mov.u32 t, %tid.x;"],
    ),
    "a result of each lane": (
        "atom.shared.add.u32 i, [tile], 1; setp.eq.u32 q, i, 0; @q bra A; bar.sync 0; A: ret;",
        "bar.sync",
        ["@q bra A;", "atom.shared.add.u32 i, [tile], 1;"],
    ),
    "control that reaches a value": (
        "mov.u32 i, 0; @p bra B; mov.u32 i, 1; B: setp.eq.u32 q, i, 0; @q bra A; bar.sync 0; A: ret;",
        "bar.sync",
        ["@q bra A;", "mov.u32 t, %tid.x;"],
    ),
    "a list that branches share": (
        f"{TABLE} @q bra C; brx.idx warp, T; C: brx.idx lane, T; A: bar.sync 0; B: ret;",
        "bar.sync",
        ["brx.idx lane, T;", "mov.u32 t, %tid.x;"],
    ),
    "an index by the way that lanes came": (
        f"{TABLE} @p bra C; mov.u32 i, 0; brx.idx i, T; C: mov.u32 i, 1; brx.idx i, T; A: bar.sync 0; B: ret;",
        "bar.sync",
        ["brx.idx i, T;", "mov.u32 t, %tid.x;"],
    ),
    "a guard of a branch through a list": (
        f"{TABLE} @p brx.idx n0, T; A: bar.sync 0; B: ret;",
        "bar.sync",
        ["@p brx.idx n0, T;", "mov.u32 t, %tid.x;"],
    ),
}


STEPS = {
    "a bound for all": f"{BOUND} mov.u32 i, t; L: bar.sync 0; add.u32 i, i, n0; {AGAIN.replace('end', 'n0')}",
    "a step for each": f"{BOUND} mov.u32 i, t; L: bar.sync 0; add.u32 i, i, t; {AGAIN}",
    "some step once more": f"{BOUND} mov.u32 i, t; L: bar.sync 0; @p add.u32 i, i, 1; add.u32 i, i, n0; {AGAIN}",
    "some step further": (
        f"{BOUND} mov.u32 i, t; L: bar.sync 0; @p bra A; add.u32 i, i, 1; A: add.u32 i, i, n0; {AGAIN}"
    ),
    "two ways to step": (
        f"{BOUND} mov.u32 i, t; L: bar.sync 0; @p bra A; add.u32 r0, i, 1; bra B; A: add.u32 r0, i, n0; "
        f"B: mov.u32 i, r0; {AGAIN}"
    ),
    "another start": f"{BOUND} mov.u32 i, lane; L: bar.sync 0; add.u32 i, i, n0; {AGAIN}",
    "a sum with itself": f"{BOUND} add.u32 i, t, t; L: bar.sync 0; add.u32 i, i, n0; {AGAIN}",
}


@pytest.mark.parametrize("name", STEPS)
def test_loops_that_lanes_leave_at_different_times(name: str) -> None:
    (found,) = warnings(STEPS[name])
    assert found.span.text == "bar.sync"
    assert found.related[0].span.text == "@q bra L;"


@pytest.mark.parametrize("name", LOUD)
def test_loud(name: str) -> None:
    body, where, related = LOUD[name]
    (found,) = warnings(body)
    assert found.span.text == where
    assert [label.span.text for label in found.related] == related


def test_one_warning_a_branch() -> None:
    found = warnings("@p bra A; bar.sync 0; bar.sync 1; A: @w bra B; @p bra B; bar.sync 2; B: ret;")
    assert [(one.span.text, one.label) for one in found] == [
        ("bar.sync", "and 1 more `.aligned` instruction"),
        ("bar.sync", "some lanes may not get here"),
    ]


def test_a_comment_silences_it() -> None:
    assert warnings("@p bra A;\nbar.sync 0; // ptxloom: ignore[divergent-aligned]\nA: ret;") == []


def test_an_assertion_that_fails_ends_the_kernel() -> None:
    text = HEAD.replace(".func helper", ".extern .func __assertfail(.param .b64 m);\n.func helper")
    body = "@p bra A; { .param .b64 m; call __assertfail, (m); } A: bar.sync 0; ret;"
    assert [one.rule for one in check(parse(f"{text}{body}}}"))] == []
