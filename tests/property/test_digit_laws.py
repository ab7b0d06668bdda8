"""Fragments of any digits: of a warp or a warpgroup, with tiles repeated any number of times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxloom.diagnostics import UsageError
from ptxloom.fragments import Axis, Digit, Evidence, Fragment
from ptxloom.fragments.model import numerals


def fragment_of(lanes: tuple[Digit, ...], values: tuple[Digit, ...]) -> Fragment:
    return Fragment("made up", "d", lanes, values, 32, 32, 0, 32, addressed=False, confirmed=Evidence.DOCUMENTS)


COORDINATES = [Axis.ROW, Axis.COLUMN, Axis.MATRIX]  # an element has one place if no copy of it is held


@st.composite
def fragments(draw: st.DrawFn) -> Fragment:
    """Digits of three axes, dealt to lanes and values; the last one counts to anything."""
    lanes = draw(st.sampled_from([5, 7]))
    axes = draw(st.lists(st.sampled_from(COORDINATES), min_size=lanes + 1, max_size=lanes + 4))
    radix = draw(st.integers(2, 9))
    places = dict.fromkeys(COORDINATES, 0)
    digits: list[Digit] = []
    for axis in axes:
        digits.append(Digit(axis, 1 << places[axis]))
        places[axis] += 1
    last = Digit(draw(st.sampled_from(COORDINATES)), 1, radix)
    last = last._replace(weight=1 << places[last.axis])
    dealt = draw(st.permutations(digits))
    return fragment_of(tuple(dealt[:lanes]), (*dealt[lanes:], last))


@given(fragments())
def test_every_element_has_one_place_and_every_place_one_element(held: Fragment) -> None:
    elements = held.elements
    assert len(elements) == held.lane_count * held.values_per_lane == held.matrices * held.rows * held.columns
    assert len({(e.matrix, e.row, e.column) for e in elements}) == len({(e.lane, e.register) for e in elements})
    for element in elements[:: max(len(elements) // 64, 1)]:
        assert held.holder(matrix=element.matrix, row=element.row, column=element.column) == element
        assert held.where(lane=element.lane, register=element.register) == element
        assert held.at(element.lane, held.value_of(element)) == element


@given(st.integers(0, 1 << 12), st.lists(st.integers(2, 5), min_size=1, max_size=12))
def test_numerals_count_as_their_weights_say(number: int, radices: list[int]) -> None:
    total, weight = 0, 1
    for digit, count in numerals(number, [Digit(Axis.ROW, 1, radix) for radix in radices]):
        assert 0 <= count < digit.radix
        total += count * weight
        weight *= digit.radix
    assert total == number % weight


@pytest.mark.parametrize(
    ("lanes", "values"),
    [
        pytest.param([Digit(Axis.ROW, 1 << n) for n in range(6)], [], id="six digits of lanes"),
        pytest.param([Digit(Axis.ROW, 1 << n) for n in range(5)], [Digit(Axis.ROW, 16)], id="a digit twice"),
        pytest.param([Digit(Axis.ROW, 1 << n) for n in range(5)], [Digit(Axis.COLUMN, 2)], id="a digit left out"),
        pytest.param(
            [Digit(Axis.ROW, 1 << n) for n in range(5)],
            [Digit(Axis.COLUMN, 1, 3), Digit(Axis.COLUMN, 3)],
            id="base three below others",
        ),
    ],
)
def test_digits_that_make_no_map_are_refused(lanes: list[Digit], values: list[Digit]) -> None:
    with pytest.raises(UsageError, match="digits"):
        fragment_of(tuple(lanes), tuple(values))
