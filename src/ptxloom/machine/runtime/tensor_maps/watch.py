"""How copies by tensor maps are reported to racecheck and initcheck."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import address, nothing, part, u8, u32, u64
from ptxloom.machine.runtime.asynchronous.copies import write_told
from ptxloom.machine.runtime.initcheck.slow_path import read_lane, written_lane
from ptxloom.machine.runtime.memory.lane_access import shared_place
from ptxloom.machine.runtime.racecheck.async_operations import access_row, begin_operation, read_by, reader_of
from ptxloom.machine.runtime.racecheck.global_memory import look_copy
from ptxloom.machine.runtime.racecheck.happens_before import operation_at, stamp_of
from ptxloom.machine.runtime.racecheck.proxies import check_map
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, GENERIC, GLOBAL, NONE, SHARED, SHARED_WINDOW, Warp
from ptxloom.machine.runtime.structs.histories import READS
from ptxloom.machine.runtime.structs.shadow import STRONG
from ptxloom.machine.runtime.tensor_boxes.model import CHUNK_BYTES, MAP_BYTES, MOST_ROW_BYTES, TensorCopy
from ptxloom.machine.runtime.tensor_boxes.swizzle import chunk_place, is_plain, pieces_of
from ptxloom.machine.runtime.tensor_boxes.walk import is_inside, next_row, restart, rows_of

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def begin_copy(w: Warp, lane: u32, site: u32, box: u64, combines: u32, told: u64) -> u32:
    """A lane issues a copy of a box; returns the entry of the agent that reads for it, NONE without an agent."""
    if address(w.shadow) == 0:
        return NONE
    op = begin_operation(w, site | STRONG if combines != 0 else site, 1)
    op.source[lane] = box
    return reader_of(w, op, lane, told)


def watch_map(w: Warp, lane: u32, at: u64, site: u32) -> None:
    """A lane issues a copy by the tensor map at a generic address."""
    read_lane(w, lane, at, GENERIC, MAP_BYTES, site)
    if address(w.shadow) != 0 and at < SHARED_WINDOW:
        stamp = stamp_of(w, site)
        look_copy(w, lane, at, MAP_BYTES, stamp, READS, 0, nothing(u8))
        check_map(w, lane, at, MAP_BYTES, stamp)


def watch_load(w: Warp, t: TensorCopy, lane: u32, at: u64, size: u32, agent: u32, site: u32) -> None:
    """A copy reads bytes of the tensor."""
    read_lane(w, lane, at, GLOBAL, size, site)
    if address(w.shadow) != 0 and agent != NONE:
        access_row(w, lane, t, at, size, agent, 0, nothing(u8))


def watch_store(w: Warp, t: TensorCopy, lane: u32, at: u64, size: u32, combines: u32, site: u32) -> None:
    """A copy writes bytes of the tensor, or combines with what is there."""
    data = part(w.worker.row[0].bytes, 0, u64(size))
    if combines != 0:
        read_lane(w, lane, at, GLOBAL, size, site)
        data = nothing(u8)
    written_lane(w, lane, at, GLOBAL, size)
    if address(w.shadow) != 0:
        access_row(w, lane, t, at, size, 0, 1, data)


def watch_target(w: Warp, t: TensorCopy, lane: u32, at: u64, number: u64, told: u64) -> None:
    """A copy writes a row that has come to a box in shared memory, until the mbarrier at a host address reports it."""
    if address(w.shadow) == 0 and address(w.written) == 0:
        return
    row = part(w.worker.row[0].bytes, 0, t.taken_bytes)
    if is_plain(t) != 0:
        write_stretch(w, lane, at + number * t.pitch, u32(t.row_bytes), told, row)
        return
    start = at & ((1 << CLUSTER_SHIFT) - 1)
    for piece in range(pieces_of(t)):
        offset = u64(piece * t.piece)
        place = at + chunk_place(t, start, number, offset)
        write_stretch(w, lane, place, t.piece, told, part(row, offset, t.piece))


def write_stretch(w: Warp, lane: u32, at: u64, size: u32, told: u64, data: Annotated[Slice[u8], "size"]) -> None:
    """The same of bytes that lie side by side."""
    if address(w.shadow) != 0:
        stamp = operation_at(w, w.operation_head - 1).stamp
        write_told(w, lane, at, SHARED, size, stamp, told, data)
    written_lane(w, lane, at, SHARED, size)


def watch_source(w: Warp, t: TensorCopy, lane: u32, at: u64, size: u64, site: u32) -> None:
    """A copy reads `size` bytes of each row of a box inside of the tensor; it then stands at the first again."""
    if (address(w.shadow) == 0 and address(w.written) == 0) or size == 0:
        return
    assert size <= MOST_ROW_BYTES
    start = at & ((1 << CLUSTER_SHIFT) - 1)
    low: u64 = 0
    high: u64 = 0
    for _row in range(rows_of(t)):
        if is_inside(t) != 0:
            whole = u32(is_plain(t) != 0 or (t.pitch == t.row_bytes and size == t.row_bytes))
            length = size if whole != 0 else u64(t.piece)
            offset: u64 = 0
            while offset < size:
                place = t.number * t.pitch if whole != 0 else chunk_place(t, start, t.number, offset)
                if place != high:
                    read_stretch(w, lane, at + low, u32(high - low), site)
                    low = place
                high = place + (length if t.packed == CHUNK_BYTES else CHUNK_BYTES)
                offset = offset + length
        next_row(t)
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
