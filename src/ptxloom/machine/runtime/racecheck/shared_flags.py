"""Flags in shared memory and fences: how strong accesses and fences pass on knowledge (PTX ISA 8.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, fill, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.lane_access import shared_place
from ptxloom.machine.runtime.racecheck.fence_records import fence_record_of, mark_fence, publish_fence
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.racecheck.sync_places import find_sync
from ptxloom.machine.runtime.racecheck.tick_rows import at_row, join, row_of
from ptxloom.machine.runtime.racecheck.vector_clocks import acquire, release, released
from ptxloom.machine.runtime.state import (
    GENERIC,
    GLOBAL,
    SHARED,
    SHARED_WINDOW,
    WINDOW_BYTES,
    Warp,
)
from ptxloom.machine.runtime.structs.shadow import CLUSTER_SCOPE, CTA_SCOPE, GPU_SCOPE, RELEASED, SYNCS, HappensBefore

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

ACQUIRE, RELEASE, STORES, LOADS = 1, 2, 4, 8  # what a strong access does


@watching
def fence(w: Warp, lanes: u32, scope: u32, does: u32) -> None:
    """A fence that acquires: what relaxed reads have seen is known now; one that releases: see `fence_records`."""
    order = w.shadow.order
    if address(order.known) == 0:
        return
    wide = is_wide(w, scope)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            if does & ACQUIRE != 0 and w.saw >> lane & 1 != 0:
                acquire(w, 1 << lane, at_row(order.seen_inside, order, me(w, lane)))
                if wide != 0:
                    acquire(w, 1 << lane, at_row(order.seen, order, me(w, lane)))
            if does & RELEASE != 0:
                for kind in range(min(scope, GPU_SCOPE) + 1):
                    mark_fence(w, lane, kind)
    if wide != 0 and does & ACQUIRE != 0:
        w.saw = w.saw & ~lanes
    released(w)


@watching
def fence_inits(w: Warp, lanes: u32) -> None:
    """`fence.mbarrier_init`: relaxed writes and arrivals after it publish what lanes have set up, and nothing else."""
    order = w.shadow.order
    if order.inits == 0:
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            row_of(order, me(w, lane))[order.inits + me(w, lane)] = order.clock
    released(w)


def is_wide(w: Warp, scope: u32) -> u32:
    """1 if a scope holds the whole cluster."""
    return u32(scope >= CLUSTER_SCOPE or w.launch.members == 1)


@watching
def strong(w: Warp, addresses: Ptr[u64], lanes: u32, space: u32, does: u32, scope: u32) -> None:
    """Strong accesses (atomic, volatile, relaxed, acquire, release) of lanes to flags of 32 or 64 bits."""
    if address(w.shadow.order.known) == 0:
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            host = flag_place(w, addresses[lane], space)
            if host != 0:
                access_flag(w, lane, host, does, scope)
    if does & (RELEASE | STORES) != 0:
        released(w)


def flag_place(w: Warp, at: u64, space: u32) -> u64:
    """The host address of a flag; 0 if it is not in shared or global memory."""
    if space == SHARED or (space == GENERIC and at & ~u64(WINDOW_BYTES - 1) == SHARED_WINDOW):
        return address(shared_place(w, at & (WINDOW_BYTES - 1), 4))
    if space == GLOBAL or (space == GENERIC and at < SHARED_WINDOW):
        return at
    return 0


def access_flag(w: Warp, lane: u32, host: u64, does: u32, scope: u32) -> None:
    """One lane's strong access: it reads, then writes.

    The last writer of the flag and its reader must be in each other's scope. A store that is not a read-modify-write
    replaces what the flag publishes.
    """
    order = w.shadow.order
    wide = is_wide(w, scope)
    found = find_sync(order, host, 0)
    linked: u32 = 0
    if found < SYNCS:
        sync = order.syncs[found]
        linked = u32(sync.rank == w.cta.rank or wide & sync.wide != 0)
    if does & LOADS != 0 and linked != 0:
        read_flag(w, lane, found, does, wide)
    if does & STORES != 0:
        if found < SYNCS:
            if does & LOADS == 0 or linked == 0:
                clear_flag(order, found)
            order.syncs[found].rank = w.cta.rank
            order.syncs[found].wide = wide
        write_flag(w, lane, host, does, scope)


def read_flag(w: Warp, lane: u32, number: u32, does: u32, wide: u32) -> None:
    """A lane learns what a flag publishes, at once or at its next fence."""
    order = w.shadow.order
    thread = me(w, lane)
    everywhere = at_row(order.complete, order, number)
    inside = at_row(order.inside, order, number)
    home = u32(order.syncs[number].home == w.cta.rank)
    apart = u32(home != 0 and w.launch.members > 1)
    if does & ACQUIRE != 0:
        if wide != 0:
            acquire(w, 1 << lane, everywhere)
        if apart != 0:
            acquire(w, 1 << lane, inside)
        if wide != 0:
            return
    # however narrow its scope is: that of a fence behind it counts
    join(w, at_row(order.seen, order, thread), everywhere)
    if apart != 0:
        join(w, at_row(order.seen_inside, order, thread), inside)
    w.saw = w.saw | 1 << lane


def write_flag(w: Warp, lane: u32, host: u64, does: u32, scope: u32) -> None:
    """A lane publishes at a flag what came before its last fence, or before it released there."""
    order = w.shadow.order
    wide = is_wide(w, scope)
    near = last_fence(w, lane, host, does, CTA_SCOPE)
    far = last_fence(w, lane, host, does, CLUSTER_SCOPE)
    if w.launch.members == 1:
        far = near
    number: u32 = SYNCS
    if near > w.shadow.floor:
        number = find_sync(order, host, 1)
    if number < SYNCS:
        sync = order.syncs[number]
        sync.rank = w.cta.rank
        sync.wide = wide
        if wide != 0 and far > w.shadow.floor:
            kind = CTA_SCOPE if w.launch.members == 1 else CLUSTER_SCOPE
            publish_at_flag(w, lane, host, does, kind, at_row(order.complete, order, number))
        if w.launch.members > 1:
            inside = at_row(order.inside, order, number)
            if sync.home != w.cta.rank:
                fill(inside, 0)
                sync.home = w.cta.rank
            publish_at_flag(w, lane, host, does, CTA_SCOPE, inside)
    if does & RELEASE != 0:
        order.released_at[me(w, lane)] = host
        order.released_scope[me(w, lane)] = scope
        mark_fence(w, lane, RELEASED)


def last_fence(w: Warp, lane: u32, host: u64, does: u32, scope: u32) -> u32:
    """The tick up to which a lane's strong write to a flag publishes what the lane did itself."""
    order = w.shadow.order
    if does & RELEASE != 0:
        return order.clock
    thread = me(w, lane)
    when = fence_record_of(order, thread, scope).tick
    if has_released(order, thread, host, scope) != 0:
        when = max(when, fence_record_of(order, thread, RELEASED).tick)
    return min(when, order.clock)


def publish_at_flag(w: Warp, lane: u32, host: u64, does: u32, scope: u32, into: Slice[u32]) -> None:
    """Publish what a lane's strong write to a flag publishes, to threads that a scope holds."""
    order = w.shadow.order
    if does & RELEASE != 0:
        release(w, 1 << lane, into, order.clock)
        return
    publish_fence(w, lane, scope, into)
    if has_released(order, me(w, lane), host, scope) != 0:
        publish_fence(w, lane, RELEASED, into)


def has_released(order: HappensBefore, thread: u32, host: u64, scope: u32) -> u32:
    """1 if a thread's last release was at the same flag, in a scope as wide."""
    return u32(order.released_at[thread] == host and order.released_scope[thread] >= scope)


def clear_flag(order: HappensBefore, number: u32) -> None:
    """Clear a flag, so that it publishes nothing."""
    fill(at_row(order.complete, order, number), 0)
    fill(at_row(order.inside, order, number), 0)


def forget_sync(order: HappensBefore, host: u64) -> None:
    """A weak store replaces the flag: its value is not read as one."""
    number = find_sync(order, host & ~u64(3), 0)
    if number < SYNCS:
        clear_flag(order, number)
