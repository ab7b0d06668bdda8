"""Resetting a cluster's clock: everything done before counts as done at the first tick.

That tick is known to every thread of the cluster, and to every thread that has learnt of anything that the cluster did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, length, u32, u64
from ptxloom.machine.runtime.memory.places import spans_of, warp_at
from ptxloom.machine.runtime.racecheck.row_history import settle_rows_of
from ptxloom.machine.runtime.state import Cta
from ptxloom.machine.runtime.structs.histories import AccessTrace, HistoryCell
from ptxloom.machine.runtime.structs.shadow import AGENT, FENCE_RECORDS, LEARNED_CLOCKS, PENDING, HappensBefore

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def settle_fences(order: HappensBefore) -> None:
    """Everything that threads fenced or released precedes all that follows."""
    for number in range(FENCE_RECORDS * order.threads):
        record = order.fence_records[number]
        record.tick = min(record.tick, 1)
        record.base = min(record.base, 1)
        record.kept = 0


def settle_grid(cta: Cta, order: HappensBefore) -> None:
    """What a cluster did to global memory, published there and learnt there comes before all that follows."""
    if address(order.grid) == 0:
        return
    grid = order.grid
    owner = u32(cta.index) + 1
    spans = spans_of(cta.launch)
    for number in range(u32(length(spans))):
        if address(spans[number].segments) != 0:
            settle_rows_of(warp_at(cta, 0), spans[number], owner)
        if address(spans[number].cells) != 0:
            settle_cells(order, owner, spans[number].cells)
    traces = grid.traces
    place: u64 = 0
    while place < min(grid.trace_count, length(traces)):
        settle_access(order, owner, traces[place])
        place = place + 1
    if address(order.taught) != 0:
        settle_flags(cta, order)
        settle_learned(order)


def settle_cells(order: HappensBefore, owner: u32, cells: Slice[HistoryCell]) -> None:
    """Reset the traces of a piece of memory that are in the cells themselves."""
    place: u64 = 0
    while place < length(cells):
        settle_access(order, owner, cells[place].first[0])
        place = place + 1


def settle_access(order: HappensBefore, owner: u32, t: AccessTrace) -> None:
    """An access of the cluster was made at its first tick; an operation under way goes on."""
    if t.owner == owner and (t.who & PENDING == 0 or t.who & AGENT != 0):
        t.who = t.who & (PENDING | AGENT | (1 << order.bits) - 1) | 1 << order.bits


def settle_flags(cta: Cta, order: HappensBefore) -> None:
    """What flags publish of the cluster is all that it has done."""
    grid = order.grid
    first = u32(cta.index) * grid.share
    for column in range(grid.share):
        grid.told[first + column] = min(grid.told[first + column], 1)
        for number in range(grid.limit):
            at = number * grid.columns + first + column
            grid.rows[at] = min(grid.rows[at], 1)


def settle_learned(order: HappensBefore) -> None:
    """Threads know what they had learnt, and what they had done and known they can publish."""
    for number in range(LEARNED_CLOCKS):
        learned = order.learned_clocks[number]
        learned.tick = min(learned.tick, 1)
        learned.seen = min(learned.seen, 1)
    for thread in range(order.threads):
        order.fences_total[thread] = min(order.fences_total[thread], 1)
        for other in range(order.threads):
            order.known_to_warps[thread // 32 * order.columns + other] = 1
    order.taught_at = min(order.taught_at, 1)
    order.started = 0
