"""Possible byte strides of an index in an address: those of the launch's arrays, and numbers that it passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_MOST: Final = 24
_LARGEST: Final = 1 << 20


def strides_of(arrays: Iterable[NDArray[Any]], numbers: Sequence[int], own: Iterable[int]) -> list[int]:
    """Bytes, the likeliest first.

    Args:
        arrays: Those that the launch passes.
        numbers: The integers that it passes.
        own: Integers that the kernel itself has.
    """
    arrays = list(arrays)
    sizes = sorted({one.itemsize for one in arrays}) or [4]
    strides = [stride for one in arrays for stride in one.strides]
    scaled = [size * number for size in sizes for number in (1, 2, *numbers, *own)]
    found = dict.fromkeys(one for one in (*strides, *scaled) if 0 < one < _LARGEST)
    return list(found)[:_MOST]
