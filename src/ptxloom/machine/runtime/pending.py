"""Asynchronous copies in the eyes of racecheck: writes that go on until their thread, or an mbarrier, has seen the end.

The machine makes a copy at once. Racecheck marks the bytes as pending, for everybody and the copying thread alike:
until that thread waits (`cp.async.wait_group`), which makes the copy a write of its own; or, where the copy reports to
an mbarrier, for all who have not seen the phase complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native import address, fill, pointer, u32, u64
from ptxloom.machine.runtime.crowds import swap_write
from ptxloom.machine.runtime.grid import start_grid
from ptxloom.machine.runtime.known import entry_of, me, stamp_of
from ptxloom.machine.runtime.orders import at_row, begin, find_sync, flag_place, released, row_of
from ptxloom.machine.runtime.races import check, replace_writes, shadow_at
from ptxloom.machine.runtime.readings import drop_readings
from ptxloom.machine.runtime.shadow import COPIES, COPY_SHIFT, PENDING, SYNCS, Copy, Shadow
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, NONE, Cta, Warp

if TYPE_CHECKING:
    from ptxloom.machine.native import Ptr


def ring(w: Warp, number: u32) -> Copy:
    """A place in a warp's ring of copies."""
    return w.shadow.copies[w.index * COPIES + number % COPIES]


def mark_of(w: Warp, number: u32, lane: u32) -> u32:
    """The held of bytes that a copy of this warp writes."""
    warp = w.shadow.first // 32 + w.index
    return PENDING | warp << COPY_SHIFT | number % COPIES << 5 | lane


def start_copy(w: Warp, size: u32, site: u32) -> None:
    """Begin a copy instruction; the oldest one in the ring is taken as complete if there is no room."""
    number = w.copy_head
    copy = ring(w, number)
    if copy.lanes != 0:
        for lane in range(32):
            if copy.lanes >> lane & 1 != 0:
                replace(w, number, lane, entry_of(w, lane) if copy.handed >> lane & 1 == 0 else 0)
    w.copy_head = number + 1
    if w.copy_head > w.copy_tail + COPIES:
        w.copy_tail = w.copy_head - COPIES
    copy.site = stamp_of(w, site)
    copy.size = size
    copy.begun = w.shadow.order.clock
    copy.lanes = 0
    copy.handed = 0
    copy.target = address(w.shadow)


def copy_lane(w: Warp, lane: u32, at: u64) -> None:
    """One lane of the copy instruction begun last writes at a shared address that is known to be good."""
    copy = ring(w, w.copy_head - 1)
    s = shadow_at(w, at)
    place = u32(at & ((1 << CLUSTER_SHIFT) - 1))
    copy.target = address(s)
    check(w, s, lane, place, copy.size, copy.site, 1, pointer(u64, 0), 1)
    mark = mark_of(w, w.copy_head - 1, lane)
    replace_writes(s, place, copy.size, mark, copy.site)
    copy.at[lane] = place
    copy.group[lane] = w.groups[lane]
    copy.lanes = copy.lanes | 1 << lane


def finish_lane(w: Warp, number: u32, lane: u32) -> None:
    """A lane knows that its copy is complete: from now on it is a write of its own."""
    copy = ring(w, number)
    if copy.lanes >> lane & 1 == 0:
        return
    if copy.handed >> lane & 1 == 0:
        replace(w, number, lane, entry_of(w, lane))
        return
    order = w.shadow.order
    column = order.threads + copy.column
    row = row_of(order, me(w, lane))
    row[column] = max(row[column], copy.stamp[lane])
    w.acquired = w.acquired | 1 << lane
    w.uneven = w.uneven | 1 << lane


def replace(w: Warp, number: u32, lane: u32, held: u32) -> None:
    """Put another held where bytes still carry the mark of a lane's copy."""
    copy = ring(w, number)
    s = pointer(Shadow, copy.target)[0]
    mark = mark_of(w, number, lane)
    place = copy.at[lane]
    for offset in range(copy.size):
        swap_write(s, place + offset, mark, held)
    copy.lanes = copy.lanes & ~(1 << lane)


def commit_group(w: Warp, lanes: u32) -> None:
    """`cp.async.commit_group`."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            w.groups[lane] = w.groups[lane] + 1


def wait_group(w: Warp, lanes: u32, kept: u32) -> None:
    """`cp.async.wait_group`: all but the youngest groups are complete; all copies whatsoever if `kept` is NONE."""
    number = w.copy_tail
    while number != w.copy_head:
        copy = ring(w, number)
        if copy.lanes & lanes != 0:
            for lane in range(32):
                if lanes >> lane & 1 != 0 and (kept == NONE or copy.group[lane] + kept < w.groups[lane]):
                    finish_lane(w, number, lane)
        if copy.lanes == 0 and number == w.copy_tail:
            w.copy_tail = number + 1
        number = number + 1


def copy_stretch(w: Warp, lane: u32, at: u64, size: u32, site: u32, host: u64) -> None:
    """A bulk copy of one lane to a shared address; the mbarrier at a host address tells its end."""
    order = w.shadow.order
    sync = find_sync(order, host, 1)
    start_copy(w, size, site)
    copy_lane(w, lane, at)
    if sync < SYNCS:
        hand_lane(w, ring(w, w.copy_head - 1), lane, sync)
        released(w)


def start_watch(cta: Cta) -> None:
    """A CTA starts: nothing of the ones before it matters any more."""
    drop_copies(cta)
    begin(cta)
    start_grid(cta)
    at = cta.warps
    for _warp in range(cta.launch.warps):
        w = pointer(Warp, at)[0]
        w.since = 0
        w.steps = 0
        w.steps_base = cta.shadow.base
        w.acquired = 0
        w.uneven = 0
        w.saw = 0
        w.look_head = 0
        drop_readings(w)
        at = at + u64(cta.launch.warp_bytes)


def drop_copies(cta: Cta) -> None:
    """A CTA starts: copies of the one before it are forgotten."""
    if address(cta.shadow.copies) == 0:
        return
    at = cta.warps
    for _warp in range(cta.launch.warps):
        w = pointer(Warp, at)[0]
        number = w.copy_tail
        while number != w.copy_head:
            for lane in range(32):
                if ring(w, number).lanes >> lane & 1 != 0:
                    replace(w, number, lane, 0)
            number = number + 1
        w.copy_head = 0
        w.copy_tail = 0
        fill(address(w.groups), 0, 128)
        at = at + u64(cta.launch.warp_bytes)


def hand_over(w: Warp, lanes: u32, addresses: Ptr[u64], space: u32) -> None:
    """`cp.async.mbarrier.arrive`: mbarriers tell the end of all copies that lanes have begun."""
    if address(w.shadow.copies) == 0:
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            host = flag_place(w, addresses[lane], space)
            if host != 0:
                hand_copies(w, lane, find_sync(w.shadow.order, host, 1))
    released(w)


def hand_copies(w: Warp, lane: u32, sync: u32) -> None:
    """The end of a lane's copies is told at a sync from now on."""
    if sync >= SYNCS:
        return
    number = w.copy_tail
    while number != w.copy_head:
        copy = ring(w, number)
        if copy.lanes & ~copy.handed & (1 << lane) != 0:
            hand_lane(w, copy, lane, sync)
        number = number + 1


def hand_lane(w: Warp, copy: Copy, lane: u32, sync: u32) -> None:
    """The end of a lane's copy is told at a sync from now on."""
    order = w.shadow.order
    column = order.syncs[sync].column
    copy.handed = copy.handed | 1 << lane
    copy.column = column
    copy.stamp[lane] = order.clock
    at_row(order.arriving, order, sync)[order.threads + column] = order.clock
