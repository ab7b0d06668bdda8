"""Branches through lists of labels: their cost grows with the lists and the branches, not with the product of both."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import pytest

from fuzz.counted import LARGE, SMALL, assert_linear, body, numbered
from ptxloom.checker import check
from ptxloom.diagnostics import UsageError
from ptxloom.flow import flow_graphs
from ptxloom.machine import semantics
from ptxloom.machine.analysis.definite_assignment import unsure_registers
from ptxloom.machine.compile.variant import translate
from ptxloom.machine.plan.planner import plan
from ptxloom.survey import survey
from ptxloom.syntax import parse
from ptxloom.views.flow import graph_picture, graphs

if TYPE_CHECKING:
    from collections.abc import Callable

    import ptxloom as pl


def table(count: int) -> str:
    return "T: .branchtargets " + ", ".join(f"L{k}" for k in range(count)) + ";\n"


FAMILIES: Final[dict[str, Callable[[int], str]]] = {
    "branches": lambda n: table(n) + numbered("L#:\nadd.s32 %r1, %r1, 1;\nbrx.idx %r1, T;\n")(n),
    "guarded branches": lambda n: table(n) + numbered("L#:\nadd.s32 %r1, %r1, 1;\n@%p1 brx.idx %r1, T;\n")(n),
    "branches out of braces": lambda n: table(n) + numbered("L#:\n{ brx.idx %r1, T; }\n")(n),
}


def aligned(count: int) -> str:
    """Branches on what differs from lane to lane, and instructions that want a whole warp."""
    line = "L#:\nadd.s32 %r1, %r1, 1;\nbar.sync 0;\nbrx.idx %r1, T;\n"
    return table(count) + "mov.u32 %r1, %tid.x;\n" + numbered(line)(count)


def module(text: str) -> pl.Module:
    return parse(body(text), "k.ptx")


def drawn(read: pl.Module) -> None:
    for graph in flow_graphs(read, marks=False):
        assert graph.order
        assert graph.dominators
        graphs.full(graph)
        graphs.as_json([graph])
        graphs.dot([graph])


def compiled(read: pl.Module) -> None:
    program = plan(read, "k", semantics.BlockCuts())
    unsure_registers(program)
    translate(program, whole=True)
    translate(program, whole=False, checks=frozenset({"synccheck"}))


USES: Final[dict[str, Callable[[pl.Module], object]]] = {
    "check": check,
    "survey": survey,
    "graph": drawn,
    "run": compiled,
}


@pytest.mark.skipif(sys.getprofile() is not None, reason="a profiler is at work")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("use", USES)
def test_a_list_of_labels_costs_no_more_the_more_branches_share_it(use: str, family: str) -> None:
    assert_linear(lambda count: lambda: USES[use](module(FAMILIES[family](count))))


def test_a_picture_has_a_limit() -> None:
    """A line takes a place in every row that it passes, so the rows and not the blocks decide its cost."""
    graph_picture.scene(flow_graphs(module(FAMILIES["guarded branches"](50)), marks=False)[0])
    with pytest.raises(UsageError, match="rows in a picture"):
        graph_picture.scene(flow_graphs(module(FAMILIES["guarded branches"](1000)), marks=False)[0])


@pytest.mark.skipif(sys.getprofile() is not None, reason="a profiler is at work")
def test_what_lanes_share_is_found_once_for_a_list() -> None:
    assert_linear(lambda count: lambda: check(module(aligned(count // 10))))


def test_code_and_edges_grow_with_the_list() -> None:
    """What LLVM compiles, and what a graph holds."""

    def size(count: int) -> tuple[int, int]:
        read = module(FAMILIES["branches"](count))
        code = translate(plan(read, "k", semantics.BlockCuts()), whole=True).ir
        return len(code), len(flow_graphs(read)[0].edges)

    (code, edges), (large_code, large_edges) = size(SMALL // 10), size(LARGE // 10)
    assert large_code <= 5 * code
    assert large_edges <= 5 * edges
