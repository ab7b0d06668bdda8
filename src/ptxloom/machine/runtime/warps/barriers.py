"""Coming to a barrier and waiting there, lane by lane where they differ (PTX ISA 9.7.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, popcount, trailing_zeros, u32
from ptxloom.machine.runtime.hazards import note, note_count
from ptxloom.machine.runtime.memory.lane_access import fault
from ptxloom.machine.runtime.racecheck.barrier_order import arrive_at_barrier, wait_in_cluster
from ptxloom.machine.runtime.state import INVALID, LEFT, NONE, Warp
from ptxloom.machine.runtime.warps.arrivals import settle, settle_cluster
from ptxloom.machine.runtime.warps.reconvergence import choose, place_lanes

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def barrier_whole(w: Warp, number: u32, following: u32, watch: u32) -> u32:
    """A whole warp waits for all threads of its CTA: 1 if the barrier is complete, else the warp waits.

    `watch` is 0 if mistakes are not reported; else twice one more than the site, plus 1 if it is `.aligned`.
    """
    cta = w.cta
    barrier = cta.barriers[number]
    if watch != 0:
        compare_counts(w, NONE, number, 0, watch >> 1)
    w.pc = following
    w.blocked = w.mask
    w.waits[number] = w.mask
    barrier.arrived = barrier.arrived + 32
    cta.waiting = cta.waiting + 32
    if barrier.arrived < cta.live_threads:
        return 0
    return settle(cta, number)


def compare_counts(w: Warp, lanes: u32, number: u32, threads: u32, site: u32) -> None:
    """Report lanes that arrive at a barrier with another count than the first ones; `site` is one more than theirs."""
    barrier = w.cta.barriers[number]
    if barrier.arrived == 0:
        barrier.first = site
    elif barrier.first != 0 and barrier.expected != threads:
        everyone = w.launch.warps * 32
        expected = everyone if barrier.expected == 0 else barrier.expected
        if expected != (everyone if threads == 0 else threads):
            note_count(w, site - 1, lanes, number, threads, barrier.first - 1, barrier.expected)


def come(w: Warp, lanes: u32, number: u32, threads: u32, watch: u32) -> None:
    """Count lanes in; `threads` is 0 for all of the CTA, `watch` as for `barrier_whole`.

    A stated count is one of whole warps: lanes that have exited, or never were, come with the first live one.
    """
    barrier = w.cta.barriers[number]
    if watch != 0:
        compare_counts(w, lanes, number, threads, watch >> 1)
    count = popcount(lanes)
    if threads != 0 and lanes & w.live & -w.live != 0:
        count = count + 32 - popcount(w.live)
    barrier.arrived = barrier.arrived + count
    w.cta.waiting = w.cta.waiting + count
    barrier.expected = threads
    if watch & 1 != 0:
        if lanes != w.live:
            barrier.site = watch >> 1
        if w.present & ~w.live != 0:
            note(w, LEFT, (watch >> 1) - 1, lanes, 0, w.present & ~w.live)


def barrier_arrive(w: Warp, lanes: u32, numbers: Ptr[u32], counts: Ptr[u32], site: u32, watch: u32) -> u32:
    """`bar.arrive`: each lane names its barrier and the threads that complete it; 1 after a fault."""
    left = lanes
    while left != 0:
        first = trailing_zeros(left)
        if is_wrong(w, numbers[first], counts[first], first, site) != 0:
            return 1
        if counts[first] == 0:
            fault(w, INVALID, site, first, 0, 0, 0, 0)
            return 1
        group = alike(left, numbers, counts)
        left = left & ~group
        come(w, group, numbers[first], counts[first], watch)
        if address(w.shadow) != 0:
            arrive_at_barrier(w, group, numbers[first])
        settle(w.cta, numbers[first])
    return 0


def barrier_check(w: Warp, lanes: u32, numbers: Ptr[u32], counts: Ptr[u32], site: u32) -> u32:
    """1 after a fault: some lane's barrier is not one of the sixteen, or its count of threads is not of whole warps."""
    for lane in range(32):
        if lanes >> lane & 1 != 0 and is_wrong(w, numbers[lane], counts[lane], lane, site) != 0:
            return 1
    return 0


def is_wrong(w: Warp, number: u32, threads: u32, lane: u32, site: u32) -> u32:
    """Note the fault and return 1 if a barrier is not one of the sixteen, or a count is not of whole warps."""
    if number < 16 and threads & 31 == 0:
        return 0
    fault(w, INVALID, site, lane, 0, 0, 0, 0)
    return 1


def alike(lanes: u32, numbers: Ptr[u32], counts: Ptr[u32]) -> u32:
    """The lanes that name the same barrier and count as the first."""
    first = trailing_zeros(lanes)
    group: u32 = 0
    for lane in range(32):
        if lanes >> lane & 1 != 0 and numbers[lane] == numbers[first] and counts[lane] == counts[first]:
            group = group | 1 << lane
    return group


def barrier_wait(w: Warp, lanes: u32, numbers: Ptr[u32], counts: Ptr[u32], following: u32, watch: u32) -> u32:
    """`bar.sync`: lanes wait at their barriers, then go on at `following`; returns a block to run now, or NONE."""
    place_lanes(w, w.mask, following)
    left = lanes
    while left != 0:
        group = alike(left, numbers, counts)
        number = numbers[trailing_zeros(left)]
        wait_together(w, group, number, counts[trailing_zeros(left)], watch)
        left = left & ~group
    return choose(w)


def barrier_wait_at(w: Warp, lanes: u32, number: u32, threads: u32, following: u32, watch: u32) -> u32:
    """The same where all lanes name one barrier."""
    place_lanes(w, w.mask, following)
    if lanes != 0:
        wait_together(w, lanes, number, threads, watch)
    return choose(w)


def wait_together(w: Warp, lanes: u32, number: u32, threads: u32, watch: u32) -> None:
    """Lanes wait at one barrier."""
    w.blocked = w.blocked | lanes
    w.waits[number] = w.waits[number] | lanes
    come(w, lanes, number, threads, watch)
    settle(w.cta, number)


def barrier_reduce(w: Warp, lanes: u32, numbers: Ptr[u32], holds: u32, result: u32, kind: u32) -> None:
    """Before a wait, what `bar.red` adds: predicates are counted, and each lane's result is wanted at `result`."""
    w.reducing = w.reducing | lanes
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            w.results[lane] = result
            w.kinds[lane] = kind
            barrier = w.cta.barriers[numbers[lane]]
            barrier.arrivals = barrier.arrivals + 1
            barrier.value = barrier.value + (holds >> lane & 1)


def cluster_arrive(w: Warp, lanes: u32) -> None:
    """`barrier.cluster.arrive`."""
    coming = lanes & ~w.cluster_arrived
    head = w.cta.peers[0].cta
    head.cluster_arrived = head.cluster_arrived + popcount(coming)
    w.cluster_arrived = w.cluster_arrived | coming
    settle_cluster(head)


def cluster_wait(w: Warp, lanes: u32, following: u32) -> u32:
    """`barrier.cluster.wait`: lanes that have arrived wait for all of the cluster; returns a block to run, or NONE."""
    place_lanes(w, w.mask, following)
    if address(w.shadow) != 0:
        wait_in_cluster(w, w.cluster_passed & lanes)
    w.cluster_passed = w.cluster_passed & ~lanes
    waiting = lanes & w.cluster_arrived
    w.cluster_waiting = w.cluster_waiting | waiting
    w.blocked = w.blocked | waiting
    return choose(w)
