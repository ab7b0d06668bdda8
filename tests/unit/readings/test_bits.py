"""Each operation on partly known values against the same operation on all the values that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.readings import bits
from ptxloom.readings.bits import FULL, Bits, Level, made

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH = 6
INSIDE = (1 << WIDTH) - 1
numbers = st.integers(0, INSIDE)


@st.composite
def partly_known(draw: st.DrawFn) -> Bits:
    """A value of few bits: each 0, 1, the same in all lanes, or different."""
    zeros, ones, varies = draw(numbers), draw(numbers), draw(numbers)
    ones &= ~zeros
    return made(FULL & ~INSIDE | zeros, ones, varies & ~zeros & ~ones, Level.DIVERGENT)


@st.composite
def pair_of_lanes(draw: st.DrawFn, value: Bits) -> tuple[int, int]:
    """What two lanes may have where such a value is."""
    first, other = draw(numbers), draw(numbers)
    base = first & ~value.zeros & INSIDE | value.ones
    return base, base & ~value.varies | other & value.varies


def signed(value: int) -> int:
    return value - (value >> WIDTH - 1 << WIDTH)


Operation = tuple["Callable[[Bits, Bits], Bits]", "Callable[[int, int], int]"]
OPERATIONS: dict[str, Operation] = {
    "sum": (lambda a, b: bits.total(a, b, WIDTH), lambda a, b: a + b),
    "sum and one": (lambda a, b: bits.total(a, b, WIDTH, 1), lambda a, b: a + b + 1),
    "difference": (lambda a, b: bits.difference(a, b, WIDTH), lambda a, b: a - b),
    "product": (lambda a, b: bits.multiplied(a, b, WIDTH), lambda a, b: a * b),
    "quotient": (lambda a, b: bits.quotient(a, b, WIDTH), lambda a, b: a // b if b else INSIDE),
    "remainder": (lambda a, b: bits.remainder(a, b, WIDTH), lambda a, b: a % b if b else INSIDE),
    "less": (bits.less, lambda a, b: int(a < b)),
    "equal": (bits.equal, lambda a, b: int(a == b)),
    "signed less": (
        lambda a, b: bits.less(bits.signed(a, WIDTH), bits.signed(b, WIDTH)),
        lambda a, b: int(signed(a) < signed(b)),
    ),
    "and": (lambda a, b: bits.combined(0b11000000, a, b), lambda a, b: a & b),
    "or": (lambda a, b: bits.combined(0b11111100, a, b), lambda a, b: a | b),
    "xor": (lambda a, b: bits.combined(0b00111100, a, b), lambda a, b: a ^ b),
    "not": (lambda a, _: bits.inverted(a, WIDTH), lambda a, _: ~a),
    "sign": (lambda a, _: bits.cut(bits.extended(a, WIDTH, 64), 64), lambda a, _: signed(a) & FULL),
    **{
        f"shift by {by}": (
            (lambda a, _, by=by: bits.moved(a, by, WIDTH)),
            (lambda a, _, by=by: a << by if by > 0 else a >> -by),
        )
        for by in (-7, -2, 1, 5, 6)
    },
    **{
        f"signed shift by {by}": (
            (lambda a, _, by=by: bits.shifted_signed(a, by, WIDTH)),
            (lambda a, _, by=by: signed(a) >> by),
        )
        for by in (0, 2, 5, 9)
    },
}


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_every_value_is_covered(name: str, data: st.DataObject) -> None:
    known, exact = OPERATIONS[name]
    a, b = data.draw(partly_known()), data.draw(partly_known())
    said = known(a, b)
    kept = FULL if name == "sign" else INSIDE
    assert said.zeros & said.ones == 0
    assert said.varies & (said.zeros | said.ones) == 0
    for _ in range(4):
        a_lanes, b_lanes = data.draw(pair_of_lanes(a)), data.draw(pair_of_lanes(b))
        one, other = (exact(x, y) & kept for x, y in zip(a_lanes, b_lanes, strict=True))
        assert not one & said.zeros
        assert not ~one & said.ones & kept
        assert not (one ^ other) & ~said.varies
