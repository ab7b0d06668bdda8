"""Racecheck's model of the async proxy (PTX ISA 8.6, 9.7.13.4): bulk copies reach memory on another path than threads.

What a thread writes reaches a bulk copy only through `fence.proxy.async`, by the thread that writes or by one that is
ordered behind it, the one that issues the copy even. A thread knows of others not only up to which tick they come
before it, but also up to which such a fence lies between: the last columns of its row, for shared and global memory
each. They travel with the rest of what threads publish and learn. The end of a bulk copy needs no fence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, length, nothing, part, trailing_zeros, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.hazards import note_pair
from ptxloom.machine.runtime.memory.lane_access import find_span
from ptxloom.machine.runtime.racecheck.fence_records import keep_fences
from ptxloom.machine.runtime.racecheck.global_memory import takes
from ptxloom.machine.runtime.racecheck.happens_before import (
    are_entries,
    first_of,
    is_known,
    is_one_site,
    known_tick,
    me,
    owner_of,
    thread_of,
    trace_tick,
)
from ptxloom.machine.runtime.racecheck.race_report import site_of_read, warp_of
from ptxloom.machine.runtime.racecheck.row_history import cell_of, settle_stretch
from ptxloom.machine.runtime.racecheck.shared_histories import has_history, history_at
from ptxloom.machine.runtime.racecheck.slow_path import check, is_settled, shadow_at
from ptxloom.machine.runtime.racecheck.tick_rows import is_whole, row_of, row_of_warp
from ptxloom.machine.runtime.racecheck.vector_clocks import released
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, GLOBAL, REUSED, SHARED, STALE_MAP, UNFENCED, Warp
from ptxloom.machine.runtime.structs.histories import READS, WRITES, AccessTrace
from ptxloom.machine.runtime.structs.shadow import ASYNC_PROXY, PENDING, SITE, Shadow
from ptxloom.machine.runtime.turns import PLAIN, spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


@watching
def fence_proxy(w: Warp, lanes: u32, near: u32, far: u32) -> None:
    """`fence.proxy.async` of lanes, for shared memory (`near`), for global memory (`far`)."""
    order = w.shadow.order
    if order.fenced == 0:
        return
    if near != 0:
        fence_columns(w, lanes, order.fenced)
    if far != 0 and address(order.grid) != 0:
        fence_columns(w, lanes, order.fenced + order.threads)
    w.acquired = w.acquired | lanes
    w.uneven = w.uneven | lanes
    released(w)


def fence_columns(w: Warp, lanes: u32, first: u32) -> None:
    """Record that what lanes know and did precedes a fence now."""
    order = w.shadow.order
    keep_fences(w, lanes)
    whole = is_whole(w, lanes)
    shared = row_of_warp(order, me(w, 0))
    if whole != 0:
        fence_common(w, shared, first)
        fence_row(w, shared, shared, first)
    else:
        w.own = w.own | lanes
    left = lanes
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        row = row_of(order, me(w, lane))
        if whole == 0:
            fence_common(w, row, first)
            fence_row(w, row, shared, first)
        if w.own >> lane & 1 != 0:
            fence_row(w, row, row, first)
        row[first + me(w, lane)] = order.clock


def fence_row(w: Warp, row: Slice[u32], source: Slice[u32], first: u32) -> None:
    """Record in one row that what another one tells of threads precedes a fence."""
    count = w.shadow.order.threads
    spend(w, count >> PLAIN)
    into = part(row, first, count)
    told = part(source, 0, count)
    for thread in range(count):
        into[thread] = max(into[thread], told[thread])


def fence_common(w: Warp, row: Slice[u32], first: u32) -> None:
    """Record in a row that what all threads of the CTA know, and did up to their last barrier, precedes a fence."""
    s = w.shadow
    fence_row(w, row, s.common, first)
    for thread in range(s.warps * 32):
        row[first + s.first + thread] = max(row[first + s.first + thread], s.base)


@watching
def check_fence(w: Warp, lane: u32, at: u64, space: u32, size: u32, stamp: u32) -> None:
    """A lane issues a bulk copy that touches a stretch of memory: report writes that it may not see."""
    if w.shadow.order.fenced == 0:
        return
    if space == SHARED:
        check_shared(w, lane, at, size, stamp)
    elif address(w.shadow.order.grid) != 0:
        first = w.shadow.order.fenced + w.shadow.order.threads
        check_cells(w, lane, at, size, stamp, UNFENCED, first)


@watching
def fence_maps(w: Warp, lanes: u32, releases: u32) -> None:
    """`fence.proxy.tensormap` of lanes: what was written is released to the way of tensor maps, or acquired there."""
    order = w.shadow.order
    if order.mapped == 0:
        return
    if releases != 0:
        fence_columns(w, lanes, order.mapped)
    else:
        keep_fences(w, lanes)
        w.own = w.own | lanes
        for lane in range(32):
            if lanes >> lane & 1 != 0:
                acquire_columns(w, lane)
    w.acquired = w.acquired | lanes
    w.uneven = w.uneven | lanes
    released(w)


def acquire_columns(w: Warp, lane: u32) -> None:
    """All that was published for the way of tensor maps, and is known to a lane, has come there."""
    s = w.shadow
    row = row_of(s.order, me(w, lane))
    first = s.order.mapped
    spend(w, s.order.threads >> PLAIN)
    for thread in range(s.order.threads):
        tick = known_tick(s, me(w, lane), first + thread)
        into = first + s.order.threads + thread
        row[into] = max(row[into], tick)


@watching
def check_map(w: Warp, lane: u32, at: u64, size: u32, stamp: u32) -> None:
    """A lane issues a copy by the tensor map at an address of global memory: report what may be stale in it."""
    order = w.shadow.order
    if order.mapped != 0 and address(order.grid) != 0:
        check_cells(w, lane, at, size, stamp, STALE_MAP, order.mapped + order.threads)


def check_reuse(w: Warp, lane: u32, at: u64, size: u32, stamp: u32) -> None:
    """A lane issues what overwrites shared memory: report readers without a fence since."""
    order = w.shadow.order
    if order.strict == 0 or order.fenced == 0 or w.launch.strengths[stamp & SITE] & ASYNC_PROXY == 0:
        return
    s = shadow_at(w, at)
    place = u32(at & ((1 << CLUSTER_SHIFT) - 1))
    for warp in range(order.threads // 32):
        told: u32 = 0
        spend(w, size >> PLAIN)
        for offset in range(size):
            held = s.reads[u64(warp) * u64(s.bytes) + u64(place + offset)]
            when = u32(held >> 32)
            left = u32(held & 0xFFFFFFFF)
            while told == 0 and left != 0 and when > s.birth:
                thread = warp * 32 + trailing_zeros(left)
                left = left & left - 1
                if is_missed(w, lane, thread, when, order.fenced) != 0:
                    site = site_of_read(w, s, thread, place + offset)
                    if w.launch.strengths[site & SITE] & ASYNC_PROXY == 0:
                        told = 1
                        tell_unfenced(w, lane, at + u64(offset), SHARED, 1, stamp, thread, site, REUSED)


def check_shared(w: Warp, lane: u32, at: u64, size: u32, stamp: u32) -> None:
    """Note what of some bytes of shared memory threads have written with no fence since."""
    s = shadow_at(w, at)
    place = u32(at & ((1 << CLUSTER_SHIFT) - 1))
    last: u32 = 0
    spend(w, size >> PLAIN)
    if is_by_threads(s, place, size) == 0:
        return
    fine: u32 = 0  # an entry that is behind its fence,
    fine_site: u32 = 0  # with this site
    for offset in range(size):
        held = s.writes[place + offset]
        if has_history(held) != 0:
            here = history_at(s, held).first[0]
            last = check_chain(w, lane, here, at + u64(offset), SHARED, 1, stamp, last, UNFENCED, s.order.fenced)
        elif held == fine and s.write_sites[place + offset] == fine_site:
            pass
        elif held & PENDING == 0 and held >> s.order.bits > s.birth and held != last:
            if comes_by_fence(w, lane, held, s.write_sites[place + offset]) != 0:
                fine = held
                fine_site = s.write_sites[place + offset]
            else:
                thread = thread_of(w, held)
                last = held
                count: u32 = 1
                while offset + count < size and s.writes[place + offset + count] == held:
                    count = count + 1
                site = s.write_sites[place + offset]
                tell_unfenced(w, lane, at + u64(offset), SHARED, count, stamp, thread, site, UNFENCED)


def comes_by_fence(w: Warp, lane: u32, held: u32, site: u32) -> u32:
    """1 if what an entry without a history tells of comes by a fence to what a lane issues, or needs none."""
    order = w.shadow.order
    if held & PENDING != 0 or w.launch.strengths[site & SITE] & ASYNC_PROXY != 0:
        return 1
    return u32(is_missed(w, lane, thread_of(w, held), held >> order.bits, order.fenced) == 0)


@watching
def check_row(w: Warp, at: u32, size: u32, stamp: u32, fine: u64) -> u64:
    """Lane 0 reads some bytes, there is at least one, by the async proxy: `check` and `check_fence`, in less.

    `fine` is the entry and the site, as of bytes that were in order just now; returned is the same for these bytes, or
    `fine` if they were not written at once.
    """
    s = w.shadow
    held = s.writes[at]
    now = u64(held) << 32 | u64(s.write_sites[at])
    if has_history(held) == 0 and are_entries(s, at, size, held) != 0 and is_one_site(s, at, size) != 0:
        if now == fine:
            return fine
        if is_settled(w, s, 0, held) != 0:
            is_old = u32(held & PENDING == 0 and held >> s.order.bits <= s.birth)
            if s.order.fenced == 0 or is_old != 0 or comes_by_fence(w, 0, held, s.write_sites[at]) != 0:
                return now
    check(w, s, 0, at, size, stamp, 0, nothing(u64), 1)
    check_fence(w, 0, u64(at), SHARED, size, stamp)
    return fine


def is_by_threads(s: Shadow, at: u32, size: u32) -> u32:
    """1 if any of some bytes may have been written by a thread since the CTA started."""
    writes = part(s.writes, at, size)
    born = s.birth + 1 << s.order.bits
    found: u32 = 0
    for offset in range(u32(length(writes))):
        held = writes[offset]
        found = found | has_history(held) | u32(held & PENDING == 0) & u32(held >= born)
    return found


def check_chain(
    w: Warp,
    lane: u32,
    first: AccessTrace,
    at: u64,
    space: u32,
    size: u32,
    stamp: u32,
    told: u32,
    kind: u32,
    columns: u32,
) -> u32:
    """The same for what is remembered of one place; returns the stamp of the last report.

    `columns` is the first of those that hold up to which tick a fence of the right kind comes between.
    """
    last = told
    here = first
    while address(here) != 0:
        spend(w, 1)
        t = here
        here = t.next
        if t.owner == owner_of(w) and t.does == WRITES and t.who & PENDING == 0 and t.stamp != last:
            left = t.lanes
            if w.launch.strengths[t.stamp & SITE] & ASYNC_PROXY != 0:
                left = 0
            while left != 0:
                thread = first_of(w, t) + trailing_zeros(left)
                left = left & left - 1
                if is_missed(w, lane, thread, trace_tick(w, t), columns) != 0:
                    last = t.stamp
                    left = 0
                    tell_unfenced(w, lane, at, space, size, stamp, thread, t.stamp, kind)
    return last


def check_cells(w: Warp, lane: u32, at: u64, size: u32, stamp: u32, kind: u32, columns: u32) -> None:
    """The same for global memory, of what threads of the cluster have written."""
    found = find_span(w.launch, at)
    if takes(found, at, size, READS) == 0:
        return
    span = found[0]
    settle_stretch(w, span, at, u64(size))
    place = at
    last: u32 = 0
    while place < at + u64(size):
        spend(w, 1)
        here = cell_of(span, place).first[0]
        last = check_chain(w, lane, here, place, GLOBAL, 4, stamp, last, kind, columns)
        place = (place & ~3) + 4


def is_missed(w: Warp, lane: u32, thread: u32, tick: u32, columns: u32) -> u32:
    """1 if a write comes before what a lane issues now, but no fence comes between."""
    mine = me(w, lane)
    if thread != mine and is_known(w, mine, thread, tick) == 0:
        return 0
    return u32(is_fenced(w, lane, thread, tick, columns) == 0)


def tell_unfenced(
    w: Warp, lane: u32, at: u64, space: u32, size: u32, stamp: u32, thread: u32, site: u32, kind: u32
) -> None:
    """Report a bulk copy of data that a thread has written without a fence."""
    far = warp_of(w, thread)
    block = far.cta.ctaid
    note_pair(w, kind, stamp & SITE, lane, at, space, size, site & SITE, far.index, thread & 31, block)


def is_fenced(w: Warp, lane: u32, thread: u32, tick: u32, columns: u32) -> u32:
    """1 if what a thread wrote at a tick comes before a fence that comes before what a lane issues now."""
    s = w.shadow
    order = s.order
    if columns == 0 or order.lost != 0:
        return 1
    column = columns + thread
    return u32(known_tick(s, me(w, lane), column) >= tick)
