"""Races in global memory, between threads of a CTA and between CTAs: racecheck's optional part.

Every byte has the entries of its last write and of two readers: whose cluster, and the thread and tick within it.
Within a cluster the same orders count as for shared memory. Between clusters what orders is a flag: a strong write
behind a fence (or with `.release`), a strong read before one (or with `.acquire`), of a scope wider than a CTA. What a
cluster knows of others is kept for the cluster as a whole, in ticks of a clock of the grid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native import address, fill, pointer, u8, u32, u64
from ptxloom.machine.runtime.hazards import entry as event_entry
from ptxloom.machine.runtime.hazards import fill_access
from ptxloom.machine.runtime.memory import find_span
from ptxloom.machine.runtime.orders import ACQUIRE, LOADS, RELEASE, STORES, flag_place
from ptxloom.machine.runtime.races import entry_of, is_known, me, stamp_of
from ptxloom.machine.runtime.shadow import SITE, STEP_SHIFT, STRONG, SYNCS, Cell, Grid, Trace
from ptxloom.machine.runtime.state import (
    GENERIC,
    GLOBAL,
    READ_WRITE,
    SHARED_WINDOW,
    WARP_WRITE_WRITE,
    WRITE_READ,
    WRITE_WRITE,
    Cta,
    Launch,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native import Ptr


def cells_of(launch: Launch, at: u64, size: u32, write: u32) -> u64:
    """Where the cells of some bytes of global memory lie; 0 if the access is none that memory takes."""
    index = find_span(launch, at)
    if index >= launch.span_count:
        return 0
    span = launch.spans[index]
    if at + u64(size) > span.end or span.cells == 0 or (write != 0 and span.writable == 0):
        return 0
    return address(pointer(Cell, span.cells)[at - span.start])


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
    for lane in range(32):
        at = addresses[lane] + offset
        if lanes >> lane & 1 != 0 and (space == GLOBAL or at < SHARED_WINDOW):
            cells = cells_of(w.launch, at, size, write)
            if cells != 0:
                look_lane(w, lane, at, pointer(Cell, cells), size, stamp, write, values, part)


def look_copy(w: Warp, lane: u32, at: u64, size: u32, site: u32, write: u32) -> None:
    """An asynchronous copy of a lane reads or writes some bytes, if anybody watches."""
    if address(w.shadow) == 0 or address(w.shadow.order.grid) == 0 or size == 0:
        return
    cells = cells_of(w.launch, at, size, write)
    if cells != 0:
        look_lane(w, lane, at, pointer(Cell, cells), size, stamp_of(w, site), write, pointer(u64, 0), 1)


def look_lane(
    w: Warp, lane: u32, at: u64, cells: Ptr[Cell], size: u32, stamp: u32, write: u32, values: Ptr[u64], part: u32
) -> None:
    """The same for one lane."""
    last: u32 = 0
    for offset in range(size):
        cell = cells[offset]
        other = cell.traces[0]
        if races(w, lane, other, stamp) != 0 and other.stamp != last:
            same: u32 = 0
            if write != 0 and address(values) != 0 and stamp & STRONG == 0:
                same = is_same(w, lane, at + u64(offset), offset, other, stamp, values, part)
            if same == 0:
                last = other.stamp
                tell(w, lane, at + u64(offset), run(cells, offset, size, 0), other, stamp, write, 1)
        if write == 0:
            keep_reader(w, lane, cell, stamp)
            continue
        for number in range(2):
            reader = cell.traces[1 + number]
            if races(w, lane, reader, stamp) != 0 and reader.stamp != last:
                last = reader.stamp
                tell(w, lane, at + u64(offset), run(cells, offset, size, 1 + number), reader, stamp, 1, 0)
        if stamp & STRONG == 0 or other.owner == 0 or other.stamp & STRONG != 0 or is_over(w, lane, other) != 0:
            keep(w, lane, other, stamp)
            other.start = at


def keep(w: Warp, lane: u32, trace: Trace, stamp: u32) -> None:
    """Remember an access of a lane."""
    trace.owner = u32(w.cta.index) + 1
    trace.who = entry_of(w, lane)
    trace.when = w.shadow.order.grid.clock
    trace.stamp = stamp


def keep_reader(w: Warp, lane: u32, cell: Cell, stamp: u32) -> None:
    """Remember a reader: one in place of one that is over, the second rather of another warp, then of another CTA."""
    first = cell.traces[1]
    if first.owner == 0 or is_mine(w, lane, first) != 0 or is_over(w, lane, first) != 0:
        keep(w, lane, first, stamp)
        return
    second = cell.traces[2]
    near = is_near(w, first)
    if second.owner == 0 or is_over(w, lane, second) != 0 or (near == 0 and is_near_each(w, first, second) != 0):
        keep(w, lane, second, stamp)


def is_mine(w: Warp, lane: u32, trace: Trace) -> u32:
    """1 if a lane left a trace itself."""
    bits = w.shadow.order.bits
    return u32(trace.owner == u32(w.cta.index) + 1 and trace.who & ((1 << bits) - 1) == me(w, lane))


def is_near(w: Warp, trace: Trace) -> u32:
    """1 if a trace is of this very warp."""
    bits = w.shadow.order.bits
    return u32(trace.owner == u32(w.cta.index) + 1 and (trace.who & ((1 << bits) - 1)) // 32 == me(w, 0) // 32)


def is_near_each(w: Warp, first: Trace, second: Trace) -> u32:
    """1 if two traces are of one warp."""
    low = (1 << w.shadow.order.bits) - 1
    return u32(first.owner == second.owner and (first.who & low) // 32 == (second.who & low) // 32)


def is_over(w: Warp, lane: u32, trace: Trace) -> u32:
    """1 if what left a trace comes before what a lane does now."""
    order = w.shadow.order
    if trace.owner == u32(w.cta.index) + 1:
        other = trace.who & ((1 << order.bits) - 1)
        if other == me(w, lane):
            return 1
        return is_known(w, me(w, lane), other, trace.who >> order.bits)
    return u32(order.others[trace.owner - 1] >= trace.when)


def races(w: Warp, lane: u32, trace: Trace, stamp: u32) -> u32:
    """1 if a lane's access races with the one that left a trace."""
    if trace.owner == 0 or trace.stamp & stamp & STRONG != 0:
        return 0
    return u32(is_over(w, lane, trace) == 0)


def is_same(w: Warp, lane: u32, at: u64, offset: u32, other: Trace, stamp: u32, values: Ptr[u64], part: u32) -> u32:
    """1 if a store puts into a byte what another one has put there."""
    mine = pointer(u8, values[offset // part] + u64(lane * part + offset % part))[0]
    if is_near(w, other) != 0 and other.stamp == stamp:  # the very same instruction
        apart = u32(at - other.start)
        theirs = other.who & 31
        return u32(pointer(u8, values[apart // part] + u64(theirs * part + apart % part))[0] == mine)
    return u32(pointer(u8, at)[0] == mine)


def run(cells: Ptr[Cell], offset: u32, size: u32, number: u32) -> u32:
    """The bytes from an offset on that the same access left the same trace in."""
    first = cells[offset].traces[number]
    length: u32 = 1
    while offset + length < size:
        other = cells[offset + length].traces[number]
        if other.who != first.who or other.stamp != first.stamp or other.owner != first.owner:
            return length
        length = length + 1
    return length


def tell(w: Warp, lane: u32, at: u64, size: u32, other: Trace, stamp: u32, write: u32, other_writes: u32) -> None:
    """Note a race, the side that comes second first."""
    launch = w.launch
    order = w.shadow.order
    thread = other.who & ((1 << order.bits) - 1)
    mine = stamp >> STEP_SHIFT
    theirs = other.stamp >> STEP_SHIFT
    first: u32 = 0
    if mine < theirs or (mine == theirs and stamp & SITE < other.stamp & SITE):
        first = 1
    kind: u32 = WRITE_WRITE
    if write & other_writes == 0:
        kind = READ_WRITE
        if write == first:
            kind = WRITE_READ
    if is_near(w, other) != 0:
        kind = kind + (WARP_WRITE_WRITE - WRITE_WRITE)
    warp = thread // 32 % launch.warps
    site = stamp & SITE
    second = other.stamp & SITE
    if first != 0:
        site = second
        second = stamp & SITE
    index = event_entry(w, kind, site, second)
    if index >= w.worker.event_limit:
        return
    event = w.worker.events[index]
    place = order.grid.room
    block_of(launch, other.owner - 1, thread // (launch.warps * 32), place)
    if first == 0:
        fill_access(event, lane, at, GLOBAL, size, 0)
        event.second_warp = warp
        event.second_lane = thread & 31
        for axis in range(3):
            event.second_block[axis] = place[axis]
        return
    fill_access(event, thread & 31, at, GLOBAL, size, 0)
    event.warp = warp
    event.second_warp = w.index
    event.second_lane = lane
    for axis in range(3):
        event.block[axis] = place[axis]
        event.second_block[axis] = w.cta.ctaid[axis]


def block_of(launch: Launch, cluster: u32, rank: u32, out: Ptr[u32]) -> None:
    """The index of a CTA, by its cluster and its rank there."""
    columns = launch.grid[0] // launch.cluster[0]
    rows = launch.grid[1] // launch.cluster[1]
    out[0] = cluster % columns * launch.cluster[0] + rank % launch.cluster[0]
    out[1] = cluster // columns % rows * launch.cluster[1] + rank // launch.cluster[0] % launch.cluster[1]
    out[2] = cluster // (columns * rows) * launch.cluster[2] + rank // (launch.cluster[0] * launch.cluster[1])


# -- order between clusters


def start_grid(cta: Cta) -> None:
    """A CTA starts: it knows nothing of other clusters."""
    order = cta.shadow.order
    if address(order.others) != 0 and cta.rank == 0:
        size = cta.launch.total * 4
        fill(address(order.others), 0, size)
        fill(address(order.glimpsed), 0, size)
        order.fenced = 0


def fence_grid(w: Warp, lanes: u32) -> None:
    """A fence of a scope wider than a CTA."""
    order = w.shadow.order
    if address(order.others) == 0 or lanes == 0:
        return
    take(order.others, order.glimpsed, w.launch.total)
    order.fenced = order.grid.clock
    order.grid.clock = order.grid.clock + 1


def flag_grid(w: Warp, addresses: Ptr[u64], lanes: u32, space: u32, does: u32) -> None:
    """Strong accesses of lanes, of a scope wider than a CTA, to flags in global memory."""
    order = w.shadow.order
    if address(order.others) == 0:
        return
    for lane in range(32):
        at = addresses[lane]
        if lanes >> lane & 1 != 0 and (space == GLOBAL or (space == GENERIC and at < SHARED_WINDOW)):
            host = flag_place(w, at, space)
            number = find_flag(order.grid, host, does & STORES)
            if number < SYNCS:
                meet(w, flag_row(order.grid, number, w.launch), does)


def meet(w: Warp, row: Ptr[u32], does: u32) -> None:
    """Learn what a flag publishes, then publish."""
    order = w.shadow.order
    if does & LOADS != 0:
        if does & ACQUIRE != 0:
            take(order.others, row, w.launch.total)
        else:
            take(order.glimpsed, row, w.launch.total)
    if does & STORES != 0:
        when = order.fenced
        if does & RELEASE != 0:
            when = order.grid.clock
            order.grid.clock = when + 1
        if when != 0:
            take(row, order.others, w.launch.total)
            row[w.cta.index] = max(row[w.cta.index], when)


def take(into: Ptr[u32], source: Ptr[u32], count: u64) -> None:
    """Take the later tick of each cluster."""
    for cluster in range(u32(count)):
        into[cluster] = max(into[cluster], source[cluster])


def flag_row(grid: Grid, number: u32, launch: Launch) -> Ptr[u32]:
    """What a flag publishes."""
    return pointer(u32, address(grid.flags) + u64(number) * launch.total * 4)


def find_flag(grid: Grid, key: u64, make: u32) -> u32:
    """The number of the flag at a host address; SYNCS if there is none."""
    slot = u32((key >> 2) * 0x9E3779B97F4A7C15 >> 40) % SYNCS
    for _probe in range(SYNCS):
        if grid.keys[slot] == key:
            return slot
        if grid.keys[slot] == 0:
            if make == 0:
                return SYNCS
            grid.keys[slot] = key
            return slot
        slot = (slot + 1) % SYNCS
    return SYNCS
