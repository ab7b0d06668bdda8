"""The memory of a device: allocations that outlive launches, and the look-up of addresses.

Allocations come from one stretch of addresses that is reserved when the device is made, so that a comparison identifies
device addresses. An unused gap follows each, and what is freed is not allocated again until the addresses run out: an
access beyond an allocation, or to a freed one, is reported. The table that native code looks addresses up in is kept,
and changed where an allocation comes or goes.
"""

from __future__ import annotations

import ctypes
import mmap
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.machine.memory.arena import MEMORY_LIMIT, default_limit
from ptxloom.machine.memory.piece import Piece
from ptxloom.machine.memory.reserved import Reserved
from ptxloom.machine.memory.snapshot import Snapshot
from ptxloom.machine.memory.spans import NO_SPANS, Span, Spans, in_order, place_of, with_spans
from ptxloom.machine.native import forks
from ptxloom.machine.runtime.initcheck import slow_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

ALIGNMENT: Final = 512  # of what is allocated: cudaMalloc aligns to no less than 256 bytes
GAP: Final = 1 << 16  # unused bytes behind each allocation
_SPREAD: Final = 8  # addresses reserved, in capacities: the longer it takes until freed ones are used again
_PAGE: Final = mmap.PAGESIZE


class _Hex(int):
    """An address, as messages show it."""

    def __repr__(self) -> str:
        return hex(self)


class OutOfDeviceMemory(UsageError):  # noqa: N818 - names what happened
    """The device does not have as much memory left."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Memory of a device: `nbytes` from `address`.

    Attributes:
        name: Its name in reports.
    """

    address: int
    nbytes: int
    name: str


class Region(Protocol):
    """Addresses that take memory of the host where they are touched.

    Attributes:
        bytes: All of them; zeros at first.
        address: Where they start, at a page.
        nbytes: How many.
    """

    bytes: NDArray[np.uint8]
    address: int
    nbytes: int

    def forget(self, start: int, size: int) -> None:
        """Clear whole pages, which then take no memory."""
        ...


class DeviceMemory:
    """Allocations and registered arrays of one device.

    Args:
        capacity: The bytes that may be allocated at a time.
        watched: Whether marks record for each byte if it has been written.
        reserve: Returns addresses, at least and at most as many as it is asked for: for the device, then for its marks.

    Attributes:
        capacity: Bytes that may be allocated at a time.
        allocated: Bytes that are allocated.
        region: Its addresses.
        marks: A byte for each of these, if they are watched.
        images: Textures and surfaces that live from launch to launch, as native code reads them, by their handles.
    """

    def __init__(self, capacity: int, *, watched: bool, reserve: Callable[[int, int], Region] | None = None) -> None:
        reserve = reserve or Reserved
        self.capacity = capacity
        self.allocated = 0
        self.images: dict[int, Any] = {}
        self._lock = forks.Lock()
        self.region = reserve(capacity, _SPREAD * capacity)
        self.marks = reserve(self.region.nbytes, self.region.nbytes) if watched else None
        self._start = self.region.address
        self._end = self._start + self.region.nbytes
        self._next = -(-self._start // ALIGNMENT) * ALIGNMENT
        self._starts: list[int] = []  # of the live allocations, in order
        self._live: dict[int, Allocation] = {}
        self._freed: dict[int, Allocation] = {}  # the first freed first
        self._resting: dict[int, Allocation] = {}  # freed, but nothing else takes their place
        self._made = 0
        self._table = NO_SPANS  # of the live allocations
        self._registered: dict[int, list[tuple[NDArray[Any], Piece, bool]]] = {}
        self._whole: Spans | None = NO_SPANS  # of all that is here, while nothing overlaps; else it is made anew
        self._snapshot: Snapshot | None = Snapshot(NO_SPANS, (self.region,))

    @property
    def launch_limit(self) -> int:
        """Bytes of the host's memory that a launch may have beside a device that is full: as many as without one."""
        return min(self.capacity + default_limit(), MEMORY_LIMIT)

    def __contains__(self, address: int) -> bool:
        """Whether an address belongs to the device, allocated or not."""
        return self._start <= address < self._end

    def allocate(self, nbytes: int, name: str = "", *, constant: bool = False, align: int = 1) -> Allocation:
        """New memory at a multiple of 512 and of `align`, zeroed and to initcheck unwritten; `constant` is only read.

        Raises:
            OutOfDeviceMemory: Too little is left.
        """
        with self._lock:
            self._check_left(nbytes)
            made = Allocation(self._room(nbytes, align), nbytes, name or f"alloc[{self._made}]")
            self._made += 1
            self._put(made, writable=not constant)
            return made

    def free(self, address: int, *, keeps_place: bool = False) -> Allocation:
        """Take an allocation back: its memory goes back to the host, its addresses stay unused for a long time.

        Args:
            address: Where it starts.
            keeps_place: These addresses are not allocated again until `leave`.

        Raises:
            UsageError: No allocation starts there, or it has been freed.
        """
        with self._lock:
            freed = self._live.pop(address, None)
            if freed is None:
                again = "; this one has been freed" if address in self._freed or address in self._resting else ""
                raise UsageError("address", _Hex(address), f"the start of a live allocation{again}")
            del self._starts[bisect_right(self._starts, address) - 1]
            self._table = _without(self._table, address, address + freed.nbytes)
            (self._resting if keeps_place else self._freed)[address] = freed
            self.allocated -= freed.nbytes
            self._went(address, address + freed.nbytes)
            self._give_back(freed)
            return freed

    def restore(self, address: int) -> Allocation:
        """Allocate again what was freed and has kept its place: zeroed, and unwritten.

        Raises:
            UsageError: No allocation keeps that place.
            OutOfDeviceMemory: Too little is left.
        """
        with self._lock:
            made = self._at_rest(address)
            self._check_left(made.nbytes)
            del self._resting[address]
            self._put(made, writable=True)
            return made

    def leave(self, address: int) -> None:
        """Release a place that was kept.

        Raises:
            UsageError: No allocation keeps that place.
        """
        with self._lock:
            self._freed[address] = self._at_rest(address)
            del self._resting[address]

    def charge(self, nbytes: int) -> None:
        """Count memory of the device that is elsewhere; a negative number of bytes frees it.

        Raises:
            OutOfDeviceMemory: Too little is left.
        """
        with self._lock:
            self._check_left(nbytes)
            self.allocated += nbytes

    def register(self, array: NDArray[Any], name: str, *, constant: bool) -> int:
        """Let kernels reach an array of the host in place; returns its address."""
        with self._lock:
            start: int = array.ctypes.data
            writable = bool(array.flags.writeable) and not constant
            piece = Piece(name or f"array of {array.dtype}", start, array.nbytes)
            self._registered.setdefault(start, []).append((array, piece, writable))
            self._came((start, start + array.nbytes, writable))
            return start

    def unregister(self, address: int) -> None:
        """Unregister the array registered last at an address.

        Raises:
            UsageError: No array is registered there.
        """
        with self._lock:
            held = self._registered.get(address)
            if not held:
                raise UsageError("address", _Hex(address), "the address of a registered array")
            _, piece, _ = held.pop()
            if not held:
                del self._registered[address]
            self._went(address, address + piece.size)

    def snapshot(self) -> Snapshot:
        """The table of memory that kernels may access from now on."""
        with self._lock:
            if self._snapshot is None:
                held = [one for several in self._registered.values() for one in several]
                kept = (self.region, *(array for array, _, _ in held))
                self._snapshot = Snapshot(self._everything(held), kept)
            return self._snapshot

    def _everything(self, held: Sequence[tuple[object, Piece, bool]]) -> Spans:
        """The table of all that is here; it is kept if nothing overlaps, and then changed where something changes."""
        if self._whole is None:
            given = [(p.start, p.start + p.size, writable) for _, p, writable in held if p.size]
            table = with_spans(self._table, in_order(given))
            if not _is_apart((*given, *((start, end, bool(w)) for start, end, w in self._table.tolist()))):
                return table
            self._whole = table
        return self._whole

    def _came(self, span: Span) -> None:
        """Add a span to the table."""
        if self._whole is not None and span[0] < span[1]:
            at = place_of(self._whole, span)
            self._whole = None if at is None else np.insert(self._whole, at, np.array(span, np.uint64), axis=0)
        self._snapshot = None

    def _went(self, start: int, end: int) -> None:
        """Remove a span from the table."""
        if self._whole is not None:
            self._whole = _without(self._whole, start, end)
        self._snapshot = None

    def pieces(self) -> Iterator[Piece]:
        """Live memory, by name.

        Of several at one address the last registered, with the most specific name, comes first.
        """
        with self._lock:
            yield from [Piece(one.name, one.address, one.nbytes) for one in self._live.values()]
            yield from [piece for several in self._registered.values() for _, piece, _ in reversed(several)]

    def arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Live memory by name: allocations as bytes, registered arrays unchanged."""
        with self._lock:
            live = tuple(self._live.values())
            registered = [(piece.name, array) for several in self._registered.values() for array, piece, _ in several]
        for one in live:
            first = one.address - self._start
            yield one.name, self.region.bytes[first : first + one.nbytes]
        yield from registered

    def freed_at(self, address: int) -> Piece | None:
        """The freed memory at an address, as long as nothing else has taken its place."""
        with self._lock:
            for one in (*self._freed.values(), *self._resting.values()):
                if one.address <= address < one.address + one.nbytes:
                    return Piece(one.name, one.address, one.nbytes)
            return None

    def view(self, address: int, nbytes: int) -> NDArray[np.uint8]:
        """Bytes of one allocation or registered array, in place.

        Raises:
            UsageError: They are not all in a single one.
        """
        with self._lock:
            at = bisect_right(self._starts, address)
            held = self._live[self._starts[at - 1]] if at else None
            if held is not None and 0 <= address - held.address <= held.nbytes - nbytes:
                first = address - self._start
                return self.region.bytes[first : first + nbytes]
            for several in self._registered.values():
                for array, piece, _ in several:
                    if 0 <= address - piece.start <= piece.size - nbytes:
                        first = address - piece.start
                        whole: NDArray[np.uint8] = array.reshape(-1).view(np.uint8)
                        return whole[first : first + nbytes]
        raise UsageError(
            f"address (of {nbytes:,} bytes)", _Hex(address), "within one live allocation, or one registered array"
        )

    def written(self, address: int, nbytes: int) -> None:
        """Record a write by the host: initcheck treats the bytes as written."""
        if self.marks is not None and address in self:
            ctypes.memset(self._mark(address), slow_path.WRITTEN, nbytes)

    def mark(self, spans: Spans) -> None:
        """Attach to spans of this memory their marks of what has been written (`spans.Span`)."""
        if self.marks is None:
            return
        mine = (spans[:, 0] >= np.uint64(self._start)) & (spans[:, 0] < np.uint64(self._end))
        spans[mine, 3] = spans[mine, 0] - np.uint64(self._start) + np.uint64(self.marks.address)

    def _room(self, nbytes: int, alignment: int) -> int:
        """The address for an allocation: after all others, or in a gap left by freed ones."""
        size = -(-nbytes // ALIGNMENT) * ALIGNMENT + GAP
        first = -(-self._next // alignment) * alignment
        if size <= self._end - first:
            self._next = first + size
            return first
        self._freed.clear()
        first = -(-self._start // ALIGNMENT) * ALIGNMENT
        held = sorted((*self._live.values(), *self._resting.values()), key=lambda one: one.address)
        ends = (-(-(one.address + one.nbytes) // ALIGNMENT) * ALIGNMENT + GAP for one in held)
        edges = [first, *(edge for one, end in zip(held, ends, strict=True) for edge in (one.address, end)), self._end]
        for start, end in ((-(-gap // alignment) * alignment, end) for gap, end in [*pairwise(edges)][::2]):
            if size <= end - start:
                return start
        raise OutOfDeviceMemory("nbytes", nbytes, "less: no stretch of free addresses is as long")

    def _check_left(self, nbytes: int) -> None:
        """Make sure that this much memory is left.

        Raises:
            OutOfDeviceMemory: It is not.
        """
        left = self.capacity - self.allocated
        if nbytes > left:
            legal = f"at most {left:,}, which are left of the device's {self.capacity:,}"
            raise OutOfDeviceMemory("nbytes", nbytes, legal)

    def _put(self, made: Allocation, *, writable: bool) -> None:
        """Let an allocation live."""
        self._starts.insert(bisect_right(self._starts, made.address), made.address)
        self._live[made.address] = made
        span = (made.address, made.address + made.nbytes, writable)
        self._table = with_spans(self._table, [span])
        self.allocated += made.nbytes
        self._came(span)
        if self.marks is not None:
            ctypes.memset(self._mark(made.address), slow_path.UNWRITTEN_BYTE, made.nbytes)

    def _at_rest(self, address: int) -> Allocation:
        """The allocation that keeps a place.

        Raises:
            UsageError: There is no such allocation.
        """
        found = self._resting.get(address)
        if found is None:
            raise UsageError("address", _Hex(address), "the start of an allocation that was freed and keeps its place")
        return found

    def _mark(self, address: int) -> int:
        assert self.marks is not None
        return self.marks.address + address - self._start

    def _give_back(self, freed: Allocation) -> None:
        """Its pages, which the gaps keep from being shared with other allocations."""
        start = (freed.address - self._start) // _PAGE * _PAGE
        end = -(-(freed.address - self._start + freed.nbytes) // _PAGE) * _PAGE
        self.region.forget(start, min(end, self.region.nbytes) - start)
        if self.marks is not None:
            self.marks.forget(start, min(end, self.region.nbytes) - start)


class MemoryHolder(Protocol):
    """A holder of memory that outlives launches: a `Device`."""

    memory: DeviceMemory
    checks: tuple[str, ...]


def _without(table: Spans, start: int, end: int) -> Spans:
    """A table without one of its spans; those without a byte are in no table."""
    return np.delete(table, np.searchsorted(table[:, 0], np.uint64(start)), axis=0) if start < end else table


def _is_apart(spans: Iterable[Span]) -> bool:
    """Whether no two spans overlap."""
    return all(before[1] <= one[0] for before, one in pairwise(sorted(spans)))
