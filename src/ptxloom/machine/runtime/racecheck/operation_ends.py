"""Racecheck at the ends of asynchronous operations (PTX ISA 9.7.9.25): threads that waited for a group know of its end.

From then on what an operation has read and written is a read and a write of its thread's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, nothing, part, u8, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.lane_access import shared_place
from ptxloom.machine.runtime.racecheck.global_memory import look_end
from ptxloom.machine.runtime.racecheck.happens_before import entry_of, operation_at
from ptxloom.machine.runtime.racecheck.race_report import begun_at
from ptxloom.machine.runtime.racecheck.shared_histories import swap_writes
from ptxloom.machine.runtime.racecheck.slow_path import keep_read, shadow_at
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, NONE, SHARED, Warp
from ptxloom.machine.runtime.structs.shadow import OPERATION_SHIFT, OPERATIONS, PENDING
from ptxloom.machine.runtime.tensor_boxes.model import TensorCopy
from ptxloom.machine.runtime.tensor_boxes.swizzle import row_place, row_room, take_row
from ptxloom.machine.runtime.tensor_boxes.walk import is_inside, next_row, restart, row_address, rows_of, stored_bytes
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


@watching
def commit_group(w: Warp, lanes: u32, bulk: u32) -> None:
    """`cp.async.commit_group`, `cp.async.bulk.commit_group`."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            if bulk == 0:
                w.groups[lane] = w.groups[lane] + 1
            else:
                w.bulk_groups[lane] = w.bulk_groups[lane] + 1


@watching
def wait_group(w: Warp, lanes: u32, kept: u32, bulk: u32, reads_only: u32) -> None:
    """All but the youngest groups of lanes are complete, or have `reads_only` read all; every one if `kept` is NONE."""
    if address(w.shadow.operations) == 0:
        return
    number = w.operation_tail
    while number != w.operation_head:
        spend(w, 1)
        op = operation_at(w, number)
        if op.bulk == bulk and (op.reads & ~op.handed | op.writes) & lanes != 0:
            for lane in range(32):
                committed = w.groups[lane] if bulk == 0 else w.bulk_groups[lane]
                over = u32(kept == NONE or op.group[lane] + kept < committed)
                if lanes & ~op.handed & over << lane != 0:
                    end_reads(w, number, lane)
                    if reads_only == 0:
                        end_writes(w, number, lane)
        if op.reads | op.writes == 0 and number == w.operation_tail:
            w.operation_tail = number + 1
        number = number + 1


def end_reads(w: Warp, number: u32, lane: u32) -> None:
    """A lane knows that its operation has read all: from now on that is a read of its own."""
    op = operation_at(w, number)
    if op.reads >> lane & 1 == 0:
        return
    order = w.shadow.order
    op.reads = op.reads & ~(1 << lane)
    if op.source_space != SHARED:
        order.far_reads = order.far_reads - 1
        return
    order.reading = order.reading - 1
    at = op.source[lane]
    stamp = begun_at(w, op.stamp, op.begun)
    keep_read(w, shadow_at(w, at), u32(at & ((1 << CLUSTER_SHIFT) - 1)), op.taken[lane], lane, stamp)


def end_writes(w: Warp, number: u32, lane: u32) -> None:
    """A lane knows that its operation has written all: from now on that is a write of its own."""
    op = operation_at(w, number)
    if op.writes >> lane & 1 == 0:
        return
    if op.target_space == SHARED:
        replace(w, number, lane, entry_of(w, lane))
        return
    op.writes = op.writes & ~(1 << lane)
    w.shadow.order.far_writes = w.shadow.order.far_writes - 1
    stamp = begun_at(w, op.stamp, op.begun)
    if op.in_rows == 0:
        look_end(w, lane, op.target[lane], op.given[lane], stamp, source_bytes(w, op.source[lane], u64(op.given[lane])))
    else:
        write_rows(w, lane, op.tensor[0], op.source[lane], stamp)


def source_bytes(w: Warp, at: u64, size: u64) -> Slice[u8]:
    """The bytes that a copy has read from shared memory, as far as they are still there."""
    return shared_place(w, at & 0xFFFFFFFF, size)


def write_rows(w: Warp, lane: u32, t: TensorCopy, box: u64, stamp: u32) -> None:
    """What a copy has written in a tensor, from a box in shared memory, is a write of the lane's own."""
    restart(t)
    row = w.worker.row[0]
    spend(w, rows_of(t))
    for _row in range(rows_of(t)):
        if is_inside(t) != 0:
            source = source_bytes(w, box + row_place(t, t.number), row_room(t))
            data = nothing(u8)
            if address(source) != 0:
                take_row(row, t, source, box & ((1 << CLUSTER_SHIFT) - 1), t.number)
                data = part(row.bytes, 0, stored_bytes(t))
            look_end(w, lane, row_address(t), u32(stored_bytes(t)), stamp, data)
        next_row(t)


def replace(w: Warp, number: u32, lane: u32, held: u32) -> None:
    """Put another entry where bytes still carry the mark of a lane's operation, whose writes are no longer its own."""
    op = operation_at(w, number)
    at = op.target[lane]
    s = shadow_at(w, at)
    mark = mark_of(w, number, lane)
    stamp = begun_at(w, op.stamp, op.begun)
    place = u32(at & ((1 << CLUSTER_SHIFT) - 1))
    swap_writes(s, place, op.given[lane], mark, held, stamp)
    op.writes = op.writes & ~(1 << lane)


def mark_of(w: Warp, number: u32, lane: u32) -> u32:
    """The entry of bytes that an operation of this warp writes."""
    warp = w.shadow.first // 32 + w.index
    return PENDING | warp << OPERATION_SHIFT | number % OPERATIONS << 5 | lane
