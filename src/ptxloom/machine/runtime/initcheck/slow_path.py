"""What has been written before it is read: initcheck's byte for every byte of shared and local memory.

Each plane lies parallel to its memory: a bit is 1 where nobody has written since the CTA (the frame) began. Bits of
registers are kept in the same way (`poison`), so that a plane is read and written as memory is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, fill, pointer, u8, u32, u64
from ptxloom.machine.runtime.bounds import within
from ptxloom.machine.runtime.hazards import note_access
from ptxloom.machine.runtime.memory import find_span, holds, shared_place, space_at
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
    Span,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr

WRITTEN = 0
UNWRITTEN_BYTE = 255


def plane_of(w: Warp, lane: u32, at: u64, size: u32, space: u32) -> u64:
    """Where the marks of some bytes lie; 0 if the bytes are not there, or nobody asks."""
    offset = at & (WINDOW_BYTES - 1)
    named = space_at(at, space)
    if named == SHARED:
        return plane_of_shared(w, offset, size)
    if named == LOCAL:
        return plane_of_local(w, lane, offset, size)
    if named == GLOBAL or named == GENERIC:  # noqa: PLR1714, SIM109 - native code has no sets
        return plane_of_global(w, at, size)
    return 0


def plane_of_shared(w: Warp, offset: u64, size: u32) -> u64:
    """The same for an address in the shared window, which may be a peer's."""
    if w.written == 0 or shared_place(w, offset, u64(size)) == 0:
        return 0
    rank = offset >> CLUSTER_SHIFT
    inside = offset & ((1 << CLUSTER_SHIFT) - 1)
    if rank == 0:
        return w.written + inside
    return pointer(Cta, pointer(u64, w.cta.peers)[rank - 1])[0].written + inside


def plane_of_local(w: Warp, lane: u32, offset: u64, size: u32) -> u64:
    """The same for local memory."""
    if w.local_written == 0 or within(offset, u64(size), w.local_bytes) == 0:
        return 0
    return w.local_written + u64(lane) * w.local_bytes + offset


def plane_of_global(w: Warp, at: u64, size: u32) -> u64:
    """The same for global memory that came uninitialised."""
    found = find_span(w.launch, at)
    if found == 0:
        return 0
    span = pointer(Span, found)[0]
    if span.written == 0 or holds(span, at, u64(size)) == 0:
        return 0
    return span.written + (at - span.start)


def written_lanes(w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, space: u32, size: u32) -> None:
    """Lanes write `size` bytes each."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            written_lane(w, lane, addresses[lane] + offset, space, size)


def written_lane(w: Warp, lane: u32, at: u64, space: u32, size: u32) -> None:
    """One lane writes."""
    plane = plane_of(w, lane, at, size, space)
    if plane != 0:
        fill(plane, WRITTEN, u64(size))


def read_lanes(w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, space: u32, size: u32, site: u32) -> None:
    """Lanes read `size` bytes each: note those that nobody has written."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            read_lane(w, lane, addresses[lane] + offset, space, size, site)


def read_lane(w: Warp, lane: u32, at: u64, space: u32, size: u32, site: u32) -> None:
    """One lane reads: note the bytes that nobody has written."""
    plane = plane_of(w, lane, at, size, space)
    if plane == 0:
        return
    marks = pointer(u8, plane)
    missing: u32 = 0
    first: u32 = 0
    for offset in range(size):
        if marks[offset] != WRITTEN:
            if missing == 0:
                first = offset
            missing = missing + 1
    if missing == 0:
        return
    note_access(w, UNWRITTEN, site, lane, address_behind(at, space) + u64(first), space_behind(at, space), missing, 0)


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


def missing_lanes(w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, space: u32, size: u32) -> u32:
    """The lanes that read something unwritten."""
    found: u32 = 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            plane = plane_of(w, lane, addresses[lane] + offset, size, space)
            if plane != 0:
                marks = pointer(u8, plane)
                for at in range(size):
                    if marks[at] != WRITTEN:
                        found = found | 1 << lane
    return found


def read_near(w: Warp, lanes: u32, size: u32, site: u32) -> None:
    """The same in the CTA's own shared memory, at the lanes' starts."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            read_lane(w, lane, u64(w.starts[lane]), SHARED, size, site)


def start_marks(cta: Cta) -> None:
    """A CTA starts: nothing is written in its shared memory but what is the system's, in first frames, in registers."""
    launch = cta.launch
    if cta.written != 0:
        fill(cta.written, WRITTEN, u64(launch.reserved_shared))
        own = u64(launch.shared_bytes - launch.reserved_shared)
        fill(cta.written + u64(launch.reserved_shared), UNWRITTEN_BYTE, own)
    at = cta.warps
    for _warp in range(launch.warps):
        w = pointer(Warp, at)[0]
        for lane in range(32):
            if w.local_written != 0:
                fill(w.local_written + u64(lane) * w.local_bytes, UNWRITTEN_BYTE, u64(launch.first_frame))
        start_poison(w)
        at = at + u64(launch.warp_bytes)


def start_poison(w: Warp) -> None:
    """A warp starts: its registers count as written but for those that may be read before they are."""
    launch = w.launch
    own = address(w) + u64(launch.poison)
    unsure = launch.poison_bytes - launch.unsure
    if w.poisoned != 0:
        fill(own, WRITTEN, u64(launch.unsure))
    fill(own + u64(launch.unsure), UNWRITTEN_BYTE, u64(unsure))
    fill(own + u64(launch.poison_bytes + SOURCE_BYTES * launch.unsure), 0, u64(SOURCE_BYTES * unsure))
    w.poisoned = 1 if unsure != 0 else 0
    w.resume = 0


def forget_local(w: Warp, lane: u32, at: u64, size: u32) -> None:
    """Memory has been given out anew: nothing is written in it."""
    plane = plane_of_local(w, lane, at, size)
    if plane != 0:
        fill(plane, UNWRITTEN_BYTE, u64(size))


def mark_frame(w: Warp, lanes: u32, offset: u32, size: u32) -> None:
    """Something else than the kernel has written in the frames of lanes."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            plane = plane_of_local(w, lane, u64(w.sp[lane] + offset), size)
            if plane != 0:
                fill(plane, WRITTEN, u64(size))


def carry(w: Warp, lanes: u32, target: u32, source: u32, size: u32) -> None:
    """Bytes within reach of each lane's frame were copied: so are their marks."""
    if w.local_written == 0:
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            base = w.local_written + u64(lane) * w.local_bytes + u64(w.sp[lane])
            marks = pointer(u8, base)
            for offset in range(size):
                marks[target + offset] = marks[source + offset]
