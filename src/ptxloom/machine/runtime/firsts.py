"""What has been written before it is read: initcheck's byte for every byte of shared and local memory.

Each plane lies parallel to its memory: 255 where something has been written since the CTA (the frame) began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native import address, fill, pointer, u8, u32, u64
from ptxloom.machine.runtime.hazards import note_access
from ptxloom.machine.runtime.memory import find_span, shared_place
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    GENERIC,
    GLOBAL,
    LOCAL,
    LOCAL_WINDOW,
    SHARED,
    SHARED_WINDOW,
    UNWRITTEN,
    WINDOW_BYTES,
    Cta,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native import Ptr

WRITTEN = 255


def plane_of(  # noqa: PLR0911 - one case a space
    w: Warp, lane: u32, at: u64, size: u32, space: u32
) -> u64:
    """Where the marks of some bytes lie; 0 if the bytes are not there, or nobody asks."""
    offset = at & (WINDOW_BYTES - 1)
    if space == GENERIC:
        if at & ~u64(WINDOW_BYTES - 1) == SHARED_WINDOW:
            return plane_of_shared(w, offset, size)
        if at & ~u64(WINDOW_BYTES - 1) == LOCAL_WINDOW:
            return plane_of_local(w, lane, offset, size)
        return plane_of_global(w, at, size)
    if space == SHARED:
        return plane_of_shared(w, offset, size)
    if space == LOCAL:
        return plane_of_local(w, lane, offset, size)
    if space == GLOBAL:
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
    if w.local_written == 0 or offset + u64(size) > w.local_bytes:
        return 0
    return w.local_written + u64(lane) * w.local_bytes + offset


def plane_of_global(w: Warp, at: u64, size: u32) -> u64:
    """The same for global memory that came uninitialised."""
    launch = w.launch
    index = find_span(launch, at)
    if index >= launch.span_count:
        return 0
    span = launch.spans[index]
    if span.written == 0 or at + u64(size) > span.end:
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
        if marks[offset] == 0:
            if missing == 0:
                first = offset
            missing = missing + 1
    if missing == 0:
        return
    where = space
    place = at
    if space == GENERIC and at & ~u64(WINDOW_BYTES - 1) == SHARED_WINDOW:
        where = SHARED
    elif space == GENERIC and at & ~u64(WINDOW_BYTES - 1) == LOCAL_WINDOW:
        where = LOCAL
    elif space == GENERIC:
        where = GLOBAL
    if where != GLOBAL:
        place = at & (WINDOW_BYTES - 1)
    note_access(w, UNWRITTEN, site, lane, place + u64(first), where, missing, 0)


def read_near(w: Warp, lanes: u32, size: u32, site: u32) -> None:
    """The same in the CTA's own shared memory, at the lanes' starts."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            read_lane(w, lane, u64(w.starts[lane]), SHARED, size, site)


def start_marks(cta: Cta) -> None:
    """A CTA starts: nothing is written in its shared memory but what is the system's, in first frames, in registers."""
    launch = cta.launch
    fill(cta.written, WRITTEN, u64(launch.reserved_shared))
    fill(cta.written + u64(launch.reserved_shared), 0, u64(launch.shared_bytes - launch.reserved_shared))
    at = cta.warps
    for _warp in range(launch.warps):
        w = pointer(Warp, at)[0]
        for lane in range(32):
            if w.local_written != 0:
                fill(w.local_written + u64(lane) * w.local_bytes, 0, u64(launch.first_frame))
        fill(address(w) + u64(launch.unsure), 0, u64(launch.unsure_bytes))
        at = at + u64(launch.warp_bytes)


def clear_frame(w: Warp, lanes: u32, offset: u32, size: u32) -> None:
    """A function is about to be called: nothing is written in its frame."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            plane = plane_of_local(w, lane, u64(w.sp[lane] + offset), size)
            if plane != 0:
                fill(plane, 0, u64(size))


def forget_local(w: Warp, lane: u32, at: u64, size: u32) -> None:
    """Memory has been given out anew: nothing is written in it."""
    plane = plane_of_local(w, lane, at, size)
    if plane != 0:
        fill(plane, 0, u64(size))


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
