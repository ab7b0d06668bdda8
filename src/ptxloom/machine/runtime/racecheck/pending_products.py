"""Shared memory that `wgmma`, `tcgen05.mma` and `tcgen05.cp` may still read (PTX ISA 9.7.15.7, 9.7.16.6).

A product reads on behalf of its warpgroup until it is complete. A thread that has waited for it knows that of all four
warps: their reads are those of an agent, a thread that stands for the warpgroup, whose actions a wait reports. What
`tcgen05` reads is read by an agent of the thread that issues it; the mbarrier of a `tcgen05.commit` reports those.
"""

from __future__ import annotations

from typing import Final

from ptxloom.machine.native.language import address, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.matrix_layout import (
    ROW_BYTES,
    factor_high,
    factor_low,
    factor_place,
    holds_piece,
    is_invertible,
)
from ptxloom.machine.runtime.memory.places import warp_at
from ptxloom.machine.runtime.racecheck.fence_records import keep_fences
from ptxloom.machine.runtime.racecheck.happens_before import is_known, me, stamp_of
from ptxloom.machine.runtime.racecheck.product_registers import forget_registers
from ptxloom.machine.runtime.racecheck.race_report import READING, begun_at, report, warp_of
from ptxloom.machine.runtime.racecheck.sync_places import find_sync
from ptxloom.machine.runtime.racecheck.tick_rows import learn_column
from ptxloom.machine.runtime.racecheck.vector_clocks import forget_factors, released
from ptxloom.machine.runtime.state import NONE, SHARED, WARPGROUP, Cta, Warp
from ptxloom.machine.runtime.structs.pending_operations import PendingFactor
from ptxloom.machine.runtime.structs.shadow import PRODUCTS, SYNCS, Shadow

FEW_BYTES: Final = 256  # of which each piece is looked for in a factor; of more, each row of the factor among them


def product_at(w: Warp, number: u32) -> PendingFactor:
    """A place in a warp's ring of factors."""
    return w.shadow.products[w.index * PRODUCTS + number % PRODUCTS]


def group_column(w: Warp) -> u32:
    """The column of the agent of a warp's warpgroup; NONE if there is no room."""
    order = w.shadow.order
    sync = find_sync(order, address(warp_at(w.cta, w.index // WARPGROUP * WARPGROUP)), 1)
    return NONE if sync >= SYNCS else order.syncs[sync].column


@watching
def keep_product(w: Warp, descriptor: u64, first: u32, lines: u32, parts: u32, across: u32, stamp: u32) -> None:
    """A warp begins to read a factor; the oldest one in the ring is taken as read if there is no room."""
    column = group_column(w)
    if address(w.shadow.products) == 0 or column == NONE:
        return
    p = next_factor(w, me(w, 0), column, stamp)
    p.group = w.product_groups + 1
    p.descriptor = descriptor
    p.first = first
    p.lines = lines
    p.parts = parts
    p.across = across
    p.rows = 8
    p.done = 0
    bound_factor(w.shadow, p)


def next_factor(w: Warp, thread: u32, column: u32, stamp: u32) -> PendingFactor:
    """The next place in the ring of a warp of the CTA that holds a factor, which a thread begins to read."""
    order = w.shadow.order
    p = product_at(w, w.product_head)
    w.product_head = w.product_head + 1
    if p.lines == 0:
        order.reading = order.reading + 1
        order.multiplying = order.multiplying + 1
    p.stamp = stamp
    p.begun = order.clock
    p.thread = thread
    p.column = column
    return p


@watching
def keep_factor(
    w: Warp,
    cta: Cta,
    lane: u32,
    descriptor: u64,
    first: u32,
    lines: u32,
    parts: u32,
    rows: u32,
    across: u32,
    site: u32,
) -> None:
    """A lane's `tcgen05.mma` or `.cp` begins to read core matrices of a CTA's shared memory, `rows` of each."""
    if address(w.shadow) == 0:
        return
    column = thread_column(w, lane)
    if address(cta.shadow.products) == 0 or column == NONE:
        return
    p = next_factor(warp_at(cta, w.index), me(w, lane), column, stamp_of(w, site))
    p.group = NONE
    p.descriptor = descriptor
    p.first = first
    p.lines = lines
    p.parts = parts
    p.across = across
    p.rows = rows
    p.done = p.begun  # the mbarrier of a commit reports their end
    bound_factor(cta.shadow, p)


def bound_factor(s: Shadow, p: PendingFactor) -> None:
    """Record the bounds of a factor: writes elsewhere need not be compared with its rows."""
    p.low = u32(factor_low(p.descriptor))
    p.high = u32(factor_high(p.descriptor, u64(p.first + p.lines), u64(p.parts), p.across))
    s.factors_low = min(s.factors_low, p.low)
    s.factors_high = max(s.factors_high, p.high)


def thread_column(w: Warp, lane: u32) -> u32:
    """The column of the agent for what a lane issues; NONE if there is no room."""
    order = w.shadow.order
    sync = find_sync(order, address(w) + 1 + u64(lane), 1)
    return NONE if sync >= SYNCS else order.syncs[sync].column


def drop_products(cta: Cta) -> None:
    """Forget the reads of the previous CTA when a CTA starts."""
    if address(cta.shadow.products) == 0:
        return
    for index in range(cta.launch.warps):
        w = warp_at(cta, index)
        w.product_head = 0
        w.product_tail = 0
        forget_registers(w)
    forget_factors(cta.shadow)
    cta.shadow.factors_low = NONE
    cta.shadow.factors_high = 0


@watching
def learn_products(w: Warp, lanes: u32, groups: u32) -> None:
    """Lanes have waited for groups of products: they know that the whole warpgroup has read their factors.

    The agent's tick is that of the first wait: products of later groups, which some warps may have begun by then, are
    not among them.
    """
    if address(w.shadow.products) == 0 or groups == 0:
        return
    tick: u32 = 0
    column = group_column(w)
    first = w.index // WARPGROUP * WARPGROUP
    for index in range(first, min(first + WARPGROUP, w.launch.warps)):
        other = warp_at(w.cta, index)
        for number in range(PRODUCTS):
            p = product_at(other, number)
            if p.lines != 0 and p.group <= groups:
                if p.done == 0:
                    p.done = w.shadow.order.clock
                tick = max(tick, p.done)
    if column == NONE or tick == 0:
        return
    keep_fences(w, lanes)
    learn_column(w, lanes, w.shadow.order.threads + column, tick)
    released(w)


def product_readers(w: Warp, s: Shadow, lane: u32, at: u32, size: u32, stamp: u32) -> None:
    """Report the products that may still read some bytes which a lane writes."""
    thread = me(w, lane)
    for warp in range(s.warps):
        far = warp_of(w, s.first + warp * 32)
        first = first_unread(w, s, far, thread)
        oldest = first % PRODUCTS
        count = far.product_head - first
        assert count <= PRODUCTS
        around = max(oldest + count, PRODUCTS) - PRODUCTS
        for number in range(count):  # by their places
            p = product_at(far, number if number < around else oldest + number - around)
            if p.lines != 0 and at < p.high and at + size > p.low and is_read(w, thread, p) == 0:
                found = first_byte(p, at, size)
                if found != NONE:
                    reader = thread if p.thread // 32 == thread // 32 else p.thread
                    before = begun_at(w, p.stamp, p.begun)
                    length = min(size - (found - at), u32(ROW_BYTES) - (found & ROW_BYTES - 1))
                    report(w, s, lane, found, length, stamp, 1, before, reader, READING, SHARED)


def first_unread(w: Warp, s: Shadow, far: Warp, thread: u32) -> u32:
    """The number of a factor in a warp's ring before which a thread knows all to be read.

    Those of `wgmma` are read one after the other: who knows that one of them is, knows that of all before it.
    """
    tail = oldest_factor(s, far)
    number = far.product_head
    for _factor in range(PRODUCTS):
        if number == tail:
            break
        p = product_at(far, number - 1)
        if p.group != NONE and p.lines != 0 and is_read(w, thread, p) != 0:
            break
        number = number - 1
    return number


def oldest_factor(s: Shadow, far: Warp) -> u32:
    """The number of the oldest factor in a warp's ring that not all threads know to be read; older ones go."""
    if far.product_head - far.product_tail > PRODUCTS:
        far.product_tail = far.product_head - PRODUCTS
    for _factor in range(PRODUCTS):
        if far.product_tail == far.product_head:
            break
        p = product_at(far, far.product_tail)
        if p.lines != 0:
            if far.launch.members > 1 or p.done == 0 or s.common[s.order.threads + p.column] < p.done:
                break
            p.lines = 0
            s.order.reading = s.order.reading - 1
            s.order.multiplying = s.order.multiplying - 1
        far.product_tail = far.product_tail + 1
    return far.product_tail


def is_read(w: Warp, thread: u32, p: PendingFactor) -> u32:
    """1 if a thread knows that a factor has been read."""
    if p.done == 0:
        return 0
    return is_known(w, thread, w.shadow.order.threads + p.column, p.done)


def first_byte(p: PendingFactor, at: u32, size: u32) -> u32:
    """The first of some bytes that belongs to a factor; NONE if no byte does."""
    if size <= FEW_BYTES and is_invertible(p.descriptor, u64(p.first + p.lines), p.across) != 0:
        for number in range(FEW_BYTES // ROW_BYTES + 1):
            place = (at & ~(u32(ROW_BYTES) - 1)) + number * ROW_BYTES
            if place >= at + size:
                break
            if holds_piece(p.descriptor, p.first, p.lines, p.parts, p.rows, p.across, u64(place)) != 0:
                return max(at, place)
        return NONE
    return first_of_rows(p, at, size)


def first_of_rows(p: PendingFactor, at: u32, size: u32) -> u32:
    """The same, row by row."""
    assert p.lines <= 64
    assert p.parts <= 64
    found: u32 = NONE
    for line in range(p.lines):
        for column in range(p.parts):
            for row in range(8):
                if row >= p.rows:
                    break
                start = u32(factor_place(p.descriptor, u64(p.first + line), u64(column), row, p.across))
                low = max(at, start)
                if low < min(at + size, start + ROW_BYTES):
                    found = min(found, low)
    return found
