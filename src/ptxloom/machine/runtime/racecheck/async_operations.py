"""Racecheck's model of asynchronous operations (PTX ISA 9.7.9.25): their accesses, until their end is observed.

An operation reads and writes memory on behalf of the thread that issued it, as another thread would: only its end
orders it, for threads that have observed that. The machine makes it at once; to racecheck it lasts until its thread has
waited for its group or, if it reports to an mbarrier, until the phase is seen to complete.

What an operation writes to shared memory has an entry of its own there: a mark of the operation while its thread is to
wait for it, which then makes it a write of that thread; an entry of an agent, a thread that stands for all that reports
to an mbarrier, once that reports its end. What it reads, and its side in global memory, is kept with the operation in a
ring of its warp, which every later write (or read) there looks through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import address, copy, nothing, part, u8, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.lane_access import shared_place
from ptxloom.machine.runtime.memory.places import stored_byte
from ptxloom.machine.runtime.racecheck.global_memory import look_copy
from ptxloom.machine.runtime.racecheck.happens_before import me, operation_at, stamp_of
from ptxloom.machine.runtime.racecheck.operation_ends import end_reads, end_writes, mark_of, replace
from ptxloom.machine.runtime.racecheck.pending_global import meet_lane
from ptxloom.machine.runtime.racecheck.proxies import check_fence, check_reuse
from ptxloom.machine.runtime.racecheck.race_report import tell_end
from ptxloom.machine.runtime.racecheck.shared_flags import flag_place
from ptxloom.machine.runtime.racecheck.slow_path import check_copy, check_lane, keep_copy, shadow_at
from ptxloom.machine.runtime.racecheck.sync_places import find_sync
from ptxloom.machine.runtime.racecheck.tick_rows import at_row
from ptxloom.machine.runtime.racecheck.vector_clocks import released
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, GLOBAL, NONE, SHARED, Warp
from ptxloom.machine.runtime.structs.histories import READS, WRITES
from ptxloom.machine.runtime.structs.pending_operations import PendingOperation
from ptxloom.machine.runtime.structs.shadow import AGENT, OPERATIONS, PENDING, SYNCS
from ptxloom.machine.runtime.tensor_boxes.model import TENSOR_COPY_BYTES, TensorCopy
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

STORE_BYTES = 16  # that a lane stores at most with one instruction


# -- issued


@watching
def begin_operation(w: Warp, site: u32, bulk: u32) -> PendingOperation:
    """A warp issues an instruction; if the ring is full, the oldest operation counts as complete.

    `bulk` is 1 for what bulk groups count, 0 for what plain groups do.
    """
    number = w.operation_head
    op = operation_at(w, number)
    if op.reads | op.writes != 0:
        for lane in range(32):
            end_reads(w, number, lane)
            end_writes(w, number, lane)
    w.operation_head = number + 1
    if w.operation_head > w.operation_tail + OPERATIONS:
        w.operation_tail = w.operation_head - OPERATIONS
    op.stamp = stamp_of(w, site)
    op.bulk = bulk
    op.begun = w.shadow.order.clock
    op.handed = 0
    op.in_rows = 0
    return op


@watching
def read_by(w: Warp, lane: u32, at: u64, space: u32, size: u32, host: u64) -> None:
    """A lane of the operation issued last reads a stretch of shared or global memory.

    The mbarrier at a host address reports when it has read; 0 if its thread is to wait for that.
    """
    op = operation_at(w, w.operation_head - 1)
    order = w.shadow.order
    if size == 0 or (space == SHARED and address(shared_place(w, at & 0xFFFFFFFF, u64(size))) == 0):
        return
    if space != SHARED and host == 0 and address(order.grid) == 0:
        return  # global memory is not watched
    agent = reader_of(w, op, lane, host)
    if agent == NONE:
        return
    if space == SHARED:
        check_lane(w, lane, at, size, op.stamp, 0, nothing(u64), 1)
        order.reading = order.reading + 1
    else:
        look_copy(w, lane, at, size, op.stamp, READS, agent, nothing(u8))
        meet_lane(w, lane, at, size, op.stamp, 0)
        order.far_reads = order.far_reads + 1
    if op.bulk != 0:
        check_fence(w, lane, at, space, size, op.stamp)
    op.source_space = space
    op.source[lane] = at
    op.taken[lane] = size
    op.group[lane] = w.groups[lane] if op.bulk == 0 else w.bulk_groups[lane]
    op.reads = op.reads | 1 << lane


@watching
def reader_of(w: Warp, op: PendingOperation, lane: u32, host: u64) -> u32:
    """The entry of the agent that reads for a lane if the mbarrier at a host address reports its end; NONE: no room."""
    if host == 0:
        return 0
    column = column_told(w, host)
    if column == NONE:
        return NONE
    op.handed = op.handed | 1 << lane
    op.column[lane] = column
    op.told[lane] = w.shadow.order.clock
    return agent_entry(w, lane, column)


@watching
def access_row(
    w: Warp,
    lane: u32,
    t: TensorCopy,
    at: u64,
    size: u32,
    agent: u32,
    write: u32,
    data: Annotated[Slice[u8], "size"],
) -> None:
    """The operation issued last reads or writes bytes of a row of a tensor in global memory, and others of it."""
    op = operation_at(w, w.operation_head - 1)
    order = w.shadow.order
    look_copy(w, lane, at, size, op.stamp, WRITES if write != 0 else READS, agent, data)
    meet_lane(w, lane, at, size, op.stamp, write)
    check_fence(w, lane, at, GLOBAL, size, op.stamp)
    if op.in_rows == 0:
        op.in_rows = 1
        op.low = at
        op.high = at
        copy(op.tensor[0], t, TENSOR_COPY_BYTES)
        op.group[lane] = w.bulk_groups[lane]
        if write != 0:
            op.target_space = GLOBAL
            op.writes = op.writes | 1 << lane
            order.far_writes = order.far_writes + 1
        else:
            op.source_space = GLOBAL
            op.reads = op.reads | 1 << lane
            order.far_reads = order.far_reads + 1
    op.low = min(op.low, at)
    op.high = max(op.high, at + u64(size))


@watching
def write_by(w: Warp, lane: u32, at: u64, space: u32, size: u32, data: Annotated[Slice[u8], "size"]) -> None:
    """A lane of the operation issued last writes a stretch, and its thread is to wait for that.

    `data` is what it writes, empty if unknown.
    """
    op = operation_at(w, w.operation_head - 1)
    if size == 0 or (space == SHARED and address(shared_place(w, at & 0xFFFFFFFF, u64(size))) == 0):
        return
    if space == SHARED:
        write_shared(w, lane, at, size, op.stamp, mark_of(w, w.operation_head - 1, lane), data)
    else:
        look_copy(w, lane, at, size, op.stamp, WRITES, 0, data)
        meet_lane(w, lane, at, size, op.stamp, 1)
        if op.bulk != 0:
            check_fence(w, lane, at, space, size, op.stamp)
        w.shadow.order.far_writes = w.shadow.order.far_writes + 1
    op.target_space = space
    op.target[lane] = at
    op.given[lane] = size
    op.group[lane] = w.groups[lane] if op.bulk == 0 else w.bulk_groups[lane]
    op.writes = op.writes | 1 << lane


@watching
def write_async(
    w: Warp,
    lanes: u32,
    addresses: Ptr[u64],
    barriers: Ptr[u64],
    size: u32,
    site: u32,
    values: Annotated[Slice[u64], "size // part_bytes"],
    part_bytes: u32,
) -> None:
    """`st.async`, `red.async`: lanes write to shared memory, and each reports to an mbarrier.

    `values` are the registers that are stored, `part_bytes` a lane each; null if they are not known. What a lane stores
    is in memory when the next lane is looked at, as with copies: lanes that store the same do not race.
    """
    stamp = stamp_of(w, site)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            host = address(shared_place(w, barriers[lane] & 0xFFFFFFFF, 8))
            if host != 0:
                data = nothing(u8)
                if address(values) != 0 and size <= STORE_BYTES:
                    data = part(w.worker.row[0].bytes, 0, u64(size))
                    for number in range(size):
                        data[number] = stored_byte(values, part_bytes, lane, number)
                write_for(w, lane, addresses[lane], size, stamp, host, data)
                if address(data) != 0:
                    into = shared_place(w, addresses[lane] & 0xFFFFFFFF, u64(size))
                    if address(into) != 0:
                        copy(into, data, u64(size))
    released(w)


@watching
def write_for(
    w: Warp, lane: u32, at: u64, size: u32, stamp: u32, host: u64, data: Annotated[Slice[u8], "size"]
) -> None:
    """A lane writes shared memory, its own CTA's or a peer's; the mbarrier at a host address reports the end."""
    column = column_told(w, host)
    if column != NONE and size != 0 and address(shared_place(w, at & 0xFFFFFFFF, u64(size))) != 0:
        write_shared(w, lane, at, size, stamp, agent_entry(w, lane, column), data)


def write_shared(
    w: Warp, lane: u32, at: u64, size: u32, stamp: u32, held: u32, data: Annotated[Slice[u8], "size"]
) -> None:
    """Compare a write with the history of its bytes, and record it there."""
    s = shadow_at(w, at)
    place = u32(at & ((1 << CLUSTER_SHIFT) - 1))
    if s.ended != 0:
        tell_end(w, s, me(w, lane), place, size, stamp)
    check_copy(w, s, lane, place, size, stamp, data)
    check_reuse(w, lane, at, size, stamp)
    keep_copy(w, s, place, size, held, stamp)


def agent_entry(w: Warp, lane: u32, column: u32) -> u32:
    """The entry of bytes that an mbarrier's agent writes now, on behalf of a lane."""
    order = w.shadow.order
    order.issuers[column] = me(w, lane)
    order.issued = order.clock
    return PENDING | AGENT | order.clock << order.bits | order.threads + column


# -- reported to an mbarrier


def column_told(w: Warp, host: u64) -> u32:
    """The column of the agent of the mbarrier at a host address, which has come there; NONE if there is no room."""
    order = w.shadow.order
    sync = find_sync(order, host, 1)
    if sync >= SYNCS:
        return NONE
    column = order.syncs[sync].column
    at_row(order.arriving, order, sync)[order.threads + column] = order.clock
    return column


@watching
def hand_over(w: Warp, lanes: u32, addresses: Ptr[u64], space: u32) -> None:
    """`cp.async.mbarrier.arrive`: mbarriers report the end of all that lanes have begun and not waited for."""
    if address(w.shadow.operations) == 0:
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            host = flag_place(w, addresses[lane], space)
            if host != 0:
                column = column_told(w, host)
                number = w.operation_tail
                while number != w.operation_head:
                    spend(w, 1)
                    if operation_at(w, number).bulk == 0:
                        hand_lane(w, number, lane, column)
                    number = number + 1
    released(w)


def hand_lane(w: Warp, number: u32, lane: u32, column: u32) -> None:
    """From now on an agent reports the end of a lane's part of an operation to all, not just to its thread."""
    op = operation_at(w, number)
    if column == NONE or op.handed >> lane & 1 != 0:
        return
    if op.writes >> lane & 1 != 0 and op.target_space == SHARED:
        replace(w, number, lane, agent_entry(w, lane, column))
    if op.reads >> lane & 1 != 0:
        op.handed = op.handed | 1 << lane
        op.column[lane] = column
        op.told[lane] = w.shadow.order.clock
