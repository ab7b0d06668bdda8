"""Races in global memory, between threads of a CTA and between CTAs: racecheck's optional part.

Every aligned word has a cell with the history of its accesses; a word whose parts are accessed has a cell for each
byte instead. Within a cluster the same orders count as for shared memory; `grid` knows the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import address, length, nothing, null, trailing_zeros, u8, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.lane_access import find_span, holds
from ptxloom.machine.runtime.racecheck.access_history import (
    begin_access,
    begin_trace,
    copy_traces,
    covers,
    drop_alike,
    fill_trace,
    has_trace,
    is_own,
    takes_lane,
)
from ptxloom.machine.runtime.racecheck.equal_values import is_same_value
from ptxloom.machine.runtime.racecheck.global_flags import forget_flag
from ptxloom.machine.runtime.racecheck.global_order import is_needed, is_over, unordered_lanes, unseen_lanes
from ptxloom.machine.runtime.racecheck.global_report import tell
from ptxloom.machine.runtime.racecheck.happens_before import (
    are_morally_strong,
    stamp_of,
)
from ptxloom.machine.runtime.racecheck.observation_order import last_number, observe
from ptxloom.machine.runtime.state import (
    GLOBAL,
    SHARED_WINDOW,
    Warp,
)
from ptxloom.machine.runtime.structs.histories import (
    READS_ONLY,
    SPLIT,
    WRITES,
    AccessTrace,
    CurrentAccess,
    GridHistory,
    HistoryCell,
)
from ptxloom.machine.runtime.structs.shadow import FEW_TRACES, LOOKS_AGAIN, STRONG
from ptxloom.machine.runtime.structs.spans import Span
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


@watching
def look(
    w: Warp,
    addresses: Ptr[u64],
    offset: u64,
    lanes: u32,
    space: u32,
    size: u32,
    site: u32,
    does: u32,
    values: Annotated[Slice[u64], "size // part"],
    part: u32,
) -> None:
    """Compare an access of lanes to global memory with those before it, and remember it.

    `values` are the registers that are stored, `part` bytes each (null: unknown).
    """
    access = begin_access(w, stamp_of(w, site), does, 0)
    access.addresses = addresses
    access.offset = offset
    access.values = values
    access.part = part
    access.size = size
    access.reads = u32(site & LOOKS_AGAIN != 0)
    left = lanes
    found = nothing(Span)
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        at = addresses[lane] + offset
        if space == GLOBAL or at < SHARED_WINDOW:
            if takes(found, at, size, does) == 0:
                found = find_span(w.launch, at)
            if takes(found, at, size, does) != 0:
                look_lane(w, lane, found[0], at, size)


@watching
def look_copy(
    w: Warp, lane: u32, at: u64, size: u32, stamp: u32, does: u32, agent: u32, data: Annotated[Slice[u8], "size"]
) -> None:
    """An asynchronous copy of a lane, or the agent that has an entry, accesses some bytes; does nothing unless watched.

    `data` is what it writes, empty if unknown.
    """
    if address(w.shadow) == 0 or address(w.shadow.order.grid) == 0 or size == 0:
        return
    access = begin_access(w, stamp, does, agent)
    access.values = nothing(u64)
    access.copied = data
    access.start = at
    look_stretch(w, lane, at, size)


@watching
def look_end(w: Warp, lane: u32, at: u64, size: u32, stamp: u32, data: Annotated[Slice[u8], "size"]) -> None:
    """What an asynchronous copy of a lane has written is a write of the lane's own from now on."""
    access = begin_access(w, stamp, WRITES, 0)
    access.values = nothing(u64)
    access.copied = data
    access.start = at
    access.ends = 1
    look_stretch(w, lane, at, size)


def look_stretch(w: Warp, lane: u32, at: u64, size: u32) -> None:
    """Compare what a lane does to a stretch with what is remembered of it, if global memory is watched."""
    if address(w.shadow.order.grid) == 0 or size == 0:
        return
    found = find_span(w.launch, at)
    if takes(found, at, size, w.shadow.order.access.does) != 0:
        look_lane(w, lane, found[0], at, size)


def takes(found: Slice[Span], at: u64, size: u32, does: u32) -> u32:
    """1 if an access is one that a span takes, if there is one; the others are left to memcheck."""
    if length(found) == 0:
        return 0
    span = found[0]
    if holds(span, at, u64(size)) == 0 or address(span.cells) == 0:
        return 0
    return u32(does != WRITES or span.writable != 0)


def word_of(span: Span, at: u64) -> HistoryCell:
    """The cell of the aligned word that holds a byte."""
    return span.cells[(at >> 2) - (span.start >> 2)]


def byte_of(span: Span, at: u64) -> HistoryCell:
    """The cell of a byte."""
    return span.cells[(span.end - 1 >> 2) - (span.start >> 2) + 1 + (at - span.start)]


def cell_of(span: Span, at: u64) -> HistoryCell:
    """The cell that holds what is known of a byte."""
    cell = word_of(span, at)
    if cell.first[0].owner == SPLIT:
        cell = byte_of(span, at)
    return cell


def split(w: Warp, span: Span, at: u64) -> None:
    """Split the word at an address, so that each byte has a cell of its own."""
    whole = word_of(span, at)
    if whole.first[0].owner == SPLIT:
        return
    for number in range(4):
        place = (at & ~3) + u64(number)
        if place >= span.start and place < span.end:
            into = byte_of(span, place).first[0]
            left = copy_traces(whole.first[0], into)
            while address(left) != 0:
                spend(w, 1)
                into = further_trace(w.shadow.order.grid, into)
                left = copy_traces(left, into)
    whole.first[0].owner = SPLIT


def further_trace(grid: GridHistory, last: AccessTrace) -> AccessTrace:
    """A new trace behind the last one of a chain; the last one itself if there is no room for more."""
    if grid.trace_count == grid.trace_limit:
        grid.limits = grid.limits | FEW_TRACES
        return last
    last.next = grid.traces[grid.trace_count]
    grid.trace_count = grid.trace_count + 1
    return last.next


def look_lane(w: Warp, lane: u32, span: Span, at: u64, size: u32) -> None:
    """Compare and remember what one lane does, word by word, or byte by byte."""
    access = w.shadow.order.access
    is_plain = u32(access.does != WRITES and access.stamp & STRONG == 0 and address(w.shadow.order.taught) == 0)
    told: u32 = 0
    place = at
    end = at + u64(size)
    while place < end:
        if place & 3 != 0 or end - place < 4:
            split(w, span, place)
        cell = span.cells[(place >> 2) - (span.start >> 2)]
        step: u64 = 4
        if is_unmet(cell) == 0 and cell.first[0].owner == SPLIT:
            cell = byte_of(span, place)
            step = 1
        if is_unmet(cell) != 0:
            access.number = 0
            access.seen = 0
            begin_trace(access, lane, cell.first[0])
        elif is_plain == 0 or meet_reads(w, access, lane, cell.first[0]) == 0:
            told = meet_cell(w, lane, span, cell, place, u32(step), end, told)
        place = place + step


def is_unmet(cell: HistoryCell) -> u32:
    """1 if nothing has been remembered of a place yet."""
    return u32(cell.first[0].owner == 0 and address(cell.first[0].next) == 0)


def meet_cell(w: Warp, lane: u32, span: Span, cell: HistoryCell, place: u64, step: u32, end: u64, told: u32) -> u32:
    """Compare what a lane does with the history of a place, then remember it; returns the stamp of the last report."""
    access = w.shadow.order.access
    access.over = 0
    last = told
    here = cell.first[0]
    end_of_chain = here
    free = null(AccessTrace)
    if access.reads != 0:
        observe(w, lane, access, here)
    else:
        access.number = 0
    while address(here) != 0:
        spend(w, 1)
        t = here
        if t.owner != 0:
            if access.does & t.does == WRITES:
                access.number = max(access.number, last_number(t))
            left = unordered_lanes(w, lane, t)
            if is_hazard(w, access, lane, span, t, left, place, step) != 0:
                left = unseen_lanes(w, lane, cell.first[0], t, left)
                if t.stamp != last and (left != 0 or (access.does | t.does) & READS_ONLY != 0):
                    last = t.stamp
                    tell_run(w, lane, span, t, trailing_zeros(left if left != 0 else t.lanes), place, end)
            if t.stamp & STRONG != 0 and access.does == WRITES and access.stamp & STRONG == 0:
                forget_flag(w.shadow.order.grid, place)
            settle_trace(w, access, lane, cell.first[0], t, left)
        if (t.owner == 0 and address(free) == 0) or (t.owner != 0 and takes_lane(access, lane, t) != 0):
            free = here
        end_of_chain = here
        here = t.next
    if address(free) == 0:
        free = further_trace(w.shadow.order.grid, end_of_chain)
    fill_trace(access, lane, free)
    return last


def meet_reads(w: Warp, access: CurrentAccess, lane: u32, first: AccessTrace) -> u32:
    """1 if a plain read meets nothing but plain reads by other clusters, and its own: it is remembered, as they are.

    That is most of what kernels do, and no order of any two matters.
    """
    grid = w.shadow.order.grid
    kept: u32 = 0
    here = first
    end_of_chain = here
    free = null(AccessTrace)
    own = null(AccessTrace)
    while address(here) != 0:
        spend(w, 1)
        t = here
        if t.owner != 0 and (t.does != access.does or t.stamp & STRONG != 0):
            return 0
        if t.owner == access.owner:
            if is_own(access, t) == 0:
                return 0
            own = here
        elif t.owner != 0 and grid.over[t.owner - 1] != 0:
            t.owner = t.owner if kept == 0 else 0
            kept = 1
        if t.owner == 0 and address(free) == 0:
            free = here
        end_of_chain = here
        here = t.next
    if address(own) == 0:
        own = free if address(free) != 0 else further_trace(grid, end_of_chain)
    fill_trace(access, lane, own)
    return 1


def settle_trace(w: Warp, access: CurrentAccess, lane: u32, first: AccessTrace, t: AccessTrace, left: u32) -> None:
    """Forget the part of a trace that an access stands for, `left` being the lanes that it does not come behind."""
    if covers(w, access.stamp, access.does, t) != 0 and (t.seen == 0 or is_needed(w, lane, first, t) == 0):
        t.lanes = left
    if t.lanes == 0:
        t.owner = 0
    elif t.owner != access.owner and is_over(w, t) != 0:
        drop_alike(w, access, t)


def is_hazard(
    w: Warp, access: CurrentAccess, lane: u32, span: Span, t: AccessTrace, left: u32, place: u64, step: u32
) -> u32:
    """1 if an access and one that left a trace must not meet; `left` are the lanes that it does not come behind."""
    both = access.does | t.does
    if both & READS_ONLY != 0:
        return u32(both & WRITES != 0)
    if left == 0 or both == 0 or (access.ends != 0 and t.owner == access.owner):
        return 0
    if are_morally_strong(w, access.stamp, t) != 0:
        return 0
    if access.does & t.does == 0 or (access.stamp | t.stamp) & STRONG != 0:
        return 1
    return u32(is_same_value(w, lane, span, t, trailing_zeros(left), place, step) == 0)


def tell_run(w: Warp, lane: u32, span: Span, t: AccessTrace, racing: u32, at: u64, end: u64) -> None:
    """Note a race, and how far it goes; not of what only counts, which would take the square of it."""
    index = tell(w, lane, t, racing, at)
    if index < w.worker.event_limit:
        w.worker.events[index].size = run(w, span, at, end, t)


def run(w: Warp, span: Span, at: u64, end: u64, t: AccessTrace) -> u32:
    """How many bytes from an address on the same access left the same trace in."""
    place = at + 1
    while place < end and has_trace(w, cell_of(span, place).first[0], t) != 0:
        spend(w, 1)
        place = place + 1
    return u32(place - at)
