"""Accesses to global memory that pending asynchronous operations still read or write.

Only those that come after the operation was issued are reported here; `cells` reports those in no order even with that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, trailing_zeros, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.hazards import note_pair
from ptxloom.machine.runtime.racecheck.equal_values import stores_same
from ptxloom.machine.runtime.racecheck.happens_before import is_done, is_known, me, operation_at
from ptxloom.machine.runtime.racecheck.race_report import warp_of
from ptxloom.machine.runtime.state import (
    GENERIC,
    GLOBAL,
    OWN_WRITE_WRITE,
    READ_WRITE,
    SHARED,
    SHARED_WINDOW,
    WRITE_READ,
    WRITE_WRITE,
    Warp,
)
from ptxloom.machine.runtime.structs.pending_operations import PendingOperation
from ptxloom.machine.runtime.structs.shadow import SITE, STRONG
from ptxloom.machine.runtime.tensor_boxes.walk import meeting, rows_of
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


@watching
def meet_operations(
    w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, space: u32, size: u32, site: u32, write: u32
) -> None:
    """Lanes access global memory: `size` bytes each."""
    if is_any(w, write) == 0:
        return
    left = lanes
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        at = addresses[lane] + offset
        if space == GLOBAL or (space == GENERIC and at < SHARED_WINDOW):
            meet_lane(w, lane, at, size, site, write)


def is_any(w: Warp, write: u32) -> u32:
    """1 if some pending operation accesses global memory so that an access could race with it."""
    order = w.shadow.order
    return u32(order.far_writes != 0 or (write != 0 and order.far_reads != 0))


def meet_lane(w: Warp, lane: u32, at: u64, size: u32, site: u32, write: u32) -> None:
    """Compare one lane's access with all operations of the cluster that are under way."""
    if is_any(w, write) == 0:
        return
    for number in range(w.shadow.order.threads // 32):
        far = warp_of(w, number * 32)
        place = far.operation_tail
        while place != far.operation_head:
            spend(w, 1)
            op = operation_at(far, place)
            if op.reads != 0 and op.source_space != SHARED and write != 0:
                meet_side(w, lane, at, size, site, write, far, op, 0)
            if op.writes != 0 and op.target_space != SHARED:
                meet_side(w, lane, at, size, site, write, far, op, 1)
            place = place + 1


def meet_side(
    w: Warp, lane: u32, at: u64, size: u32, site: u32, write: u32, far: Warp, op: PendingOperation, writes: u32
) -> None:
    """Compare with what the lanes of an operation read, or write."""
    if writes != 0 and site & op.stamp & STRONG != 0:
        return
    left = op.writes if writes != 0 else op.reads
    while left != 0:
        other = trailing_zeros(left)
        left = left & left - 1
        low: u64 = 0
        high = at + u64(size)
        if other == lane and is_itself(w, far, op, site) != 0:
            high = 0  # a row of a copy meets no other row of it
        elif op.in_rows == 0:
            low = max(at, op.target[other] if writes != 0 else op.source[other])
            high = min(high, end_of(op, other, writes))
        elif at < op.high and high > op.low:
            spend(w, rows_of(op.tensor[0]))
            low = meeting(op.tensor[0], at, u64(size), writes)
        if (
            low != 0
            and low < high
            and is_after(w, lane, far, other, op) != 0
            and is_done(w, me(w, lane), op, other) == 0
            and (write & writes == 0 or (site | op.stamp) & STRONG != 0 or stores_same(w, lane, low, high) == 0)
        ):
            tell_far(w, lane, low, u32(high - low), site, write, far, other, op, writes)
            return


def is_itself(w: Warp, far: Warp, op: PendingOperation, site: u32) -> u32:
    """1 if an access is made by an operation that a warp is issuing, and this is it."""
    if address(far) != address(w) or site != op.stamp:
        return 0
    return u32(address(op) == address(operation_at(w, w.operation_head - 1)))


def end_of(op: PendingOperation, lane: u32, writes: u32) -> u64:
    """Where the stretch ends that a lane of an operation writes, or reads."""
    if writes != 0:
        return op.target[lane] + u64(op.given[lane])
    return op.source[lane] + u64(op.taken[lane])


def is_after(w: Warp, lane: u32, far: Warp, other: u32, op: PendingOperation) -> u32:
    """1 if a lane knows that another one has issued an operation."""
    thread = me(far, other)
    return u32(thread == me(w, lane) or is_known(w, me(w, lane), thread, op.begun) != 0)


def tell_far(
    w: Warp,
    lane: u32,
    at: u64,
    size: u32,
    site: u32,
    write: u32,
    far: Warp,
    other: u32,
    op: PendingOperation,
    writes: u32,
) -> None:
    """Report an access that does not wait for the end of an operation."""
    kind: u32 = WRITE_WRITE
    if write & writes == 0:
        kind = WRITE_READ
        if write != 0:
            kind = READ_WRITE
    if me(far, other) == me(w, lane):
        kind = kind + (OWN_WRITE_WRITE - WRITE_WRITE)
    note_pair(w, kind, site & SITE, lane, at, GLOBAL, size, op.stamp & SITE, far.index, other, far.cta.ctaid)
