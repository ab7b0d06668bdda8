"""Loops and branches inside each other: what is reported of a nest costs as much as its text, however deep it is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import pytest

from fuzz.counted import assert_linear, body, numbered
from ptxloom.checker import check
from ptxloom.diagnostics import UsageError
from ptxloom.difference.comparing import compare
from ptxloom.flow import flow_graphs
from ptxloom.flow.loops import natural_loops
from ptxloom.inspection import inspect
from ptxloom.machine import semantics
from ptxloom.machine.compile.variant import translate
from ptxloom.machine.plan.planner import plan
from ptxloom.survey import survey
from ptxloom.syntax import parse
from ptxloom.views.flow import graphs

if TYPE_CHECKING:
    from collections.abc import Callable

    import ptxloom as pl

LANES: Final = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
CTAS: Final = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 0;\n"


def nest(start: str, inside: str, end: str = "setp.lt.s32 %p1, %r1, #;\n@%p1 bra L#;\n") -> Callable[[int], str]:
    """Loops each of which is the last thing that the one around it begins."""

    def make(count: int) -> str:
        backwards = (end.replace("#", str(number)) for number in reversed(range(count)))
        return start + numbered(f"L#:\n{inside}")(count) + "".join(backwards)

    return make


FAMILIES: Final[dict[str, Callable[[int], str]]] = {
    "loops that lanes leave apart": nest(LANES, "add.s32 %r2, %r2, 1;\n"),
    "loops that lanes leave apart, with barriers": nest(LANES, "add.s32 %r2, %r2, 1;\nbar.sync 0;\n"),
    "loops that lanes leave together, with barriers": nest(CTAS, "add.s32 %r2, %r2, 1;\nbar.sync 0;\n"),
    "loops that count": nest(
        LANES, "add.s32 %r2, %r2, %r1;\nbar.sync 0;\n", "setp.lt.s32 %p1, %r2, #;\n@%p1 bra L#;\n"
    ),
    "loops with counters of their own": lambda n: (
        f".reg .b32 %x<{n + 1}>;\n"
        + nest(
            LANES,
            "mov.u32 %x#, 0;\nM#:\nbar.sync 0;\n",
            "add.s32 %x#, %x#, %r1;\nsetp.lt.s32 %p1, %x#, 9;\n@%p1 bra M#;\n",
        )(n)
    ),
    "loops that are left from within": nest(LANES, "bar.sync 0;\n@%p2 bra END;\n", "@%p1 bra L#;\n"),
    "branches inside each other": lambda n: (
        LANES
        + numbered("setp.lt.s32 %p1, %r1, #;\n@%p1 bra M#;\nbar.sync 0;\n")(n)
        + "".join(f"M{number}:\nadd.s32 %r2, %r1, {number};\n" for number in reversed(range(n)))
    ),
}


def module(text: str) -> pl.Module:
    return parse(body(f"{text}END:\n"), "k.ptx")


def translated(read: pl.Module) -> None:
    made = plan(read, "k", semantics.BlockCuts())
    translate(made, whole=True)
    translate(made, whole=False, checks=frozenset({"memcheck", "racecheck", "initcheck", "synccheck"}))


def drawn(read: pl.Module) -> None:
    for graph in flow_graphs(read, marks=False):
        graphs.full(graph)
    graphs.dot(flow_graphs(read, marks=False))


USES: Final[dict[str, Callable[[pl.Module], object]]] = {
    "check": check,
    "inspect": inspect,
    "survey": lambda read: [one.loops for one in survey(read).functions],
    "graph": drawn,
    "diff": lambda read: compare(read, module("add.s32 %r1, %r1, 1;\n")),
    "run": translated,
}


@pytest.mark.sample(every=7)
@pytest.mark.skipif(sys.getprofile() is not None, reason="a profiler is at work")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("use", USES)
def test_a_nest_costs_as_much_as_its_text(use: str, family: str) -> None:
    assert_linear(lambda count: lambda: USES[use](module(FAMILIES[family](count))))


def test_json_of_a_nest_has_a_limit() -> None:
    """Each loop lists the blocks of those in it, so their depth and not the blocks decides how long the lists are."""
    make = FAMILIES["loops that lanes leave apart"]
    graphs.as_json(flow_graphs(module(make(100)), marks=False))
    with pytest.raises(UsageError, match="in JSON"):
        graphs.as_json(flow_graphs(module(make(2000)), marks=False))


def test_a_table_shows_the_innermost_loops() -> None:
    [graph] = flow_graphs(module(FAMILIES["loops that lanes leave apart"](10)), marks=False)
    assert "  ... 2 more, 3 4 5 6 7 8 9 10  " in graphs.full(graph)
    [graph] = flow_graphs(module(FAMILIES["loops that lanes leave apart"](8)), marks=False)
    assert "  1 2 3 4 5 6 7 8  " in graphs.full(graph)


def test_loops_hold_what_leads_back_to_them() -> None:
    """By the definition, on loops beside and inside each other: what comes to a latch without the header."""
    text = nest(LANES, "@%p1 bra N#;\nadd.s32 %r2, %r2, 1;\nN#:\n")(5) + numbered("K#:\n@%p1 bra K#;\n@%p2 bra L2;\n")(
        3
    )
    [graph] = flow_graphs(module(text), marks=False)
    loops = natural_loops(graph.order, graph.successors, graph.predecessors, graph.dominates)
    assert len(loops) == 8
    for number, loop in enumerate(loops):
        waiting, inside = list(loop.latches), {loop.header}
        while waiting:
            at = waiting.pop()
            if at not in inside:
                inside.add(at)
                waiting += graph.predecessors[at]
        assert loop.blocks == inside
        assert len(loop.blocks) == len(inside)
        within = [one for one in loops if one.outer == number]
        assert {*loop.own} == inside - {block for one in within for block in one.blocks}
        assert all(one.depth == loop.depth + 1 and one.header in loop.blocks for one in within)
