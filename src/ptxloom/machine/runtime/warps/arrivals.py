"""Completes barriers of a CTA and of a cluster (PTX ISA 9.7.13)."""

from __future__ import annotations

from ptxloom.machine.native.language import address, popcount, trailing_zeros, u32, view
from ptxloom.machine.native.standalone import seldom
from ptxloom.machine.runtime.hazards import note, note_elsewhere
from ptxloom.machine.runtime.memory.places import registers, warp_at
from ptxloom.machine.runtime.racecheck.barrier_order import complete_barrier, complete_cluster, wait_in_cluster
from ptxloom.machine.runtime.racecheck.cta_exit import end_shared
from ptxloom.machine.runtime.state import AND, DIVERGENT, LEFT, NOT_FREED, POPC, Barrier, Cta, Warp
from ptxloom.machine.runtime.tensor_cores.ownership import NOWHERE, first_held
from ptxloom.machine.runtime.warps.warpgroups import compare_steps, wake_group


def settle(cta: Cta, number: u32) -> u32:
    """Complete a barrier if enough threads have come; 1 if it completed."""
    barrier = cta.barriers[number]
    if barrier.arrived == 0:
        return 0
    expected = barrier.expected
    if expected == 0:
        expected = cta.live_threads
    if barrier.arrived < expected:
        return 0
    if address(cta.shadow) != 0:
        complete_barrier(cta, number)
    for index in range(cta.launch.warps):
        w = warp_at(cta, index)
        waiting = w.waits[number]
        if waiting != 0:
            if barrier.site != 0:
                note_divergence(w, waiting, barrier.site - 1)
            if w.reducing & waiting != 0:
                give_results(w, w.reducing & waiting, barrier)
            w.blocked = w.blocked & ~waiting
            w.waits[number] = 0
    cta.waiting = cta.waiting - barrier.arrived
    barrier.arrived = 0
    barrier.expected = 0
    barrier.value = 0
    barrier.arrivals = 0
    barrier.site = 0
    return 1


def settle_all(w: Warp, gone: u32, site: u32) -> None:
    """After lanes exited at an instruction: complete what the rest waits for, if possible."""
    cta = w.cta
    cta.live_threads = cta.live_threads - popcount(gone)
    if cta.live_threads == 0:
        compare_steps(cta)
        if address(w.shadow) != 0:
            end_shared(w, site)
        if address(cta.tensor) != 0 and first_held(cta.tensor) != NOWHERE:
            note(w, NOT_FREED, cta.tensor.site, gone, 0, 0)
    if w.live == 0 and w.product_groups != 0:
        wake_group(w)
    if cta.waiting != 0:
        for number in range(16):
            if w.waits[number] != 0 and cta.barriers[number].site != 0:
                note(w, LEFT, cta.barriers[number].site - 1, w.waits[number], 0, gone)
            settle(cta, number)
    head = cta.peers[0].cta
    if head.cluster_arrived != 0:
        head.cluster_arrived = head.cluster_arrived - popcount(gone & w.cluster_arrived)
        w.cluster_arrived = w.cluster_arrived & ~gone
        settle_cluster(head)


@seldom
def note_divergence(w: Warp, waiting: u32, site: u32) -> None:
    """Note lanes of the warp that are not where the first waiting one is, though the instruction is `.aligned`."""
    if w.mask == waiting:
        return  # it came as a whole
    place = w.pcs[trailing_zeros(waiting)]
    other = w.live & ~waiting
    for lane in range(32):
        if waiting >> lane & 1 != 0 and w.pcs[lane] != place:
            other = other | 1 << lane
    if other == 0:
        return
    first = trailing_zeros(other)
    where = 2 * w.pcs[first] + 1
    if w.mask >> first & 1 != 0:
        where = 2 * w.pc + 1
    elif waiting >> first & 1 != 0:
        where = 2 * w.pcs[first]  # at the end of the block before
    note_elsewhere(w, DIVERGENT, site, waiting & ~other, 0, other, where)


@seldom
def give_results(w: Warp, lanes: u32, barrier: Barrier) -> None:
    """Store the result of a reduction for each lane's `bar.red`: an integer register, or a predicate."""
    w.reducing = w.reducing & ~lanes
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            if w.kinds[lane] == POPC:
                view(u32, registers(w, w.results[lane], 128))[lane] = barrier.value
            else:
                holds: u32 = 0
                if w.kinds[lane] == AND:
                    if barrier.value == barrier.arrivals:
                        holds = 1
                elif barrier.value != 0:
                    holds = 1
                mask = view(u32, registers(w, w.results[lane], 4))
                mask[0] = mask[0] & ~(1 << lane) | holds << lane


@seldom
def settle_cluster(head: Cta) -> None:
    """Complete the barrier of a cluster, kept by its first CTA, once every thread that has not exited has come."""
    launch = head.launch
    live: u32 = 0
    for rank in range(launch.members):
        live = live + head.peers[rank].cta.live_threads
    if head.cluster_arrived == 0 or head.cluster_arrived < live:
        return
    head.cluster_arrived = 0
    if address(head.shadow) != 0:
        complete_cluster(head)
    for rank in range(launch.members):
        for index in range(launch.warps):
            w = warp_at(head.peers[rank].cta, index)
            if address(w.shadow) != 0:
                wait_in_cluster(w, w.cluster_waiting)
            w.blocked = w.blocked & ~w.cluster_waiting
            w.cluster_passed = w.cluster_passed | w.cluster_arrived & ~w.cluster_waiting
            w.cluster_arrived = 0
            w.cluster_waiting = 0
