"""Where the registers of a traced instruction go, and whether this execution is one of those asked for."""

from __future__ import annotations

from typing import Final

from ptxloom.machine.native.language import Ptr, pointer, u32, u64
from ptxloom.machine.runtime.state import Warp

ROOM_HEAD: Final = 64  # bytes before a room's records


class TracedSite:
    """An instruction that is traced."""

    blocks: Ptr[u64]  # the indices of the CTAs, in order
    block_count: u64
    warps: u64  # a bit for each warp of a CTA
    rooms: u64  # address of the room of the first warp of the first CTA
    room_bytes: u64  # of one warp: how often it ran the instruction, then its records
    record_bytes: u64
    first: u64  # executions that are passed over
    limit: u64  # records of a warp


def begin_record(w: Warp, site: u32, mask: u32) -> u64:
    """The address of a new record, its head written; 0 if this execution is not recorded."""
    traced = pointer(TracedSite, w.trace)[site]
    if traced.warps >> u64(w.index) & 1 == 0:
        return 0
    block = find_block(w, traced)
    if block == traced.block_count:
        return 0
    start = traced.rooms + (block * u64(w.launch.warps) + u64(w.index)) * traced.room_bytes
    count = pointer(u64, start)
    number = count[0]
    count[0] = number + 1
    if number < traced.first or number >= traced.first + traced.limit:
        return 0
    record = start + ROOM_HEAD + (number - traced.first) * traced.record_bytes
    head = pointer(u64, record)
    w.traced = w.traced + 1
    head[0] = w.traced
    head[1] = u64(mask)
    return record


def find_block(w: Warp, traced: TracedSite) -> u64:
    """The place of the warp's CTA among those that are traced; their number if it is not."""
    grid = w.launch.grid
    at = w.cta.ctaid
    index = u64(at[0]) + u64(grid[0]) * (u64(at[1]) + u64(grid[1]) * u64(at[2]))
    low: u64 = 0
    high = traced.block_count
    while low < high:
        middle = (low + high) >> 1
        if traced.blocks[middle] < index:
            low = middle + 1
        else:
            high = middle
    if low < traced.block_count and traced.blocks[low] == index:
        return low
    return traced.block_count
