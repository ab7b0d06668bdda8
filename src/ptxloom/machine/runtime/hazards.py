"""Records of hazards that do not end a kernel, made by native code: one for each kind and pair of instructions.

A record keeps the details of the first block and warp (by their numbers) and counts the rest, so that reports do not
depend on the threads of the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import u32, u64
from ptxloom.machine.native.standalone import seldom, standalone
from ptxloom.machine.runtime.state import MISCOUNT, MISSED_BITS, NONE, HazardEvent, Warp, Worker

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


@seldom
def note(w: Warp, kind: u32, site: u32, lanes: u32, at: u64, other: u32) -> None:
    """Record a hazard of the lanes in `lanes` at an address (0: no address).

    `kind` is one of `state`'s event kinds, `other` what its message needs (such as the lanes missing).
    """
    note_elsewhere(w, kind, site, lanes, at, other, 0)


@seldom
def note_elsewhere(w: Warp, kind: u32, site: u32, lanes: u32, at: u64, other: u32, where: u32) -> None:
    """The same, if the place of the lanes in `other` is known (`HazardEvent.place`)."""
    index = entry(w, kind, site, NONE)
    if index >= w.worker.event_limit:
        return
    event = w.worker.events[index]
    event.mask = lanes
    event.address = at
    event.other = other
    event.place = where
    event.lane = NONE


def note_access(w: Warp, kind: u32, site: u32, lane: u32, at: u64, space: u32, size: u32, other: u32) -> None:
    """Record a hazard of one lane's access to `size` bytes at `at` within a space.

    For a matrix move the lane is the one that names the row.
    """
    index = entry(w, kind, site, NONE)
    if index < w.worker.event_limit:
        fill_access(w.worker.events[index], lane, at, space, size, other)


def note_pair(
    w: Warp,
    kind: u32,
    site: u32,
    lane: u32,
    at: u64,
    space: u32,
    size: u32,
    second_site: u32,
    second_warp: u32,
    second_lane: u32,
    second_block: Slice[u32],
) -> None:
    """Record that two accesses of `size` bytes at `at` are unordered: this warp's, and the one described last."""
    index = entry(w, kind, site, second_site)
    if index >= w.worker.event_limit:
        return
    event = w.worker.events[index]
    fill_access(event, lane, at, space, size, 0)
    event.second_warp = second_warp
    event.second_lane = second_lane
    for axis in range(3):
        event.second_block[axis] = second_block[axis]


@seldom
def note_count(w: Warp, site: u32, lanes: u32, number: u32, threads: u32, first_site: u32, expected: u32) -> None:
    """Record that lanes arrive at a barrier with another thread count (0: all) than the first instruction there."""
    index = entry(w, MISCOUNT, site, first_site)
    if index < w.worker.event_limit:
        event = w.worker.events[index]
        event.mask = lanes
        event.address = u64(number)
        event.other = threads
        event.size = expected
        event.second_warp = NONE


def fill_access(event: HazardEvent, lane: u32, at: u64, space: u32, size: u32, other: u32) -> None:
    """Fill in the facts of an access."""
    event.mask = 1 << lane
    event.lane = lane
    event.address = at
    event.space = space
    event.size = size
    event.other = other
    event.place = 0


@seldom
def entry(w: Warp, kind: u32, site: u32, second_site: u32) -> u32:
    """Count a hazard of a warp; returns the index of its record if the caller is to fill it in, else NONE."""
    return entry_of_party(w.worker, kind, site, second_site, w.index, w.cta.ctaid)


@standalone
def entry_of_party(worker: Worker, kind: u32, site: u32, second_site: u32, warp: u32, block: Slice[u32]) -> u32:
    """The same for any warp of any CTA."""
    for index in range(worker.event_count):
        seen = worker.events[index]
        if seen.kind == kind and seen.site == site and seen.second_site == second_site:
            seen.count = seen.count + 1
            if is_earlier(seen, warp, block) == 0:
                return NONE
            head(seen, warp, block)
            return index
    if worker.event_count >= worker.event_limit:
        mixed = (u64(site) << 32 | u64(second_site)) * 0x9E3779B97F4A7C15 ^ u64(kind) * 0xC2B2AE3D27D4EB4F
        number = u32(mixed * 0x9E3779B97F4A7C15 >> 48) % MISSED_BITS
        worker.missed[number >> 5] = worker.missed[number >> 5] | 1 << (number & 31)
        return NONE
    fresh = worker.event_count
    event = worker.events[fresh]
    worker.event_count = fresh + 1
    event.kind = kind
    event.site = site
    event.second_site = second_site
    event.count = 1
    head(event, warp, block)
    return fresh


def head(event: HazardEvent, warp: u32, block: Slice[u32]) -> None:
    """Fill in the warp and its block."""
    event.warp = warp
    for axis in range(3):
        event.block[axis] = block[axis]


def is_earlier(seen: HazardEvent, warp: u32, block: Slice[u32]) -> u32:
    """Whether a warp does not come after a record's, ordered by block (z, y, x), then by number."""
    for axis in range(3):
        mine = block[2 - axis]
        known = seen.block[2 - axis]
        if mine != known:
            return 1 if mine < known else 0
    return 1 if warp < seen.warp else 0
