"""What orders accesses to shared memory: barriers of a CTA, of a warp and of a cluster, mbarriers.

A thread that releases publishes what it knows at a place (a `Sync`, or a barrier's row), a thread that acquires there
learns it. All ticks are of one clock, so that a publication is a copy of a row of `known` and the time now. What one
thread of a warp knows the others learn at `bar.warp.sync`; `shfl.sync` and its like order nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import (
    address,
    copy,
    fill,
    part,
    popcount,
    set_lanes,
    trailing_zeros,
    u32,
    u64,
    view,
)
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.places import warp_at
from ptxloom.machine.runtime.racecheck.access_history import reset_crowds
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.racecheck.release_points import keep_points, publish_point
from ptxloom.machine.runtime.racecheck.tick_rows import at_row, join, row_of
from ptxloom.machine.runtime.shadow import (
    CLUSTER_SCOPE,
    COLUMNS,
    CTA_SCOPE,
    FEW_SYNCS,
    SYNCS,
    Order,
    Shadow,
)
from ptxloom.machine.runtime.state import (
    Cta,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


# -- the clock


def advance(cta: Cta) -> None:
    """Time goes on: what happens from now on is later than what has been published."""
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
    """A CTA starts: nothing of those before it matters any more."""
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
    if s.order.crowd_count != 0 and (cta.launch.members == 1 or s.birth == s.base):
        reset_crowds(s.order)


def forget(cta: Cta, order: Order) -> None:
    """The clock's bits are used up: set it back, with empty shadows."""
    order.clock = 1
    if address(order.known) != 0:
        fill(order.known, 0)
        fill(order.seen, 0)
        fill(order.seen_inside, 0)
        fill(order.points, 0)
        fill(order.released_at, 0)
        fill(order.syncs, 0)
        fill(order.arriving, 0)
        fill(order.complete, 0)
        fill(order.inside, 0)
        fill(order.barriers, 0)
        fill(order.gathering, 0)
        order.used = 0
        order.lost = 0
        order.issued = 0
    reset_crowds(order)
    for rank in range(cta.launch.members):
        forget_cta(cta.peers[rank].cta, order)


def forget_cta(cta: Cta, order: Order) -> None:
    """Empty the shadow of one CTA."""
    s = cta.shadow
    fill(s.writes, 0)
    fill(s.reads, 0)
    fill(s.summary, 0)
    fill(s.common, 0)
    fill(s.common_before, 0)
    s.changed = 0
    s.changed_before = 0
    fill(s.visits, 0)
    s.birth = 0
    s.base = 0
    s.floor = 0
    s.limit = 1 << order.bits
    for index in range(s.warps):
        w = warp_at(cta, index)
        w.since = 0
        w.pointed = 0
        w.steps_base = 0xFFFFFFFF


# -- what is known


def release(w: Warp, lane: u32, into: Slice[u32], when: u32) -> None:
    """Publish what a thread knows, and what it did itself up to a tick."""
    s = w.shadow
    order = s.order
    thread = me(w, lane)
    join(into, row_of(order, thread))
    join(into, s.common)
    if w.launch.members > 1:
        for other in range(s.warps * 32):
            into[s.first + other] = max(into[s.first + other], s.base)
    into[thread] = max(into[thread], when)


def acquire(w: Warp, lane: u32, source: Slice[u32]) -> None:
    """Learn what has been published."""
    order = w.shadow.order
    keep_points(w, lane)
    join(row_of(order, me(w, lane)), source)
    w.acquired = w.acquired | 1 << lane
    w.uneven = w.uneven | 1 << lane


# -- barriers


def take_seen(w: Warp, lanes: u32) -> None:
    """Lanes come to a barrier of the CTA, a fence too: what their relaxed reads have seen they know."""
    order = w.shadow.order
    left = lanes
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        acquire(w, lane, at_row(order.seen_inside, order, me(w, lane)))


@watching
def sync_lanes(w: Warp, lanes: u32) -> None:
    """`bar.warp.sync`: each lane names its members in the scratch."""
    if address(w.shadow.order.known) == 0:
        return
    named = view(u32, w.scratch)
    left = lanes
    while left != 0:
        group = named[trailing_zeros(left)] & lanes | left & -left
        sync_group(w, group)
        left = left & ~group
    released(w)


def sync_group(w: Warp, lanes: u32) -> None:
    """Lanes of a warp learn what each of them knows, and what each has done."""
    order = w.shadow.order
    left = w.pointed & lanes
    while left != 0:
        keep_points(w, trailing_zeros(left))
        left = left & left - 1
    uneven = w.uneven & lanes
    if uneven != 0:
        room = order.room
        fill(room, 0)
        while uneven != 0:
            join(room, row_of(order, me(w, trailing_zeros(uneven))))
            uneven = uneven & uneven - 1
        for lane in range(32):
            if lanes >> lane & 1 != 0:
                join(row_of(order, me(w, lane)), room)
    first = me(w, 0)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            row = row_of(order, first + lane)
            set_lanes(part(row, first, 32), lanes, order.clock)
    w.uneven = w.uneven & ~lanes
    if lanes & w.live != w.live:
        w.uneven = w.uneven | lanes
        w.acquired = w.acquired | lanes


@watching
def arrive_at_barrier(w: Warp, lanes: u32, number: u32) -> None:
    """`bar.arrive`: lanes publish what they have done."""
    order = w.shadow.order
    if address(order.known) == 0:
        return
    into = barrier_row(w.cta, number)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            release(w, lane, into, order.clock)
    released(w)


def barrier_row(cta: Cta, number: u32) -> Slice[u32]:
    """What has been published at one of a CTA's barriers."""
    order = cta.shadow.order
    return at_row(order.barriers, order, cta.rank * 16 + number)


@watching
def complete_barrier(cta: Cta, number: u32) -> None:
    """A barrier of a CTA is complete, and its lanes still wait."""
    waiting: u32 = 0
    for index in range(cta.launch.warps):
        waiting = waiting + popcount(warp_at(cta, index).waits[number])
    if cta.barriers[number].expected == 0 or waiting >= cta.launch.threads:
        complete_whole(cta)  # the threads that are not here have exited
    elif address(cta.shadow.order.known) != 0:
        complete_part(cta, number)


def complete_whole(cta: Cta) -> None:
    """All threads of the CTA have come: all of them know everything that any of them did or knew."""
    if address(cta.shadow.order.known) != 0:
        gather_knowledge(cta)
    rebase(cta, cta.shadow)
    advance(cta)


def gather_knowledge(cta: Cta) -> None:
    """What any thread of a CTA has learnt is known to the CTA."""
    s = cta.shadow
    moved: u32 = 0
    for index in range(cta.launch.warps):
        w = warp_at(cta, index)
        take_seen(w, w.saw)
        left = w.acquired
        if left != 0 and moved == 0:
            moved = 1
            copy(s.common_before, s.common, u64(s.order.columns) * 4)
            s.changed_before = s.changed
            s.changed = s.order.clock
        while left != 0:
            join(s.common, row_of(s.order, me(w, trailing_zeros(left))))
            left = left & left - 1
        w.acquired = 0
        w.uneven = 0


def complete_part(cta: Cta, number: u32) -> None:
    """Some threads have waited: they know what all who came have done."""
    order = cta.shadow.order
    source = barrier_row(cta, number)
    for turn in range(2):
        for index in range(cta.launch.warps):
            w = warp_at(cta, index)
            take_seen(w, w.saw & w.waits[number])
            for lane in range(32):
                if w.waits[number] >> lane & 1 != 0:
                    if turn == 0:
                        release(w, lane, source, order.clock)
                    else:
                        acquire(w, lane, source)
    fill(source, 0)
    advance(cta)
    for index in range(cta.launch.warps):
        w = warp_at(cta, index)
        if w.waits[number] != 0:
            w.since = order.clock


@watching
def arrive_in_cluster(w: Warp, lanes: u32, relaxed: u32) -> None:
    """`barrier.cluster.arrive`: lanes publish what they have done, a relaxed one what lies before their last fence."""
    order = w.shadow.order
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            if relaxed == 0:
                release(w, lane, order.gathering, order.clock)
            else:
                publish_point(w, lane, CLUSTER_SCOPE, order.gathering)
    released(w)


@watching
def complete_cluster(cta: Cta) -> None:
    """The cluster's barrier is complete."""
    order = cta.shadow.order
    join(at_row(order.gathering, order, 1), order.gathering)


@watching
def wait_in_cluster(w: Warp, lanes: u32) -> None:
    """Lanes pass the cluster's barrier: they know what all who arrived have done."""
    order = w.shadow.order
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            acquire(w, lane, at_row(order.gathering, order, 1))


# -- places in memory


def find_sync(order: Order, key: u64, make: u32) -> u32:
    """The number of the sync at a host address; SYNCS if there is none, and none is to be (or can be) made."""
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


def renew_sync(order: Order, number: u32) -> None:
    """Another place takes the room of one that clusters before this one have used: nothing has been released there."""
    fill(at_row(order.arriving, order, number), 0)
    fill(at_row(order.complete, order, number), 0)
    fill(at_row(order.inside, order, number), 0)


def forget_syncs(order: Order) -> None:
    """A cluster starts: no thread of it can learn anything at the places of those before it."""
    if order.used != 0:
        fill(order.syncs, 0)
    order.used = 0
    order.lost = 0


@watching
def arrive_at(w: Warp, lane: u32, host: u64, relaxed: u32) -> None:
    """A lane arrives at an mbarrier, which releases; a relaxed arrival publishes what lies before its last fence."""
    order = w.shadow.order
    if address(order.known) == 0:
        return
    number = find_sync(order, host, 1)
    if number < SYNCS:
        arriving = at_row(order.arriving, order, number)
        if relaxed == 0:
            release(w, lane, arriving, order.clock)
        else:
            publish_point(w, lane, CTA_SCOPE if w.launch.members == 1 else CLUSTER_SCOPE, arriving)


@watching
def start_phases(w: Warp, host: u64) -> None:
    """An mbarrier is set up, or given up: nobody has arrived there."""
    complete_phase(w, host)
    complete_phase(w, host)


@watching
def complete_phase(w: Warp, host: u64) -> None:
    """A phase of an mbarrier is complete: who waits for it learns of those who arrived in it, and of no others."""
    order = w.shadow.order
    if address(order.known) == 0:
        return
    number = find_sync(order, host, 0)
    if number < SYNCS:
        arrived = at_row(order.arriving, order, number)
        copy(at_row(order.complete, order, number), arrived, u64(order.columns) * 4)
        fill(arrived, 0)


@watching
def wait_at(w: Warp, lane: u32, host: u64, relaxed: u32) -> None:
    """A lane has seen that a phase of an mbarrier is complete, and acquires; a relaxed one does at its next fence."""
    order = w.shadow.order
    if address(order.known) == 0:
        return
    number = find_sync(order, host, 0)
    if number < SYNCS:
        if relaxed == 0:
            acquire(w, lane, at_row(order.complete, order, number))
        else:
            join(at_row(order.seen, order, me(w, lane)), at_row(order.complete, order, number))
            w.saw = w.saw | 1 << lane
