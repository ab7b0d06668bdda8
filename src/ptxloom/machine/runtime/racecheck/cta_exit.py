"""Racecheck at the end of a CTA, where its shared memory ends (PTX ISA 5.1.7).

Every access to that memory has to be ordered before: the accesses of other CTAs of the cluster, known to some thread of
this one when it exits; the asynchronous operations that read or write there, known to be complete.
"""

from __future__ import annotations

from ptxloom.machine.native.language import address, trailing_zeros, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.matrix_layout import ROW_BYTES, factor_place
from ptxloom.machine.runtime.racecheck.barrier_order import gather_knowledge
from ptxloom.machine.runtime.racecheck.happens_before import (
    count_alike,
    is_done,
    me,
    operation_at,
    shared_readers,
    thread_of,
)
from ptxloom.machine.runtime.racecheck.operation_ends import end_writes
from ptxloom.machine.runtime.racecheck.pending_products import is_read
from ptxloom.machine.runtime.racecheck.race_report import tell_end, warp_of
from ptxloom.machine.runtime.racecheck.shared_histories import has_history, number_of
from ptxloom.machine.runtime.racecheck.slow_path import shadow_at
from ptxloom.machine.runtime.racecheck.tensor_accesses import end_touches
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, SHARED, Warp
from ptxloom.machine.runtime.structs.pending_operations import PendingOperation
from ptxloom.machine.runtime.structs.shadow import AGENT, PENDING, PRODUCTS, Shadow
from ptxloom.machine.runtime.turns import spend


@watching
def end_shared(w: Warp, site: u32) -> None:
    """The last threads of a CTA exit at an instruction."""
    s = w.shadow
    order = s.order
    if address(order.known) == 0:
        return
    gather_knowledge(w.cta)
    s.ended = site + 1
    s.last_warp = w.index
    if w.launch.members > 1:
        for thread in range(order.threads):
            remote = s.remote_accesses[thread]
            if remote.tick > s.birth and s.common[thread] < remote.tick:
                tell_end(w, s, thread, remote.at, remote.size, remote.stamp)
    if address(s.operations) != 0:
        for number in range(order.threads // 32):
            far = warp_of(w, number * 32)
            place = far.operation_tail
            while place != far.operation_head:
                spend(w, 1)
                end_readers(w, s, far, operation_at(far, place))
                if far.cta.rank == w.cta.rank:
                    end_global(far, place)
                place = place + 1
    end_touches(w)
    end_factors(w, s)
    if order.issued > s.birth:
        end_writers(w, s)


def end_factors(w: Warp, s: Shadow) -> None:
    """Report `tcgen05` instructions of another CTA that still read the ending memory."""
    if address(s.products) == 0:
        return
    for index in range(s.warps):
        for number in range(PRODUCTS):
            p = s.products[index * PRODUCTS + number]
            if p.lines != 0 and p.thread - s.first >= s.warps * 32 and is_read(w, me(w, 0), p) == 0:
                start = u32(factor_place(p.descriptor, u64(p.first), 0, 0, p.across))
                tell_end(w, s, p.thread, start, u32(ROW_BYTES), p.stamp)


def end_readers(w: Warp, s: Shadow, far: Warp, op: PendingOperation) -> None:
    """Report bulk operations that still read the ending memory."""
    left = shared_readers(op)
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        at = op.source[lane]
        if address(shadow_at(far, at)) == address(s) and is_done(w, me(w, 0), op, lane) == 0:
            tell_end(w, s, me(far, lane), u32(at & ((1 << CLUSTER_SHIFT) - 1)), op.taken[lane], op.stamp)


def end_global(w: Warp, number: u32) -> None:
    """What an operation of the CTA writes to global memory is written by the end of the CTA, and no earlier."""
    if operation_at(w, number).target_space != SHARED:
        for lane in range(32):
            end_writes(w, number, lane)


def end_writers(w: Warp, s: Shadow) -> None:
    """Report asynchronous operations that still write the ending memory and whose end no thread of the CTA has seen."""
    order = s.order
    last: u32 = 0
    place: u32 = 0
    while place < s.bytes:
        spend(w, 1)
        held = agent_of(s, place)
        if held != 0 and held != last:  # noqa: PLR1714 - native code has no sets
            tick = (held & (AGENT - 1)) >> order.bits
            if tick > s.birth and s.common[held & ((1 << order.bits) - 1)] < tick:
                last = held
                length: u32 = 1
                while place + length < s.bytes and agent_of(s, place + length) == held:
                    length = length + 1
                tell_end(w, s, thread_of(w, held), place, length, stamp_at(s, place, held))
        place = place + (count_alike(s, place, s.bytes - place) if has_history(s.writes[place]) == 0 else 1)


def agent_of(s: Shadow, at: u32) -> u32:
    """The entry of an agent among all that is remembered of a byte's writes; 0 without an agent."""
    held = s.writes[at]
    if has_history(held) == 0:
        return held if held & PENDING != 0 and held & AGENT != 0 else 0
    here = s.order.histories[number_of(held)].first[0]
    for _trace in range(u32(s.order.trace_limit) + 1):
        if address(here) == 0:
            return 0
        t = here
        if t.owner != 0 and t.who & PENDING != 0 and t.who & AGENT != 0:
            return t.who
        here = t.next
    return 0


def stamp_at(s: Shadow, at: u32, who: u32) -> u32:
    """The stamp beside an entry among all that is remembered of a byte's writes."""
    if has_history(s.writes[at]) != 0:
        here = s.order.histories[number_of(s.writes[at])].first[0]
        for _trace in range(u32(s.order.trace_limit) + 1):
            if address(here) == 0:
                break
            t = here
            if t.owner != 0 and t.who == who:
                return t.stamp
            here = t.next
    return s.write_sites[at]
