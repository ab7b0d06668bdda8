"""What orders accesses to shared memory: barriers of a CTA, of a warp and of a cluster, mbarriers.

A thread that releases publishes what it knows at a place (a `Sync`, or a barrier's row), a thread that acquires there
learns it. All ticks are of one clock, so that a publication is a copy of a row of `known` and the time now. What one
thread of a warp knows the others learn at `bar.warp.sync`; `shfl.sync` and its like order nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, copy, fill, pointer, popcount, set_lanes, trailing_zeros, u32, u64
from ptxloom.machine.runtime.racecheck.access_history import reset_crowds
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.racecheck.release_points import keep_points, publish_point
from ptxloom.machine.runtime.racecheck.tick_rows import at_row, join, row_of
from ptxloom.machine.runtime.shadow import (
    BLOCK_SHIFT,
    CLUSTER_SCOPE,
    COLUMNS,
    CTA_SCOPE,
    POINT_BYTES,
    POINTS,
    SYNC_BYTES,
    SYNCS,
    VISIT_BYTES,
    Order,
    Shadow,
)
from ptxloom.machine.runtime.state import (
    Cta,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def peer(cta: Cta, rank: u32) -> Cta:
    """A CTA of the cluster."""
    return pointer(Cta, pointer(u64, cta.peers)[rank])[0]


# -- the clock


def advance(cta: Cta) -> None:
    """Time goes on: what happens from now on is later than what has been published."""
    order = cta.shadow.order
    order.clock = order.clock + 1
    if order.clock >= order.ceiling:
        forget(cta, order)


def released(w: Warp) -> None:
    """Lanes of a warp have published something."""
    advance(w.cta)
    w.since = w.shadow.order.clock


def begin(cta: Cta) -> None:
    """A CTA starts: nothing of those before it matters any more."""
    s = cta.shadow
    advance(cta)
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
        row = u64(order.columns) * 4
        fill(address(order.known), 0, row * u64(order.threads))
        fill(address(order.seen), 0, row * u64(order.threads))
        fill(address(order.seen_inside), 0, row * u64(order.threads))
        fill(address(order.points), 0, u64(order.threads) * POINTS * POINT_BYTES)
        fill(address(order.released_at), 0, u64(order.threads) * 8)
        fill(address(order.syncs), 0, u64(SYNCS) * SYNC_BYTES)
        fill(address(order.arriving), 0, row * SYNCS)
        fill(address(order.complete), 0, row * SYNCS)
        fill(address(order.inside), 0, row * SYNCS)
        fill(address(order.barriers), 0, row * 16 * u64(cta.launch.members))
        fill(address(order.gathering), 0, row * 2)
        order.used = 0
        order.lost = 0
        order.issued = 0
    reset_crowds(order)
    for rank in range(cta.launch.members):
        forget_cta(peer(cta, rank), order)


def forget_cta(cta: Cta, order: Order) -> None:
    """Empty the shadow of one CTA."""
    s = cta.shadow
    size = u64(s.bytes)
    fill(address(s.writes), 0, size * 4)
    fill(address(s.reads), 0, size * u64(order.threads // 32) * 8)
    fill(address(s.summary), 0, ((size >> BLOCK_SHIFT) + 1) * u64(s.summaries) * 4)
    if address(s.common) != 0:
        fill(address(s.common), 0, u64(order.columns) * 4)
        fill(address(s.common_before), 0, u64(order.columns) * 4)
        s.changed = 0
        s.changed_before = 0
    if address(s.visits) != 0:
        fill(address(s.visits), 0, u64(order.threads) * VISIT_BYTES)
    s.birth = 0
    s.base = 0
    s.floor = 0
    s.limit = 1 << order.bits
    at = cta.warps
    for _warp in range(s.warps):
        w = pointer(Warp, at)[0]
        w.since = 0
        w.pointed = 0
        w.steps_base = 0xFFFFFFFF
        at = at + u64(cta.launch.warp_bytes)


# -- what is known


def release(w: Warp, lane: u32, into: Ptr[u32], when: u32) -> None:
    """Publish what a thread knows, and what it did itself up to a tick."""
    s = w.shadow
    order = s.order
    thread = me(w, lane)
    join(into, row_of(order, thread), order.columns)
    join(into, s.common, order.columns)
    if w.launch.members > 1:
        for other in range(s.warps * 32):
            into[s.first + other] = max(into[s.first + other], s.base)
    into[thread] = max(into[thread], when)


def acquire(w: Warp, lane: u32, source: Ptr[u32]) -> None:
    """Learn what has been published."""
    order = w.shadow.order
    keep_points(w, lane)
    join(row_of(order, me(w, lane)), source, order.columns)
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


def sync_lanes(w: Warp, lanes: u32) -> None:
    """`bar.warp.sync`: each lane names its members in the scratch."""
    if address(w.shadow.order.known) == 0:
        return
    named = pointer(u32, address(w.scratch))
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
        fill(address(room), 0, u64(order.columns) * 4)
        while uneven != 0:
            join(room, row_of(order, me(w, trailing_zeros(uneven))), order.columns)
            uneven = uneven & uneven - 1
        for lane in range(32):
            if lanes >> lane & 1 != 0:
                join(row_of(order, me(w, lane)), room, order.columns)
    first = me(w, 0)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            row = row_of(order, first + lane)
            set_lanes(pointer(u32, address(row) + u64(first) * 4), lanes, order.clock)
    w.uneven = w.uneven & ~lanes
    if lanes & w.live != w.live:
        w.uneven = w.uneven | lanes
        w.acquired = w.acquired | lanes


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


def barrier_row(cta: Cta, number: u32) -> Ptr[u32]:
    """What has been published at one of a CTA's barriers."""
    order = cta.shadow.order
    return at_row(order.barriers, order, cta.rank * 16 + number)


def complete_barrier(cta: Cta, number: u32) -> None:
    """A barrier of a CTA is complete, and its lanes still wait."""
    waiting: u32 = 0
    at = cta.warps
    for _warp in range(cta.launch.warps):
        waiting = waiting + popcount(pointer(Warp, at)[0].waits[number])
        at = at + u64(cta.launch.warp_bytes)
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
    at = cta.warps
    moved: u32 = 0
    for _warp in range(cta.launch.warps):
        w = pointer(Warp, at)[0]
        take_seen(w, w.saw)
        left = w.acquired
        if left != 0 and moved == 0:
            moved = 1
            copy(address(s.common_before), address(s.common), u64(s.order.columns) * 4)
            s.changed_before = s.changed
            s.changed = s.order.clock
        while left != 0:
            join(s.common, row_of(s.order, me(w, trailing_zeros(left))), s.order.columns)
            left = left & left - 1
        w.acquired = 0
        w.uneven = 0
        at = at + u64(cta.launch.warp_bytes)


def complete_part(cta: Cta, number: u32) -> None:
    """Some threads have waited: they know what all who came have done."""
    order = cta.shadow.order
    source = barrier_row(cta, number)
    for turn in range(2):
        at = cta.warps
        for _warp in range(cta.launch.warps):
            w = pointer(Warp, at)[0]
            take_seen(w, w.saw & w.waits[number])
            for lane in range(32):
                if w.waits[number] >> lane & 1 != 0:
                    if turn == 0:
                        release(w, lane, source, order.clock)
                    else:
                        acquire(w, lane, source)
            at = at + u64(cta.launch.warp_bytes)
    fill(address(source), 0, u64(order.columns) * 4)
    advance(cta)
    at = cta.warps
    for _warp in range(cta.launch.warps):
        w = pointer(Warp, at)[0]
        if w.waits[number] != 0:
            w.since = order.clock
        at = at + u64(cta.launch.warp_bytes)


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


def complete_cluster(cta: Cta) -> None:
    """The cluster's barrier is complete."""
    order = cta.shadow.order
    join(at_row(order.gathering, order, 1), order.gathering, order.columns)


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
            sync.key = key
            sync.column = order.used % COLUMNS
            order.used = order.used + 1
            return slot
        slot = (slot + 1) % SYNCS
    if make != 0:
        order.lost = 1
    return SYNCS


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


def start_phases(w: Warp, host: u64) -> None:
    """An mbarrier is set up, or given up: nobody has arrived there."""
    complete_phase(w, host)
    complete_phase(w, host)


def complete_phase(w: Warp, host: u64) -> None:
    """A phase of an mbarrier is complete: who waits for it learns of those who arrived in it, and of no others."""
    order = w.shadow.order
    if address(order.known) == 0:
        return
    number = find_sync(order, host, 0)
    if number < SYNCS:
        arrived = at_row(order.arriving, order, number)
        size = u64(order.columns) * 4
        copy(address(at_row(order.complete, order, number)), address(arrived), size)
        fill(address(arrived), 0, size)


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
            join(at_row(order.seen, order, me(w, lane)), at_row(order.complete, order, number), order.columns)
            w.saw = w.saw | 1 << lane
