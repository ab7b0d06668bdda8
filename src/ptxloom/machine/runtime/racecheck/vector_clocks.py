"""The order of accesses to shared memory: what each thread knows of the others, as vector clocks.

A thread that releases publishes what it knows at a place (a `Sync`, or a barrier's row), a thread that acquires there
learns it. All ticks are of one clock, so that a publication is a copy of a row of `known` and the time now. What one
thread of a warp knows the others learn at `bar.warp.sync`; `shfl.sync` and its like order nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import (
    address,
    fill,
    popcount,
    trailing_zeros,
    u32,
)
from ptxloom.machine.native.standalone import standalone
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.places import warp_at
from ptxloom.machine.runtime.racecheck.access_history import reset_histories
from ptxloom.machine.runtime.racecheck.clock_reset import settle_fences, settle_grid
from ptxloom.machine.runtime.racecheck.fence_records import keep_fences
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.racecheck.tick_rows import join, learn_row, row_of_warp, tell_lanes
from ptxloom.machine.runtime.state import (
    SHARED,
    Cta,
    Warp,
)
from ptxloom.machine.runtime.structs.shadow import OPERATIONS, PRODUCTS, TENSOR_ACCESSES, HappensBefore, Shadow

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


# -- the clock


def advance(cta: Cta) -> None:
    """Advance the clock: what happens from now on is later than what has been published."""
    order = cta.shadow.order
    order.clock = order.clock + 1
    if order.clock >= order.ceiling:
        forget(cta, order)


@watching
def released(w: Warp) -> None:
    """Lanes of a warp have published something."""
    advance(w.cta)
    w.since = w.shadow.order.clock


def begin(cta: Cta) -> None:
    """Start a CTA: earlier ones no longer matter."""
    s = cta.shadow
    advance(cta)
    if cta.rank == 0 and address(s.order.known) != 0:
        forget_syncs(s.order)
    s.birth = s.order.clock
    s.ended = 0
    rebase(cta, s)
    advance(cta)


def rebase(cta: Cta, s: Shadow) -> None:
    """Up to now all is over, for the threads of the CTA."""
    s.base = s.order.clock
    s.floor = s.base
    if cta.launch.members > 1:
        s.floor = s.birth
    s.limit = s.floor + 1 << s.order.bits
    s.deferring = s.defers
    s.deferred = 0
    if s.order.history_count != 0 and (cta.launch.members == 1 or s.birth == s.base):
        reset_histories(s.order)


def forget_syncs(order: HappensBefore) -> None:
    """A cluster starts: no thread of it can learn anything at the places of those before it."""
    if order.used != 0:
        fill(order.syncs, 0)
    order.used = 0
    order.lost = 0


@standalone
def forget(cta: Cta, order: HappensBefore) -> None:
    """The clock's bits are used up: set it back to what follows the first tick, with empty shadows."""
    order.clock = 2
    if address(order.known) != 0:
        fill(order.known, 0)
        fill(order.known_to_warps, 0)
        fill(order.seen, 0)
        fill(order.seen_inside, 0)
        settle_fences(order)
        fill(order.syncs, 0)
        fill(order.arriving, 0)
        fill(order.complete, 0)
        fill(order.inside, 0)
        fill(order.barriers, 0)
        fill(order.gathering, 0)
        order.used = 0
        order.lost = 0
        order.issued = 0
        order.told_sync = 0
    reset_histories(order)
    settle_grid(cta, order)
    for rank in range(cta.launch.members):
        forget_cta(cta.peers[rank].cta, order)


def forget_cta(cta: Cta, order: HappensBefore) -> None:
    """Empty the shadow of one CTA."""
    s = cta.shadow
    fill(s.writes, 0)
    fill(s.reads, 0)
    fill(s.summary, 0)
    fill(s.common, 0)
    fill(s.common_before, 0)
    s.changed = 0
    s.changed_before = 0
    fill(s.remote_accesses, 0)
    forget_touches(s)
    s.birth = 1
    s.base = 1
    s.floor = 1
    s.limit = 2 << order.bits
    s.deferred = 0
    for index in range(s.warps):
        w = warp_at(cta, index)
        w.since = 0
        w.pointed = 0
        w.own = 0
        w.steps_base = 0xFFFFFFFF
    forget_reads(s, order)


def forget_reads(s: Shadow, order: HappensBefore) -> None:
    """Forget what reads until an agent reports its end: its ticks would come again."""
    forget_factors(s)
    if address(s.operations) != 0:
        for number in range(s.warps * OPERATIONS):
            op = s.operations[number]
            op.begun = min(op.begun, 1)
            told = op.reads & op.handed
            op.reads = op.reads & ~told
            if op.source_space == SHARED:
                order.reading = order.reading - popcount(told)
            else:
                order.far_reads = order.far_reads - popcount(told)


def forget_touches(s: Shadow) -> None:
    """Clear the records of tensor memory."""
    if address(s.touches) == 0:
        return
    s.touch_head = 0
    for number in range(TENSOR_ACCESSES):
        s.touches[number].begun = 0


def forget_factors(s: Shadow) -> None:
    """Clear the records of products' reads."""
    if address(s.products) == 0:
        return
    for number in range(s.warps * PRODUCTS):
        factor = s.products[number]
        if factor.lines != 0:
            factor.lines = 0
            s.order.reading = s.order.reading - 1
            s.order.multiplying = s.order.multiplying - 1


# -- what is known


def release(w: Warp, lanes: u32, into: Slice[u32], when: u32) -> None:
    """Publish what lanes know, and what they did themselves up to a tick."""
    s = w.shadow
    join(w, into, row_of_warp(s.order, me(w, 0)))
    join(w, into, s.common)
    if w.launch.members > 1:
        for other in range(s.warps * 32):
            into[s.first + other] = max(into[s.first + other], s.base)
    release_beyond(w, lanes, into, when)


def release_beyond(w: Warp, lanes: u32, into: Slice[u32], when: u32) -> None:
    """The same where all that their warp knows has been published."""
    tell_lanes(w, lanes, into)
    left = lanes
    while left != 0:
        thread = me(w, trailing_zeros(left))
        left = left & left - 1
        into[thread] = max(into[thread], when)


def acquire(w: Warp, lanes: u32, source: Slice[u32]) -> None:
    """Lanes learn what has been published."""
    keep_fences(w, lanes)
    learn_row(w, lanes, source)
