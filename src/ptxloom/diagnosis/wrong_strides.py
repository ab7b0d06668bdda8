"""Wrong strides of arrays of any number of axes: the address is linear in the indices, and one coefficient is wrong.

An element's offset is the sum of its indices, each times the stride of its axis. If offsets differ from that by a
multiple of one index, its stride is wrong; if by multiples of two, two axes are exchanged, or both are counted in lines
of a wrong length. Nothing less than an exact fit of all elements is an explanation.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.permutations import Named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.origins.tiles import Integers


class Axis(NamedTuple):
    """An axis of indices.

    Attributes:
        word: What its indices count: "rows" or "columns".
        name: The same more exactly: "blocks of 8 columns".
        stride: How many elements apart its lines are.
    """

    word: str
    name: str
    stride: int


def of_strides(held: Integers, index: Integers, axes: Sequence[Axis], start: int = 0) -> Named | None:
    """The wrong stride that explains all offsets; None if there is none, or they are right.

    Args:
        held: (elements,) the offset of each.
        index: (axes, elements) its right index along each axis.
        axes: The axes.
        start: The offset of the element whose indices are all 0.
    """
    apart = held - start - offsets_at(index, axes)
    if not apart.any():
        return None
    for number, axis in enumerate(axes):
        more = _factor(apart, index[number])
        if more is not None:
            return _of_one(axis, axis.stride + more)
    return next(_of_two(apart, index, axes), None)


def offsets_at(index: Integers, axes: Sequence[Axis]) -> Integers:
    """(elements,) the offsets of elements by their indices, (axes, elements)."""
    return np.asarray(sum(one * axis.stride for one, axis in zip(index, axes, strict=True)), np.int64)


def _factor(apart: Integers, index: Integers) -> int | None:
    """The number that multiplies an index everywhere to give the differences; None if there is none."""
    some = int(np.argmax(index != 0))
    if not index[some] or apart[some] % index[some]:
        return None
    factor = int(apart[some] // index[some])
    return factor if factor and (apart == factor * index).all() else None


def _of_one(axis: Axis, held: int) -> Named:
    if not held:
        return Named(f"{axis.word}-repeated", f"one of the {axis.name} stands for all", 2)
    return Named("leading-dimension", f"{axis.name} are taken to be {held} elements apart; they are {axis.stride}")


def _of_two(apart: Integers, index: Integers, axes: Sequence[Axis]) -> Iterator[Named]:
    """Two axes that are exchanged, or in whose strides one length is wrong."""
    for one, other in combinations(range(len(axes)), 2):
        factors = _factors(apart, index[one], index[other])
        if factors is None:
            continue
        first, second = axes[one], axes[other]
        held = first.stride + factors[0], second.stride + factors[1]
        if held == (second.stride, first.stride):
            yield Named("order-exchanged", f"{first.name} and {second.name} are exchanged", 2)
        elif min(held) > 0 and held[0] * second.stride == held[1] * first.stride:
            said = f"{first.name} and {second.name} are taken to be {held[0]} and {held[1]} elements apart"
            yield Named("leading-dimension", f"{said}; they are {first.stride} and {second.stride}")


def _factors(apart: Integers, one: Integers, other: Integers) -> tuple[int, int] | None:
    """The two numbers, neither 0, that multiply two indices to give the differences; None if there are none."""
    lines = np.unique(np.stack((one, other, apart), axis=1), axis=0)
    one, other, apart = lines.T
    some = int(np.argmax((one != 0) | (other != 0)))
    across = one[some] * other - one * other[some]
    if not across.any():
        return None
    by = int(np.argmax(across != 0))
    bottom = int(across[by])
    first = int(apart[some] * other[by] - apart[by] * other[some])
    second = int(one[some] * apart[by] - one[by] * apart[some])
    if first % bottom or second % bottom or not first or not second:
        return None
    found = first // bottom, second // bottom
    return found if (found[0] * one + found[1] * other == apart).all() else None
