"""Races in global memory, between threads of a CTA and between CTAs: racecheck's optional part.

Every aligned word has a cell with the history of its accesses; a word whose parts are accessed has a cell for each
byte instead. Within a cluster the same orders count as for shared memory; `grid` knows the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import address, length, nothing, null, trailing_zeros, u8, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.bounds import within
from ptxloom.machine.runtime.hazards import entry_of_party, fill_access
from ptxloom.machine.runtime.memory import find_span, holds
from ptxloom.machine.runtime.places import span_bytes, stored_byte
from ptxloom.machine.runtime.racecheck.access_history import (
    begin_access,
    copy_traces,
    covers,
    drop_alike,
    fill_trace,
    has_trace,
    is_own,
)
from ptxloom.machine.runtime.racecheck.global_flags import forget_flag, is_taught
from ptxloom.machine.runtime.racecheck.happens_before import (
    are_morally_strong,
    first_of,
    is_same_cta,
    me,
    owner_of,
    stamp_of,
    trace_tick,
    unknown_lanes,
)
from ptxloom.machine.runtime.shadow import (
    FEW_TRACES,
    READS_ONLY,
    SITE,
    STEP_SHIFT,
    STRONG,
    WRITES,
    AccessTrace,
    CurrentAccess,
    GridHistory,
    HistoryCell,
)
from ptxloom.machine.runtime.spans import Span
from ptxloom.machine.runtime.state import (
    GLOBAL,
    NOT_READ_ONLY,
    READ_WRITE,
    SHARED_WINDOW,
    WARP_WRITE_WRITE,
    WRITE_READ,
    WRITE_WRITE,
    Launch,
    Warp,
)

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

    `values` are the registers that are stored, `part` bytes each (null: nobody knows them).
    """
    access = begin_access(w, stamp_of(w, site), does, 0)
    access.addresses = addresses
    access.offset = offset
    access.values = values
    access.part = part
    access.size = size
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
    """An asynchronous copy of a lane, or the agent that has an entry, accesses some bytes, if anybody watches.

    `data` is what it writes, nothing if nobody knows.
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
    """Compare what a lane does to a stretch with what is remembered of it, if anybody watches."""
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
    if cell.split != 0:
        cell = byte_of(span, at)
    return cell


def split(grid: GridHistory, span: Span, at: u64) -> None:
    """Give each byte of the word at an address a cell of its own."""
    whole = word_of(span, at)
    if whole.split != 0:
        return
    whole.split = 1
    for number in range(4):
        place = (at & ~3) + u64(number)
        if place >= span.start and place < span.end:
            into = byte_of(span, place).first[0]
            left = copy_traces(whole.first[0], into)
            while address(left) != 0:
                into = further_trace(grid, into)
                left = copy_traces(left, into)


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
    grid = w.shadow.order.grid
    told: u32 = 0
    place = at
    end = at + u64(size)
    while place < end:
        if place & 3 != 0 or end - place < 4:
            split(grid, span, place)
        cell = word_of(span, place)
        step: u64 = 4
        if cell.split != 0:
            cell = byte_of(span, place)
            step = 1
        told = meet_cell(w, lane, span, cell, place, u32(step), end, told)
        place = place + step


def meet_cell(w: Warp, lane: u32, span: Span, cell: HistoryCell, place: u64, step: u32, end: u64, told: u32) -> u32:
    """Compare what a lane does with the history of a place, then remember it; gives the stamp of what was told last."""
    access = w.shadow.order.access
    access.over = 0
    last = told
    here = cell.first[0]
    end_of_chain = here
    free = null(AccessTrace)
    while address(here) != 0:
        t = here
        if t.owner != 0:
            left = unordered_lanes(w, lane, t)
            if t.stamp != last and is_hazard(w, access, lane, span, t, left, place, step) != 0:
                last = t.stamp
                racing = trailing_zeros(left if left != 0 else t.lanes)
                tell(w, lane, t, racing, place, run(span, place, end, t))
            if t.stamp & STRONG != 0 and access.does == WRITES and access.stamp & STRONG == 0:
                forget_flag(w.shadow.order.grid, place)
            settle_trace(w, access, t, left)
        if (t.owner == 0 and address(free) == 0) or (t.owner != 0 and is_own(access, t) != 0):
            free = here
        end_of_chain = here
        here = t.next
    if address(free) == 0:
        free = further_trace(w.shadow.order.grid, end_of_chain)
    fill_trace(access, lane, free)
    return last


def settle_trace(w: Warp, access: CurrentAccess, t: AccessTrace, left: u32) -> None:
    """Forget the part of a trace that an access stands for, `left` being the lanes that it does not come behind."""
    if covers(w, access.stamp, access.does, t) != 0:
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


def is_near(w: Warp, t: AccessTrace) -> u32:
    """1 if a trace is of this very warp."""
    return u32(t.owner == owner_of(w) and first_of(w, t) == me(w, 0))


def unordered_lanes(w: Warp, lane: u32, t: AccessTrace) -> u32:
    """The lanes that left a trace and do not come before what a lane does now."""
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
    """1 if the cluster that left a trace is over, and nobody can ever learn of it any more."""
    order = w.shadow.order
    grid = order.grid
    if grid.over[t.owner - 1] == 0:
        return 0
    if address(order.taught) == 0:
        return 1  # nobody publishes anything
    first = first_of(w, t)
    left = t.lanes
    while left != 0:
        column = (t.owner - 1) * grid.share + (first + trailing_zeros(left) >> grid.shift)
        if grid.told[column] >= trace_tick(w, t):
            return 0
        left = left & left - 1
    return 1


def copies_same(access: CurrentAccess, span: Span, at: u64, end: u64) -> u32:
    """1 if memory holds already what the copy at hand writes there: copies are made one after the other."""
    for number in range(u32(end - at)):
        if span_bytes(span, at + u64(number), 1)[0] != access.copied[at + u64(number) - access.start]:
            return 0
    return 1


def stores_same(w: Warp, lane: u32, at: u64, end: u64) -> u32:
    """1 if the access at hand, a store, puts into some bytes what they hold already."""
    access = w.shadow.order.access
    found = find_span(w.launch, at)
    if length(found) == 0 or holds(found[0], at, end - at) == 0:
        return 0
    if address(access.copied) != 0:
        return copies_same(access, found[0], at, end)
    if address(access.values) == 0:
        return 0
    for number in range(u32(end - at)):
        apart = u32(at - access.addresses[lane] - access.offset) + number
        if stored_byte(access.values, access.part, lane, apart) != span_bytes(found[0], at + u64(number), 1)[0]:
            return 0
    return 1


def is_same_value(w: Warp, lane: u32, span: Span, t: AccessTrace, racing: u32, at: u64, size: u32) -> u32:
    """1 if a store puts into some bytes what another one has put there."""
    access = w.shadow.order.access
    if address(access.copied) != 0:
        return copies_same(access, span, at, at + u64(size))
    if address(access.values) == 0:
        return 0
    for number in range(size):
        apart = u32(at - access.addresses[lane] - access.offset) + number
        mine = stored_byte(access.values, access.part, lane, apart)
        theirs = span_bytes(span, at + u64(number), 1)[0]
        if is_near(w, t) != 0 and t.stamp == access.stamp:  # the very same instruction
            theirs_at = at + u64(number) - access.addresses[racing] - access.offset
            if within(theirs_at, 1, u64(access.size)) == 0:  # it was there when the instruction ran before
                return 0
            theirs = stored_byte(access.values, access.part, racing, u32(theirs_at))
        if mine != theirs:
            return 0
    return 1


def run(span: Span, at: u64, end: u64, t: AccessTrace) -> u32:
    """How many bytes from an address on the same access left the same trace in."""
    place = at + 1
    while place < end and has_trace(cell_of(span, place).first[0], t) != 0:
        place = place + 1
    return u32(place - at)


def tell(w: Warp, lane: u32, t: AccessTrace, racing: u32, at: u64, size: u32) -> None:
    """Note two accesses that must not meet, the side that comes second first: between CTAs, the later in the text."""
    access = w.shadow.order.access
    launch = w.launch
    other = w.shadow.order.grid.block
    block_of(launch, t.owner - 1, first_of(w, t) // (launch.warps * 32), other)
    warp = first_of(w, t) // 32 % launch.warps
    first = comes_first(w, t)
    kind: u32 = WRITE_WRITE
    if (access.does | t.does) & READS_ONLY != 0:
        kind = NOT_READ_ONLY
        first = u32(t.does == READS_ONLY)  # the load is named first
    elif access.does & t.does == 0:
        kind = READ_WRITE
        if access.does == first:
            kind = WRITE_READ
    if kind != NOT_READ_ONLY and is_near(w, t) != 0:
        kind = kind + (WARP_WRITE_WRITE - WRITE_WRITE)
    mine = access.stamp & SITE
    theirs = t.stamp & SITE
    if first == 0:
        index = entry_of_party(w.worker, kind, mine, theirs, w.index, w.cta.ctaid)
        if index < w.worker.event_limit:
            fill_access(w.worker.events[index], lane, at, GLOBAL, size, 0)
            fill_second(w, index, warp, racing, other)
        return
    index = entry_of_party(w.worker, kind, theirs, mine, warp, other)
    if index < w.worker.event_limit:
        fill_access(w.worker.events[index], racing, at, GLOBAL, size, 0)
        fill_second(w, index, w.index, lane, w.cta.ctaid)


def fill_second(w: Warp, index: u32, warp: u32, lane: u32, block: Slice[u32]) -> None:
    """The other side of a hazard."""
    event = w.worker.events[index]
    event.second_warp = warp
    event.second_lane = lane
    for axis in range(3):
        event.second_block[axis] = block[axis]


def comes_first(w: Warp, t: AccessTrace) -> u32:
    """1 if an access stands before the one that left a trace: between CTAs, in the text."""
    stamp = w.shadow.order.access.stamp
    mine = stamp >> STEP_SHIFT
    theirs = t.stamp >> STEP_SHIFT
    if is_same_cta(w, t) == 0:
        theirs = mine
    return u32(mine < theirs or (mine == theirs and stamp & SITE < t.stamp & SITE))


def block_of(launch: Launch, cluster: u32, rank: u32, out: Slice[u32]) -> None:
    """The index of a CTA, by its cluster and its rank there."""
    columns = launch.grid[0] // launch.cluster[0]
    rows = launch.grid[1] // launch.cluster[1]
    out[0] = cluster % columns * launch.cluster[0] + rank % launch.cluster[0]
    out[1] = cluster // columns % rows * launch.cluster[1] + rank // launch.cluster[0] % launch.cluster[1]
    out[2] = cluster // (columns * rows) * launch.cluster[2] + rank // (launch.cluster[0] * launch.cluster[1])
