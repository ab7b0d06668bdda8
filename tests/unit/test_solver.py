"""The one worklist: forwards, backwards, and as far as ways lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from ptxloom.parameter_use import parameter_uses
from ptxloom.solver import nearest, reached, solve
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 8
ways = st.lists(st.lists(st.integers(0, SIZE - 1), max_size=3), min_size=SIZE, max_size=SIZE)


@given(ways, st.sets(st.integers(0, SIZE - 1)))
def test_each_node_holds_all_that_leads_to_it(graph: list[list[int]], starts: set[int]) -> None:
    def step(node: int, value: frozenset[int]) -> Iterator[tuple[int, frozenset[int]]]:
        return ((target, value | {node}) for target in graph[node])

    found = solve({one: frozenset[int]() for one in starts}, step, lambda one, other: one | other)
    assert found.keys() == reached(starts, graph.__getitem__).keys()
    for node, held in found.items():
        expected = {one for one in found if node in reached(graph[one], graph.__getitem__)}
        assert held == expected


@given(ways, st.integers(0, SIZE - 1))
def test_what_is_reached_is_closed_and_connected(graph: list[list[int]], start: int) -> None:
    found = list(reached((start,), graph.__getitem__))
    assert found[0] == start
    assert {target for one in found for target in graph[one]} <= set(found)
    for at, one in enumerate(found[1:], 1):
        assert any(one in graph[before] for before in found[:at])


@given(ways, st.integers(0, SIZE - 1))
def test_the_nearest_come_first(graph: list[list[int]], start: int) -> None:
    found = list(nearest((start,), graph.__getitem__))
    assert sorted(found) == sorted(reached((start,), graph.__getitem__))
    distance = {start: 0}
    for one in found:
        for target in graph[one]:
            distance.setdefault(target, distance[one] + 1)
    assert [distance[one] for one in found] == sorted(distance.values())


def test_what_follows_is_not_looked_up_before_it_is_wanted() -> None:
    seen: list[int] = []

    def following(one: int) -> tuple[int]:
        seen.append(one)
        return (one + 1,)

    ways = nearest((0,), following)
    assert [next(ways) for _ in range(3)] == [0, 1, 2]
    assert seen == [0, 1]


def test_a_pointer_is_followed_however_often_a_loop_hands_it_on() -> None:
    """Six registers against the order of the text: four rounds over it were all that was looked at."""
    registers = ".reg .b64 %a<8>; .reg .f32 %f;"
    copies = " ".join(f"mov.u64 %a{n}, %a{n - 1};" for n in range(7, 1, -1))
    body = f"L: ld.global.f32 %f, [%a7]; {copies} ld.param.u64 %a1, [p]; bra L;"
    text = f".entry k(.param .u64 p) {{ {registers} {body} }}"
    assert parameter_uses(parse(text).functions["k"])[0].pointer
