"""Histories of bytes of shared memory for which one write and plain reads do not suffice.

Strong accesses come here, stores that nothing orders behind the last one, and reads that those of other lanes of
their warp would replace though they do not come behind them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, length, null, part, trailing_zeros, u32, u64
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.memory.lane_access import shared_place
from ptxloom.machine.runtime.memory.places import stored_byte
from ptxloom.machine.runtime.racecheck.access_history import (
    copy_chain,
    covers,
    fill_trace,
    following,
    is_own,
    takes_lane,
)
from ptxloom.machine.runtime.racecheck.global_order import is_needed, unseen_lanes
from ptxloom.machine.runtime.racecheck.happens_before import (
    are_morally_strong,
    entry_of,
    first_of,
    owner_of,
    thread_of,
    tick_of,
    unknown_lanes,
)
from ptxloom.machine.runtime.racecheck.observation_order import last_number, observe
from ptxloom.machine.runtime.racecheck.race_report import COPYING, begun_at, report
from ptxloom.machine.runtime.racecheck.shared_flags import forget_sync
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, SHARED, Warp
from ptxloom.machine.runtime.structs.histories import READS, WRITES, AccessTrace, CurrentAccess
from ptxloom.machine.runtime.structs.shadow import (
    HISTORY_BYTES,
    PENDING,
    STRONG,
    WITH_HISTORY,
    AccessHistory,
    HappensBefore,
    Shadow,
)
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def has_history(held: u32) -> u32:
    """1 if a byte's entry names a history."""
    return u32(held & WITH_HISTORY == WITH_HISTORY)


def history_at(s: Shadow, held: u32) -> AccessHistory:
    """The history that a byte's entry names."""
    return s.order.histories[number_of(held)]


def number_of(held: u32) -> u32:
    """The number of the history that a byte's entry names."""
    return held & ~u32(WITH_HISTORY)


def history_of(w: Warp, s: Shadow, at: u32, end: u32) -> AccessHistory:
    """The history of a byte and of some behind it, which all have one history and lie before `end`."""
    order = s.order
    held = s.writes[at]
    if has_history(held) != 0:
        history = order.histories[number_of(held)]
        if history.at != at or at + history.size > end:
            split_history(order, s, history)
        return order.histories[number_of(s.writes[at])]
    size: u32 = 1
    while at + size < end and s.writes[at + size] == held and s.write_sites[at + size] == s.write_sites[at]:
        size = size + 1
    history = new_history(order, s, at, size)
    if held >= s.limit:
        t = history.first[0]
        t.owner = owner_of(w)
        t.does = WRITES
        fill_entry(t, held, s.write_sites[at])
        t.number = 1
        t.seen = 0
    mark_history(order, s, history)
    return history


def mark_history(order: HappensBefore, s: Shadow, history: AccessHistory) -> None:
    """Let the bytes of a history name it."""
    number = u32((address(history) - address(order.histories)) // HISTORY_BYTES)
    for offset in range(history.size):
        s.writes[history.at + offset] = WITH_HISTORY | number


def new_history(order: HappensBefore, s: Shadow, at: u32, size: u32) -> AccessHistory:
    """An empty history of some bytes. There are as many as bytes."""
    number = order.free_history
    if number != 0:
        order.free_history = order.histories[number].size
    else:
        number = min(order.history_count + 1, order.history_limit)
        order.history_count = number
    history = order.histories[number]
    history.shadow = s
    history.at = at
    history.size = size
    return history


def free_history(order: HappensBefore, number: u32) -> None:
    """Free a history, whose bytes name something else."""
    history = order.histories[number]
    here = history.first[0]
    for _trace in range(u32(order.trace_limit) + 1):
        if address(here) == 0:
            break
        here.owner = 0
        here = here.next
    history.shadow = null(Shadow)
    history.size = order.free_history
    order.free_history = number


def split_history(order: HappensBefore, s: Shadow, history: AccessHistory) -> None:
    """Split a history, so that each byte has one of its own."""
    assert history.size <= s.bytes
    for offset in range(1, history.size):
        other = new_history(order, s, history.at + offset, 1)
        copy_chain(order, history.first[0], other.first[0])
        mark_history(order, s, other)
    history.size = 1


def meet_history(
    w: Warp, s: Shadow, lane: u32, history: AccessHistory, start: u32, values: Slice[u64], part_bytes: u32
) -> None:
    """Compare a lane's access with a history, and remember it there; plain reads are remembered elsewhere.

    `start` is where the access starts. A store that stands for all there was takes the place of the history.
    """
    access = s.order.access
    order = s.order
    here = history.first[0]
    last = here
    free = null(AccessTrace)
    kept: u32 = 0
    observe(w, lane, access, here)
    while address(here) != 0:
        spend(w, 1)
        t = here
        if t.owner != 0:
            if is_again(access, lane, t) != 0:
                return
            kept = kept | face(w, s, lane, t, history, start, values, part_bytes)
        if (t.owner == 0 and address(free) == 0) or (t.owner != 0 and takes_lane(access, lane, t) != 0):
            free = here
        last = here
        here = t.next
    if access.does == READS and access.stamp & STRONG == 0:
        return
    if kept == 0 and access.stamp & STRONG == 0:
        replace_history(w, s, lane, history)
        return
    if address(free) == 0:
        free = following(order, last)
    fill_trace(access, lane, free)


def is_again(access: CurrentAccess, lane: u32, t: AccessTrace) -> u32:
    """1 if a trace is of the same strong access of a lane, and nothing has happened since."""
    if is_own(access, t) == 0 or t.lanes >> lane & 1 == 0 or access.stamp & STRONG == 0:
        return 0
    if access.does == READS:
        return takes_lane(access, lane, t)
    return u32(last_number(t) == access.number and t.made == 1 << lane)


def face(
    w: Warp,
    s: Shadow,
    lane: u32,
    t: AccessTrace,
    history: AccessHistory,
    start: u32,
    values: Slice[u64],
    part_bytes: u32,
) -> u32:
    """Compare a lane's access with one that left a trace; 1 if that must still be remembered."""
    access = s.order.access
    left = unknown_lanes(w, lane, t)
    if left != 0 and is_race(w, s, lane, t, left, history, start, values, part_bytes) != 0:
        left = unseen_lanes(w, lane, history.first[0], t, left)
        if left != 0:
            tell_race(w, s, lane, t, left, history)
    if access.does == WRITES and access.stamp & STRONG == 0 and t.stamp & STRONG != 0:
        forget_sync(s.order, address(shared_place(w, window_of(s, history.at), 1)))
    if covers(w, access.stamp, access.does, t) != 0 and (t.seen == 0 or is_needed(w, lane, history.first[0], t) == 0):
        t.lanes = left
    if t.lanes == 0:
        t.owner = 0
    return u32(t.lanes != 0)


def replace_history(w: Warp, s: Shadow, lane: u32, history: AccessHistory) -> None:
    """A lane's store stands for all that a history remembers."""
    order = s.order
    at = history.at
    size = history.size
    free_history(order, number_of(s.writes[at]))
    for offset in range(size):
        s.writes[at + offset] = entry_of(w, lane)
        s.write_sites[at + offset] = order.access.stamp


def is_race(
    w: Warp,
    s: Shadow,
    lane: u32,
    t: AccessTrace,
    left: u32,
    history: AccessHistory,
    start: u32,
    values: Slice[u64],
    part_bytes: u32,
) -> u32:
    """1 if an access and those of some lanes that left a trace race."""
    access = s.order.access
    if access.does | t.does == READS or are_morally_strong(w, access.stamp, t) != 0:
        return 0
    if access.does & t.does == 0 or (access.stamp | t.stamp) & STRONG != 0:
        return 1
    if address(access.copied) != 0:
        return u32(brings_same(w, s, history) == 0)
    if address(values) == 0:
        return 1
    racing = trailing_zeros(left)
    assert history.size <= s.bytes
    for number in range(history.size):
        at = history.at + number
        if is_same(w, s, lane, at, at - start, access.stamp, first_of(w, t) + racing, t.stamp, values, part_bytes) == 0:
            return 1
    return 0


def brings_same(w: Warp, s: Shadow, history: AccessHistory) -> u32:
    """1 if memory already holds what the current copy writes: copies are made one by one."""
    access = s.order.access
    for number in range(history.size):
        at = history.at + number
        if shared_place(w, window_of(s, at), 1)[0] != access.copied[u64(at) - access.start]:
            return 0
    return 1


def is_same(
    w: Warp,
    s: Shadow,
    lane: u32,
    at: u32,
    offset: u32,
    stamp: u32,
    other: u32,
    other_stamp: u32,
    values: Slice[u64],
    part_bytes: u32,
) -> u32:
    """1 if a store writes the same value to a byte as another one did: their order does not matter."""
    mine = stored_byte(values, part_bytes, lane, offset)
    if other_stamp == stamp and (other - w.shadow.first) // 32 == w.index:
        # the very same instruction: memory does not hold the other lane's value yet
        apart = at - inside_of(w, s, w.starts[other & 31])
        if within(u64(apart), 1, u64(s.order.access.size)) != 0:  # else it was there when the instruction ran before
            return u32(mine == stored_byte(values, part_bytes, other & 31, apart))
    return u32(shared_place(w, window_of(s, at), 1)[0] == mine)


def inside_of(w: Warp, s: Shadow, start: u32) -> u32:
    """Where in a CTA's memory an address in the shared window lies; far behind its end if it is that of another CTA."""
    rank = start >> CLUSTER_SHIFT
    if rank == 0:
        rank = w.cta.rank + 1
    if rank != s.first // (s.warps * 32) + 1:
        return 1 << 31
    return start & (1 << CLUSTER_SHIFT) - 1


def window_of(s: Shadow, at: u32) -> u64:
    """The address in the shared window of a byte of a CTA."""
    return u64(at) | u64(s.first // (s.warps * 32) + 1) << CLUSTER_SHIFT


def tell_race(w: Warp, s: Shadow, lane: u32, t: AccessTrace, left: u32, history: AccessHistory) -> None:
    """Note a race of a lane's access with one that left a trace."""
    access = s.order.access
    writes = t.does
    other = t.stamp
    thread = first_of(w, t) + trailing_zeros(left)
    if t.who & PENDING != 0:
        writes = COPYING
        other = begun_at(w, other, tick_of(w, t.who))
        thread = thread_of(w, t.who)
    report(w, s, lane, history.at, history.size, access.stamp, access.does, other, thread, writes, SHARED)


def spill(w: Warp, s: Shadow, at: u32, lanes: u32, first: u32, tick: u32, stamp: u32) -> None:
    """Remember reads of a byte by lanes of a warp, whose first thread is named, in a history."""
    history = history_of(w, s, at, at + 1)
    t = history.first[0]
    while t.owner != 0:
        spend(w, 1)
        before = address(t)
        t = following(s.order, t)
        if address(t) == before:
            return
    t.owner = owner_of(w)
    t.does = READS
    t.who = tick << s.order.bits | first
    t.stamp = stamp
    t.lanes = lanes
    t.made = lanes
    t.number = 0
    t.seen = 0


def name_own(w: Warp, history: AccessHistory, held: u32, stamp: u32) -> None:
    """Let the trace that the access at hand has left in a history say what an entry says."""
    access = w.shadow.order.access
    here = history.first[0]
    while address(here) != 0:
        spend(w, 1)
        t = here
        if t.owner != 0 and is_own(access, t) != 0:
            fill_entry(t, held, stamp)
            return
        here = t.next


def swap_writes(s: Shadow, at: u32, size: u32, held: u32, by: u32, stamp: u32) -> None:
    """Put another entry in the place of the entry of some bytes, wherever they still have it."""
    writes = part(s.writes, at, size)
    sites = part(s.write_sites, at, size)
    others: u32 = 0
    for offset in range(size):
        others = others | writes[offset] ^ held
    if others == 0:
        for offset in range(size):
            writes[offset] = by
            sites[offset] = stamp
        return
    for offset in range(u32(length(writes))):
        swap_write(s, at + offset, held, by, stamp)


def swap_write(s: Shadow, at: u32, held: u32, by: u32, stamp: u32) -> None:
    """Put another entry in the place of a byte's entry, or of one that its history holds."""
    if s.writes[at] == held:
        s.writes[at] = by
        s.write_sites[at] = stamp
    elif has_history(s.writes[at]) != 0:
        here = s.order.histories[number_of(s.writes[at])].first[0]
        for _trace in range(u32(s.order.trace_limit) + 1):
            if address(here) == 0:
                return
            t = here
            if t.owner != 0 and t.who == held:
                fill_entry(t, by, stamp)
                if by == 0:
                    t.owner = 0
            here = t.next


def fill_entry(t: AccessTrace, held: u32, stamp: u32) -> None:
    """Let a trace say what a byte's entry says."""
    t.who = held
    if held & PENDING == 0:
        t.who = held & ~u32(31)
    t.lanes = 1 << (held & 31)
    t.made = t.lanes
    t.stamp = stamp
