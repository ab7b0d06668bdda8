"""Arrays whose rows or columns are made of several of their axes: blocks of columns, heads, tiles, packed words.

`[N / 8, K, 8]` is a matrix of k and n whose n is the first axis and the last one. Of a word of eight weights the number
within the word is an axis, too, which may count anywhere: in each byte of 4-bit weights that come in blocks of 32, the
upper one is 16 further on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise, permutations, product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.origins.tiles import Plane

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.machine.results.provenance import TracedArray

_MOST_AXES: Final = 5
_BLOCKS: Final = (8, 16, 32, 64)  # bytes of packed elements, of which each holds those of two halves of a block
_SEVERAL: Final = 3  # axes, of which a matrix has two


class _Axis(NamedTuple):
    """An axis of an array: how many units apart its indices are, and how many it has."""

    apart: int
    extent: int


def planes_of(array: TracedArray, unit_bits: int) -> Iterator[Plane]:
    """The ways to read an array as a matrix with lines made of several axes.

    The axes of a row, or of a column, count in memory order, except the axis of packed elements: it may count more than
    those outside it, and its own bits may be in another order.

    Args:
        array: The array.
        unit_bits: Bits of an element.
    """
    per = 8 * array.dtype.itemsize // unit_bits
    plain = [_Axis(per * prod(array.shape[n + 1 :]), extent) for n, extent in enumerate(array.shape)]
    axes = [[axis] for axis in plain if axis.extent > 1]
    seen: dict[tuple[object, ...], Plane] = {}
    for several in _packed(axes, per) if per > 1 else [axes]:
        if not _SEVERAL <= len(several) <= _MOST_AXES:
            continue
        for sides in product((True, False), repeat=len(several)):
            rows = [axis for axes, own in zip(several, sides, strict=True) if own for axis in axes]
            columns = [axis for axes, own in zip(several, sides, strict=True) if not own for axis in axes]
            plane = (
                _plane(Plane(array.number, 0, slow_rows=True, lines=0, unit_bits=unit_bits), rows, columns)
                if rows and columns
                else None
            )
            if plane is not None:
                seen.setdefault((plane.pitch, plane.lines, plane.digits), plane)
    times = Counter((plane.pitch, plane.lines) for plane in seen.values())
    for plane in seen.values():
        yield replace(plane, is_one_of_several=times[plane.pitch, plane.lines] > 1)


def _packed(axes: Sequence[list[_Axis]], per: int) -> Iterator[list[list[_Axis]]]:
    """The axes with the packed elements' axis inserted at each position, with one axis cut into blocks or none."""
    bits = [_Axis(1 << bit, 2) for bit in reversed(range(per.bit_length() - 1))]
    for order in permutations(bits):
        for place in range(len(axes), -1, -1):
            yield [*axes[:place], list(order), *axes[place:]]
    for number, ((apart, extent),) in enumerate(axes):
        for block in _BLOCKS:
            if extent <= block or extent % block:
                continue
            cut = [[_Axis(apart * block, extent // block)], [_Axis(apart, block)]]
            several = [*axes[:number], *cut, *axes[number + 1 :]]
            for place in range(len(several), -1, -1):
                yield [*several[:place], bits, *several[place:]]


def _plane(array: Plane, rows: list[_Axis], columns: list[_Axis]) -> Plane | None:
    """The matrix of these axes; None if it is a plain one with consecutive lines."""
    line, lines = prod(axis.extent for axis in columns), prod(axis.extent for axis in rows)
    if _is_straight(columns) and _is_straight(rows) and {columns[-1].apart, rows[-1].apart} & {1}:
        return None
    digits = (*_weighed(rows, line), *_weighed(columns, 1))
    return replace(array, pitch=line, lines=lines, digits=digits)


def _is_straight(axes: Sequence[_Axis]) -> bool:
    """Whether axes are laid out in memory like a single one."""
    return all(first.apart == second.apart * second.extent for first, second in pairwise(axes))


def _weighed(axes: Sequence[_Axis], unit: int) -> Iterator[tuple[int, int, int]]:
    """Each axis with the stride of its indices in the matrix."""
    weight = unit
    for apart, extent in reversed(axes):
        yield apart, extent, weight
        weight *= extent
