"""Memory that one launch leaves to the next: the host clears each new page, which takes as long as filling it."""

from __future__ import annotations

import contextlib
import mmap
import weakref
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.machine.memory.arena import pages

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST: Final = 1 << 29  # bytes that may lie unused
_LEFT: Final[list[mmap.mmap]] = []


def left_over(size: int, what: str) -> NDArray[np.uint8]:
    """Memory with any contents, aligned to pages. Once nothing refers to it, it is kept for the next that is as large.

    As long as it is kept, the host may take its pages back.

    Raises:
        OutOfHostMemory: The host does not have it.
    """
    room = next((one for one in _LEFT if len(one) == size), None)
    try:
        if room is not None:
            _LEFT.remove(room)
    except ValueError:  # another thread was faster
        room = None
    if room is None:
        room = pages(size, what)
    array: NDArray[np.uint8] = np.frombuffer(room, np.uint8)
    weakref.finalize(array, _leave, room).atexit = False
    return array


def _leave(room: mmap.mmap) -> None:
    """Keep memory that nothing refers to; what has lain unused for longest is dropped for it."""
    if hasattr(mmap, "MADV_FREE"):
        with contextlib.suppress(OSError):  # a host that does not know it
            room.madvise(mmap.MADV_FREE)
    _LEFT.append(room)
    while sum(map(len, _LEFT)) > _MOST:
        _LEFT.pop(0)
