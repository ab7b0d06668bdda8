"""Deferred reads of shared memory: kept in order only, until their places matter.

Most are over for all threads at the next barrier of the CTA, before anything is written: so a warp's plain reads go to
its ring (`ReadRecord`) and to a mask of the places that have been read (`Shadow.deferred`), and to `Shadow.reads` only
when an access there needs them. Then the CTA's reads go there directly until the next barrier. Only where such a
barrier ends what came before it: in clusters of one CTA.
"""

from __future__ import annotations

from ptxloom.machine.native.language import part, trailing_zeros, u32, u64
from ptxloom.machine.native.standalone import standalone
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.places import warp_at
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.shadow import BLOCK_SHIFT, READ_RECORDS, ReadRecord, Shadow
from ptxloom.machine.runtime.turns import spend

WORD = 4


def blocks_of(s: Shadow, at: u32, size: u32) -> u64:
    """The bits of `Shadow.deferred` that stand for some bytes, of which there is one."""
    last = u64(2) << u64((at + size - 1 >> s.grain) & 63)
    return last - (u64(1) << u64((at >> s.grain) & 63))


def settle_at(w: Warp, s: Shadow, at: u32, size: u32) -> None:
    """Move all deferred reads of some bytes to `Shadow.reads`."""
    if s.deferred != 0 and s.deferred & blocks_of(s, at, size) != 0:
        settle_reads(w)


@standalone
@watching
def settle_reads(w: Warp) -> None:
    """Move all deferred reads of the CTA to `Shadow.reads`, and record further reads there until the next barrier."""
    s = w.shadow
    s.deferring = 0
    s.deferred = 0
    for index in range(s.warps):
        far = warp_at(w.cta, index)
        if far.steps_base == s.base:  # else it has read nothing since the barrier
            while far.read_done != far.read_head:
                spend(w, 1)
                settle_read(s, far, s.read_records[index * READ_RECORDS + far.read_done % READ_RECORDS])
                far.read_done = far.read_done + 1


def settle_read(s: Shadow, far: Warp, record: ReadRecord) -> None:
    """Move one deferred read of a warp."""
    warp = s.first // 32 + far.index
    left = record.lanes
    size = min(record.size, 32)
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        at = record.starts[lane]
        new = u64(record.tick) << 32 | u64(1) << u64(lane)
        reads = part(s.reads, u64(warp) * u64(s.bytes) + u64(at), size)
        base = u64(s.base + 1) << 32
        if size == WORD:
            for offset in range(WORD):
                reads[offset] = new | (reads[offset] & 0xFFFFFFFF if reads[offset] >= base else 0)
        else:
            for offset in range(size):
                reads[offset] = new | (reads[offset] & 0xFFFFFFFF if reads[offset] >= base else 0)
        s.summary[(at >> BLOCK_SHIFT) * s.summaries + warp] = record.tick
        s.summary[(at + size - 1 >> BLOCK_SHIFT) * s.summaries + warp] = record.tick
