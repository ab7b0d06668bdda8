"""The marks of written bytes: one byte of initcheck's for every byte of shared and local memory.

Each plane is parallel to its memory: a bit is 1 if it is unwritten since the CTA (the frame) began. Bits of
registers are kept in the same way (`poison`), so that a plane is read and written as memory is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, fill, length, nothing, part, trailing_zeros, u8, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.hazards import note_access
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.memory.lane_access import find_span, holds, shared_place, space_at
from ptxloom.machine.runtime.memory.places import registers, warp_at
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    GENERIC,
    GLOBAL,
    LOCAL,
    SHARED,
    SOURCE_BYTES,
    UNWRITTEN,
    WINDOW_BYTES,
    Cta,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

WRITTEN = 0
UNWRITTEN_BYTE = 255
MANY_BYTES = 4096  # of which not each is looked at for all lanes of a warp


def plane_of(w: Warp, lane: u32, at: u64, size: u32, space: u32) -> Slice[u8]:
    """The marks of some bytes; empty if the bytes do not exist, or initcheck does not watch them."""
    offset = at & (WINDOW_BYTES - 1)
    named = space_at(at, space)
    if named == SHARED:
        return plane_of_shared(w, offset, size)
    if named == LOCAL:
        return plane_of_local(w, lane, offset, size)
    if named == GLOBAL or named == GENERIC:  # noqa: PLR1714, SIM109 - native code has no sets
        return plane_of_global(w, at, size)
    return nothing(u8)


def plane_of_shared(w: Warp, offset: u64, size: u32) -> Slice[u8]:
    """The same for an address in the shared window, which may be a peer's."""
    if address(w.written) == 0 or address(shared_place(w, offset, u64(size))) == 0:
        return nothing(u8)
    rank = offset >> CLUSTER_SHIFT
    inside = offset & ((1 << CLUSTER_SHIFT) - 1)
    if rank == 0:
        return part(w.written, inside, size)
    return part(w.cta.peers[rank - 1].cta.written, inside, size)


def plane_of_local(w: Warp, lane: u32, offset: u64, size: u32) -> Slice[u8]:
    """The same for local memory."""
    if address(w.local_written) == 0 or within(offset, u64(size), w.local_bytes) == 0:
        return nothing(u8)
    return part(w.local_written, u64(lane) * w.local_bytes + offset, size)


def plane_of_global(w: Warp, at: u64, size: u32) -> Slice[u8]:
    """The same for global memory that came uninitialised."""
    found = find_span(w.launch, at)
    if length(found) == 0 or address(found[0].written) == 0 or holds(found[0], at, u64(size)) == 0:
        return nothing(u8)
    return part(found[0].written, at - found[0].start, size)


def lowest_of(addresses: Ptr[u64], lanes: u32) -> u64:
    """The lowest address of some lanes."""
    lowest = addresses[trailing_zeros(lanes)]
    for lane in range(32):
        at = addresses[lane] if lanes >> lane & 1 != 0 else lowest
        lowest = min(lowest, at)
    return lowest


def highest_of(addresses: Ptr[u64], lanes: u32) -> u64:
    """The highest one."""
    highest = addresses[trailing_zeros(lanes)]
    for lane in range(32):
        at = addresses[lane] if lanes >> lane & 1 != 0 else highest
        highest = max(highest, at)
    return highest


def are_all_in_order(addresses: Ptr[u64], lanes: u32, size: u32) -> u32:
    """1 if all lanes access as many bytes each, side by side and in order."""
    apart = u64(~lanes)
    for lane in range(32):
        apart = apart | addresses[lane] - addresses[0] - u64(lane * size)
    return u32(apart == 0)


def is_stretch_written(w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, size: u32) -> u32:
    """1 if all bytes between what lanes access in global memory are written; if they are too many to look at, 0."""
    low = addresses[0] + offset
    room = u64(32 * size)
    if are_all_in_order(addresses, lanes, size) == 0:
        low = lowest_of(addresses, lanes) + offset
        room = highest_of(addresses, lanes) + offset - low + u64(size)
    found = find_span(w.launch, low)
    if length(found) == 0 or holds(found[0], low, room) == 0:
        return 0
    if room < u64(size):
        return 0  # more than there are addresses
    if address(found[0].written) == 0:
        return 1
    if room > MANY_BYTES:
        return 0
    return are_written(part(found[0].written, low - found[0].start, room))


def fill_stretch(w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, size: u32) -> u32:
    """Mark as written what all lanes write in global memory, side by side and in order; 0 if they do otherwise."""
    if are_all_in_order(addresses, lanes, size) == 0:
        return is_no_stretch_watched(w, addresses, offset, lanes, size)
    low = addresses[0] + offset
    found = find_span(w.launch, low)
    if length(found) == 0 or holds(found[0], low, u64(32 * size)) == 0:
        return 0
    if address(found[0].written) != 0:
        fill(part(found[0].written, low - found[0].start, 32 * size), WRITTEN)
    return 1


def is_no_stretch_watched(w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, size: u32) -> u32:
    """1 if all that lanes access is in one piece of global memory that is not watched."""
    low = lowest_of(addresses, lanes) + offset
    room = highest_of(addresses, lanes) + offset - low + u64(size)
    found = find_span(w.launch, low)
    if length(found) == 0 or holds(found[0], low, room) == 0:
        return 0
    return u32(address(found[0].written) == 0)


@watching
def written_lanes(w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, space: u32, size: u32) -> None:
    """Mark `size` bytes of each lane as written."""
    if space == GLOBAL and lanes != 0 and fill_stretch(w, addresses, offset, lanes, size) != 0:
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            written_lane(w, lane, addresses[lane] + offset, space, size)


@watching
def written_lane(w: Warp, lane: u32, at: u64, space: u32, size: u32) -> None:
    """Mark the bytes of one lane as written."""
    fill(plane_of(w, lane, at, size, space), WRITTEN)


@watching
def read_lanes(w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, space: u32, size: u32, site: u32) -> None:
    """Check reads of `size` bytes by each lane, and report unwritten ones."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            read_lane(w, lane, addresses[lane] + offset, space, size, site)


@watching
def read_lane(w: Warp, lane: u32, at: u64, space: u32, size: u32, site: u32) -> None:
    """Check a read of one lane, and report unwritten bytes."""
    marks = plane_of(w, lane, at, size, space)
    missing = unwritten_bytes(marks)
    if missing == 0:
        return
    start = address_behind(at, space) + first_unwritten(marks)
    note_access(w, UNWRITTEN, site, lane, start, space_behind(at, space), missing, 0)


def are_written(marks: Slice[u8]) -> u32:
    """1 if all bytes are written."""
    some: u8 = WRITTEN
    for at in range(u32(length(marks))):
        some = some | marks[at]
    return u32(some == WRITTEN)


def unwritten_bytes(marks: Slice[u8]) -> u32:
    """The number of unwritten bytes."""
    missing: u32 = 0
    for at in range(u32(length(marks))):
        if marks[at] != WRITTEN:
            missing = missing + 1
    return missing


def first_unwritten(marks: Slice[u8]) -> u64:
    """The index of the first unwritten byte; the count of bytes if all are written."""
    at: u64 = 0
    while at < length(marks) and marks[at] == WRITTEN:
        at = at + 1
    return at


def space_behind(at: u64, space: u32) -> u32:
    """The state space behind an address, which may be generic."""
    named = space_at(at, space)
    if named == SHARED or named == LOCAL:  # noqa: PLR1714, SIM109 - native code has no sets
        return named
    return GLOBAL


def address_behind(at: u64, space: u32) -> u64:
    """An address, which may be generic, within its space."""
    if space_behind(at, space) == GLOBAL:
        return at
    return at & (WINDOW_BYTES - 1)


@watching
def missing_lanes(w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, space: u32, size: u32) -> u32:
    """The lanes that read unwritten bytes."""
    if space == GLOBAL and lanes != 0 and is_stretch_written(w, addresses, offset, lanes, size) != 0:
        return 0
    found: u32 = 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            marks = plane_of(w, lane, addresses[lane] + offset, size, space)
            if unwritten_bytes(marks) != 0:
                found = found | 1 << lane
    return found


@watching
def read_near(w: Warp, lanes: u32, size: u32, site: u32) -> None:
    """The same in the CTA's own shared memory, at the lanes' starts."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            read_lane(w, lane, u64(w.starts[lane]), SHARED, size, site)


@watching
def start_marks(cta: Cta) -> None:
    """Start a CTA: its first frames, its registers and its shared memory, except the system's part, are unwritten."""
    launch = cta.launch
    cta.computed_from = 0xFFFFFFFF
    cta.computed_to = 0
    if address(cta.written) != 0:
        fill(cta.written, UNWRITTEN_BYTE)
        fill(part(cta.written, 0, launch.reserved_shared), WRITTEN)
    for index in range(launch.warps):
        w = warp_at(cta, index)
        for lane in range(32):
            if address(w.local_written) != 0:
                fill(part(w.local_written, u64(lane) * w.local_bytes, launch.first_frame), UNWRITTEN_BYTE)
        start_poison(w)


def start_poison(w: Warp) -> None:
    """Start a warp: its registers count as written except for those that may be read before they are."""
    launch = w.launch
    own = registers(w, launch.poison, launch.poison_bytes * (1 + SOURCE_BYTES))
    unsure = launch.poison_bytes - launch.unsure
    if w.poisoned != 0:
        fill(part(own, 0, launch.unsure), WRITTEN)
    fill(part(own, launch.unsure, unsure), UNWRITTEN_BYTE)
    fill(part(own, launch.poison_bytes + SOURCE_BYTES * launch.unsure, SOURCE_BYTES * unsure), 0)
    w.local_computed = 0
    w.poisoned = 1 if unsure != 0 else 0
    w.resume = 0


@watching
def forget_local(w: Warp, lane: u32, at: u64, size: u32) -> None:
    """Mark reallocated memory as unwritten."""
    fill(plane_of_local(w, lane, at, size), UNWRITTEN_BYTE)


@watching
def mark_frame(w: Warp, lanes: u32, offset: u32, size: u32) -> None:
    """Mark bytes in lanes' frames that something other than the kernel has written."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            fill(plane_of_local(w, lane, u64(w.sp[lane] + offset), size), WRITTEN)


@watching
def carry(w: Warp, lanes: u32, target: u32, source: u32, size: u32) -> None:
    """Copy the marks of bytes that were copied between lanes' frames."""
    if address(w.local_written) == 0:
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            start = u64(w.sp[lane])
            marks = part(w.local_written, u64(lane) * w.local_bytes + start, w.local_bytes - start)
            for offset in range(size):
                marks[target + offset] = marks[source + offset]
