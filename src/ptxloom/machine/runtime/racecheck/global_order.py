"""Which accesses precede a lane's current one: by base causality order and observation (PTX ISA 8.9.5)."""

from __future__ import annotations

from ptxloom.machine.native.language import address, trailing_zeros, u32
from ptxloom.machine.runtime.racecheck.global_flags import is_taught
from ptxloom.machine.runtime.racecheck.happens_before import first_of, me, owner_of, trace_tick, unknown_lanes
from ptxloom.machine.runtime.racecheck.observation_order import last_number, number_of_lane, sees
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.histories import READS_ONLY, WRITES, AccessTrace
from ptxloom.machine.runtime.turns import spend


def is_near(w: Warp, t: AccessTrace) -> u32:
    """1 if a trace is of this same warp."""
    return u32(t.owner == owner_of(w) and first_of(w, t) == me(w, 0))


def unordered_lanes(w: Warp, lane: u32, t: AccessTrace) -> u32:
    """The lanes of a trace that do not precede what a lane does now."""
    left = t.lanes
    if t.owner == owner_of(w):
        left = unknown_lanes(w, lane, t)
    if left == 0 or address(w.shadow.order.taught) == 0:
        return left
    tick = trace_tick(w, t)
    first = first_of(w, t)
    found: u32 = 0
    while left != 0:
        if is_taught(w, lane, t.owner - 1, first + trailing_zeros(left), tick) == 0:
            found = found | left & -left
        left = left & left - 1
    return found


def is_over(w: Warp, t: AccessTrace) -> u32:
    """1 if the cluster that left a trace is over, and no thread can still learn of it."""
    order = w.shadow.order
    grid = order.grid
    if grid.over[t.owner - 1] == 0:
        return 0
    if address(order.taught) == 0:
        return 1  # no thread publishes anything
    first = first_of(w, t)
    left = t.lanes
    while left != 0:
        column = (t.owner - 1) * grid.share + (first + trailing_zeros(left) >> grid.shift)
        if grid.told[column] >= trace_tick(w, t):
            return 0
        left = left & left - 1
    return 1


def unseen_lanes(w: Warp, lane: u32, first: AccessTrace, t: AccessTrace, lanes: u32) -> u32:
    """Of lanes that left a trace, those whose writes no thread that precedes this access has seen."""
    if t.does != WRITES or w.shadow.order.access.does == READS_ONLY:
        return lanes
    left = lanes
    here = first
    while address(here) != 0 and left != 0:
        spend(w, 1)
        r = here
        if r.owner != 0 and r.seen != 0:
            behind = r.lanes & ~unordered_lanes(w, lane, r)
            waiting = left
            while waiting != 0:
                other = trailing_zeros(waiting)
                waiting = waiting & waiting - 1
                if sees(r, behind, number_of_lane(t, other)) != 0:
                    left = left & ~(1 << other)
        here = r.next
    return left


def is_needed(w: Warp, lane: u32, first: AccessTrace, r: AccessTrace) -> u32:
    """1 if a trace of a read must stay: it has seen a write that the access at hand does not come behind.

    A later look of the same thread stands for it if it has seen as much.
    """
    access = w.shadow.order.access
    own = u32(is_near(w, r) != 0 and r.lanes >> lane & 1 != 0)
    if r.seen == 0 or (own != 0 and access.reads != 0 and access.seen != 0 and access.seen <= r.seen):
        return 0
    here = first
    while address(here) != 0:
        spend(w, 1)
        t = here
        others = u32(t.owner != 0 and t.does == WRITES and address(t) != address(r))
        if others != 0 and last_number(t) >= r.seen and t.number <= last_number(r) and unordered_lanes(w, lane, t) != 0:
            return 1
        here = t.next
    return 0
