"""The history of accesses to one place: a chain of traces of all accesses that may still race with a later one.

A trace is dropped when a later access covers it: one that is ordered after it, and that races with whatever it would
race with. So the findings do not depend on the order in which the machine happens to run accesses. A store never covers
a load, because stores of equal values do not race with each other.
"""

from __future__ import annotations

from ptxloom.machine.native.language import address, fill, nothing, u8, u32
from ptxloom.machine.runtime.racecheck.happens_before import are_morally_strong, entry_of, owner_of
from ptxloom.machine.runtime.racecheck.observation_order import chain_of, last_number
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.histories import CLASSES, READS, READS_ONLY, WRITES, AccessTrace, CurrentAccess
from ptxloom.machine.runtime.structs.shadow import (
    FEW_TRACES,
    PENDING,
    SCOPE,
    SITE,
    SIZES,
    STRONG,
    WITH_HISTORY,
    HappensBefore,
)
from ptxloom.machine.runtime.turns import spend


def covers(w: Warp, stamp: u32, does: u32, t: AccessTrace) -> u32:
    """1 if an access that is ordered after a trace covers it."""
    if (does | t.does) & READS_ONLY != 0 or stamp & STRONG == 0:
        return u32(does == t.does)
    if does == READS and t.does != READS:
        return 0
    return u32(are_morally_strong(w, stamp, t) != 0 and is_as_narrow(w, stamp, t.stamp) != 0)


def is_as_narrow(w: Warp, stamp: u32, other: u32) -> u32:
    """1 if a strong access is of a scope not wider than another one's, and of its size."""
    mine = w.launch.strengths[stamp & SITE]
    theirs = w.launch.strengths[other & SITE]
    return u32(mine & SCOPE <= theirs & SCOPE and (mine ^ theirs) & SIZES == 0)


def class_of(t: AccessTrace) -> u32:
    """The kind of an access, and whether it is strong, as a number below CLASSES."""
    if t.does == READS_ONLY:
        return CLASSES - 1
    return t.does + 2 * u32(t.stamp & STRONG != 0)


def drop_alike(w: Warp, access: CurrentAccess, t: AccessTrace) -> None:
    """Of traces that no later access can be ordered behind, one per class is enough; of strong writes the last one.

    Who has observed that has observed those of its chain before it.
    """
    number = class_of(t)
    if access.over >> number & 1 == 0:
        access.over = access.over | 1 << number
        access.stamps[number] = t.stamp
        if t.stamp & STRONG != 0 and t.does == WRITES:
            access.kept = t
    elif t.stamp & STRONG == 0 or t.does != WRITES:
        if t.stamp & STRONG == 0 or is_as_narrow(w, access.stamps[number], t.stamp) != 0:
            t.owner = 0
    elif address(t) != address(access.kept) and chain_of(t) == chain_of(access.kept):
        if t.number < access.kept.number:
            if is_as_narrow(w, access.kept.stamp, t.stamp) != 0:
                t.owner = 0
        elif is_as_narrow(w, t.stamp, access.kept.stamp) != 0:
            access.kept.owner = 0
            access.kept = t


def begin_access(w: Warp, stamp: u32, does: u32, agent: u32) -> CurrentAccess:
    """Describe the access that the lanes of a warp, or the agent with an entry, are about to make."""
    access = w.shadow.order.access
    access.owner = owner_of(w)
    access.who = entry_of(w, 0) if agent == 0 else agent
    access.stamp = stamp
    access.does = does
    access.copied = nothing(u8)
    access.ends = 0
    access.reads = 0
    return access


def is_own(access: CurrentAccess, t: AccessTrace) -> u32:
    """1 if other lanes of the warp have left a trace during this same instruction."""
    return u32(t.owner == access.owner and t.who == access.who and t.stamp == access.stamp and t.does == access.does)


def takes_lane(access: CurrentAccess, lane: u32, t: AccessTrace) -> u32:
    """1 if a trace of this same instruction can include a lane: the writes of its lanes are counted in order."""
    if is_own(access, t) == 0:
        return 0
    if access.stamp & STRONG == 0:
        return 1
    if access.does != WRITES:
        return u32(t.number == access.number and t.seen == seen_by(access))
    return u32(last_number(t) == access.number and t.made >> lane == 0)


def seen_by(access: CurrentAccess) -> u32:
    """The number of the first write that precedes the access in observation order; 0 if there is none."""
    return access.seen if access.reads != 0 else 0


def fill_trace(access: CurrentAccess, lane: u32, t: AccessTrace) -> None:
    """Record an access of a lane."""
    if takes_lane(access, lane, t) == 0:
        begin_trace(access, lane, t)
        return
    t.lanes = t.lanes | 1 << lane
    if access.does == WRITES:
        if last_number(t) != access.number:  # a weak one of before
            t.made = 0
            t.number = access.number + 1
        t.made = t.made | 1 << lane


def begin_trace(access: CurrentAccess, lane: u32, t: AccessTrace) -> None:
    """Record an access of a lane in an unused trace."""
    t.owner = access.owner
    t.who = access.who
    t.stamp = access.stamp
    t.does = access.does
    t.lanes = 1 << lane
    t.seen = 0
    if access.does == WRITES or access.reads != 0:
        number_trace(access, lane, t)


def number_trace(access: CurrentAccess, lane: u32, t: AccessTrace) -> None:
    """Number a write, and record the write that a read has seen."""
    t.made = 1 << lane
    t.number = access.number
    t.seen = seen_by(access)
    if access.does == WRITES:
        t.number = access.number + 1
        if access.reads != 0 and t.seen == 0:
            t.seen = t.number  # the lanes behind it observe it


def has_trace(w: Warp, first: AccessTrace, other: AccessTrace) -> u32:
    """1 if a place holds the trace that another place holds."""
    here = first
    while address(here) != 0:
        spend(w, 1)
        t = here
        if t.owner == other.owner and t.who == other.who and t.stamp == other.stamp and t.does == other.does:
            return 1
        here = t.next
    return 0


def copy_traces(source: AccessTrace, into: AccessTrace) -> AccessTrace:
    """Copy the first trace of a chain; returns what is left to copy, null at the end of the chain."""
    into.owner = source.owner
    into.who = source.who
    into.stamp = source.stamp
    into.lanes = source.lanes
    into.does = source.does
    into.made = source.made
    into.number = source.number
    into.seen = source.seen
    return source.next


def copy_chain(order: HappensBefore, source: AccessTrace, into: AccessTrace) -> None:
    """Copy a chain of traces of shared memory to an empty one."""
    last = into
    left = copy_traces(source, last)
    for _trace in range(u32(order.trace_limit) + 1):
        if address(left) == 0:
            return
        last = following(order, last)
        left = copy_traces(left, last)


def following(order: HappensBefore, last: AccessTrace) -> AccessTrace:
    """A trace of shared memory behind one: that which is there, or a new one; the same again if there is no room."""
    if address(last.next) == 0:
        if order.trace_count == order.trace_limit:
            order.limits = order.limits | FEW_TRACES
            return last
        fresh = order.traces[order.trace_count]
        order.trace_count = order.trace_count + 1
        fill(fresh, 0)
        last.next = fresh
    return last.next


def reset_histories(order: HappensBefore) -> None:
    """Empty all histories, except for copies that are still under way."""
    for number in range(1, order.history_count + 1):
        history = order.histories[number]
        if address(history.shadow) != 0:
            s = history.shadow
            held: u32 = 0
            stamp: u32 = 0
            here = history.first[0]
            for _trace in range(u32(order.trace_limit) + 1):
                if address(here) == 0:
                    break
                t = here
                if t.owner != 0 and t.who & PENDING != 0:
                    held = t.who
                    stamp = t.stamp
                here = t.next
            for offset in range(history.size):
                if s.writes[history.at + offset] == WITH_HISTORY | number:
                    s.writes[history.at + offset] = held
                    s.write_sites[history.at + offset] = stamp
        fill(history, 0)
    order.history_count = 0
    order.free_history = 0
    order.trace_count = 0
