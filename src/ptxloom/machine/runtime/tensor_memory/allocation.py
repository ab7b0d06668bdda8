"""`tcgen05.alloc`, `.dealloc` and `.relinquish_alloc_permit`: by a warp, or one of each CTA of a pair (9.7.16.7).

A thread that finds no free columns waits until some are freed. In a pair both CTAs have to come: the first waits for
the other, which takes the columns of both, so that either may use the peer's as soon as it goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, trailing_zeros, u32, u64, view
from ptxloom.machine.runtime.memory.lane_access import fault, place
from ptxloom.machine.runtime.memory.places import warp_at
from ptxloom.machine.runtime.racecheck.tensor_accesses import (
    FREES,
    add_lanes,
    begin_touch,
    forget_columns,
    touch_tensor,
)
from ptxloom.machine.runtime.state import ILLEGAL_TENSOR_MEMORY, NO_CLUSTER, SHARED, TENSOR, Cta, Warp
from ptxloom.machine.runtime.tensor_cores.model import BAD_COLUMNS, NOT_ALLOCATED, RELINQUISHED, TENSOR_LANES
from ptxloom.machine.runtime.tensor_cores.ownership import (
    NOWHERE,
    free_columns,
    give_columns,
    is_count,
    take_columns,
)
from ptxloom.machine.runtime.warps.reconvergence import choose, place_lanes

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def illegal(w: Warp, reason: u32, site: u32, lanes: u32, at: u64) -> u32:
    """Record why an instruction of tensor memory ends the kernel; returns 1."""
    fault(w, ILLEGAL_TENSOR_MEMORY, site, trailing_zeros(lanes) & 31, at, TENSOR, 0, 0)
    note = w.worker.fault[0]
    if note.reason == 0:
        note.reason = reason
    return 1


def has_peer(w: Warp, site: u32, lanes: u32) -> u32:
    """Whether the CTA is one of a pair; if not, it is noted."""
    if w.launch.members & 1 == 0:
        return 1
    fault(w, NO_CLUSTER, site, trailing_zeros(lanes) & 31, 0, SHARED, 0, 1)
    return 0


def peer_of(w: Warp) -> Cta:
    """The other CTA of the pair: its rank differs in the lowest bit."""
    return w.cta.peers[w.cta.rank ^ 1].cta


def check_allocation(w: Warp, lanes: u32, targets: Ptr[u64], columns: u32, pair: u32, space: u32, site: u32) -> u32:
    """Whether an allocation can be made at all; 1 after a fault."""
    if lanes == 0:
        return 0
    if is_count(columns) == 0:
        return illegal(w, BAD_COLUMNS, site, lanes, u64(columns))
    if w.cta.tensor.relinquished != 0:
        return illegal(w, RELINQUISHED, site, lanes, u64(columns))
    if pair != 0 and has_peer(w, site, lanes) == 0:
        return 1
    lane = trailing_zeros(lanes)
    return u32(address(place(w, lane, targets[lane], space, 4, 1, site)) == 0)


def allocate_columns(
    w: Warp,
    lanes: u32,
    targets: Ptr[u64],
    columns: u32,
    pair: u32,
    space: u32,
    site: u32,
    here: u32,
    following: u32,
) -> u32:
    """Take columns, write the address of the first where a lane says; lanes that must wait retry. Returns a block."""
    place_lanes(w, w.mask, following)
    if lanes == 0:
        return choose(w)
    memory = w.cta.tensor
    first = take(w, columns, pair)
    if first == NOWHERE:
        w.allocating = w.mask
        w.blocked = w.blocked | w.mask
        place_lanes(w, w.mask, here)
        return choose(w)
    memory.site = site
    into = place(w, trailing_zeros(lanes), targets[trailing_zeros(lanes)], space, 4, 1, site)
    if address(into) != 0:
        view(u32, into)[0] = first
    return choose(w)


def take(w: Warp, columns: u32, pair: u32) -> u32:
    """Take columns, in both CTAs of a pair; the first of them, or NOWHERE if the warp has to wait."""
    if pair != 0:
        return take_of_pair(w, columns)
    memory = w.cta.tensor
    first = free_columns(memory, memory, columns)
    if first != NOWHERE:
        take_columns(memory, first, columns)
    return first


def take_of_pair(w: Warp, columns: u32) -> u32:
    """Take columns of both CTAs; NOWHERE if no warp of the peer has come as often, or both have not as many free."""
    memory = w.cta.tensor
    peer = peer_of(w)
    if w.given != 0:
        first = w.given - 1
        w.given = 0
        return first
    if w.paired == 0:
        memory.pairs = memory.pairs + 1
        w.paired = memory.pairs
        w.wanted = columns
    for index in range(peer.launch.warps):
        other = warp_at(peer, index)
        if other.paired == w.paired:
            first = free_columns(memory, peer.tensor, max(columns, other.wanted))
            if first != NOWHERE:
                take_columns(memory, first, columns)
                take_columns(peer.tensor, first, other.wanted)
                w.paired = 0
                other.paired = 0
                other.given = first + 1
                wake(peer)
            return first
    return NOWHERE


def deallocate(w: Warp, lanes: u32, taddr: u32, columns: u32, pair: u32, site: u32) -> u32:
    """Free columns; 1 after a fault."""
    if lanes == 0:
        return 0
    if is_count(columns) == 0:
        return illegal(w, BAD_COLUMNS, site, lanes, u64(columns))
    if pair != 0 and has_peer(w, site, lanes) == 0:
        return 1
    if taddr > 0xFFFF or give_columns(w.cta.tensor, taddr, columns) == 0:
        return illegal(w, NOT_ALLOCATED, site, lanes, u64(taddr))
    begin_touch(w, trailing_zeros(lanes), FREES, 0, site)
    add_lanes(w, 0, TENSOR_LANES)
    touch_tensor(w, w.cta, taddr, columns, 1)
    forget_columns(w, w.cta, taddr, columns)
    wake(w.cta)
    return 0


def relinquish(w: Warp, lanes: u32) -> None:
    """Record that the CTA will not allocate again."""
    if lanes != 0:
        w.cta.tensor.relinquished = 1


def wake(cta: Cta) -> None:
    """Wake warps that wait for tensor memory."""
    for index in range(cta.launch.warps):
        w = warp_at(cta, index)
        if w.allocating != 0:
            w.blocked = w.blocked & ~w.allocating
            w.allocating = 0
            w.worker.spins = 0
