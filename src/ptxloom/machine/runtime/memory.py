"""From a lane's address to a host address, checked; and the lane-by-lane path of loads and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import Ptr, address, copy, pointer, u32, u64
from ptxloom.machine.runtime.bounds import within
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    CODE_WINDOW,
    CONST,
    GENERIC,
    GLOBAL,
    LOCAL,
    LOCAL_WINDOW,
    MISALIGNED,
    NO_CLUSTER,
    OUT_OF_BOUNDS,
    PARAM,
    PARAM_WINDOW,
    READ_ONLY,
    SHARED,
    SHARED_WINDOW,
    SPANS_HEAD,
    WINDOW_BYTES,
    WRONG_SPACE,
    Cta,
    Heap,
    Launch,
    Span,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import u8


def fault(w: Warp, kind: u32, site: u32, lane: u32, at: u64, space: u32, size: u32, write: u32) -> u64:
    """Note why the kernel must end here; gives 0. Further lanes at fault in the same way are added to the first."""
    note = w.worker.fault[0]
    if note.kind != 0:
        if note.kind == kind:
            note.lanes = note.lanes | 1 << lane
        return 0
    note.lanes = 1 << lane
    note.kind = kind
    note.site = site
    note.mask = w.mask
    note.lane = lane
    note.address = at
    note.space = space
    note.size = size
    note.write = write
    note.warp = w.index
    note.block[0] = w.cta.ctaid[0]
    note.block[1] = w.cta.ctaid[1]
    note.block[2] = w.cta.ctaid[2]
    return 0


def fault_if_any(
    w: Warp, addresses: Ptr[u64], lanes: u32, space: u32, kind: u32, size: u32, write: u32, site: u32
) -> u32:
    """1 after noting a fault of the first of these lanes, with its address in a space; 0 if there is none."""
    if lanes == 0:
        return 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            fault(w, kind, site, lane, addresses[lane], space, size, write)
    return 1


def fault_without_clusters(w: Warp, lanes: u32, site: u32) -> u32:
    """1 after noting that a launch without clusters came to what only a launch with clusters can execute."""
    if lanes == 0 or w.launch.clustered != 0:
        return 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            fault(w, NO_CLUSTER, site, lane, 0, SHARED, 0, 1)
    return 1


def find_span(launch: Launch, at: u64) -> u64:
    """The host address of the last span that starts at or before an address; 0 if none does."""
    table = launch.spans
    spans = pointer(Span, address(table) + SPANS_HEAD)
    low: u64 = 0
    high = table.count
    while low < high:
        middle = (low + high) >> 1
        if spans[middle].start <= at:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return 0
    return address(spans[low - 1])


def holds(span: Span, at: u64, size: u64) -> u32:
    """1 if `size` bytes from a host address on lie in a span."""
    return within(at - span.start, size, span.end - span.start)


def in_global(w: Warp, at: u64, size: u64, write: u32, site: u32) -> u32:
    """0 if `size` bytes lie in one piece of global memory, else the kind of fault; remembers the piece by site."""
    found = find_span(w.launch, at)
    if found == 0:
        return OUT_OF_BOUNDS
    span = pointer(Span, found)[0]
    if holds(span, at, size) == 0:
        return OUT_OF_BOUNDS
    if write != 0 and span.writable == 0:
        return READ_ONLY
    known = w.sites[site]
    if span.heap != 0:
        return in_block(w, pointer(Heap, span.heap)[0], at, size, known)
    known.start = span.start
    known.end = span.end
    return 0


def in_block(w: Warp, heap: Heap, at: u64, size: u64, known: Span) -> u32:
    """The same within the device heap: 0 if `size` bytes lie in one block that has not been freed."""
    owner = u64(heap.owners[(at - heap.start) >> 4])
    if owner == 0:
        return OUT_OF_BOUNDS
    start = heap.start + (owner - 1 << 4)
    if within(at - start, size, u64(heap.sizes[owner - 1])) == 0:
        return OUT_OF_BOUNDS
    w.worker.in_heap = 1
    known.start = start
    known.end = start + u64(heap.sizes[owner - 1])
    return 0


def shared_place(w: Warp, offset: u64, size: u64) -> u64:
    """The host address of an offset in a shared window (own CTA or one of its cluster), or 0."""
    rank = offset >> CLUSTER_SHIFT
    inside = offset & ((1 << CLUSTER_SHIFT) - 1)
    if within(inside, size, w.shared_bytes) == 0:
        return 0
    if rank == 0:
        return w.shared + inside
    if rank > u64(w.launch.members):
        return 0
    peer = pointer(Cta, pointer(u64, w.cta.peers)[rank - 1])[0]
    return peer.shared + inside


def local_place(w: Warp, lane: u32, offset: u64, size: u64) -> u64:
    """The host address of an offset in a lane's local memory, or 0."""
    if within(offset, size, w.local_bytes) == 0:
        return 0
    return w.local + u64(lane) * w.local_bytes + offset


def param_place(w: Warp, offset: u64, size: u64) -> u64:
    """The host address of an offset in the kernel's parameters, or 0."""
    if within(offset, size, w.params_end - w.params) == 0:
        return 0
    return w.params + offset


def const_place(w: Warp, at: u64, size: u64, site: u32) -> u64:
    """A host address if it lies in the module's constants, which are remembered by site, or 0."""
    launch = w.launch
    if within(at - launch.constants, size, launch.constants_end - launch.constants) == 0:
        return 0
    known = w.sites[site]
    known.start = launch.constants
    known.end = launch.constants_end
    return at


def place(w: Warp, lane: u32, at: u64, space: u32, size: u32, write: u32, site: u32) -> u64:
    """The host address of one lane's access of `size` bytes, or 0 after noting the fault."""
    long = u64(size)
    if at & (long - 1) & 15 != 0:  # arrays of the host start at multiples of 16, not at 256 as the device's do
        return fault(w, MISALIGNED, site, lane, at, space, size, write)
    if space == GLOBAL or (space == GENERIC and at < SHARED_WINDOW):
        kind = in_global(w, at, long, write, site)
        if kind == 0:
            return at
        if space == GLOBAL and at >= SHARED_WINDOW and at < CODE_WINDOW:
            kind = WRONG_SPACE
        return fault(w, kind, site, lane, at, space, size, write)
    named = space_at(at, space)
    if write != 0 and (named == PARAM or named == CONST):  # noqa: PLR1714, SIM109 - native code has no sets
        return fault(w, READ_ONLY, site, lane, at, space, size, write)
    found = place_window(w, lane, at, named, long, site)
    if found == 0:
        return fault(w, OUT_OF_BOUNDS, site, lane, at, space, size, write)
    return found


def space_at(at: u64, space: u32) -> u32:
    """The space that a generic address above all mapped memory lies in, GENERIC if in none; else the space named."""
    if space != GENERIC:
        return space
    window = at & ~u64(WINDOW_BYTES - 1)
    if window == SHARED_WINDOW:
        return SHARED
    if window == LOCAL_WINDOW:
        return LOCAL
    if window == PARAM_WINDOW:
        return PARAM
    return GENERIC


def place_window(w: Warp, lane: u32, at: u64, space: u32, size: u64, site: u32) -> u64:
    """The host address of an access outside global memory, in the space named; 0 if it is not in bounds."""
    offset = at & (WINDOW_BYTES - 1)
    if space == SHARED:
        return shared_place(w, offset, size)
    if space == LOCAL:
        return local_place(w, lane, offset, size)
    if space == PARAM:
        return param_place(w, offset, size)
    if space == CONST:
        return const_place(w, at, size, site)
    return 0


def place_lanes_of(w: Warp, addresses: Ptr[u64], mask: u32, space: u32, size: u32, write: u32, site: u32) -> u32:
    """Replace each lane's address in `addresses` by its host address; 1 after a fault."""
    failed: u32 = 0
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = place(w, lane, addresses[lane], space, size, write, site)
            if found == 0:
                failed = 1
            addresses[lane] = found
    return failed


def load_lanes(
    w: Warp, out: Ptr[u8], addresses: Ptr[u64], offset: u64, mask: u32, space: u32, size: u32, parts: u32, site: u32
) -> u32:
    """Load lane by lane: `parts` values of `size` bytes each; part p of lane l goes to out[(p * 32 + l) * size]."""
    failed: u32 = 0
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = place(w, lane, addresses[lane] + offset, space, size * parts, 0, site)
            if found == 0:
                failed = 1
            elif failed == 0:
                for part in range(parts):
                    into = address(out) + u64((part * 32 + lane) * size)
                    move(into, found + u64(part * size), size)
    return failed


def store_lanes(
    w: Warp, values: Ptr[u8], addresses: Ptr[u64], offset: u64, mask: u32, space: u32, size: u32, parts: u32, site: u32
) -> u32:
    """Store lane by lane, in the order of lanes; the mirror of `load_lanes`. Every lane is checked first."""
    failed: u32 = 0
    for lane in range(32):
        if mask >> lane & 1 != 0 and place(w, lane, addresses[lane] + offset, space, size * parts, 1, site) == 0:
            failed = 1
    if failed != 0:
        return 1
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = place(w, lane, addresses[lane] + offset, space, size * parts, 1, site)
            if found == 0:  # freed in between, by a warp that another thread of the host runs
                return 1
            for part in range(parts):
                source = address(values) + u64((part * 32 + lane) * size)
                move(found + u64(part * size), source, size)
    return 0


def move(into: u64, source: u64, size: u32) -> None:
    """Copy 1, 2, 4, 8 or 16 bytes, each in one piece."""
    if size == 4:
        pointer(u32, into)[0] = pointer(u32, source)[0]
    elif size == 8:
        pointer(u64, into)[0] = pointer(u64, source)[0]
    elif size == 1:
        copy(into, source, 1)
    elif size == 2:
        copy(into, source, 2)
    else:
        pointer(u64, into)[0] = pointer(u64, source)[0]
        pointer(u64, into + 8)[0] = pointer(u64, source + 8)[0]
