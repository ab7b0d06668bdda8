"""From a lane's address to a host address, checked; and the lane-by-lane path of loads and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import address, copy, length, nothing, part, u8, u32, u64, view
from ptxloom.machine.native.standalone import seldom, standalone
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.memory.places import (
    forget_freed,
    remember_block,
    remember_constants,
    remember_span,
    site_bytes,
    spans_of,
)
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
    WINDOW_BYTES,
    WRONG_SPACE,
    Launch,
    Warp,
)
from ptxloom.machine.runtime.structs.spans import HeapTable, LastSpan, Span

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


@seldom
def fault(w: Warp, kind: u32, site: u32, lane: u32, at: u64, space: u32, size: u32, write: u32) -> None:
    """Record why the kernel must end here. Further lanes with the same fault are added to the first."""
    note = w.worker.fault[0]
    if note.kind != 0:
        if note.kind == kind:
            note.lanes = note.lanes | 1 << lane
        return
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


@seldom
def refuse(w: Warp, kind: u32, site: u32, lane: u32, at: u64, space: u32, size: u32, write: u32) -> Slice[u8]:
    """Record the same; returns no bytes."""
    fault(w, kind, site, lane, at, space, size, write)
    return nothing(u8)


def has_fault(w: Warp) -> u32:
    """1 if a fault has been recorded."""
    return u32(w.worker.fault[0].kind != 0)


def fault_if_any(
    w: Warp, addresses: Ptr[u64], lanes: u32, space: u32, kind: u32, size: u32, write: u32, site: u32
) -> u32:
    """Record a fault of the first of these lanes, with its address in a space; 1, or 0 if there are no lanes."""
    if lanes == 0:
        return 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            fault(w, kind, site, lane, addresses[lane], space, size, write)
    return 1


def fault_without_clusters(w: Warp, lanes: u32, site: u32) -> u32:
    """Record that a launch without clusters executes what only a launch with clusters can; returns 1."""
    if lanes == 0 or w.launch.clustered != 0:
        return 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            fault(w, NO_CLUSTER, site, lane, 0, SHARED, 0, 1)
    return 1


def find_span(launch: Launch, at: u64) -> Slice[Span]:
    """The last span that starts at or before an address; empty if no span does."""
    spans = spans_of(launch)
    low: u64 = 0
    high = length(spans)
    while low < high:
        middle = (low + high) >> 1
        if spans[middle].start <= at:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return nothing(Span)
    return part(spans, low - 1, 1)


def holds(span: Span, at: u64, size: u64) -> u32:
    """1 if `size` bytes from a host address on are in a span."""
    return within(at - span.start, size, span.end - span.start)


def holds_site(site: LastSpan, at: u64, size: u64) -> u32:
    """1 if `size` bytes from a host address on are in the span that an instruction accessed last."""
    return within(at - site.start, size, site.end - site.start)


def in_global(w: Warp, at: u64, size: u64, write: u32, site: u32) -> u32:
    """0 if `size` bytes are in one piece of global memory, else the kind of fault; caches the piece by site."""
    found = find_span(w.launch, at)
    if length(found) == 0:
        return OUT_OF_BOUNDS
    span = found[0]
    if holds(span, at, size) == 0:
        return OUT_OF_BOUNDS
    if write != 0 and span.writable == 0:
        return READ_ONLY
    if address(span.heap) != 0:
        return in_block(w, span.heap, at, size, site)
    remember_span(w, site, span)
    return 0


def in_block(w: Warp, heap: HeapTable, at: u64, size: u64, site: u32) -> u32:
    """The same within the device heap: 0 if `size` bytes are in one block that has not been freed."""
    owner = heap.owners[(at - heap.start) >> 4]
    if owner == 0:
        return OUT_OF_BOUNDS
    return 0 if remember_block(w, site, heap, owner - 1, at, size) != 0 else OUT_OF_BOUNDS


def notice_frees(w: Warp) -> None:
    """After a warp has read data that other host threads may have written: invalidate what they had freed before."""
    forget_freed(w.worker)


def shared_place(w: Warp, offset: u64, size: u64) -> Slice[u8]:
    """Bytes at an offset in a shared window (own CTA or one of its cluster), or nothing."""
    rank = offset >> CLUSTER_SHIFT
    inside = offset & ((1 << CLUSTER_SHIFT) - 1)
    if within(inside, size, w.shared_bytes) == 0:
        return nothing(u8)
    if rank == 0:
        return part(w.shared, inside, size)
    if rank > u64(w.launch.members):
        return nothing(u8)
    return part(w.cta.peers[rank - 1].cta.shared, inside, size)


def local_place(w: Warp, lane: u32, offset: u64, size: u64) -> Slice[u8]:
    """Bytes at an offset in a lane's local memory, or nothing."""
    if within(offset, size, w.local_bytes) == 0:
        return nothing(u8)
    return part(w.local, u64(lane) * w.local_bytes + offset, size)


def param_place(w: Warp, offset: u64, size: u64) -> Slice[u8]:
    """Bytes at an offset in the kernel's parameters, or nothing."""
    if within(offset, size, length(w.params)) == 0:
        return nothing(u8)
    return part(w.params, offset, size)


def const_place(w: Warp, at: u64, size: u64, site: u32) -> Slice[u8]:
    """Bytes at a host address if they are in the module's constants, which are cached by site; else empty."""
    launch = w.launch
    offset = at - address(launch.constants)
    if within(offset, size, length(launch.constants)) == 0:
        return nothing(u8)
    remember_constants(w, site)
    return part(launch.constants, offset, size)


@standalone
def place(w: Warp, lane: u32, at: u64, space: u32, size: u32, write: u32, site: u32) -> Slice[u8]:
    """The bytes of one lane's access; after recording a fault, nothing (at address 0)."""
    long = u64(size)
    if at & (long - 1) & 15 != 0:  # arrays of the host start at multiples of 16, not at 256 as the device's do
        return refuse(w, MISALIGNED, site, lane, at, space, size, write)
    if space == GLOBAL or (space == GENERIC and at < SHARED_WINDOW):
        kind = in_global(w, at, long, write, site)
        if kind == 0:
            return site_bytes(w.sites[site], at, long)
        if space == GLOBAL and at >= SHARED_WINDOW and at < CODE_WINDOW:
            kind = WRONG_SPACE
        return refuse(w, kind, site, lane, at, space, size, write)
    named = space_at(at, space)
    if write != 0 and (named == PARAM or named == CONST):  # noqa: PLR1714, SIM109 - native code has no sets
        return refuse(w, READ_ONLY, site, lane, at, space, size, write)
    found = place_window(w, lane, at, named, long, site)
    if address(found) == 0:
        return refuse(w, OUT_OF_BOUNDS, site, lane, at, space, size, write)
    return found


def space_at(at: u64, space: u32) -> u32:
    """The space of a generic address above all mapped memory, GENERIC if it is in no window; else the named space."""
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


def place_window(w: Warp, lane: u32, at: u64, space: u32, size: u64, site: u32) -> Slice[u8]:
    """The bytes of an access outside global memory, in the space named; nothing if it is not in bounds."""
    offset = at & (WINDOW_BYTES - 1)
    if space == SHARED:
        return shared_place(w, offset, size)
    if space == LOCAL:
        return local_place(w, lane, offset, size)
    if space == PARAM:
        return param_place(w, offset, size)
    if space == CONST:
        return const_place(w, at, size, site)
    return nothing(u8)


def place_lanes_of(w: Warp, addresses: Ptr[u64], mask: u32, space: u32, size: u32, write: u32, site: u32) -> u32:
    """Replace each lane's address in `addresses` by its host address; 1 after a fault."""
    if place_alike(w, addresses, mask, space, u64(size), site) != 0:
        return 0
    failed: u32 = 0
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = place(w, lane, addresses[lane], space, size, write, site)
            if address(found) == 0:
                failed = 1
            addresses[lane] = address(found)
    return failed


def place_alike(w: Warp, addresses: Ptr[u64], mask: u32, space: u32, size: u64, site: u32) -> u32:
    """The same where all are in the CTA's shared memory, or in the global memory that it accessed last: 1.

    Otherwise nothing changes; returns 0. An instruction that always writes has only met memory that may be written.
    """
    start: u64 = 0
    room = w.shared_bytes
    host = address(w.shared)
    if space == GLOBAL or space == GENERIC:  # noqa: PLR1714, SIM109 - native code has no sets
        start = w.sites[site].start
        room = w.sites[site].end - start
        host = start
    elif space != SHARED:
        return 0
    outside: u32 = 0
    for lane in range(32):
        at = addresses[lane]
        good = within(at - start, size, room) & u32(at & (size - 1) & 15 == 0)
        outside = outside | (mask >> lane & ~good & 1)
    if outside != 0:
        return 0
    for lane in range(32):
        addresses[lane] = addresses[lane] - start + host
    return 1


@standalone
def move_lanes(
    w: Warp,
    values: Annotated[Slice[u8], "32 * size * parts"],
    addresses: Ptr[u64],
    offset: u64,
    mask: u32,
    space: u32,
    size: u32,
    parts: u32,
    write: u32,
    site: u32,
) -> u32:
    """Load or store (`write`) lane by lane, in their order: `parts` values of `size` bytes each; 1 after a fault.

    Number n of lane l is at values[(n * 32 + l) * size]. Nothing is stored unless every lane may store.
    """
    if write != 0 and miss(w, addresses, offset, mask, space, size * parts, site) != 0:
        return 1
    failed: u32 = 0
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = place(w, lane, addresses[lane] + offset, space, size * parts, write, site)
            if address(found) == 0:  # of a store: freed since it was checked, by a warp of another thread of the host
                failed = 1
            elif failed == 0:
                for number in range(parts):
                    value = part(values, (number * 32 + lane) * size, size)
                    there = part(found, number * size, size)
                    if write != 0:
                        move(there, value, size)
                    else:
                        move(value, there, size)
    return failed


def miss(w: Warp, addresses: Ptr[u64], offset: u64, mask: u32, space: u32, size: u32, site: u32) -> u32:
    """Record a fault and return 1 if any lane may not store at its address."""
    failed: u32 = 0
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = place(w, lane, addresses[lane] + offset, space, size, 1, site)
            if address(found) == 0:
                failed = 1
    return failed


def move(into: Slice[u8], source: Slice[u8], size: u32) -> None:
    """Copy 1, 2, 4, 8 or 16 bytes, each in one piece."""
    if size == 4:
        view(u32, into)[0] = view(u32, source)[0]
    elif size == 8:
        view(u64, into)[0] = view(u64, source)[0]
    elif size == 1:
        copy(into, source, 1)
    elif size == 2:
        copy(into, source, 2)
    else:
        view(u64, into)[0] = view(u64, source)[0]
        view(u64, into)[1] = view(u64, source)[1]
