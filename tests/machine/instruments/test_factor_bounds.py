"""Between which places of shared memory a product's factor lies: where its rows are among them."""

from __future__ import annotations

import random

import pytest

from ptxloom.machine.runtime.memory.matrix_layout import (
    ATOM_32B,
    NEXT_IS_ADDRESS,
    ROW_BYTES,
    factor_high,
    factor_low,
    factor_place,
    holds_piece,
    is_invertible,
)

_SWIZZLES = [mode << 62 for mode in range(4)] + [ATOM_32B << 61, NEXT_IS_ADDRESS | 1 << 62]


@pytest.mark.parametrize("swizzle", _SWIZZLES)
@pytest.mark.parametrize("across", [0, 1])
def test_every_row_lies_between_the_bounds(swizzle: int, across: int) -> None:
    """Whatever the offsets, the first line and the shape."""
    rng = random.Random(swizzle >> 60 | across)
    for _ in range(200):
        most = rng.choice([64, 1 << 10, 1 << 14])
        start, leading, stride = (rng.randrange(most) for _ in range(3))
        descriptor = swizzle | start | leading << 16 | stride << 32 | rng.randrange(8) << 49
        first, lines, parts, rows = (rng.randrange(8), rng.randint(1, 32), rng.randint(1, 8), rng.randint(1, 8))
        low, high = factor_low(descriptor), factor_high(descriptor, first + lines, parts, across)
        places = [
            factor_place(descriptor, first + line, column, row, across)
            for line in range(lines)
            for column in range(parts)
            for row in range(rows)
        ]
        assert low <= min(places)
        assert max(places) + ROW_BYTES <= high


@pytest.mark.parametrize("swizzle", _SWIZZLES)
@pytest.mark.parametrize("across", [0, 1])
def test_a_piece_is_found_where_a_row_lies(swizzle: int, across: int) -> None:
    """By arithmetic, where core matrices do not overlap, as by going through all rows."""
    rng = random.Random(swizzle >> 60 | across)
    inverted = 0
    for _ in range(60):
        start, leading, stride = (rng.choice([1, 8, 16, 24, 32, 64, 96, 128]) * rng.randint(1, 3) for _ in range(3))
        descriptor = swizzle | start | leading << 16 | stride << 32 | rng.randrange(8) << 49
        first, lines, parts, rows = (rng.randrange(8), rng.randint(1, 9), rng.randint(1, 4), rng.randint(1, 8))
        if not is_invertible(descriptor, first + lines, across):
            continue
        inverted += 1
        places = {
            factor_place(descriptor, first + line, column, row, across)
            for line in range(lines)
            for column in range(parts)
            for row in range(rows)
        }
        near = {place + by for place in places for by in (-128, -ROW_BYTES, 0, ROW_BYTES, 112, 1024) if place + by >= 0}
        found = {at for at in near if holds_piece(descriptor, first, lines, parts, rows, across, at)}
        assert found == places
    assert inverted > 5 or swizzle in {ATOM_32B << 61, NEXT_IS_ADDRESS | 1 << 62}
