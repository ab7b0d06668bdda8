"""Between which places of shared memory a product's factor lies: what racecheck looks at before it goes row by row."""

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
