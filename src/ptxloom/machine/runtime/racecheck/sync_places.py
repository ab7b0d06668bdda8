"""Knowledge published at places in memory: at mbarriers and flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import (
    address,
    copy,
    fill,
    trailing_zeros,
    u32,
    u64,
)
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.racecheck.fence_records import publish_fence
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.racecheck.tick_rows import at_row, join, row_of, row_of_warp, tensor_columns
from ptxloom.machine.runtime.racecheck.vector_clocks import acquire, release, release_beyond
from ptxloom.machine.runtime.state import (
    Warp,
)
from ptxloom.machine.runtime.structs.shadow import CLUSTER_SCOPE, COLUMNS, CTA_SCOPE, FEW_SYNCS, SYNCS, HappensBefore

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def find_sync(order: HappensBefore, key: u64, make: u32) -> u32:
    """The number of the sync at a host address; SYNCS if it has no sync, and none is to be (or can be) made."""
    if address(order.known) == 0:
        return SYNCS
    slot = u32((key >> 2) * 0x9E3779B97F4A7C15 >> 40) % SYNCS
    for _probe in range(SYNCS):
        sync = order.syncs[slot]
        if sync.key == key:
            return slot
        if sync.key == 0:
            if make == 0:
                return SYNCS
            renew_sync(order, slot)
            sync.key = key
            sync.column = order.used % COLUMNS
            order.used = order.used + 1
            return slot
        slot = (slot + 1) % SYNCS
    if make != 0:
        order.lost = 1
        order.limits = order.limits | FEW_SYNCS
    return SYNCS


def renew_sync(order: HappensBefore, number: u32) -> None:
    """Another place takes the room of one that clusters before this one have used: nothing has been released there."""
    fill(at_row(order.arriving, order, number), 0)
    fill(at_row(order.complete, order, number), 0)
    fill(at_row(order.inside, order, number), 0)


@watching
def arrive_at(w: Warp, lane: u32, host: u64, relaxed: u32) -> None:
    """A lane arrives at an mbarrier, which releases; a relaxed arrival publishes what comes before its last fence."""
    order = w.shadow.order
    number = find_sync(order, host, 1)
    if number < SYNCS:
        arriving = at_row(order.arriving, order, number)
        if relaxed == 0:
            warp = me(w, 0)
            if order.told_sync == number + 1 and order.told_warp == warp and order.told_clock == order.clock:
                release_beyond(w, 1 << lane, arriving, order.clock)
            else:
                release(w, 1 << lane, arriving, order.clock)
            order.told_sync = number + 1
            order.told_warp = warp
            order.told_clock = order.clock
        else:
            publish_fence(w, lane, CTA_SCOPE if w.launch.members == 1 else CLUSTER_SCOPE, arriving)
            join_fences(order, arriving, row_of(order, me(w, lane)))
            join_fences(order, arriving, row_of_warp(order, me(w, lane)))


@watching
def start_phases(w: Warp, host: u64) -> None:
    """An mbarrier is set up, or given up: it has no arrivals."""
    complete_phase(w, host)
    complete_phase(w, host)


@watching
def complete_phase(w: Warp, host: u64) -> None:
    """Complete a phase of an mbarrier: threads that wait for it learn only from those that arrived in it."""
    order = w.shadow.order
    order.told_sync = 0
    number = find_sync(order, host, 0)
    if number < SYNCS:
        arrived = at_row(order.arriving, order, number)
        copy(at_row(order.complete, order, number), arrived, u64(order.columns) * 4)
        fill(arrived, 0)


@watching
def wait_at(w: Warp, lanes: u32, host: u64, relaxed: u32) -> None:
    """Lanes have seen that a phase of an mbarrier is complete, and acquire; relaxed ones do at their next fence."""
    order = w.shadow.order
    number = find_sync(order, host, 0)
    if number >= SYNCS:
        return
    complete = at_row(order.complete, order, number)
    if relaxed == 0:
        acquire(w, lanes, complete)
        return
    left = lanes
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        join(w, at_row(order.seen, order, me(w, lane)), complete)
        join_fences(order, row_of(order, me(w, lane)), complete)
    w.saw = w.saw | lanes
    if order.tensor != 0:
        w.own = w.own | lanes


def join_fences(order: HappensBefore, into: Slice[u32], source: Slice[u32]) -> None:
    """Hand on what comes before a `tcgen05.fence::before_thread_sync`, which any order of execution does."""
    if order.tensor != 0:
        for column in range(tensor_columns(order)):
            at = order.tensor + column
            into[at] = max(into[at], source[at])
