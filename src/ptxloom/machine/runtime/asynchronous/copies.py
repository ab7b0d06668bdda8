"""Asynchronous copies, made at once: every wait finds them complete (PTX ISA 9.7.9.25)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native.language import (
    Code,
    address,
    copy,
    fill,
    invoke,
    length,
    nothing,
    part,
    trailing_zeros,
    u8,
    u32,
    u64,
    view,
)
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.asynchronous.mbarriers import complete_at
from ptxloom.machine.runtime.counting import count_stretch
from ptxloom.machine.runtime.initcheck.slow_path import read_lane, written_lane
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.memory.lane_access import fault, holds_site, in_global, place, refuse, shared_place
from ptxloom.machine.runtime.memory.places import site_bytes
from ptxloom.machine.runtime.provenance.memory_tags import copy_tags
from ptxloom.machine.runtime.provenance.update_tags import bulk_tags
from ptxloom.machine.runtime.racecheck.async_operations import begin_operation, read_by, write_by, write_for
from ptxloom.machine.runtime.racecheck.happens_before import operation_at
from ptxloom.machine.runtime.racecheck.proxies import check_fence
from ptxloom.machine.runtime.racecheck.vector_clocks import released
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    CODE_WINDOW,
    GLOBAL,
    INVALID,
    MISALIGNED,
    OUT_OF_BOUNDS,
    SHARED,
    SHARED_WINDOW,
    UNINITIALISED,
    WRONG_SPACE,
    Warp,
)
from ptxloom.machine.runtime.structs.shadow import STRONG

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

FACTS: Final = 1024  # where in the scratch the code that combines finds target, source and bytes


def copy_async(  # noqa: C901, PLR0912 - one lane after the other
    w: Warp, mask: u32, targets: Ptr[u64], sources: Ptr[u64], takes: Ptr[u32], size: u32, site: u32
) -> u32:
    """`cp.async`: each lane copies takes[lane] bytes to shared memory and zeros up to `size`; 1 after a fault."""
    if size == 16 and copy_whole(w, mask, targets, sources, takes, site) != 0:
        return 0
    if address(w.shadow) != 0 and mask != 0:
        begin_operation(w, site, 0)
    for lane in range(32):
        if mask >> lane & 1 != 0:
            into = place(w, lane, targets[lane], SHARED, size, 1, site)
            if address(into) == 0:
                return 1
            take = takes[lane]
            at = sources[lane]
            if take > size:
                fault(w, INVALID, site, lane, at, GLOBAL, 0, 0)
                return 1
            if take != 0:
                if at & u64(size - 1) != 0:
                    fault(w, MISALIGNED, site, lane, at, GLOBAL, size, 0)
                    return 1
                if holds_site(w.sites[site], at, u64(take)) == 0 and reach(w, lane, at, take, 0, site) == 0:
                    return 1
            if address(w.shadow) != 0:
                watch_async(w, lane, targets[lane], at, take, size, site)
            if address(w.written) != 0:
                written_lane(w, lane, targets[lane], SHARED, size)
            if w.launch.watches_global != 0:
                read_lane(w, lane, at, GLOBAL, take, site)
            if take < size:
                fill(into, 0)
            if take != 0:
                copy_bytes(into, site_bytes(w.sites[site], at, u64(take)), take)
            if address(w.launch.trail) != 0:
                copy_tags(w, site, lane, targets[lane], SHARED, at, GLOBAL, take, size)
    return 0


@watching
def watch_async(w: Warp, lane: u32, target: u64, source: u64, take: u32, size: u32, site: u32) -> None:
    """Report to racecheck what `cp.async` of a lane writes and reads: `take` bytes, zeros up to `size`."""
    data = nothing(u8)
    if take == size:
        data = site_bytes(w.sites[site], source, u64(take))
    else:
        data = part(part(w.scratch, FACTS, 16), 0, u64(size))
        fill(data, 0)
        if take != 0:
            copy(data, site_bytes(w.sites[site], source, u64(take)), u64(take))
    write_by(w, lane, target, SHARED, size, data)
    read_by(w, lane, source, GLOBAL, take, 0)


def copy_whole(w: Warp, mask: u32, targets: Ptr[u64], sources: Ptr[u64], takes: Ptr[u32], site: u32) -> u32:
    """Unwatched copies of 16 whole bytes from memory that this instruction has read before: 1 if every lane's was one.

    Otherwise all must be made again, with all checks; some may have been made, but their sources have not changed.
    """
    if address(w.shadow) != 0 or address(w.written) != 0 or w.launch.watches_global != 0:
        return 0
    if address(w.launch.trail) != 0:
        return 0
    known = w.sites[site]
    shared = w.shared
    room = length(shared)
    for lane in range(32):
        if mask >> lane & 1 != 0:
            into = targets[lane] & 0xFFFFFFFF
            at = sources[lane]
            if (into | at) & 15 != 0 or takes[lane] != 16:
                return 0
            if within(into, 16, room) == 0 or holds_site(known, at, 16) == 0:
                return 0
            copy(part(shared, into, 16), site_bytes(known, at, 16), 16)
    return 1


def copy_bytes(into: Slice[u8], at: Slice[u8], size: u32) -> None:
    """Copy bytes; the common sizes without a call."""
    if size == 16:
        copy(into, at, 16)
    elif size == 8:
        copy(into, at, 8)
    elif size == 4:
        copy(into, at, 4)
    else:
        copy(into, at, u64(size))


def reach(w: Warp, lane: u32, at: u64, size: u32, write: u32, site: u32) -> u32:
    """1 if bytes of global memory are accessible; else reports the fault."""
    kind = in_global(w, at, u64(size), write, site)
    if kind == 0:
        return 1
    if at >= SHARED_WINDOW and at < CODE_WINDOW:
        kind = WRONG_SPACE
    fault(w, kind, site, lane, at, GLOBAL, size, write)
    return 0


def bulk_place(w: Warp, lane: u32, at: u64, space: u32, size: u32, write: u32, site: u32) -> Slice[u8]:
    """`size` bytes, a multiple of 16 and aligned to 16; empty after a fault."""
    if (at | u64(size)) & 15 != 0:
        return refuse(w, MISALIGNED, site, lane, at, space, size, write)
    if space == SHARED:
        found = shared_place(w, at & 0xFFFFFFFF, u64(size))
        if address(found) == 0:
            fault(w, OUT_OF_BOUNDS, site, lane, at, space, size, write)
        return found
    if reach(w, lane, at, size, write, site) == 0:
        return nothing(u8)
    return site_bytes(w.sites[site], at, u64(size))


def copy_bulk(  # noqa: C901 - one lane after the other
    w: Warp,
    mask: u32,
    targets: Ptr[u64],
    sources: Ptr[u64],
    sizes: Ptr[u32],
    barriers: Ptr[u64],
    ctas: Ptr[u32],
    target_space: u32,
    source_space: u32,
    combine: Code,
    site: u32,
) -> u32:
    """`cp.async.bulk`: lanes copy stretches, and report their bytes to mbarriers (0: none); 1 after a fault.

    `ctas` names the CTAs of the cluster that receive a multicast; 0 without a multicast. `combine` is the code that
    combines new data with old (`cp.reduce`); 0 to replace it.
    """
    for lane in range(32):
        if mask >> lane & 1 != 0:
            size = sizes[lane]
            source = bulk_place(w, lane, sources[lane], source_space, size, 0, site)
            if address(source) == 0:
                return 1
            if address(w.shadow) != 0:
                begin_operation(w, site if combine == 0 else site | STRONG, 1)
                read_by(w, lane, sources[lane], source_space, size, told_at(w, barriers[lane], ctas[lane]))
            read_lane(w, lane, sources[lane], source_space, size, site)
            count_stretch(w, site, source_space, size)
            left = ctas[lane]
            first: u32 = 1
            while first != 0 or left != 0:
                first = 0
                window: u64 = 0
                strip: u64 = 0
                if left != 0:
                    window = u64(trailing_zeros(left) + 1) << CLUSTER_SHIFT
                    strip = 255 << CLUSTER_SHIFT
                into = bulk_place(w, lane, targets[lane] & ~strip | window, target_space, size, 1, site)
                if address(into) == 0:
                    return 1
                if combine != 0:
                    read_lane(w, lane, targets[lane], target_space, size, site)
                if address(w.shadow) != 0:
                    told = told_at(w, barriers[lane], left)
                    data = source if combine == 0 else nothing(u8)
                    write_bulk(w, lane, targets[lane] & ~strip | window, target_space, size, told, data)
                written_lane(w, lane, targets[lane] & ~strip | window, target_space, size)
                count_stretch(w, site, target_space, size)
                move_stretch(w, into, source, size, combine)
                if address(w.launch.trail) != 0:
                    there = targets[lane] & ~strip | window
                    combines = u32(combine != 0)
                    bulk_tags(w, site, lane, there, target_space, sources[lane], source_space, size, combines)
                if barriers[lane] != 0 and finish(w, lane, barriers[lane] - 1 & ~strip | window, size, site) != 0:
                    return 1
                left = left & left - 1
    return 0


def told_at(w: Warp, barrier: u64, ctas: u32) -> u64:
    """The host address of a copy's mbarrier, for a multicast that of the first CTA in the mask; 0 without one."""
    if barrier == 0:
        return 0
    at = barrier - 1
    if ctas != 0:
        at = at & ~(255 << CLUSTER_SHIFT) | u64(trailing_zeros(ctas) + 1) << CLUSTER_SHIFT
    return address(shared_place(w, at & 0xFFFFFFFF, 8))


def write_bulk(
    w: Warp, lane: u32, at: u64, space: u32, size: u32, told: u64, data: Annotated[Slice[u8], "size"]
) -> None:
    """Report to racecheck what a bulk copy writes until the mbarrier at a host address (0: none) reports completion.

    `data` is what is written; empty if that is combined with what is there.
    """
    if told == 0:
        write_by(w, lane, at, space, size, data)
    else:
        write_told(w, lane, at, space, size, operation_at(w, w.operation_head - 1).stamp, told, data)
        released(w)


def write_told(
    w: Warp, lane: u32, at: u64, space: u32, size: u32, stamp: u32, told: u64, data: Annotated[Slice[u8], "size"]
) -> None:
    """Report to racecheck what the async proxy writes until the mbarrier at a host address reports completion."""
    check_fence(w, lane, at, space, size, stamp)
    write_for(w, lane, at, size, stamp, told, data)


def move_stretch(w: Warp, into: Slice[u8], source: Slice[u8], size: u32, combine: Code) -> None:
    """Copy a stretch, or let code combine it with the old contents; that code reads its arguments from the scratch."""
    if combine == 0:
        copy(into, source, u64(size))
    else:
        facts = view(u64, part(w.scratch, FACTS, 24))
        facts[0] = address(into)
        facts[1] = address(source)
        facts[2] = min(length(into), length(source))
        invoke(combine, facts)


def finish(w: Warp, lane: u32, at: u64, size: u32, site: u32) -> u32:
    """Report to the mbarrier at a shared address that bytes have arrived; returns 1 after a fault."""
    host = place(w, lane, at, SHARED, 8, 1, site)
    if address(host) == 0:
        return 1
    if complete_at(w, host, u64(size)) != 0:
        fault(w, UNINITIALISED, site, lane, at, SHARED, 8, 0)
        return 1
    return 0
