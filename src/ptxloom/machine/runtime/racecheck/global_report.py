"""How a race in global memory is reported: the side that comes second first; between CTAs, the later in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import u32, u64
from ptxloom.machine.runtime.hazards import entry_of_party, fill_access
from ptxloom.machine.runtime.racecheck.global_order import is_near
from ptxloom.machine.runtime.racecheck.happens_before import first_of, is_same_cta
from ptxloom.machine.runtime.state import (
    GLOBAL,
    NOT_READ_ONLY,
    READ_WRITE,
    WARP_WRITE_WRITE,
    WRITE_READ,
    WRITE_WRITE,
    Launch,
    Warp,
)
from ptxloom.machine.runtime.structs.histories import READS_ONLY, AccessTrace
from ptxloom.machine.runtime.structs.shadow import SITE, STEP_SHIFT
from ptxloom.machine.runtime.turns import PLAIN, spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def tell(w: Warp, lane: u32, t: AccessTrace, racing: u32, at: u64) -> u32:
    """Report two racing accesses, the second side first: between CTAs, the later one in the text.

    Returns the index of its record, of one byte, or an invalid index if it only counts.
    """
    spend(w, w.worker.event_count >> PLAIN)
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
            fill_access(w.worker.events[index], lane, at, GLOBAL, 1, 0)
            fill_second(w, index, warp, racing, other)
        return index
    index = entry_of_party(w.worker, kind, theirs, mine, warp, other)
    if index < w.worker.event_limit:
        fill_access(w.worker.events[index], racing, at, GLOBAL, 1, 0)
        fill_second(w, index, w.index, lane, w.cta.ctaid)
    return index


def fill_second(w: Warp, index: u32, warp: u32, lane: u32, block: Slice[u32]) -> None:
    """Fill in the other side of a hazard."""
    event = w.worker.events[index]
    event.second_warp = warp
    event.second_lane = lane
    for axis in range(3):
        event.second_block[axis] = block[axis]


def comes_first(w: Warp, t: AccessTrace) -> u32:
    """1 if an access comes before a trace's: between CTAs, in the text."""
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
