"""Which accesses to shared memory are in no order: the careful part of racecheck, byte by byte.

Two accesses of one byte race if one of them writes, not both are strong, and neither is known to the other's thread
when it comes. The order in which the machine happens to run them decides nothing, and neither does it name them: the
side that comes second is the one whose warp had made more weak accesses since the last barrier, then the later in the
text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native import address, pointer, trailing_zeros, u8, u32, u64
from ptxloom.machine.runtime.hazards import note_pair
from ptxloom.machine.runtime.known import copy_of, entry_of, is_copy_known, is_known, me, thread_of
from ptxloom.machine.runtime.memory import shared_place
from ptxloom.machine.runtime.shadow import (
    BLOCK_SHIFT,
    LOOKS,
    PENDING,
    READINGS,
    SITE,
    STEP_SHIFT,
    STRONG,
    Shadow,
)
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    OWN_WRITE_WRITE,
    READ_WRITE,
    SHARED,
    WARP_WRITE_WRITE,
    WINDOW_BYTES,
    WRITE_READ,
    WRITE_WRITE,
    Cta,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native import Ptr


READING, COPYING = 2, 3  # what the other side does that an asynchronous copy makes: it reads, or writes


def shadow_at(w: Warp, at: u64) -> Shadow:
    """The shadow of the CTA whose shared memory an address in the window means."""
    rank = at >> CLUSTER_SHIFT & 255
    if rank == 0:
        return w.shadow
    return pointer(Cta, pointer(u64, w.cta.peers)[rank - 1])[0].shadow


def check(
    w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32, write: u32, values: Ptr[u64], part: u32
) -> None:
    """Compare one lane's access with what is remembered of its bytes; `values` are the registers it stores, or null.

    `part` is the size of one of the values, which lie as in `store_lanes`.
    """
    last: u64 = 0
    for offset in range(size):
        found = write_race(w, s, lane, at + offset, stamp, write)
        if found != 0 and write != 0 and is_same(w, s, lane, at + offset, offset, stamp, u32(found), values, part) != 0:
            found = 0
        if found != 0 and found != last:  # noqa: PLR1714 - native code has no sets
            last = found
            length: u32 = 1
            while offset + length < size and s.writes[at + offset + length] == u32(found):
                length = length + 1
            writes: u32 = 1
            other = s.write_sites[at + offset]
            if found & PENDING != 0:
                writes = COPYING
                other = begun_at(w, other, copy_of(w, u32(found)).begun)
            report(w, s, lane, at + offset, length, stamp, write, other, thread_of(w, u32(found)), writes)
    if write != 0:
        readers(w, s, lane, at, size, stamp)
        if s.order.reading != 0:
            bulk_readers(w, s, lane, at, size, stamp)


def bulk_readers(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32) -> None:
    """Report the bulk copies that may still read some bytes which a lane writes."""
    for warp in range(s.order.threads // 32):
        far = warp_of(w, warp * 32)
        for number in range(READINGS):
            reading = far.shadow.readings[far.index * READINGS + number]
            low = max(at, reading.at)
            high = min(at + size, reading.at + reading.size)
            if reading.active != 0 and reading.source == address(s) and low < high:
                other = begun_at(w, reading.stamp, reading.begun)
                report(w, s, lane, low, high - low, stamp, 1, other, warp * 32 + reading.lane, READING)


def begun_at(w: Warp, stamp: u32, tick: u32) -> u32:
    """What is kept of a copy: before the last barrier it comes before all accesses since."""
    if tick <= w.shadow.base:
        return stamp & (SITE | STRONG)
    return stamp


def write_race(w: Warp, s: Shadow, lane: u32, at: u32, stamp: u32, write: u32) -> u64:
    """The held of a byte's last write if an access races with it, else 0."""
    held = s.writes[at]
    if held < s.limit:
        return 0
    thread = me(w, lane)
    if held & PENDING != 0:
        if is_copy_known(w, thread, held) != 0:
            return 0
        return u64(held)
    bits = s.order.bits
    other = held & ((1 << bits) - 1)
    if other == thread or is_known(w, thread, other, held >> bits) != 0:
        return 0
    if stamp & s.write_sites[at] & STRONG != 0:
        return 0
    return u64(held)


def is_same(
    w: Warp, s: Shadow, lane: u32, at: u32, offset: u32, stamp: u32, held: u32, values: Ptr[u64], part: u32
) -> u32:
    """1 if a store puts into a byte what another one has put there: which came first makes no difference."""
    if address(values) == 0 or stamp & STRONG != 0 or held & PENDING != 0:
        return 0
    mine = pointer(u8, values[offset // part] + u64(lane * part + offset % part))[0]
    other = thread_of(w, held)
    if s.write_sites[at] == stamp and (other - w.shadow.first) // 32 == w.index:
        # the very same instruction: memory does not hold the other lane's value yet
        apart = at - w.starts[other & 31]
        theirs = pointer(u8, values[apart // part] + u64((other & 31) * part + apart % part))[0]
        return u32(mine == theirs)
    found = shared_place(w, u64(at) | u64(s.first // (s.warps * 32) + 1) << CLUSTER_SHIFT, 1)
    return u32(pointer(u8, found)[0] == mine)


def readers(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32) -> None:
    """Report the reads of some bytes that a write by a lane races with: one a warp."""
    row = (at >> BLOCK_SHIFT) * s.summaries
    for warp in range(s.order.threads // 32):
        if s.summary[row + warp] > s.floor:
            reader(w, s, lane, at, size, stamp, warp)


def reader(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32, warp: u32) -> None:
    """Report the first read of some bytes by a warp that a write by a lane races with."""
    thread = me(w, lane)
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
                    site = site_of_read(w, s, other, at + offset)
                    if stamp & site & STRONG == 0:
                        length: u32 = 1
                        place = u64(warp) * u64(s.bytes) + u64(at + offset)
                        while offset + length < size and s.reads[place + u64(length)] == held:
                            length = length + 1
                        report(w, s, lane, at + offset, length, stamp, 1, site, other, 0)
                        return


def warp_of(w: Warp, thread: u32) -> Warp:
    """The warp of a thread of the cluster."""
    launch = w.launch
    there = pointer(Cta, pointer(u64, w.cta.peers)[thread // (launch.warps * 32)])[0]
    index = thread % (launch.warps * 32) // 32
    return pointer(Warp, there.warps + u64(index) * u64(launch.warp_bytes))[0]


def site_of_read(w: Warp, s: Shadow, thread: u32, at: u32) -> u32:
    """What is kept of a thread's last read of a byte; of its warp's last read at all if that was too long ago."""
    far = warp_of(w, thread)
    lane = thread & 31
    looks = far.shadow.looks
    number = far.look_head
    left = min(number, LOOKS)
    place = at
    if far.shadow.first != s.first:
        place = at | (s.first // (s.warps * 32) + 1) << CLUSTER_SHIFT
    while left != 0:
        left = left - 1
        number = number - 1
        look = looks[far.index * LOOKS + number % LOOKS]
        if look.lanes >> lane & 1 != 0 and place - look.starts[lane] < look.size:
            return look.stamp
    return looks[far.index * LOOKS + (far.look_head - 1) % LOOKS].stamp


def report(
    w: Warp,
    s: Shadow,
    lane: u32,
    at: u32,
    size: u32,
    stamp: u32,
    write: u32,
    other: u32,
    thread: u32,
    other_writes: u32,
) -> None:
    """Note a race of a lane's access with another one, the side that comes second first.

    A copy that goes on is no matter of a warp's order: no `bar.warp.sync` would help.
    """
    launch = w.launch
    threads = launch.warps * 32
    far = warp_of(w, thread)
    there = far.cta
    index = far.index
    kind: u32 = WRITE_WRITE
    mine = stamp >> STEP_SHIFT
    theirs = other >> STEP_SHIFT
    if address(there) != address(w.cta):
        theirs = mine  # each CTA counts from barriers of its own
    first: u32 = 0  # 1 if this access is the first of the two
    if mine < theirs or (mine == theirs and stamp & SITE < other & SITE):
        first = 1
    if write & other_writes == 0:
        kind = READ_WRITE
        if write == first:
            kind = WRITE_READ
    if other_writes >= READING:
        if thread == me(w, lane):
            kind = kind + (OWN_WRITE_WRITE - WRITE_WRITE)
    elif address(far) == address(w):
        kind = kind + (WARP_WRITE_WRITE - WRITE_WRITE)
    place = u64(at)
    if w.launch.members > 1:
        place = place | u64(s.first // threads + 1) << CLUSTER_SHIFT
    if first == 0:
        note_pair(w, kind, stamp & SITE, lane, place, SHARED, size, other & SITE, index, thread & 31, there.ctaid)
    else:
        note_pair(far, kind, other & SITE, thread & 31, place, SHARED, size, stamp & SITE, w.index, lane, w.cta.ctaid)


def check_near(w: Warp, lanes: u32, at: u32, size: u32, stamp: u32, write: u32, values: Ptr[u64], part: u32) -> None:
    """Check the accesses of lanes to the same bytes of the CTA's own memory."""
    left = lanes
    while left != 0:
        check(w, w.shadow, trailing_zeros(left), at, size, stamp, write, values, part)
        left = left & left - 1


def check_lane(w: Warp, lane: u32, at: u64, size: u32, stamp: u32, write: u32, values: Ptr[u64], part: u32) -> None:
    """Check and remember one lane's access at an address in the shared window, which may be a peer's.

    An address that is out of bounds is left to the access itself, which faults.
    """
    if shared_place(w, at & (WINDOW_BYTES - 1), u64(size)) == 0:
        return
    s = shadow_at(w, at)
    place = u32(at & ((1 << CLUSTER_SHIFT) - 1))
    check(w, s, lane, place, size, stamp, write, values, part)
    if write != 0:
        keep_write(s, place, size, entry_of(w, lane), stamp)
    else:
        keep_read(w, s, place, size, lane, stamp)


def keep_write(s: Shadow, at: u32, size: u32, held: u32, stamp: u32) -> None:
    """Remember who wrote some bytes."""
    for offset in range(size):
        s.writes[at + offset] = held
        s.write_sites[at + offset] = stamp


def keep_read(w: Warp, s: Shadow, at: u32, size: u32, lane: u32, stamp: u32) -> None:
    """Remember that a lane has read some bytes."""
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
    last = w.shadow.looks[w.index * LOOKS + (w.look_head - 1) % LOOKS]
    if stamp & STRONG == 0 or last.stamp != stamp or last.lanes != 1 << lane:
        w.look_head = w.look_head + 1
    look = w.shadow.looks[w.index * LOOKS + (w.look_head - 1) % LOOKS]
    look.tick = clock
    look.stamp = stamp
    look.lanes = 1 << lane
    look.size = size
    look.starts[lane] = at
    if s.first != w.shadow.first:
        look.starts[lane] = at | (s.first // (s.warps * 32) + 1) << CLUSTER_SHIFT
    s.summary[(at >> BLOCK_SHIFT) * s.summaries + warp] = clock
    s.summary[(at + size - 1 >> BLOCK_SHIFT) * s.summaries + warp] = clock
