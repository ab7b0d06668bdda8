"""The core tile, of which every fragment newer than Volta is made; `derive` states the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.fragments.model import Axis, Digit

if TYPE_CHECKING:
    from collections.abc import Mapping

    Digits = tuple[Digit, ...]

LINES: Final = 8  # of a core tile
QUAD: Final = 4  # lanes that share a line of a core tile
WORD_BITS: Final = 32


def tile(word: int, along: Axis, line: Axis, extents: Mapping[Axis, int]) -> tuple[Digits, Digits]:
    """The lanes and values of core tiles, words of `word` elements, repeated over lines, along, over matrices."""
    lanes = (*digits(along, word, word * QUAD), *digits(line, 1, LINES))
    repeated = (
        *digits(line, LINES, extents[line]),
        *digits(along, word * QUAD, extents[along]),
        *digits(Axis.MATRIX, 1, extents.get(Axis.MATRIX, 1)),
    )
    return lanes, (*digits(along, 1, word), *repeated)


def digits(axis: Axis, start: int, stop: int) -> Digits:
    """The digits of a coordinate from weight `start` up to, not including, `stop`: binary, except for an odd rest.

    Example:
        >>> [digit[1:] for digit in digits(Axis.COLUMN, 8, 48)]
        [(8, 2), (16, 3)]
    """
    found: list[Digit] = []
    while start < stop:
        radix = 2 if stop // start % 2 == 0 else stop // start
        found.append(Digit(axis, start, radix))
        start *= radix
    return tuple(found)
