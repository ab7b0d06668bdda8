"""The parties of a race in shared memory, and its report.

The order in which the machine happens to run accesses does not name them: the side that comes second is the one whose
warp had made more weak accesses since the last barrier, then the later in the text.
"""

from __future__ import annotations

from ptxloom.machine.native.language import address, u32, u64
from ptxloom.machine.runtime.hazards import note_pair
from ptxloom.machine.runtime.memory.places import warp_at
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    ENDED,
    OWN_WRITE_WRITE,
    READ_WRITE,
    SHARED,
    WARP_WRITE_WRITE,
    WRITE_READ,
    WRITE_WRITE,
    Warp,
)
from ptxloom.machine.runtime.structs.shadow import READ_RECORDS, SITE, STEP_SHIFT, STRONG, Shadow

READING, COPYING = 2, 3  # what the other side does that an asynchronous copy makes: it reads, or writes


def begun_at(w: Warp, stamp: u32, tick: u32) -> u32:
    """What is kept of a copy: before the last barrier it comes before all accesses since."""
    if tick <= w.shadow.base:
        return stamp & (SITE | STRONG)
    return stamp


def warp_of(w: Warp, thread: u32) -> Warp:
    """The warp of a thread of the cluster."""
    launch = w.launch
    there = w.cta.peers[thread // (launch.warps * 32)].cta
    return warp_at(there, thread % (launch.warps * 32) // 32)


def site_of_read(w: Warp, s: Shadow, thread: u32, at: u32) -> u32:
    """What is kept of a thread's last read of a byte; of its warp's last read at all if that was too long ago."""
    far = warp_of(w, thread)
    lane = thread & 31
    read_records = far.shadow.read_records
    number = far.read_head
    left = min(number, READ_RECORDS)
    place = at
    if far.shadow.first != s.first:
        place = at | (s.first // (s.warps * 32) + 1) << CLUSTER_SHIFT
    while left != 0:
        left = left - 1
        number = number - 1
        record = read_records[far.index * READ_RECORDS + number % READ_RECORDS]
        if record.lanes >> lane & 1 != 0 and place - record.starts[lane] < record.size:
            return record.stamp
    return read_records[far.index * READ_RECORDS + (far.read_head - 1) % READ_RECORDS].stamp


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
    space: u32,
) -> None:
    """Report a race of a lane's access with another one, the second side first.

    A copy that goes on does not depend on a warp's order: no `bar.warp.sync` would help.
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
    if w.launch.members > 1 and space == SHARED:
        place = place | u64(s.first // threads + 1) << CLUSTER_SHIFT
    if first == 0:
        note_pair(w, kind, stamp & SITE, lane, place, space, size, other & SITE, index, thread & 31, there.ctaid)
    else:
        note_pair(far, kind, other & SITE, thread & 31, place, space, size, stamp & SITE, w.index, lane, w.cta.ctaid)


def tell_end(w: Warp, s: Shadow, thread: u32, at: u32, size: u32, stamp: u32) -> None:
    """Note an access by a thread to the shared memory of a CTA that does not come before the end of the CTA."""
    place = u64(at)
    if w.launch.members > 1:
        place = place | u64(s.first // (s.warps * 32) + 1) << CLUSTER_SHIFT
    tell_end_in(w, s, thread, place, SHARED, size, stamp)


def tell_end_in(w: Warp, s: Shadow, thread: u32, place: u64, space: u32, size: u32, stamp: u32) -> None:
    """The same for a CTA's memory of any space."""
    last = warp_of(w, s.first + s.last_warp * 32)
    far = warp_of(w, thread)
    note_pair(far, ENDED, stamp & SITE, thread & 31, place, space, size, s.ended - 1, last.index, 0, last.cta.ctaid)
