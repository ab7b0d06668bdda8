"""Ways that end in a trap only are no ways."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from ptxloom.flow import flow_graph
from ptxloom.flow.control import Control
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.flow.graph import FlowGraph

SIZE = 9
statements = st.sampled_from(("bra L{0};", "@%p bra L{0};", "brx.idx %r, T;", "trap;", "@%p trap;", "ret;", "@%p ret;"))
bodies = st.lists(st.tuples(statements, st.integers(0, SIZE - 1)), min_size=SIZE, max_size=SIZE)
tables = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=4)


def graph_of(lines: list[str], table: list[int]) -> FlowGraph:
    targets = f"T: .branchtargets {', '.join(f'L{one}' for one in table)};"
    text = " ".join(f"L{at}: {line}" for at, line in enumerate(lines))
    return flow_graph(parse(f".entry k() {{ .reg .pred %p; .reg .b32 %r; {targets} {text} trap; }}").functions["k"])


@given(bodies, tables)
def test_ways_into_what_ends_in_a_trap_are_left_out(body: list[tuple[str, int]], table: list[int]) -> None:
    graph = graph_of([line.format(target) for line, target in body], table)
    blocks, end = graph.blocks, len(graph.blocks)
    ways = [
        (*after, end) if blocks[at].leaves and not blocks[at].is_fatal else after
        for at, after in enumerate(graph.successors)
    ]
    doomed = set[int]()
    while new := {at for at, after in enumerate(ways) if all(one in doomed for one in after)} - doomed:
        doomed |= new
    assert Control(graph).ways == [tuple(one for one in after if one not in doomed) for after in ways]


def test_a_table_of_traps_takes_time_by_its_length() -> None:
    """In the wrong order each trap looked at all of the table: 1.3 s for 6,000."""

    def seconds(count: int) -> float:
        graph = graph_of(["brx.idx %r, T;", *["trap;"] * count], list(range(count, 0, -1)))
        assert graph.predecessors
        start = time.process_time()
        assert not any(Control(graph).ways)
        return time.process_time() - start

    assert min(seconds(8000) for _ in range(3)) < 8 * max(min(seconds(2000) for _ in range(3)), 1e-3)
