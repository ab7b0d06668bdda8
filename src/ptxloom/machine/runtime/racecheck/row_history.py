"""The history of whole rows of global memory: accesses recorded as a whole, until other accesses follow.

Most memory is read by warps that take words side by side, and never written; or it is written so, once. A segment of
it remembers such accesses, as long as no two of them could race. Once one could, or is of another kind, all of them are
made again word by word (`settle_segment`), as they would have been in the first place: with what their threads knew
then, which each row keeps. Only where nothing but barriers of a CTA orders threads, so that this is a tick.
"""

from __future__ import annotations

from ptxloom.machine.native.language import address, copy, length, null, popcount, trailing_zeros, u32, u64
from ptxloom.machine.runtime.racecheck.access_history import copy_traces, drop_alike, fill_trace, is_own, takes_lane
from ptxloom.machine.runtime.racecheck.observation_order import last_number
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.histories import (
    READS_ONLY,
    ROW_TRACE_BYTES,
    SEGMENT_SHIFT,
    SEGMENT_WORDS,
    SETTLED,
    SPLIT,
    WRITES,
    AccessTrace,
    CurrentAccess,
    GridHistory,
    HistoryCell,
    RowTrace,
)
from ptxloom.machine.runtime.structs.shadow import FEW_TRACES, STRONG
from ptxloom.machine.runtime.structs.spans import ROW_TRACES, Span
from ptxloom.machine.runtime.turns import spend

ENOUGH = ROW_TRACES - 4  # of a segment with more that matter each word is remembered by itself


def note_row(w: Warp, lane: u32, count: u32, span: Span, at: u64, size: u32) -> u32:
    """Remember that lanes from one on access bytes side by side, in one segment; 0 if each word has to be looked at."""
    if address(span.segments) == 0:
        return 0
    number = (at >> SEGMENT_SHIFT) - (span.start >> SEGMENT_SHIFT)
    segment = span.segments[number]
    if segment.count == SETTLED:
        return 0
    access = w.shadow.order.access
    writes = u32(access.does == WRITES)
    first = u32(at >> 2) & SEGMENT_WORDS - 1
    row = w.shadow.order.grid.row[0]
    row.owner = access.owner
    row.who = access.who
    row.stamp = access.stamp
    row.lanes = 0xFFFFFFFF >> 32 - count << lane
    row.does = access.does
    row.first = first
    row.step = size >> 2
    row.base = w.shadow.base
    row.event = w.shadow.order.grid.events
    if (writes != 0 or segment.wrote != 0) and are_in_order(w, span, number, row) == 0:
        return 0
    if segment.count != 0 and goes_on(kept_row(span, number, segment.count - 1), row) != 0:
        return 1
    if segment.count == ROW_TRACES:
        thin(w, span, number)
        if segment.count > ENOUGH:
            return 0
    copy(kept_row(span, number, segment.count), row, ROW_TRACE_BYTES)
    segment.count = segment.count + 1
    segment.wrote = segment.wrote | writes
    return 1


def kept_row(span: Span, number: u64, index: u32) -> RowTrace:
    """A recorded row of a segment."""
    return span.rows[u64(index) * span.segment_count + number]


def row_end(row: RowTrace) -> u32:
    """The word of the segment behind a row."""
    return row.first + popcount(row.lanes) * row.step


def lies_in_row(row: RowTrace, other: RowTrace) -> u32:
    """1 if all words of a row are words of another one."""
    return u32(other.first <= row.first and row_end(row) <= row_end(other))


def is_alike(row: RowTrace, other: RowTrace) -> u32:
    """1 if each word of two rows of one warp is the same lane's."""
    return u32(
        row.step == other.step
        and row.first - trailing_zeros(row.lanes) * row.step == other.first - trailing_zeros(other.lanes) * other.step
    )


def goes_on(last: RowTrace, row: RowTrace) -> u32:
    """1 if a row goes on where the last one ends, of the same instruction: that is one row from now on."""
    one = last.who == row.who and last.owner == row.owner and last.stamp == row.stamp
    if not one or last.does != row.does or last.step != row.step or row_end(last) != row.first:
        return 0
    if (
        last.base != row.base
        or last.event != row.event
        or row.lanes & -row.lanes != (last.lanes & -last.lanes) + last.lanes
    ):
        return 0
    last.lanes = last.lanes | row.lanes
    return 1


def are_in_order(w: Warp, span: Span, number: u64, row: RowTrace) -> u32:
    """1 if a row races with none of those that its segment remembers."""
    bits = w.shadow.order.bits
    count = span.segments[number].count
    for index in range(ROW_TRACES):
        if index >= count:
            break
        t = kept_row(span, number, index)
        apart = u32(row_end(t) <= row.first or row_end(row) <= t.first)
        if apart == 0 and (t.does | row.does) & WRITES != 0:
            if (t.does | row.does) & READS_ONLY != 0 or t.owner != row.owner:
                return 0
            own = u32((t.who ^ row.who) & (1 << bits) - 1 == 0)
            if t.who >> bits > row.base and (own == 0 or is_alike(t, row) == 0):
                return 0
    return 1


# -- fewer of them


def thin(w: Warp, span: Span, number: u64) -> None:
    """Forget rows of a segment that can no longer matter in any word."""
    segment = span.segments[number]
    if segment.wrote != 0:
        return
    count = min(segment.count, ROW_TRACES)
    kept: u32 = 0
    for index in range(count):
        if stays(w, span, number, index, count, kept) != 0:
            if kept != index:
                copy(kept_row(span, number, kept), kept_row(span, number, index), ROW_TRACE_BYTES)
            kept = kept + 1
    segment.count = kept


def stays(w: Warp, span: Span, number: u64, index: u32, count: u32, kept: u32) -> u32:
    """0 if a later row stands for one in each word; those before it that stay are the first `kept`."""
    bits = w.shadow.order.bits
    t = kept_row(span, number, index)
    behind = is_behind(w, span, number, t, kept)
    alone: u32 = 1  # no cluster but its own has followed
    for later in range(index + 1, count):
        r = kept_row(span, number, later)
        if r.does != t.does:
            return 1
        if r.owner == t.owner:
            if alone != 0 and lies_in_row(t, r) != 0 and t.who >> bits <= r.base:
                return 0
        else:
            if was_over(w.shadow.order.grid, t.owner, r.event) == 0:
                return 1
            alone = 0
            if behind != 0 and lies_in_row(t, r) != 0:
                return 0
    return 1


def is_behind(w: Warp, span: Span, number: u64, t: RowTrace, kept: u32) -> u32:
    """1 if each word of a row keeps an access of before it, of a cluster that was over: one such access is kept."""
    found: u32 = 0
    for earlier in range(min(kept, ROW_TRACES)):
        first = kept_row(span, number, earlier)
        if first.does != t.does:
            return 0
        if first.owner != t.owner:
            if was_over(w.shadow.order.grid, first.owner, t.event) == 0:
                return 0
            found = found | lies_in_row(t, first)
    return found


# -- word by word


def settle_stretch(w: Warp, span: Span, at: u64, size: u64) -> None:
    """Remember word by word what has been done to the segments of some bytes."""
    if address(span.segments) == 0 or size == 0:
        return
    number = (at >> SEGMENT_SHIFT) - (span.start >> SEGMENT_SHIFT)
    last = (at + size - 1 >> SEGMENT_SHIFT) - (span.start >> SEGMENT_SHIFT)
    while number <= last:
        spend(w, 1)
        settle_segment(w, span, number)
        number = number + 1


def settle_rows_of(w: Warp, span: Span, owner: u32) -> None:
    """The same of all segments that remember a row of a cluster."""
    number: u64 = 0
    while number < length(span.segments):
        count = span.segments[number].count
        for index in range(ROW_TRACES):
            if count == SETTLED or index >= count:
                break
            if kept_row(span, number, index).owner == owner:
                settle_segment(w, span, number)
                break
        number = number + 1


def settle_segment(w: Warp, span: Span, number: u64) -> None:
    """The same of a segment, from now on."""
    if address(span.segments) == 0 or span.segments[number].count == SETTLED:
        return
    settle_rows(w, span, number)


def settle_rows(w: Warp, span: Span, number: u64) -> None:
    """Make the accesses again that a segment remembers."""
    segment = span.segments[number]
    count = min(segment.count, ROW_TRACES)
    segment.count = SETTLED
    before = (number + (span.start >> SEGMENT_SHIFT) << SEGMENT_SHIFT - 2) - (span.start >> 2)
    access = w.shadow.order.grid.again[0]
    for index in range(count):
        row = kept_row(span, number, index)
        access.owner = row.owner
        access.who = row.who
        access.stamp = row.stamp
        access.does = row.does
        access.reads = 0
        left = row.lanes
        place = before + u64(row.first)
        assert row.step <= SEGMENT_WORDS
        while left != 0:
            lane = trailing_zeros(left)
            left = left & left - 1
            for _word in range(row.step):
                first = span.cells[place].first[0]
                place = place + 1
                if row.does == WRITES or meet_reads(w, access, lane, first, row.event) == 0:
                    meet_again(w, row, access, lane, first)


def meet_again(w: Warp, row: RowTrace, access: CurrentAccess, lane: u32, first: AccessTrace) -> None:
    """Remember in a word what a lane did: as `meet_cell`, of what races with nothing, at the time of the row."""
    access.over = 0
    access.number = 0
    here = first
    end_of_chain = here
    free = null(AccessTrace)
    while address(here) != 0:
        spend(w, 1)
        t = here
        if t.owner != 0:
            if access.does & t.does == WRITES:
                access.number = max(access.number, last_number(t))
            if access.does == t.does:
                t.lanes = lanes_left(w, row, lane, t)
            if t.lanes == 0:
                t.owner = 0
            elif t.owner != access.owner and was_over(w.shadow.order.grid, t.owner, row.event) != 0:
                drop_alike(w, access, t)
        if (t.owner == 0 and address(free) == 0) or (t.owner != 0 and takes_lane(access, lane, t) != 0):
            free = here
        end_of_chain = here
        here = t.next
    if address(free) == 0:
        free = further_trace(w.shadow.order.grid, end_of_chain)
    fill_trace(access, lane, free)


def lanes_left(w: Warp, row: RowTrace, lane: u32, t: AccessTrace) -> u32:
    """The lanes that left a trace and did not come before what a lane of a row did."""
    if t.owner != row.owner:
        return t.lanes
    bits = w.shadow.order.bits
    tick = t.who >> bits
    left = t.lanes
    if (t.who ^ row.who) & (1 << bits) - 1 == 0:
        left = left & ~(1 << lane)
    return 0 if tick <= row.base else left


# -- cells, of words and bytes


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


def is_unmet(cell: HistoryCell) -> u32:
    """1 if nothing has been remembered of a place yet."""
    return u32(cell.first[0].owner == 0 and address(cell.first[0].next) == 0)


def was_over(grid: GridHistory, owner: u32, event: u32) -> u32:
    """1 if the cluster that left a trace had come to its end at an event."""
    when = grid.over[owner - 1]
    return u32(when != 0 and when <= event)


def meet_reads(w: Warp, access: CurrentAccess, lane: u32, first: AccessTrace, event: u32) -> u32:
    """1 if a plain read meets nothing but plain reads by other clusters, and its own: it is remembered, as they are.

    That is most of what kernels do, and no order of any two matters. `event` says which clusters had come to their end.
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
        elif t.owner != 0 and was_over(grid, t.owner, event) != 0:
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
