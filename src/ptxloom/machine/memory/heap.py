"""The device heap: the memory of a kernel's `malloc` and `free`.

A module has one, which its kernels share as in CUDA those of a context do: what one launch allocates, later ones may
use and free. Blocks start at multiples of 16, with an unused granule behind each. Native code finds the block
at an address through two tables, one entry a granule (`HeapTable`). Freed blocks are not used again until the room is
needed, so that an access to one can be reported.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.machine.memory.arena import zeroed
from ptxloom.machine.memory.piece import Piece
from ptxloom.machine.native import forks, language
from ptxloom.machine.runtime.structs.spans import HeapTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.program.model import Op

DEFAULT_BYTES: Final = 8 << 20  # as in cudaLimitMallocHeapSize
HEAP: Final = "the device heap"  # as budgets and refusals name it
MOST_BYTES: Final = 1 << 32
_GRANULE: Final = 16
_ALIGNMENT: Final = 256
_OWNER, _SIZE = np.dtype(np.uint32), np.dtype(np.uint64)
_LOCK: Final = forks.Lock()  # of every heap: launches of one module may run in several threads


class Maker(NamedTuple):
    """The thread that allocated a block."""

    op: Op
    block: tuple[int, int, int]
    warp: int
    lane: int


class HeapBlock(NamedTuple):
    """A piece that `malloc` returned: `size` bytes from `start`, the `number`th of the heap."""

    start: int
    size: int
    number: int
    maker: Maker

    @property
    def piece(self) -> Piece:
        """The block with its name in reports."""
        return Piece(f"malloc[{self.number}]", self.start, self.size)

    @property
    def room(self) -> int:
        """The bytes that it occupies in the heap."""
        return _room(self.size)


class Heap:
    """The heap of a module.

    Attributes:
        size: Bytes that were requested.
        region: All of it.
        address: Where `spans.HeapTable` lies.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        size -= size % _GRANULE
        count = size // _GRANULE
        self.region = zeroed(size, _ALIGNMENT, HEAP)
        # by granule: 1 + its block's first one, or 0; by first granule of a block: its bytes
        self._owners = zeroed((count + 1) * _OWNER.itemsize, _ALIGNMENT, HEAP).view(_OWNER)
        self._sizes = zeroed((count + 1) * _SIZE.itemsize, _ALIGNMENT, HEAP).view(_SIZE)
        self._start: int = self.region.ctypes.data
        self._table: Any = language.structure(HeapTable)(
            self._start, count + 1, self._owners.ctypes.data, self._sizes.ctypes.data
        )
        self.address = ctypes.addressof(self._table)
        self._made = 0
        self._live: dict[int, HeapBlock] = {}
        self._freed: dict[int, HeapBlock] = {}  # the first freed first
        self._holes: list[tuple[int, int]] = [(size, self._start)] if size else []  # size and start, in order
        self._starts: dict[int, int] = {start: size for size, start in self._holes}  # the same: size by start
        self._ends: dict[int, int] = {start + size: start for size, start in self._holes}  # and start by end

    @property
    def nbytes(self) -> int:
        """The host memory that it occupies."""
        return host_bytes(self.size)

    @property
    def live(self) -> tuple[HeapBlock, ...]:
        """The blocks that have not been freed, in the order of their allocation."""
        with _LOCK:
            return tuple(self._live.values())

    def allocate(self, size: int, maker: Maker) -> int:
        """The address of a new block of zeroed bytes; 0 if the heap is full."""
        with _LOCK:
            room = _room(size)
            while not self._holes or self._holes[-1][0] < room:
                if not self._freed or room > self.region.nbytes:
                    return 0
                self._recycle()
            hole, start = self._holes[bisect_left(self._holes, (room, 0))]
            self._drop_hole(start, hole)
            if hole > room:
                self._add_hole(start + room, hole - room)
            self._live[start] = HeapBlock(start, size, self._made, maker)
            self._made += 1
            first, count = self._granules(start, size)
            self._sizes[first] = size
            self._owners[first : first + count] = first + 1
            return start

    def release(self, address: int) -> HeapBlock | None:
        """Free a block: remaining pointers to it are out of bounds. None if no block starts there."""
        with _LOCK:
            block = self._live.pop(address, None)
            if block is not None:
                first, count = self._granules(address, block.size)
                self._owners[first : first + count] = 0
                self._table.freed += 1  # now that look-ups do not find it: workers forget what they remember
                self._freed[address] = block
            return block

    def at(self, address: int) -> HeapBlock | None:
        """The block, not freed, that holds an address."""
        offset = address - self._start
        if not 0 <= offset < self.region.nbytes or not (owner := int(self._owners[offset // _GRANULE])):
            return None
        block = self._live.get(self._start + (owner - 1) * _GRANULE)
        return block if block is not None and address < block.start + block.size else None

    def freed_at(self, address: int) -> HeapBlock | None:
        """The block that held an address and has been freed, as long as nothing else has taken its place."""
        with _LOCK:
            held = (b for b in self._freed.values() if b.start <= address < b.start + max(b.size, 1))
            return next(held, None)

    def pieces(self) -> Iterator[Piece]:
        """The live blocks with their names."""
        return (block.piece for block in self.live)

    def _granules(self, start: int, size: int) -> tuple[int, int]:
        return (start - self._start) // _GRANULE, max(-(-size // _GRANULE), 1)

    def _recycle(self) -> None:
        """Make the block that was freed first available again, and join it with the room on either side."""
        start = next(iter(self._freed))
        block = self._freed.pop(start)
        ctypes.memset(start, 0, block.size)
        size = block.room
        if (after := self._starts.get(start + size)) is not None:
            self._drop_hole(start + size, after)
            size += after
        if (before := self._ends.get(start)) is not None:
            self._drop_hole(before, start - before)
            start, size = before, start + size - before
        self._add_hole(start, size)

    def _add_hole(self, start: int, size: int) -> None:
        insort(self._holes, (size, start))
        self._starts[start] = size
        self._ends[start + size] = start

    def _drop_hole(self, start: int, size: int) -> None:
        del self._holes[bisect_left(self._holes, (size, start))]
        del self._starts[start], self._ends[start + size]


def host_bytes(size: int) -> int:
    """What a heap of `size` bytes takes of the host's memory."""
    count = size // _GRANULE
    return count * _GRANULE + (count + 1) * (_OWNER.itemsize + _SIZE.itemsize)


def _room(size: int) -> int:
    """What a block takes: its granules, and an unused one, so that the next element is out of bounds."""
    return (max(-(-size // _GRANULE), 1) + 1) * _GRANULE
