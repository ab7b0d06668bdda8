"""Numbers along one axis in words: `columns 8 to 15 of every 16`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LISTED: Final = 6  # numbers that are listed one by one
_MOST_PERIOD: Final = 512
_TILES: Final = (256, 128, 64, 32, 16, 8)
_ORDINALS: Final = {2: "second", 3: "third"}


def in_words(chosen: NDArray[np.bool_], noun: str) -> tuple[str, str]:
    """Describe a set of numbers on an axis.

    Args:
        chosen: (extent,) bool: which numbers are in the set.
        noun: The name of one of them.

    Returns:
        The kind (`all`, `block`, `tail`, `periodic`, `some`) and the words; no words for `all`.

    Example:
        >>> in_words(np.arange(32) % 16 >= 8, "column")
        ('periodic', 'columns 8 to 15 of every 16')
        >>> in_words(np.arange(100) >= 96, "row")
        ('tail', 'rows 96 to 99, the tail beyond a multiple of 32')
    """
    extent, numbers = len(chosen), np.flatnonzero(chosen)
    if len(numbers) == extent:
        return "all", ""
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first + 1 == len(numbers):
        tile = _tail(first, extent) if last == extent - 1 else 0
        words = _run(first, last, noun)
        return ("tail", f"{words}, the tail beyond a multiple of {tile}") if tile else ("block", words)
    period = _period(chosen)
    if period:
        return "periodic", _every(np.flatnonzero(chosen[:period]), period, noun)
    return "some", _listed(numbers, noun)


def _run(first: int, last: int, noun: str) -> str:
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


def _tail(first: int, extent: int) -> int:
    """The largest tile that `first` is a multiple of, if what follows does not fill one more; else 0."""
    return next((t for t in _TILES if first and first % t == 0 and extent - first < t), 0)


def _period(chosen: NDArray[np.bool_]) -> int:
    """The smallest number of places after which the choice repeats, at least twice; 0 if it does not."""
    extent = len(chosen)
    for period in range(2, min(extent // 2, _MOST_PERIOD) + 1):
        if np.array_equal(chosen[period:], chosen[:-period]):
            return period
    return 0


def _every(numbers: NDArray[np.intp], period: int, noun: str) -> str:
    first, last = int(numbers[0]), int(numbers[-1])
    if len(numbers) == 1:
        return f"every {_ORDINALS.get(period, f'{period}th')} {noun}, from {first} on"
    if last - first + 1 == len(numbers):
        return f"{_run(first, last, noun)} of every {period}"
    return f"{_listed(numbers, noun)} of every {period}"


def _listed(numbers: NDArray[np.intp], noun: str) -> str:
    shown = [str(n) for n in numbers[:_LISTED].tolist()]
    if len(numbers) > _LISTED:
        return f"{len(numbers):,} {noun}s, the first {', '.join(shown)}"
    return f"{noun}s {', '.join(shown[:-1])} and {shown[-1]}"
