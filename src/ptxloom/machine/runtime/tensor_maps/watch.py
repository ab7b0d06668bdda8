"""What racecheck and initcheck are told of copies by tensor maps."""

from __future__ import annotations

from ptxloom.machine.native.language import address, u32, u64
from ptxloom.machine.runtime.copies import write_bulk
from ptxloom.machine.runtime.initcheck.slow_path import read_lane, written_lane
from ptxloom.machine.runtime.racecheck.async_operations import begin_operation, read_by
from ptxloom.machine.runtime.racecheck.global_memory import look_copy
from ptxloom.machine.runtime.racecheck.happens_before import operation_at
from ptxloom.machine.runtime.racecheck.pending_global import meet_lane
from ptxloom.machine.runtime.racecheck.proxies import check_fence
from ptxloom.machine.runtime.shadow import READS, STRONG, WRITES
from ptxloom.machine.runtime.state import GLOBAL, SHARED, Warp
from ptxloom.machine.runtime.tensor_copy import CHUNK_BYTES, TensorCopy
from ptxloom.machine.runtime.tensor_maps.swizzle import chunk_place


def begin_copy(w: Warp, site: u32, combines: u32) -> None:
    """A lane issues a copy."""
    if address(w.shadow) != 0:
        begin_operation(w, site | STRONG if combines != 0 else site, 1)


def watch_row(w: Warp, lane: u32, at: u64, size: u64, site: u32, write: u32, combines: u32) -> None:
    """A copy reads or writes bytes of the tensor."""
    count = u32(size)
    if write == 0 or combines != 0:
        read_lane(w, lane, at, GLOBAL, count, site)
    if write != 0:
        written_lane(w, lane, at, GLOBAL, count)
    if address(w.shadow) != 0:
        stamp = operation_at(w, w.operation_head - 1).stamp
        meet_lane(w, lane, at, count, stamp, write)
        look_copy(w, lane, at, count, stamp, WRITES if write != 0 else READS, 0)
        check_fence(w, lane, at, GLOBAL, count, stamp)


def watch_box(w: Warp, t: TensorCopy, lane: u32, at: u64, site: u32, write: u32, told: u64) -> None:
    """A copy writes a box in shared memory, until the mbarrier at a host address tells; or reads one."""
    if address(w.shadow) == 0 and address(w.written) == 0:
        return
    if t.pitch == t.row_bytes:
        watch_stretch(w, lane, at, u32(t.rows * t.pitch), site, write, told)
        return
    start = at & 0xFFFFFF
    number: u64 = 0
    while number < t.rows:
        for offset in range(0, u32(t.row_bytes), CHUNK_BYTES):
            place = at + chunk_place(t, start, number, u64(offset))
            watch_stretch(w, lane, place, CHUNK_BYTES, site, write, told)
        number = number + 1


def watch_stretch(w: Warp, lane: u32, at: u64, size: u32, site: u32, write: u32, told: u64) -> None:
    """The same of bytes that lie side by side."""
    if write != 0:
        if address(w.shadow) != 0:
            write_bulk(w, lane, at, SHARED, size, told)
        written_lane(w, lane, at, SHARED, size)
        return
    if address(w.shadow) != 0:
        read_by(w, lane, at, SHARED, size, 0)
    read_lane(w, lane, at, SHARED, size, site)
