"""The record of a traced instruction's registers, if this execution is selected."""

from __future__ import annotations

from typing import Final

from ptxloom.machine.native.language import address, part, u32, u64
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.traced_site import TracedSite

ROOM_HEAD: Final = 64  # bytes before a room's records


def begin_record(w: Warp, site: u32, mask: u32) -> u64:
    """The address of a new record, its head written; 0 if this execution is not recorded."""
    traced = w.trace[site]
    if traced.warps >> u64(w.index) & 1 == 0:
        return 0
    block = find_block(w, traced)
    if block == traced.block_count:
        return 0
    words = traced.room_bytes // 8
    room = part(traced.rooms, (block * u64(w.launch.warps) + u64(w.index)) * words, words)
    number = room[0]
    room[0] = number + 1
    if number < traced.first or number >= traced.first + traced.limit:
        return 0
    words = traced.record_bytes // 8
    record = part(room, ROOM_HEAD // 8 + (number - traced.first) * words, words)
    w.traced = w.traced + 1
    record[0] = w.traced
    record[1] = u64(mask)
    return address(record)


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
