"""The order that barriers establish: those of a CTA, of a warp and of a cluster."""

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
from ptxloom.machine.runtime.memory.places import warp_at
from ptxloom.machine.runtime.racecheck.fence_records import keep_fences, publish_fence
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.racecheck.tick_rows import at_row, is_whole, join, row_of, row_of_warp, tell_lanes
from ptxloom.machine.runtime.racecheck.vector_clocks import acquire, advance, rebase, release, released
from ptxloom.machine.runtime.state import (
    Cta,
    Warp,
)
from ptxloom.machine.runtime.structs.shadow import CLUSTER_SCOPE

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def take_seen(w: Warp, lanes: u32) -> None:
    """Lanes arrive at a barrier of the CTA, which is also a fence: they acquire what their relaxed reads have seen."""
    order = w.shadow.order
    left = lanes
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        acquire(w, 1 << lane, at_row(order.seen_inside, order, me(w, lane)))


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
    """Lanes of a warp share their knowledge, and what each has done."""
    order = w.shadow.order
    first = me(w, 0)
    uneven = w.uneven & lanes
    keep_fences(w, lanes)
    if is_whole(w, lanes) != 0:
        row = row_of_warp(order, first)
        tell_lanes(w, uneven, row)
        set_lanes(part(row, first, 32), lanes, order.clock)
        w.own = w.own & ~uneven
        w.uneven = w.uneven & ~lanes
        return
    room = order.room
    if uneven != 0:
        fill(room, 0)
        tell_lanes(w, uneven, room)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            row = row_of(order, first + lane)
            if uneven != 0:
                join(w, row, room)
            set_lanes(part(row, first, 32), lanes, order.clock)
    w.own = w.own | lanes
    w.uneven = w.uneven | lanes
    w.acquired = w.acquired | lanes


@watching
def arrive_at_barrier(w: Warp, lanes: u32, number: u32) -> None:
    """`bar.arrive`: lanes publish what they have done."""
    order = w.shadow.order
    if address(order.known) == 0:
        return
    into = barrier_row(w.cta, number)
    release(w, lanes, into, order.clock)
    released(w)


def barrier_row(cta: Cta, number: u32) -> Slice[u32]:
    """The knowledge published at one of a CTA's barriers."""
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
    """All threads of the CTA have arrived: each knows everything that any of them did or knew."""
    if address(cta.shadow.order.known) != 0:
        gather_knowledge(cta)
    rebase(cta, cta.shadow)
    advance(cta)


def gather_knowledge(cta: Cta) -> None:
    """Merge what the threads of a CTA have learnt into the CTA's knowledge."""
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
        if left != 0:
            join(w, s.common, row_of_warp(s.order, me(w, 0)))
            tell_lanes(w, left, s.common)
        w.own = w.own & ~left
        w.acquired = 0
        w.uneven = 0


def complete_part(cta: Cta, number: u32) -> None:
    """Complete a barrier for part of the threads: those that waited know what all that arrived have done."""
    order = cta.shadow.order
    source = barrier_row(cta, number)
    for turn in range(2):
        for index in range(cta.launch.warps):
            w = warp_at(cta, index)
            take_seen(w, w.saw & w.waits[number])
            if w.waits[number] != 0:
                if turn == 0:
                    release(w, w.waits[number], source, order.clock)
                else:
                    acquire(w, w.waits[number], source)
    fill(source, 0)
    advance(cta)
    for index in range(cta.launch.warps):
        w = warp_at(cta, index)
        if w.waits[number] != 0:
            w.since = order.clock


@watching
def arrive_in_cluster(w: Warp, lanes: u32, relaxed: u32) -> None:
    """`barrier.cluster.arrive`: lanes publish what they have done, a relaxed one what comes before their last fence."""
    order = w.shadow.order
    if relaxed == 0:
        release(w, lanes, order.gathering, order.clock)
    else:
        for lane in range(32):
            if lanes >> lane & 1 != 0:
                publish_fence(w, lane, CLUSTER_SCOPE, order.gathering)
    released(w)


@watching
def complete_cluster(cta: Cta) -> None:
    """The cluster's barrier is complete."""
    order = cta.shadow.order
    join(warp_at(cta, 0), at_row(order.gathering, order, 1), order.gathering)


@watching
def wait_in_cluster(w: Warp, lanes: u32) -> None:
    """Lanes pass the cluster's barrier: they know what all threads that arrived have done."""
    order = w.shadow.order
    acquire(w, lanes, at_row(order.gathering, order, 1))
