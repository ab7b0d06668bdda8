"""Addresses of this process that take memory of the host where they are touched."""

from __future__ import annotations

import mmap
import sys
from typing import Final

import numpy as np

from ptxloom.machine.native.host_memory import OutOfHostMemory

_PAGE: Final = mmap.PAGESIZE
# addresses alone: the host need not have the memory. Python 3.11 does not name the flag, whose value is Linux's
_NO_RESERVE: Final[int] = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
_UNSHARED: Final[dict[str, int]] = (
    {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE}
)


class Reserved:
    """Addresses reserved in this process (`device_memory.Region`): as many as the host has, up to `most`.

    Raises:
        OutOfHostMemory: The host has less than `least`.
    """

    def __init__(self, least: int, most: int) -> None:
        self._map, self.nbytes = _mapped(least, most)
        self.bytes = np.frombuffer(self._map, np.uint8)
        self.address: int = self.bytes.ctypes.data

    def forget(self, start: int, size: int) -> None:
        """Clear whole pages, which then take no memory."""
        if hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_DONTNEED, start, size)
        else:
            self.bytes[start : start + size] = 0


def _mapped(least: int, most: int) -> tuple[mmap.mmap, int]:
    """As much as the host has, up to `most`.

    Raises:
        OutOfHostMemory: It has less than `least`.
    """
    size = -(-most // _PAGE) * _PAGE
    while size >= max(least, _PAGE):
        try:
            return mmap.mmap(-1, size, **_UNSHARED), size
        except (OSError, ValueError, OverflowError):
            size = size // 2 // _PAGE * _PAGE
    raise OutOfHostMemory(least, "the memory of a device")
