"""Races in global memory, between threads of a CTA and between CTAs: racecheck's optional part.

Every aligned word has a cell with its last write and two readers, warps each; a word whose parts are accessed has a
cell for each byte instead. Within a cluster the same orders count as for shared memory; `grid` knows the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native import address, pointer, trailing_zeros, u8, u32, u64
from ptxloom.machine.runtime.grid import is_taught
from ptxloom.machine.runtime.hazards import entry as event_entry
from ptxloom.machine.runtime.hazards import fill_access
from ptxloom.machine.runtime.memory import find_span
from ptxloom.machine.runtime.races import entry_of, is_known, me, stamp_of
from ptxloom.machine.runtime.shadow import SITE, STEP_SHIFT, STRONG, Cell, Trace
from ptxloom.machine.runtime.state import (
    GLOBAL,
    NONE,
    READ_WRITE,
    SHARED_WINDOW,
    WARP_WRITE_WRITE,
    WRITE_READ,
    WRITE_WRITE,
    Launch,
    Span,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native import Ptr


def look(
    w: Warp,
    addresses: Ptr[u64],
    offset: u64,
    lanes: u32,
    space: u32,
    size: u32,
    site: u32,
    write: u32,
    values: Ptr[u64],
    part: u32,
) -> None:
    """Compare an access of lanes to global memory with those before it, and remember it.

    `values` are the registers that are stored, `part` bytes each (null: nobody knows them).
    """
    stamp = stamp_of(w, site)
    left = lanes
    index = w.launch.span_count
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        at = addresses[lane] + offset
        if space == GLOBAL or at < SHARED_WINDOW:
            if index >= w.launch.span_count or takes(w.launch.spans[index], at, size, write) == 0:
                index = find_span(w.launch, at)
            if index < w.launch.span_count and takes(w.launch.spans[index], at, size, write) != 0:
                look_lane(w, lane, w.launch.spans[index], at, size, stamp, write, values, part, addresses, offset)


def look_copy(w: Warp, lane: u32, at: u64, size: u32, site: u32, write: u32) -> None:
    """An asynchronous copy of a lane reads or writes some bytes, if anybody watches."""
    if address(w.shadow) == 0 or address(w.shadow.order.grid) == 0 or size == 0:
        return
    index = find_span(w.launch, at)
    if index < w.launch.span_count and takes(w.launch.spans[index], at, size, write) != 0:
        unknown = pointer(u64, 0)
        look_lane(w, lane, w.launch.spans[index], at, size, stamp_of(w, site), write, unknown, 1, unknown, 0)


def takes(span: Span, at: u64, size: u32, write: u32) -> u32:
    """1 if an access is one that a piece of memory takes; the others are left to memcheck."""
    if at < span.start or at + u64(size) > span.end or span.cells == 0:
        return 0
    return u32(write == 0 or span.writable != 0)


def word_of(span: Span, at: u64) -> Cell:
    """The cell of the aligned word that holds a byte."""
    return pointer(Cell, span.cells)[(at >> 2) - (span.start >> 2)]


def byte_of(span: Span, at: u64) -> Cell:
    """The cell of a byte."""
    return pointer(Cell, span.cells)[(span.end - 1 >> 2) - (span.start >> 2) + 1 + (at - span.start)]


def cell_of(span: Span, at: u64) -> Cell:
    """The cell that holds what is known of a byte."""
    cell = word_of(span, at)
    if cell.split != 0:
        cell = byte_of(span, at)
    return cell


def split(span: Span, at: u64) -> None:
    """Give each byte of the word at an address a cell of its own."""
    whole = word_of(span, at)
    if whole.split != 0:
        return
    whole.split = 1
    for number in range(4):
        place = (at & ~3) + u64(number)
        if place >= span.start and place < span.end:
            cell = byte_of(span, place)
            for which in range(3):
                cell.traces[which].owner = whole.traces[which].owner
                cell.traces[which].who = whole.traces[which].who
                cell.traces[which].stamp = whole.traces[which].stamp
                cell.traces[which].lanes = whole.traces[which].lanes


def look_lane(
    w: Warp,
    lane: u32,
    span: Span,
    at: u64,
    size: u32,
    stamp: u32,
    write: u32,
    values: Ptr[u64],
    part: u32,
    addresses: Ptr[u64],
    offset: u64,
) -> None:
    """The same for one lane, word by word, or byte by byte."""
    last: u32 = 0
    place = at
    end = at + u64(size)
    while place < end:
        if place & 3 != 0 or end - place < 4:
            split(span, place)
        cell = word_of(span, place)
        step: u64 = 4
        if cell.split != 0:
            cell = byte_of(span, place)
            step = 1
        other = cell.traces[0]
        racing = racing_lane(w, lane, other, stamp)
        if racing != NONE and other.stamp != last:
            same: u32 = 0
            if write != 0 and address(values) != 0 and stamp & STRONG == 0:
                same = is_same_value(w, lane, place, u32(step), other, racing, stamp, values, part, addresses, offset)
            if same == 0:
                last = other.stamp
                tell(w, lane, place, run(span, place, end, 0), other, racing, stamp, write, 1)
        if write == 0:
            keep_reader(w, lane, cell, stamp)
        else:
            last = against_readers(w, lane, span, cell, place, end, stamp, last)
            keep_last(w, lane, other, stamp)
        place = place + step


def against_readers(w: Warp, lane: u32, span: Span, cell: Cell, place: u64, end: u64, stamp: u32, last: u32) -> u32:
    """Compare a write with the readers; gives the stamp of what has been told last."""
    told = last
    for number in range(1, 3):
        reader = cell.traces[number]
        racing = racing_lane(w, lane, reader, stamp)
        if racing != NONE and reader.stamp != told:
            told = reader.stamp
            tell(w, lane, place, run(span, place, end, number), reader, racing, stamp, 1, 0)
    return told


def keep(w: Warp, lane: u32, trace: Trace, stamp: u32) -> None:
    """Remember an access of a lane, beside those of other lanes in the same instruction if they left the same trace."""
    owner = u32(w.cta.index) + 1
    who = entry_of(w, 0)
    if trace.owner == owner and trace.who == who and trace.stamp == stamp:
        trace.lanes = trace.lanes | 1 << lane
        return
    trace.owner = owner
    trace.who = who
    trace.stamp = stamp
    trace.lanes = 1 << lane


def keep_last(w: Warp, lane: u32, trace: Trace, stamp: u32) -> None:
    """Remember a write; a weak one stays in the place of a strong one, which later accesses race with less."""
    if stamp & STRONG == 0 or trace.owner == 0 or trace.stamp & STRONG != 0 or is_over(w, lane, trace) != 0:
        keep(w, lane, trace, stamp)


def keep_reader(w: Warp, lane: u32, cell: Cell, stamp: u32) -> None:
    """Remember a reader: in place of its own warp or of one that is over, the second rather of another CTA."""
    first = cell.traces[1]
    if first.owner == 0 or is_replaced(w, lane, first, stamp) != 0:
        keep_lanes(w, lane, first, stamp)
        return
    second = cell.traces[2]
    if (
        second.owner == 0
        or is_replaced(w, lane, second, stamp) != 0
        or (first.owner == second.owner and first.owner != u32(w.cta.index) + 1)
    ):
        keep_lanes(w, lane, second, stamp)


def keep_lanes(w: Warp, lane: u32, trace: Trace, stamp: u32) -> None:
    """Remember a reader beside lanes of its warp that have read at the same tick."""
    if trace.owner == u32(w.cta.index) + 1 and trace.who == entry_of(w, 0):
        trace.stamp = stamp
        trace.lanes = trace.lanes | 1 << lane
        return
    keep(w, lane, trace, stamp)


def is_replaced(w: Warp, lane: u32, trace: Trace, stamp: u32) -> u32:
    """1 if whatever races with a trace races with what a lane reads now, too, or both can be kept in one."""
    if trace.stamp & STRONG != stamp & STRONG:
        return 0
    if trace.owner == u32(w.cta.index) + 1 and trace.who == entry_of(w, 0):
        return 1
    return is_over(w, lane, trace)


def first_of(w: Warp, trace: Trace) -> u32:
    """The number of the first thread of a trace's warp in its cluster."""
    return trace.who & ((1 << w.shadow.order.bits) - 1)


def is_near(w: Warp, trace: Trace) -> u32:
    """1 if a trace is of this very warp."""
    return u32(trace.owner == u32(w.cta.index) + 1 and first_of(w, trace) == me(w, 0))


def is_over(w: Warp, lane: u32, trace: Trace) -> u32:
    """1 if all that left a trace come before what a lane does now."""
    return u32(unordered_lane(w, lane, trace) == NONE)


def unordered_lane(w: Warp, lane: u32, trace: Trace) -> u32:
    """A lane that left a trace, and that does not come before what another lane does now; NONE if there is none."""
    order = w.shadow.order
    tick = trace.who >> order.bits
    first = first_of(w, trace)
    left = trace.lanes
    own = u32(trace.owner == u32(w.cta.index) + 1)
    if own != 0 and tick > order.clock:
        return NONE  # the clock has been set back since
    if own != 0 and first == me(w, 0):
        left = left & ~(1 << lane)
    while left != 0:
        other = trailing_zeros(left)
        known: u32 = 0
        if own != 0:
            known = is_known(w, me(w, lane), first + other, tick)
        if known == 0 and is_taught(w, lane, trace.owner - 1, first + other, tick) == 0:
            return other
        left = left & left - 1
    return NONE


def racing_lane(w: Warp, lane: u32, trace: Trace, stamp: u32) -> u32:
    """A lane that left a trace and whose access races with a lane's; NONE if there is none."""
    if trace.owner == 0 or trace.stamp & stamp & STRONG != 0:
        return NONE
    return unordered_lane(w, lane, trace)


def is_same_value(
    w: Warp,
    lane: u32,
    at: u64,
    size: u32,
    other: Trace,
    racing: u32,
    stamp: u32,
    values: Ptr[u64],
    part: u32,
    addresses: Ptr[u64],
    offset: u64,
) -> u32:
    """1 if a store puts into some bytes what another one has put there."""
    for number in range(size):
        apart = u32(at - addresses[lane] - offset) + number
        mine = pointer(u8, values[apart // part] + u64(lane * part + apart % part))[0]
        theirs = pointer(u8, at + u64(number))[0]
        if is_near(w, other) != 0 and other.stamp == stamp:  # the very same instruction
            apart = u32(at - addresses[racing] - offset) + number
            theirs = pointer(u8, values[apart // part] + u64(racing * part + apart % part))[0]
        if mine != theirs:
            return 0
    return 1


def run(span: Span, at: u64, end: u64, number: u32) -> u32:
    """How many bytes from an address on the same access left the same trace in."""
    first = cell_of(span, at).traces[number]
    place = at + 1
    while place < end:
        other = cell_of(span, place).traces[number]
        if other.who != first.who or other.stamp != first.stamp or other.owner != first.owner:
            break
        place = place + 1
    return u32(place - at)


def tell(
    w: Warp, lane: u32, at: u64, size: u32, other: Trace, racing: u32, stamp: u32, write: u32, other_writes: u32
) -> None:
    """Note a race, the side that comes second first: between CTAs, the later in the text."""
    launch = w.launch
    thread = first_of(w, other)
    first = comes_first(w, other, stamp)
    kind: u32 = WRITE_WRITE
    if write & other_writes == 0:
        kind = READ_WRITE
        if write == first:
            kind = WRITE_READ
    if is_near(w, other) != 0:
        kind = kind + (WARP_WRITE_WRITE - WRITE_WRITE)
    site = stamp & SITE
    second = other.stamp & SITE
    if first != 0:
        site = second
        second = stamp & SITE
    index = event_entry(w, kind, site, second)
    if index >= w.worker.event_limit:
        return
    event = w.worker.events[index]
    place = w.shadow.order.grid.block
    block_of(launch, other.owner - 1, thread // (launch.warps * 32), place)
    if first == 0:
        fill_access(event, lane, at, GLOBAL, size, 0)
        event.second_warp = thread // 32 % launch.warps
        event.second_lane = racing
        for axis in range(3):
            event.second_block[axis] = place[axis]
        return
    fill_access(event, racing, at, GLOBAL, size, 0)
    event.warp = thread // 32 % launch.warps
    event.second_warp = w.index
    event.second_lane = lane
    for axis in range(3):
        event.block[axis] = place[axis]
        event.second_block[axis] = w.cta.ctaid[axis]


def comes_first(w: Warp, other: Trace, stamp: u32) -> u32:
    """1 if an access stands before the one that left a trace: between CTAs, in the text."""
    mine = stamp >> STEP_SHIFT
    theirs = other.stamp >> STEP_SHIFT
    if other.owner != u32(w.cta.index) + 1 or first_of(w, other) - w.shadow.first >= w.launch.warps * 32:
        theirs = mine
    return u32(mine < theirs or (mine == theirs and stamp & SITE < other.stamp & SITE))


def block_of(launch: Launch, cluster: u32, rank: u32, out: Ptr[u32]) -> None:
    """The index of a CTA, by its cluster and its rank there."""
    columns = launch.grid[0] // launch.cluster[0]
    rows = launch.grid[1] // launch.cluster[1]
    out[0] = cluster % columns * launch.cluster[0] + rank % launch.cluster[0]
    out[1] = cluster // columns % rows * launch.cluster[1] + rank // launch.cluster[0] % launch.cluster[1]
    out[2] = cluster // (columns * rows) * launch.cluster[2] + rank // (launch.cluster[0] * launch.cluster[1])
