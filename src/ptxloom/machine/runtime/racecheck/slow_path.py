"""Finds unordered accesses to shared memory: the precise part of racecheck, byte by byte.

Two accesses of one byte race if one of them writes, they are not morally strong, and neither is known to the other's
thread when it comes. The order in which the machine happens to run them does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import address, nothing, part, trailing_zeros, u8, u32, u64, view
from ptxloom.machine.native.standalone import standalone
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.lane_access import shared_place
from ptxloom.machine.runtime.racecheck.access_history import begin_access
from ptxloom.machine.runtime.racecheck.deferred_reads import settle_at, settle_reads
from ptxloom.machine.runtime.racecheck.happens_before import (
    count_alike,
    entry_of,
    is_agent_known,
    is_done,
    is_known,
    is_over_for_all,
    me,
    operation_at,
    renew_steps,
    shared_readers,
    stamp_of,
)
from ptxloom.machine.runtime.racecheck.pending_products import product_readers
from ptxloom.machine.runtime.racecheck.race_report import READING, begun_at, report, site_of_read, tell_end, warp_of
from ptxloom.machine.runtime.racecheck.shared_histories import (
    has_history,
    history_at,
    history_of,
    meet_history,
    name_own,
    spill,
)
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, SHARED, SHARED_WINDOW, WINDOW_BYTES, Warp
from ptxloom.machine.runtime.structs.histories import READS, WRITES
from ptxloom.machine.runtime.structs.shadow import BLOCK_SHIFT, LOOKS_AGAIN, PENDING, READ_RECORDS, Shadow
from ptxloom.machine.runtime.turns import PLAIN, spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


def shadow_at(w: Warp, at: u64) -> Shadow:
    """The shadow of the CTA whose shared memory an address in the window means; the own one if there is no such CTA."""
    rank = at >> CLUSTER_SHIFT & 255
    if rank == 0 or rank > u64(w.launch.members):
        return w.shadow
    return w.cta.peers[rank - 1].cta.shadow


@standalone
@watching
def check(
    w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32, write: u32, values: Slice[u64], part_bytes: u32
) -> None:
    """Compare one lane's access with the history of its bytes; `values` are the registers it stores, or null.

    `part_bytes` is the size of one of the values, which lie as in `move_lanes`.
    """
    if is_over_for_all(s, at, size) == 0:
        access = begin_access(w, stamp, write, 0)
        access.size = size
        compare(w, s, lane, at, size, values, part_bytes)
    if write != 0:
        readers(w, s, lane, at, size, stamp)
        if s.order.reading != 0:
            pending_readers(w, s, lane, at, size, stamp)


@watching
def check_copy(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32, data: Slice[u8]) -> None:
    """The same of what an asynchronous operation of a lane writes; `data` is empty if that is unknown."""
    if is_over_for_all(s, at, size) == 0:
        access = begin_access(w, stamp, WRITES, 0)
        access.size = size
        access.copied = data
        access.start = u64(at)
        compare(w, s, lane, at, size, nothing(u64), 1)
    readers(w, s, lane, at, size, stamp)
    if s.order.reading != 0:
        pending_readers(w, s, lane, at, size, stamp)


def compare(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, values: Slice[u64], part_bytes: u32) -> None:
    """Compare the access at hand with writes of its bytes."""
    offset: u32 = 0
    spend(w, size >> PLAIN)
    settled: u32 = 0  # an entry that is; what was written at once has one entry in all its bytes
    while offset < size:
        step: u32 = 1
        held = s.writes[at + offset]
        if held == settled or is_settled(w, s, lane, held) != 0:
            settled = held
            step = count_alike(s, at + offset, size - offset)
        else:
            history = history_of(w, s, at + offset, at + size)
            step = history.size
            meet_history(w, s, lane, history, at, values, part_bytes)
        offset = offset + step


def is_settled(w: Warp, s: Shadow, lane: u32, held: u32) -> u32:
    """1 if a byte's entry is all there is to know of its writes, and comes before what a lane does now."""
    if held < s.limit:
        return 1
    if has_history(held) != 0:
        return 0
    thread = me(w, lane)
    if held & PENDING != 0:
        return is_agent_known(w, thread, held)
    bits = s.order.bits
    other = held & ((1 << bits) - 1)
    return u32(other == thread or is_known(w, thread, other, held >> bits) != 0)


def pending_readers(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32) -> None:
    """Report the copies and products that may still read some bytes which a lane writes."""
    if s.order.reading != s.order.multiplying:
        operation_readers(w, s, lane, at, size, stamp)
    if s.order.multiplying != 0 and at < s.factors_high and at + size > s.factors_low:
        product_readers(w, s, lane, at, size, stamp)


def operation_readers(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32) -> None:
    """Report the operations that may still read some bytes which a lane writes."""
    for warp in range(s.order.threads // 32):
        far = warp_of(w, warp * 32)
        number = far.operation_tail
        while number != far.operation_head:
            spend(w, 1)
            op = operation_at(far, number)
            left = shared_readers(op)
            while left != 0:
                other = trailing_zeros(left)
                left = left & left - 1
                start = u32(op.source[other] & ((1 << CLUSTER_SHIFT) - 1))
                low = max(at, start)
                high = min(at + size, start + op.taken[other])
                here = u32(address(shadow_at(far, op.source[other])) == address(s))
                if here != 0 and low < high and is_done(w, me(w, lane), op, other) == 0:
                    before = begun_at(w, op.stamp, op.begun)
                    report(w, s, lane, low, high - low, stamp, 1, before, warp * 32 + other, READING, SHARED)
            number = number + 1


def readers(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32) -> None:
    """Report the reads of some bytes that a write by a lane races with: one a warp and block."""
    settle_at(w, s, at, size)
    start = at
    while start < at + size:
        row = (start >> BLOCK_SHIFT) * s.summaries
        end = min((start >> BLOCK_SHIFT) + 1 << BLOCK_SHIFT, at + size)
        spend(w, s.order.threads // 32 >> PLAIN)
        for warp in range(s.order.threads // 32):
            if s.summary[row + warp] > s.floor:
                reader(w, s, lane, start, end - start, stamp, warp)
        start = end


def reader(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32, warp: u32) -> None:
    """Report the first read of some bytes by a warp that a write by a lane races with."""
    thread = me(w, lane)
    spend(w, size >> PLAIN)
    for offset in range(size):
        held = s.reads[u64(warp) * u64(s.bytes) + u64(at + offset)]
        when = u32(held >> 32)
        lanes = u32(held & 0xFFFFFFFF)
        if when > s.floor:
            if thread // 32 == warp:
                lanes = lanes & ~(1 << lane)
            while lanes != 0:
                other = warp * 32 + trailing_zeros(lanes)
                lanes = lanes & lanes - 1
                if is_known(w, thread, other, when) == 0:
                    length: u32 = 1
                    place = u64(warp) * u64(s.bytes) + u64(at + offset)
                    while offset + length < size and s.reads[place + u64(length)] == held:
                        length = length + 1
                    site = site_of_read(w, s, other, at + offset)
                    report(w, s, lane, at + offset, length, stamp, 1, site, other, 0, SHARED)
                    return


@watching
def check_near(
    w: Warp,
    lanes: u32,
    at: u32,
    size: u32,
    stamp: u32,
    write: u32,
    values: Annotated[Slice[u64], "size // part_bytes"],
    part_bytes: u32,
) -> None:
    """Check the accesses of lanes to the same bytes of the CTA's own memory."""
    left = lanes
    while left != 0:
        check(w, w.shadow, trailing_zeros(left), at, size, stamp, write, values, part_bytes)
        left = left & left - 1
    if write == 0:
        spill_reads(w, w.shadow, lanes, at, size)


@standalone
@watching
def check_lane(
    w: Warp,
    lane: u32,
    at: u64,
    size: u32,
    stamp: u32,
    write: u32,
    values: Annotated[Slice[u64], "size // part_bytes"],
    part_bytes: u32,
) -> None:
    """Check and remember one lane's access at an address in the shared window, which may be a peer's.

    An address that is out of bounds is left to the access itself, which faults; zero bytes are not an access.
    """
    if size == 0 or address(shared_place(w, at & (WINDOW_BYTES - 1), u64(size))) == 0:
        return
    s = shadow_at(w, at)
    place = u32(at & ((1 << CLUSTER_SHIFT) - 1))
    if s.first != w.shadow.first:
        visit_peer(w, s, lane, place, size, stamp)
    check(w, s, lane, place, size, stamp, write, values, part_bytes)
    if write != 0:
        keep_write(s, place, size, entry_of(w, lane), stamp)
    else:
        keep_read(w, s, place, size, lane, stamp)


@watching
def store_stretch(w: Warp, lane: u32, at: u64, size: u32, stamp: u32, data: Annotated[Slice[u8], "size"]) -> None:
    """Check and remember that a lane stores bytes side by side, at an address in the shared window."""
    if address(shared_place(w, at & (WINDOW_BYTES - 1), u64(size))) == 0:
        return
    s = shadow_at(w, at)
    place = u32(at & ((1 << CLUSTER_SHIFT) - 1))
    if s.first != w.shadow.first:
        visit_peer(w, s, lane, place, size, stamp)
    check_copy(w, s, lane, place, size, stamp, data)
    keep_write(s, place, size, entry_of(w, lane), stamp)


@watching
def check_strong(
    w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, space: u32, size: u32, site: u32, does: u32, wide: u32
) -> None:
    """Check and remember strong accesses of lanes; addresses have 64 bits if they are `wide`, else 32."""
    stamp = stamp_of(w, site)
    narrow = view(u32, addresses)
    left = lanes
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        at = addresses[lane] + offset if wide != 0 else u64(narrow[lane]) + offset
        inside = u32(space == SHARED or at & ~u64(WINDOW_BYTES - 1) == SHARED_WINDOW)
        if inside != 0 and address(shared_place(w, at & (WINDOW_BYTES - 1), u64(size))) != 0:
            s = shadow_at(w, at)
            place = u32(at & ((1 << CLUSTER_SHIFT) - 1))
            if s.first != w.shadow.first:
                visit_peer(w, s, lane, place, size, stamp)
            strong_lane(w, lane, s, place, size, stamp, does, u32(site & LOOKS_AGAIN != 0))


def strong_lane(w: Warp, lane: u32, s: Shadow, at: u32, size: u32, stamp: u32, does: u32, reads: u32) -> None:
    """Check and remember one lane's strong access."""
    access = begin_access(w, stamp, does, 0)
    access.reads = reads
    access.size = size
    offset: u32 = 0
    while offset < size:
        spend(w, 1)
        history = history_of(w, s, at + offset, at + size)
        offset = offset + history.size
        meet_history(w, s, lane, history, at, nothing(u64), 1)
    if does != READS:
        readers(w, s, lane, at, size, stamp)
        if s.order.reading != 0:
            pending_readers(w, s, lane, at, size, stamp)


def visit_peer(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32) -> None:
    """Record that a lane accesses the shared memory of another CTA, which must not have exited."""
    if s.ended != 0:
        tell_end(w, s, me(w, lane), at, size, stamp)
        return
    remote = s.remote_accesses[me(w, lane)]
    remote.tick = s.order.clock
    remote.at = at
    remote.size = size
    remote.stamp = stamp


def keep_write(s: Shadow, at: u32, size: u32, held: u32, stamp: u32) -> None:
    """Remember who wrote some bytes; histories have it already."""
    for offset in range(size):
        if has_history(s.writes[at + offset]) == 0:
            s.writes[at + offset] = held
            s.write_sites[at + offset] = stamp


def keep_copy(w: Warp, s: Shadow, at: u32, size: u32, held: u32, stamp: u32) -> None:
    """Remember what an asynchronous operation writes, beside what it does not come behind."""
    if is_over_for_all(s, at, size) != 0:
        writes = part(s.writes, at, size)
        sites = part(s.write_sites, at, size)
        for offset in range(size):
            writes[offset] = held
            sites[offset] = stamp
        return
    for offset in range(size):
        entry = s.writes[at + offset]
        if has_history(entry) == 0:
            s.writes[at + offset] = held
            s.write_sites[at + offset] = stamp
        elif history_at(s, entry).at == at + offset:
            name_own(w, history_at(s, entry), held, stamp)


@standalone
def spill_reads(w: Warp, s: Shadow, lanes: u32, at: u32, size: u32) -> None:
    """Lanes read some bytes: keep those earlier reads of their warp that they do not come behind apart."""
    if s.deferred != 0:
        settle_reads(w)
    order = s.order
    warp = w.shadow.first // 32 + w.index
    base = w.shadow.base
    for offset in range(size):
        old = s.reads[u64(warp) * u64(s.bytes) + u64(at + offset)]
        when = u32(old >> 32)
        others = u32(old & 0xFFFFFFFF) & ~lanes
        if others != 0 and when > base and when < w.since:
            lost: u32 = 0
            while others != 0:
                other = trailing_zeros(others)
                others = others & others - 1
                lost = lost | u32(is_known_to_any(w, lanes, warp * 32 + other, when) == 0) << other
            if lost != 0:
                stamp = site_of_read(w, s, warp * 32 + trailing_zeros(lost), at + offset)
                spill(w, s, at + offset, lost, warp * 32, min(when, order.clock), stamp)


def is_known_to_any(w: Warp, lanes: u32, other: u32, tick: u32) -> u32:
    """1 if what a thread did at a tick comes before what one of some lanes does now."""
    left = lanes
    while left != 0:
        if is_known(w, me(w, trailing_zeros(left)), other, tick) != 0:
            return 1
        left = left & left - 1
    return 0


def keep_read(w: Warp, s: Shadow, at: u32, size: u32, lane: u32, stamp: u32) -> None:
    """Remember that a lane has read some bytes."""
    renew_steps(w)
    spill_reads(w, s, 1 << lane, at, size)
    warp = w.shadow.first // 32 + w.index
    clock = s.order.clock
    fresh = max(w.since, w.shadow.base + 1)
    for offset in range(size):
        place = u64(warp) * u64(s.bytes) + u64(at + offset)
        old = s.reads[place]
        lanes: u64 = 0
        if u32(old >> 32) >= fresh:
            lanes = old & 0xFFFFFFFF
        s.reads[place] = u64(clock) << 32 | lanes | u64(1) << u64(lane)
    record = w.shadow.read_records[w.index * READ_RECORDS + w.read_head % READ_RECORDS]
    w.read_head = w.read_head + 1
    w.read_done = w.read_head
    record.tick = clock
    record.stamp = stamp
    record.lanes = 1 << lane
    record.size = size
    record.starts[lane] = at
    if s.first != w.shadow.first:
        record.starts[lane] = at | (s.first // (s.warps * 32) + 1) << CLUSTER_SHIFT
    s.summary[(at >> BLOCK_SHIFT) * s.summaries + warp] = clock
    s.summary[(at + size - 1 >> BLOCK_SHIFT) * s.summaries + warp] = clock
