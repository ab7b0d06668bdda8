"""Bulk copies that skip bytes: at both ends, or in every 16 (PTX ISA 9.7.9.25.4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.language import address, copy, length, nothing, part, u8, u32, u64
from ptxloom.machine.runtime.asynchronous.copies import bulk_place, finish, reach, told_at, write_bulk
from ptxloom.machine.runtime.counting import count_moved
from ptxloom.machine.runtime.initcheck.slow_path import read_lane, written_lane
from ptxloom.machine.runtime.memory.lane_access import fault
from ptxloom.machine.runtime.memory.places import site_bytes
from ptxloom.machine.runtime.racecheck.async_operations import begin_operation, read_by
from ptxloom.machine.runtime.state import GLOBAL, INVALID, MISALIGNED, SHARED, Warp

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

MOST_IGNORED: Final = 15  # bytes at either end


def copy_within(
    w: Warp,
    mask: u32,
    targets: Ptr[u64],
    sources: Ptr[u64],
    sizes: Ptr[u32],
    lefts: Ptr[u32],
    rights: Ptr[u32],
    barriers: Ptr[u64],
    site: u32,
) -> u32:
    """`.ignore_oob`: bytes at both ends that may be outside are neither read nor changed; 1 after a fault."""
    for lane in range(32):
        if mask >> lane & 1 != 0:
            size = sizes[lane]
            at = sources[lane]
            if lefts[lane] > MOST_IGNORED or rights[lane] > MOST_IGNORED:
                fault(w, INVALID, site, lane, at, GLOBAL, size, 0)
                return 1
            if at & 15 != 0:
                fault(w, MISALIGNED, site, lane, at, GLOBAL, size, 0)
                return 1
            into = bulk_place(w, lane, targets[lane], SHARED, size, 1, site)
            if address(into) == 0:
                return 1
            told = told_at(w, barriers[lane], 0)
            if copy_middle(w, lane, into, targets[lane], at, lefts[lane], rights[lane], told, site) != 0:
                return 1
            if finish(w, lane, barriers[lane] - 1, size, site) != 0:
                return 1
    return 0


def copy_middle(
    w: Warp, lane: u32, into: Slice[u8], target: u64, at: u64, left: u32, right: u32, told: u64, site: u32
) -> u32:
    """Copy the bytes between the ends; 1 after a fault."""
    size = u32(length(into))
    taken: u32 = 0
    if left + right < size:
        taken = size - left - right
    start = at + u64(left)
    if taken != 0 and reach(w, lane, start, taken, 0, site) == 0:
        return 1
    if address(w.shadow) != 0:
        begin_operation(w, site, 1)
        read_by(w, lane, start, GLOBAL, taken, told)
        write_bulk(w, lane, target, SHARED, size, told, nothing(u8))
    read_lane(w, lane, start, GLOBAL, taken, site)
    written_lane(w, lane, target + u64(left), SHARED, taken)
    count_moved(w, site, u64(taken), u64(taken))
    if taken != 0:
        copy(part(into, u64(left), u64(taken)), site_bytes(w.sites[site], start, u64(taken)), u64(taken))
    return 0


def copy_masked(
    w: Warp, mask: u32, targets: Ptr[u64], sources: Ptr[u64], sizes: Ptr[u32], chosen: Ptr[u32], site: u32
) -> u32:
    """`.cp_mask`: of every 16 bytes, copies those whose bit is set; 1 after a fault."""
    for lane in range(32):
        if mask >> lane & 1 != 0:
            size = sizes[lane]
            source = bulk_place(w, lane, sources[lane], SHARED, size, 0, site)
            if address(source) == 0:
                return 1
            into = bulk_place(w, lane, targets[lane], GLOBAL, size, 1, site)
            if address(into) == 0:
                return 1
            if address(w.shadow) != 0:
                begin_operation(w, site, 1)
            copy_runs(w, lane, into, source, targets[lane], sources[lane], chosen[lane] & 0xFFFF, site)
    return 0


def copy_runs(
    w: Warp, lane: u32, into: Slice[u8], source: Slice[u8], target: u64, at: u64, chosen: u32, site: u32
) -> None:
    """Copy the chosen bytes of a stretch, contiguous ones together."""
    size = u32(length(into))
    first: u32 = 0
    run: u32 = 0
    for offset in range(size + 1):
        if offset < size and chosen >> (offset & 15) & 1 != 0:
            if run == 0:
                first = offset
            run = run + 1
        elif run != 0:
            if address(w.shadow) != 0:
                read_by(w, lane, at + u64(first), SHARED, run, 0)
                write_bulk(w, lane, target + u64(first), GLOBAL, run, 0, part(source, u64(first), u64(run)))
            read_lane(w, lane, at + u64(first), SHARED, run, site)
            written_lane(w, lane, target + u64(first), GLOBAL, run)
            count_moved(w, site, u64(run), u64(run))
            copy(part(into, u64(first), u64(run)), part(source, u64(first), u64(run)), u64(run))
            run = 0
