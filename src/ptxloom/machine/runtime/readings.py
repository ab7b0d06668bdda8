"""Bulk copies from shared memory in the eyes of racecheck: reads that go on until their thread has waited for them.

The machine makes a copy at once. Until `cp.async.bulk.wait_group` nobody may write what it reads, its own thread no
more than others; afterwards it is a read like any other, made when it was waited for.
"""

from __future__ import annotations

from ptxloom.machine.native import address, fill, pointer, u32, u64
from ptxloom.machine.runtime.known import stamp_of
from ptxloom.machine.runtime.races import check_lane, keep_read, shadow_at
from ptxloom.machine.runtime.shadow import READINGS, Reading, Shadow
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, NONE, Warp


def reading_of(w: Warp, number: u32) -> Reading:
    """A place in a warp's ring."""
    return w.shadow.readings[w.index * READINGS + number % READINGS]


def read_bulk(w: Warp, lane: u32, at: u64, size: u32, site: u32, grouped: u32) -> None:
    """A lane begins to read a stretch; `grouped` copies are waited for by `cp.async.bulk.wait_group`."""
    stamp = stamp_of(w, site)
    check_lane(w, lane, at, size, stamp, 0, pointer(u64, 0), 1)
    if grouped == 0 or address(w.shadow.readings) == 0:
        return
    reading = reading_of(w, w.reading_head)
    finish_reading(w, reading)
    w.reading_head = w.reading_head + 1
    w.shadow.order.reading = w.shadow.order.reading + 1
    reading.active = 1
    reading.stamp = stamp
    reading.begun = w.shadow.order.clock
    reading.lane = lane
    reading.at = u32(at & ((1 << CLUSTER_SHIFT) - 1))
    reading.size = size
    reading.group = w.bulk_groups[lane]
    reading.source = address(shadow_at(w, at))


def finish_reading(w: Warp, reading: Reading) -> None:
    """A lane knows that its copy has read all."""
    if reading.active != 0:
        reading.active = 0
        w.shadow.order.reading = w.shadow.order.reading - 1
        keep_read(w, pointer(Shadow, reading.source)[0], reading.at, reading.size, reading.lane, reading.stamp)


def commit_bulk(w: Warp, lanes: u32) -> None:
    """`cp.async.bulk.commit_group`."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            w.bulk_groups[lane] = w.bulk_groups[lane] + 1


def wait_bulk(w: Warp, lanes: u32, kept: u32) -> None:
    """`cp.async.bulk.wait_group`: all but the youngest groups have read all; whatever there is if `kept` is NONE."""
    if address(w.shadow.readings) == 0:
        return
    for number in range(READINGS):
        reading = reading_of(w, number)
        over = u32(kept == NONE or reading.group + kept < w.bulk_groups[reading.lane])
        if reading.active & over != 0 and lanes >> reading.lane & 1 != 0:
            finish_reading(w, reading)


def drop_readings(w: Warp) -> None:
    """A CTA starts: copies of the one before it are forgotten."""
    if address(w.shadow.readings) == 0:
        return
    for number in range(READINGS):
        reading = reading_of(w, number)
        w.shadow.order.reading = w.shadow.order.reading - reading.active
        reading.active = 0
    w.reading_head = 0
    fill(address(w.bulk_groups), 0, 128)
