"""Dominators, loops and blocks against their definitions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_files import CorpusFile, corpus_files
from ptxloom.flow import FlowGraph, flow_graph, flow_graphs
from ptxloom.flow.dominance import immediate_dominators, reachable, reverse_postorder
from ptxloom.syntax import instructions, parse
from sweeps import examples

SIZES = st.integers(1, 9)
WAYS = SIZES.flatmap(
    lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=3, unique=True), min_size=size, max_size=size)
)


def without(ways: list[list[int]], node: int) -> list[list[int]]:
    return [[] if at == node else [to for to in after if to != node] for at, after in enumerate(ways)]


@settings(max_examples=examples(100), deadline=None)
@given(WAYS)
def test_dominators_are_what_the_definition_says(ways: list[list[int]]) -> None:
    size = len(ways)
    live = reachable(ways, 0)
    strict: dict[int, set[int]] = {
        node: {one for one in live if one not in {node, 0} and node not in reachable(without(ways, one), 0)}
        | ({0} if node else set[int]())
        for node in live
    }
    found = immediate_dominators(ways, 0)
    for node in range(size):
        if node not in live or not strict[node]:
            assert found[node] is None
        else:  # the immediate one is dominated by all the others
            immediate = found[node]
            assert immediate is not None
            assert immediate in strict[node]
            assert strict[node] - {immediate} <= strict[immediate]


@settings(max_examples=examples(100), deadline=None)
@given(WAYS)
def test_in_reverse_postorder_only_cycles_lead_back(ways: list[list[int]]) -> None:
    order = reverse_postorder(ways, 0)
    assert sorted(order) == sorted(reachable(ways, 0))
    place = {node: at for at, node in enumerate(order)}
    for node in order:
        for target in ways[node]:
            assert place[target] > place[node] or node in reachable(ways, target)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A body of guarded and plain branches among labels."""
    size = draw(st.integers(1, 8))
    lines: list[str] = []
    for number in range(size):
        guard = draw(st.sampled_from(("", "@%p ", "@!%p ")))
        target = draw(st.integers(0, size - 1))
        ending = draw(st.sampled_from((f"bra L{target};", f"bra L{target};", "ret;", "exit;", "mov.u32 a, 1;")))
        lines.append(f"L{number}: {guard}{ending}")
    return "\n".join(lines)


@settings(max_examples=examples(100), deadline=None)
@given(programs())
def test_graphs_of_programs(body: str) -> None:
    graph = flow_graph(parse(f".entry k() {{ {body} }}").functions["k"])
    size = len(graph.blocks)
    ways = [list(after) for after in graph.successors]
    for first in range(size):
        for second in set(graph.order):
            cut_off = first == second or second not in reachable(without(ways, first), 0)
            assert graph.dominates(first, second) == (cut_off if first or second else True)
    for loop in graph.loops:
        assert all(graph.dominates(loop.header, one) for one in loop.blocks)
        assert all(loop.header in graph.successors[one] for one in loop.latches)
        outer = [one for one in graph.loops if loop.header in one.blocks]
        assert loop.depth == len(outer)
    cyclic = {one for one in graph.order if any(one in reachable(ways, after) for after in ways[one])}
    if not graph.irreducible:
        assert cyclic == {one for loop in graph.loops for one in loop.blocks}
    assert_postdominators(graph)


def assert_postdominators(graph: FlowGraph) -> None:
    """Of the blocks that can end: every way to the end goes through the postdominator."""
    end = len(graph.blocks)
    ways = [
        [*after, *([end] if block.leaves else [])] for block, after in zip(graph.blocks, graph.successors, strict=True)
    ]
    ways.append([])
    if any(end not in reachable(ways, one) for one in range(end)):
        return  # the end of an endless loop is a matter of taste
    for block in range(end):
        after = {one for one in range(end) if one != block and end not in reachable(without(ways, one), block)}
        found = graph.postdominators[block]
        assert (found in after) if after else found is None
        if found is not None:
            assert all(one == found or end not in reachable(without(ways, one), found) for one in after)


@pytest.mark.sample(every=21)
@pytest.mark.parametrize("file", corpus_files(), ids=lambda file: file.name)
def test_every_instruction_of_the_corpus_is_in_one_block(file: CorpusFile) -> None:
    module = parse(file.read())
    for graph in flow_graphs(module):
        inside = [one for block in graph.blocks for one in block.instructions]
        assert [one.start for one in inside] == [one.start for one in instructions(graph.function)]
        assert graph.unresolved == ()
        assert graph.irreducible == ()
