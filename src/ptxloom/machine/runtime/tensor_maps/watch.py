"""What racecheck and initcheck are told of copies by tensor maps."""

from __future__ import annotations

from ptxloom.machine.native.language import address, u32, u64
from ptxloom.machine.runtime.copies import write_bulk
from ptxloom.machine.runtime.initcheck.slow_path import read_lane, written_lane
from ptxloom.machine.runtime.memory import shared_place
from ptxloom.machine.runtime.racecheck.async_operations import access_row, begin_operation, read_by, reader_of
from ptxloom.machine.runtime.racecheck.global_memory import look_copy
from ptxloom.machine.runtime.racecheck.happens_before import stamp_of
from ptxloom.machine.runtime.racecheck.proxies import check_map
from ptxloom.machine.runtime.shadow import READS, STRONG
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, GENERIC, GLOBAL, NONE, SHARED, SHARED_WINDOW, Warp
from ptxloom.machine.runtime.tensor_boxes.model import CHUNK_BYTES, MAP_BYTES, TensorCopy
from ptxloom.machine.runtime.tensor_boxes.swizzle import chunk_place
from ptxloom.machine.runtime.tensor_boxes.walk import is_inside, next_row, restart


def begin_copy(w: Warp, lane: u32, site: u32, combines: u32, told: u64) -> u32:
    """A lane issues a copy; gives the entry of the agent that reads for it, NONE if there is none."""
    if address(w.shadow) == 0:
        return NONE
    return reader_of(w, begin_operation(w, site | STRONG if combines != 0 else site, 1), lane, told)


def watch_map(w: Warp, lane: u32, at: u64, site: u32) -> None:
    """A lane issues a copy by the tensor map at a generic address."""
    read_lane(w, lane, at, GENERIC, MAP_BYTES, site)
    if address(w.shadow) != 0 and at < SHARED_WINDOW:
        stamp = stamp_of(w, site)
        look_copy(w, lane, at, MAP_BYTES, stamp, READS, 0)
        check_map(w, lane, at, MAP_BYTES, stamp)


def watch_load(w: Warp, t: TensorCopy, lane: u32, at: u64, size: u32, agent: u32, site: u32) -> None:
    """A copy reads bytes of the tensor."""
    read_lane(w, lane, at, GLOBAL, size, site)
    if address(w.shadow) != 0 and agent != NONE:
        access_row(w, lane, t, at, size, agent, 0)


def watch_store(w: Warp, t: TensorCopy, lane: u32, at: u64, size: u32, combines: u32, site: u32) -> None:
    """A copy writes bytes of the tensor, or combines with what is there."""
    if combines != 0:
        read_lane(w, lane, at, GLOBAL, size, site)
    written_lane(w, lane, at, GLOBAL, size)
    if address(w.shadow) != 0:
        access_row(w, lane, t, at, size, 0, 1)


def watch_target(w: Warp, t: TensorCopy, lane: u32, at: u64, told: u64) -> None:
    """A copy writes a box in shared memory, until the mbarrier at a host address tells."""
    if address(w.shadow) == 0 and address(w.written) == 0:
        return
    if t.pitch == t.row_bytes:
        write_stretch(w, lane, at, u32(t.rows * t.pitch), told)
        return
    start = at & ((1 << CLUSTER_SHIFT) - 1)
    number: u64 = 0
    while number < t.rows:
        for offset in range(0, u32(t.row_bytes), CHUNK_BYTES):
            write_stretch(w, lane, at + chunk_place(t, start, number, u64(offset)), CHUNK_BYTES, told)
        number = number + 1


def write_stretch(w: Warp, lane: u32, at: u64, size: u32, told: u64) -> None:
    """The same of bytes that lie side by side."""
    if address(w.shadow) != 0:
        write_bulk(w, lane, at, SHARED, size, told)
    written_lane(w, lane, at, SHARED, size)


def watch_source(w: Warp, t: TensorCopy, lane: u32, at: u64, size: u64, site: u32) -> None:
    """A copy reads `size` bytes of each row of a box inside of the tensor; it then stands at the first again."""
    if (address(w.shadow) == 0 and address(w.written) == 0) or size == 0:
        return
    start = at & ((1 << CLUSTER_SHIFT) - 1)
    low: u64 = 0
    high: u64 = 0
    number: u64 = 0
    while number < t.rows:
        if is_inside(t) != 0:
            whole = u32(t.chunk_mask == 0 or (t.pitch == t.row_bytes and size == t.row_bytes))
            length = size if whole != 0 else CHUNK_BYTES
            offset: u64 = 0
            while offset < size:
                place = number * t.pitch if whole != 0 else chunk_place(t, start, number, offset)
                if place != high:
                    read_stretch(w, lane, at + low, u32(high - low), site)
                    low = place
                high = place + length
                offset = offset + length
        next_row(t)
        number = number + 1
    read_stretch(w, lane, at + low, u32(high - low), site)
    restart(t)


def read_stretch(w: Warp, lane: u32, at: u64, size: u32, site: u32) -> None:
    """Bytes that lie side by side are read: by an operation of their own, for it knows of no others."""
    if size == 0 or address(shared_place(w, at & 0xFFFFFFFF, u64(size))) == 0:
        return
    if address(w.shadow) != 0:
        begin_operation(w, site, 1)
        read_by(w, lane, at, SHARED, size, 0)
    read_lane(w, lane, at, SHARED, size, site)
