"""Races in global memory, between threads of a CTA and between CTAs: racecheck's optional part.

Every aligned word has a cell with the history of its accesses; a word whose parts are accessed has a cell for each
byte instead. Within a cluster the same orders count as for shared memory; `grid` knows the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native.language import address, length, nothing, null, trailing_zeros, u8, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.lane_access import find_span, holds
from ptxloom.machine.runtime.racecheck.access_history import (
    begin_access,
    begin_trace,
    covers,
    drop_alike,
    fill_trace,
    has_trace,
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
from ptxloom.machine.runtime.racecheck.row_history import (
    byte_of,
    cell_of,
    further_trace,
    is_unmet,
    meet_reads,
    note_row,
    settle_segment,
    settle_stretch,
    split,
)
from ptxloom.machine.runtime.state import (
    GLOBAL,
    SHARED_WINDOW,
    Warp,
)
from ptxloom.machine.runtime.structs.histories import (
    READS_ONLY,
    SEGMENT_SHIFT,
    SPLIT,
    WRITES,
    AccessTrace,
    CurrentAccess,
    HistoryCell,
)
from ptxloom.machine.runtime.structs.shadow import LOOKS_AGAIN, STRONG
from ptxloom.machine.runtime.structs.spans import Span
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

WIDEST: Final = 32  # bytes of a lane of which rows are remembered
LEAST: Final = 32  # bytes of a row that is remembered as a whole


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
    """Compare an access of lanes to global memory with earlier ones, and record it.

    `values` are the registers that are stored, `part` bytes each (null: unknown).
    """
    access = begin_access(w, stamp_of(w, site), does, 0)
    access.addresses = addresses
    access.offset = offset
    access.values = values
    access.part = part
    access.size = size
    access.reads = u32(site & LOOKS_AGAIN != 0)
    in_rows = u32(
        access.stamp & STRONG == 0 and address(w.shadow.order.known) == 0 and size & 3 == 0 and size <= WIDEST
    )
    left = lanes
    found = nothing(Span)
    for _run in range(32):
        if left == 0:
            break
        lane = trailing_zeros(left)
        at = addresses[lane] + offset
        count: u32 = 1
        if in_rows != 0:
            count = beside(addresses, lane, left, size)
        assert count <= 32
        left = left & ~(0xFFFFFFFF >> 32 - count << lane)
        if space == GLOBAL or at < SHARED_WINDOW:
            if takes(found, at, count * size, does) == 0:
                found = find_span(w.launch, at)
            if count * size >= LEAST and at & u64(size - 1) == 0 and takes(found, at, count * size, does) != 0:
                look_row(w, lane, count, found[0], at, size)
            else:
                for number in range(count):
                    look_one(w, lane + number, found, at + u64(number * size), size, does)


def beside(addresses: Ptr[u64], lane: u32, lanes: u32, size: u32) -> u32:
    """The number of lanes, from one on, that access contiguous bytes, at least one."""
    first = addresses[lane]
    if lanes == 0xFFFFFFFF:
        apart: u64 = 0
        for other in range(32):
            apart = apart | addresses[other] - first ^ u64(other) * u64(size)
        if apart == 0:
            return 32
    count: u32 = 1
    for other in range(lane + 1, 32):
        if lanes >> other & 1 == 0 or addresses[other] - first != u64(other - lane) * u64(size):
            break
        count = count + 1
    return count


def look_one(w: Warp, lane: u32, found: Slice[Span], at: u64, size: u32, does: u32) -> None:
    """Compare and record one lane's access, perhaps to a span that has been found already."""
    if takes(found, at, size, does) != 0:
        look_lane(w, lane, found[0], at, size)
    else:
        other = find_span(w.launch, at)
        if takes(other, at, size, does) != 0:
            look_lane(w, lane, other[0], at, size)


def look_row(w: Warp, lane: u32, count: u32, span: Span, at: u64, size: u32) -> None:
    """Remember that lanes from one on access bytes side by side, as a whole if that is in order at once."""
    number: u32 = 0
    while number < count:
        spend(w, 1)
        here = at + u64(number * size)
        room = (1 << SEGMENT_SHIFT) - (u32(here) & (1 << SEGMENT_SHIFT) - 1)
        some = min(count - number, room // size)
        assert some <= 32
        if note_row(w, lane + number, some, span, here, size) == 0:
            settle_segment(w, span, (here >> SEGMENT_SHIFT) - (span.start >> SEGMENT_SHIFT))
            for other in range(some):
                look_lane(w, lane + number + other, span, here + u64(other * size), size)
        number = number + some


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
    in_rows = u32(does != WRITES and agent == 0 and stamp & STRONG == 0 and address(w.shadow.order.known) == 0)
    if in_rows == 0 or size & 3 != 0 or size > WIDEST or at & u64(size - 1) != 0:
        look_stretch(w, lane, at, size)
        return
    found = find_span(w.launch, at)
    if takes(found, at, size, does) != 0:
        look_row(w, lane, 1, found[0], at, size)


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
    """Compare a lane's access to a stretch with its history, if global memory is watched."""
    if address(w.shadow.order.grid) == 0 or size == 0:
        return
    found = find_span(w.launch, at)
    if takes(found, at, size, w.shadow.order.access.does) != 0:
        look_lane(w, lane, found[0], at, size)


def takes(found: Slice[Span], at: u64, size: u32, does: u32) -> u32:
    """1 if there is a span that contains an access; other accesses are left to memcheck."""
    if length(found) == 0:
        return 0
    span = found[0]
    if holds(span, at, u64(size)) == 0 or address(span.cells) == 0:
        return 0
    return u32(does != WRITES or span.writable != 0)


def look_lane(w: Warp, lane: u32, span: Span, at: u64, size: u32) -> None:
    """Compare and record one lane's access, word by word, or byte by byte."""
    settle_stretch(w, span, at, u64(size))
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
        elif is_plain == 0 or meet_reads(w, access, lane, cell.first[0], w.shadow.order.grid.events) == 0:
            told = meet_cell(w, lane, span, cell, place, u32(step), end, told)
        place = place + step


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
    """1 if an access races with a trace; `left` are the trace's lanes that do not precede it."""
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
    """Report a race and its extent; not for further occurrences, which would take quadratic time."""
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
