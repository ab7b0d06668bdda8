"""What threads know of each other, and when two strong accesses are morally strong (PTX ISA 8.7.1).

An access is named by its thread and a tick of its cluster's clock; a copy that goes on, by its mark.
"""

from __future__ import annotations

from typing import Final

from ptxloom.machine.native.language import address, length, part, trailing_zeros, u32
from ptxloom.machine.runtime.state import SHARED, Warp
from ptxloom.machine.runtime.structs.histories import AccessTrace
from ptxloom.machine.runtime.structs.pending_operations import PendingOperation
from ptxloom.machine.runtime.structs.shadow import (
    AGENT,
    CLUSTER_SCOPE,
    GPU_SCOPE,
    LOOKS_AGAIN,
    OPERATION_SHIFT,
    OPERATIONS,
    PENDING,
    SCOPE,
    SETS_UP,
    SITE,
    SIZES,
    STEP_SHIFT,
    STEPS,
    STRONG,
    Shadow,
)

ALIKE: Final = 64  # bytes whose entries are compared at once
MANY: Final = 64  # times as many are looked at in one go


def stamp_of(w: Warp, site: u32) -> u32:
    """The stamp of an access that a warp makes now: its site, whether it is strong, its number since a barrier.

    Strong ones are not counted, except one that reads: once, as how often a thread looks at a flag is a matter of the
    schedule.
    """
    renew_steps(w)
    if site & STRONG == 0 or (site & LOOKS_AGAIN != 0 and site != w.looked):
        w.steps = min(w.steps + 1, STEPS)
        w.looked = site
    return site & ~LOOKS_AGAIN | w.steps << STEP_SHIFT


def renew_steps(w: Warp) -> None:
    """The warp counts from the last barrier on, and forgets what it has read before if that can no longer race."""
    s = w.shadow
    if w.steps_base != s.base:
        w.steps_base = s.base
        w.steps = 0
        w.looked = 0
        if s.defers != 0:
            w.read_head = 0
            w.read_done = 0


def me(w: Warp, lane: u32) -> u32:
    """The number of a lane's thread in its cluster."""
    return w.shadow.first + w.index * 32 + lane


def entry_of(w: Warp, lane: u32) -> u32:
    """The entry of a write by a lane now."""
    order = w.shadow.order
    return order.clock << order.bits | me(w, lane)


def is_known(w: Warp, thread: u32, other: u32, tick: u32) -> u32:
    """1 if what a thread did at a tick precedes what a thread of this warp does now."""
    s = w.shadow
    order = s.order
    if tick <= s.birth or order.lost != 0:
        return 1
    if tick <= s.base and other - s.first < s.warps * 32:
        return 1
    if address(order.known) == 0:
        return 0
    return u32(known_tick(s, thread, other) >= tick)


def known_tick(s: Shadow, thread: u32, column: u32) -> u32:
    """What a thread of a CTA knows: the tick in a column."""
    order = s.order
    both = max(order.known[thread * order.columns + column], s.common[column])
    return max(both, order.known_to_warps[thread // 32 * order.columns + column])


def operation_at(w: Warp, number: u32) -> PendingOperation:
    """A place in a warp's ring of operations."""
    return w.shadow.operations[w.index * OPERATIONS + number % OPERATIONS]


def shared_readers(op: PendingOperation) -> u32:
    """The lanes of an asynchronous operation that may still read shared memory."""
    return op.reads if op.source_space == SHARED else 0


def operation_of(w: Warp, held: u32) -> PendingOperation:
    """The operation that a mark names."""
    number = held & (PENDING - 1)
    warp = number >> OPERATION_SHIFT
    members = w.launch.warps
    s = w.cta.peers[warp // members].cta.shadow
    return s.operations[warp % members * OPERATIONS + (number >> 5 & (OPERATIONS - 1))]


def is_over_for_all(s: Shadow, at: u32, size: u32) -> u32:
    """1 if every write to some bytes precedes all that happens now."""
    writes = part(s.writes, at, size)
    limit = s.limit
    if size != 0 and writes[0] >= limit:
        return 0
    fresh: u32 = 0
    for offset in range(u32(length(writes))):
        fresh = fresh | u32(writes[offset] >= limit)
    return u32(fresh == 0)


def count_alike(s: Shadow, at: u32, size: u32) -> u32:
    """How many bytes have the entry of the first of them, of those side by side: some of them, at least 1."""
    first = s.writes[at]
    few: u32 = 1
    for shift in range(2):
        more = min(size, ALIKE >> 2 * shift)
        if few == 1 and are_entries(s, at, more, first) != 0:
            few = more
    if few < ALIKE:
        return few
    for _block in range(MANY):
        if few + ALIKE > size or are_entries(s, at + few, ALIKE, first) == 0:
            break
        few = few + ALIKE
    return few


def is_one_site(s: Shadow, at: u32, size: u32) -> u32:
    """1 if one access wrote all of some bytes, as far as their sites tell."""
    sites = part(s.write_sites, at, size)
    first = sites[0]
    apart: u32 = 0
    for offset in range(u32(length(sites))):
        apart = apart | sites[offset] ^ first
    return u32(apart == 0)


def are_entries(s: Shadow, at: u32, size: u32, held: u32) -> u32:
    """1 if all of some bytes have one entry."""
    writes = part(s.writes, at, size)
    apart: u32 = 0
    for offset in range(u32(length(writes))):
        apart = apart | writes[offset] ^ held
    return u32(apart == 0)


def is_agent_known(w: Warp, thread: u32, held: u32) -> u32:
    """1 if what an agent has done is known to be complete; an operation that its thread waits for itself is not."""
    if held & AGENT == 0:
        return 0
    order = w.shadow.order
    return is_known(w, thread, held & ((1 << order.bits) - 1), (held & (AGENT - 1)) >> order.bits)


def is_done(w: Warp, thread: u32, op: PendingOperation, lane: u32) -> u32:
    """1 if a thread knows that a lane's operation has read all."""
    if op.handed >> lane & 1 == 0:
        return 0
    order = w.shadow.order
    if op.told[lane] > order.clock:
        return 1  # the clock has been set back since
    return is_known(w, thread, order.threads + op.column[lane], op.told[lane])


def thread_of(w: Warp, held: u32) -> u32:
    """The thread that an entry is of; of an agent's, the one that issued an operation for it last."""
    order = w.shadow.order
    number = held & ((1 << order.bits) - 1)
    if held & PENDING == 0:
        return number
    if held & AGENT != 0:
        return order.issuers[number - order.threads]
    return ((held & (PENDING - 1)) >> OPERATION_SHIFT) * 32 + (held & 31)


def tick_of(w: Warp, held: u32) -> u32:
    """When the operation was issued that a mark or an agent's entry stands for."""
    if held & AGENT != 0:
        return (held & (AGENT - 1)) >> w.shadow.order.bits
    return operation_of(w, held).begun


def owner_of(w: Warp) -> u32:
    """The number by which traces name a warp's cluster."""
    return u32(w.cta.index) + 1


def first_of(w: Warp, t: AccessTrace) -> u32:
    """The number of the first thread of a trace's warp in its cluster."""
    if t.who & PENDING != 0:
        return thread_of(w, t.who) & ~31
    return t.who & ((1 << w.shadow.order.bits) - 1)


def trace_tick(w: Warp, t: AccessTrace) -> u32:
    """The tick of the access that left a trace."""
    if t.who & PENDING != 0:
        return tick_of(w, t.who)
    return t.who >> w.shadow.order.bits


def is_same_cta(w: Warp, t: AccessTrace) -> u32:
    """1 if a trace is of this warp's CTA."""
    return u32(t.owner == owner_of(w) and first_of(w, t) - w.shadow.first < w.shadow.warps * 32)


def unknown_lanes(w: Warp, lane: u32, t: AccessTrace) -> u32:
    """The lanes of a trace of this cluster that do not precede what a lane does now."""
    thread = me(w, lane)
    order = w.shadow.order
    tick = trace_tick(w, t)
    if t.who & PENDING != 0:
        if tick > order.clock or is_agent_known(w, thread, t.who) != 0:
            return 0
        return t.lanes
    first = first_of(w, t)
    left = t.lanes
    if first == thread & ~31:
        left = left & ~(1 << lane)
        if tick == order.clock:
            return left  # nothing has been published since
    if tick > order.clock:
        return 0  # the clock has been set back since
    found: u32 = 0
    while left != 0:
        other = first + trailing_zeros(left)
        if is_known(w, thread, other, tick) == 0:
            found = found | left & -left
        left = left & left - 1
    if found != 0 and order.inits != 0 and w.launch.strengths[t.stamp & SITE] & SIZES == SETS_UP:
        found = lanes_not_set_up(w, thread, first, found, tick)
    return found


def lanes_not_set_up(w: Warp, thread: u32, first: u32, lanes: u32, tick: u32) -> u32:
    """Of lanes that set up an mbarrier those of which a thread knows no `fence.mbarrier_init` behind that."""
    s = w.shadow
    found: u32 = 0
    left = lanes
    while left != 0:
        column = s.order.inits + first + trailing_zeros(left)
        if known_tick(s, thread, column) < tick:
            found = found | left & -left
        left = left & left - 1
    return found


def are_morally_strong(w: Warp, stamp: u32, t: AccessTrace) -> u32:
    """1 if an access and the one that left a trace are strong, of scopes that hold both, and of the same bytes.

    Accesses are aligned, so that two of one byte overlap completely if they are of one size.
    """
    if stamp & t.stamp & STRONG == 0:
        return 0
    mine = w.launch.strengths[stamp & SITE]
    theirs = w.launch.strengths[t.stamp & SITE]
    if (mine ^ theirs) & SIZES != 0 and mine & SIZES != 0 and theirs & SIZES != 0:
        return 0
    scope = min(mine & SCOPE, theirs & SCOPE)
    if scope >= GPU_SCOPE:
        return 1
    if scope == CLUSTER_SCOPE:
        return u32(t.owner == owner_of(w))
    return is_same_cta(w, t)
