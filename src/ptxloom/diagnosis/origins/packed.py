"""The width of elements extracted from an array's: fewer bits than its own if several are packed in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers

_BYTE = 8  # bits


def first_bits(origins: NDArray[Any]) -> Integers:
    """The first bit of each origin, counted from the start of its array's element."""
    first: Integers = origins["byte"].astype(np.int64) * _BYTE + origins["bit"]
    return first


def unit_bits_of(first: Integers, bits: int) -> int:
    """The bits of the elements that begin at these bits of an array's: the largest power of two that divides all.

    Args:
        first: The first bit of each, as `first_bits` counts.
        bits: The bits of an element of the array.
    """
    joined = int(np.bitwise_or.reduce(first, axis=None)) if first.size else 0
    return min(joined & -joined, bits) or bits
