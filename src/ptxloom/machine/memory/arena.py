"""Host memory: the source of every allocation of a run, within its budget."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.diagnostics import UsageError
from ptxloom.machine.native.host_memory import PRIVATE, OutOfHostMemory, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALIGNMENT: Final = 64
_PIECE: Final = 1 << 16  # what an arena takes from NumPy at a time, which is slow
_SMALL_PAGES: Final = 1 << 20  # bytes
MEMORY_LIMIT: Final = 1 << 48
"""The most bytes that a limit of memory can be."""
STATE: Final = "what the run keeps of itself"


class OverBudget(UsageError):  # noqa: N818 - names what happened, as UnsupportedForm does
    """A run needs more memory than its limit."""


class Budget:
    """A run's budget of the host's memory, and how much each part has taken.

    Attributes:
        limit: Bytes.
        taken: Bytes so far.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = default_limit() if limit is None else limit
        self.taken = 0
        self._shares: dict[str, int] = {}

    def charge(self, what: str, size: int) -> None:
        """Charge another `size` bytes to `what`.

        Raises:
            OverBudget: They are more than the run may have; the message names the largest shares.
        """
        if self.taken + size > self.limit:
            shares = {**self._shares, what: self._shares.get(what, 0) + size}
            most = sorted(shares.items(), key=lambda share: -share[1])[:3]
            told = ", ".join(f"{bytes_:,} for {name}" for name, bytes_ in most if bytes_)
            raise OverBudget("memory_limit", self.limit, f"at least {self.taken + size:,} bytes: {told}")
        self.taken += size
        self._shares[what] = self._shares.get(what, 0) + size


@cache
def default_limit() -> int:
    """Half the memory that was available to this process at the first call."""
    return total() // 2


def zeroed(size: int, alignment: int, what: str) -> NDArray[np.uint8]:
    """Zeroed memory that starts at a multiple of `alignment`; the host commits it where it is touched.

    Raises:
        OutOfHostMemory: The host does not have it.
    """
    if size > _SMALL_PAGES and alignment <= mmap.PAGESIZE:
        return np.frombuffer(_pages(size, what), np.uint8)
    try:
        raw = np.zeros(size + alignment, np.uint8)
    except MemoryError:
        raise OutOfHostMemory(size, what) from None
    start: int = -raw.ctypes.data % alignment
    view: NDArray[Any] = raw[start : start + size]
    return view


def _pages(size: int, what: str) -> mmap.mmap:
    """Pages of zeros from the host itself: the C library fills memory that it has had before, touched or not."""
    try:
        return mmap.mmap(-1, size, **PRIVATE)
    except (OSError, ValueError, OverflowError):
        raise OutOfHostMemory(size, what) from None


def zeroed_widely(size: int, what: str) -> NDArray[np.uint8]:
    """Zeroed memory, aligned to 64, of which a large part may be used at once: large pages follow its start.

    The host commits and finds such pages faster. Launches that use only the start, as small ones do, touch small pages.

    Raises:
        OutOfHostMemory: The host does not have it.
    """
    if size <= _SMALL_PAGES or not hasattr(mmap, "MADV_HUGEPAGE"):
        return zeroed(size, _ALIGNMENT, what)
    return np.frombuffer(pages(size, what), np.uint8)


def pages(size: int, what: str) -> mmap.mmap:
    """The same as the host gives it.

    Raises:
        OutOfHostMemory: The host does not have it.
    """
    room = _pages(size, what)
    if size > _SMALL_PAGES and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a host without large pages
            room.madvise(mmap.MADV_HUGEPAGE, _SMALL_PAGES)
    return room


class Arena:
    """Zeroed memory that stays where it is as long as the launch lives, within a budget.

    Attributes:
        budget: Pays for it.
        taken: Bytes so far.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.taken = 0
        self._kept: list[NDArray[np.uint8]] = []
        self._next = self._end = 0  # what is left of the last piece

    def take(self, size: int, what: str = STATE) -> int:
        """The address of `size` zeroed bytes for `what`, aligned to 64.

        Raises:
            OverBudget: The limit does not allow as many.
        """
        size += -size % _ALIGNMENT
        self.budget.charge(what, size)
        self.taken += size
        if size > self._end - self._next:
            if size > _PIECE // 4:
                return self._new(size, what)
            self._next = self._new(_PIECE, what)
            self._end = self._next + _PIECE
        at = self._next
        self._next += size
        return at

    def _new(self, size: int, what: str) -> int:
        self._kept.append(zeroed(size, _ALIGNMENT, what))
        at: int = self._kept[-1].ctypes.data
        return at

    def put(self, data: NDArray[Any] | bytes) -> int:
        """The address of a copy of some bytes."""
        content = data if isinstance(data, bytes) else data.tobytes()
        at = self.take(len(content))
        ctypes.memmove(at, content, len(content))
        return at

    def image(self) -> tuple[tuple[int, bytes], ...]:
        """Where its memory is, and its contents."""
        return tuple((int(kept.ctypes.data), kept.tobytes()) for kept in self._kept)


def put_back(image: tuple[tuple[int, bytes], ...]) -> None:
    """Restore memory to what it was when the image was taken."""
    for at, content in image:
        ctypes.memmove(at, content, len(content))
