"""Racecheck's model of tensor memory: which accesses are ordered (PTX ISA 9.7.16.6).

A `tcgen05.ld` or `.st` is done for its warp once that has waited (`tcgen05.wait`), and for others once they know that.
A `tcgen05.mma`, `.cp` or `.shift` is done for those who have seen the phase of an mbarrier complete to which a
`tcgen05.commit` of its thread arrives: an agent of the thread makes it, and that mbarrier reports its actions. A few
pairs are a pipeline, and in order without a wait. Between threads `tcgen05.fence::before_thread_sync` and
`::after_thread_sync` belong around what orders them; `strict` runs ask for these, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, fill, trailing_zeros, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.hazards import note_pair
from ptxloom.machine.runtime.racecheck.fence_records import keep_fences
from ptxloom.machine.runtime.racecheck.happens_before import is_known, known_tick, me, stamp_of
from ptxloom.machine.runtime.racecheck.pending_products import thread_column
from ptxloom.machine.runtime.racecheck.race_report import READING, begun_at, report, tell_end_in, warp_of
from ptxloom.machine.runtime.racecheck.tick_rows import is_whole, row_of, row_of_warp, tensor_columns
from ptxloom.machine.runtime.racecheck.vector_clocks import released
from ptxloom.machine.runtime.state import NONE, TENSOR, TENSOR_UNFENCED, Cta, Warp
from ptxloom.machine.runtime.structs.pending_operations import TensorAccess
from ptxloom.machine.runtime.structs.shadow import SITE, TENSOR_ACCESSES, HappensBefore, Shadow
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

LOADS, STORES, FREES, COPIES, LAST_ROWS, SHIFTS, PRODUCTS = range(7)  # LAST_ROWS: `tcgen05.cp.4x256b`
UNORDERED, ORDERED, UNFENCED = range(3)  # what two accesses are


# -- what is done


@watching
def begin_touch(w: Warp, lane: u32, does: u32, pipe: u64, site: u32) -> None:
    """A lane, or the warp of one, begins something; `add_lanes` and `touch_tensor` say where."""
    if address(w.shadow) == 0:
        return
    order = w.shadow.order
    a = order.touching[0]
    a.serial = a.serial + 1
    a.stamp = stamp_of(w, site)
    a.begun = order.clock
    a.done = 0
    a.thread = me(w, lane)
    a.does = does
    a.pipe = pipe
    a.column = 0
    if does >= COPIES:
        a.column = thread_column(w, lane)
    clear_lanes(w)


@watching
def clear_lanes(w: Warp) -> None:
    """No lanes of tensor memory yet."""
    if address(w.shadow) != 0:
        fill(w.shadow.order.touching[0].lanes, 0)


@watching
def add_lanes(w: Warp, first: u32, count: u32) -> None:
    """Lanes of tensor memory from one on."""
    if address(w.shadow) == 0:
        return
    lanes = w.shadow.order.touching[0].lanes
    for quarter in range(4):
        low = max(first, 32 * quarter)
        high = min(first + count, 32 * quarter + 32)
        if low < high:
            bits = (u64(1) << u64(high - low)) - 1
            lanes[quarter] = lanes[quarter] | u32(bits << u64(low & 31))


@watching
def drop_lanes(w: Warp, quarter: u32, lanes: u32) -> None:
    """Some lanes of a quarter are left alone."""
    if address(w.shadow) != 0:
        touched = w.shadow.order.touching[0].lanes
        touched[quarter] = touched[quarter] & ~lanes


@watching
def touch_tensor(w: Warp, cta: Cta, first: u32, columns: u32, writes: u32) -> None:
    """Compare what has begun, in some columns of a CTA, with what is remembered of them, and remember it."""
    if address(w.shadow) == 0 or address(cta.shadow.touches) == 0:
        return
    s = cta.shadow
    a = w.shadow.order.touching[0]
    if a.column == NONE:
        return
    a.first = first
    a.columns = columns
    a.writes = writes
    if s.ended != 0 and s.first != w.shadow.first:
        tell_end_in(w, s, a.thread, common_word(a, a), TENSOR, 4 * columns, a.stamp)
    found: u32 = NONE
    spend(w, 16)
    for number in range(TENSOR_ACCESSES):
        t = s.touches[number]
        if t.begun != 0:
            if (t.writes | writes) != 0 and overlap(t, a) != 0:
                judge(w, s, t, a)
            if is_replaced(t, a) != 0:
                found = number
    if a.does == FREES:
        return
    if found == NONE:
        found = s.touch_head % TENSOR_ACCESSES
        s.touch_head = s.touch_head + 1
    keep(s.touches[found], a)


def overlap(t: TensorAccess, a: TensorAccess) -> u32:
    """1 if two accesses share a word."""
    if t.first >= a.first + a.columns or a.first >= t.first + t.columns:
        return 0
    both: u32 = 0
    for quarter in range(4):
        both = both | t.lanes[quarter] & a.lanes[quarter]
    return u32(both != 0)


def is_replaced(t: TensorAccess, a: TensorAccess) -> u32:
    """1 if the access at hand stands for a former one: to know that it is done is to know that of the former."""
    same = u32(t.thread == a.thread and t.does == a.does and t.writes == a.writes and t.pipe == a.pipe)
    if same == 0 or t.first != a.first or t.columns != a.columns or t.stamp & SITE != a.stamp & SITE:
        return 0
    apart: u32 = 0
    for quarter in range(4):
        apart = apart | t.lanes[quarter] ^ a.lanes[quarter]
    return u32(apart == 0)


def keep(t: TensorAccess, a: TensorAccess) -> None:
    """Record an access."""
    t.pipe = a.pipe
    t.serial = a.serial
    t.stamp = a.stamp
    t.begun = a.begun
    t.done = 0
    t.thread = a.thread
    t.does = a.does
    t.writes = a.writes
    t.column = a.column
    t.first = a.first
    t.columns = a.columns
    for quarter in range(4):
        t.lanes[quarter] = a.lanes[quarter]


# -- what orders it


def is_pipeline(t: TensorAccess, a: TensorAccess) -> u32:
    """1 if two asynchronous operations are executed in the order in which they are issued (9.7.16.6.2)."""
    if t.does == PRODUCTS:
        return u32(a.does == SHIFTS or (a.does == PRODUCTS and t.pipe == a.pipe))
    if t.does == SHIFTS:
        return u32(a.does == PRODUCTS or a.does == LAST_ROWS)  # noqa: PLR1714 - native code has no sets
    return u32(t.does >= COPIES and a.does == PRODUCTS)


def is_copy(t: TensorAccess) -> u32:
    """1 for `tcgen05.cp`."""
    return u32(t.does == COPIES or t.does == LAST_ROWS)  # noqa: PLR1714 - native code has no sets


def is_taken_for_one(t: TensorAccess, a: TensorAccess) -> u32:
    """1 for a copy over what the same thread's products still read, or copies still write.

    No pipeline has it, but CUTLASS's block-scaled products bring the next scales in this way.
    """
    reads = u32(t.does == PRODUCTS and t.writes == 0)
    return is_copy(a) & u32(t.thread == a.thread) & (reads | is_copy(t))


def order_of(w: Warp, t: TensorAccess, a: TensorAccess) -> u32:
    """Whether the access at hand comes behind a former one: UNORDERED, ORDERED or UNFENCED."""
    order = w.shadow.order
    warp = t.thread // 32
    if order.strict == 0 and is_taken_for_one(t, a) != 0:
        return ORDERED
    if is_pipeline(t, a) != 0:
        return ORDERED if t.thread == a.thread else knows(w, a, t.thread, warp, t.begun)
    if t.does >= COPIES:
        return knows(w, a, order.threads + t.column, order.threads // 32 + t.column, t.begun)
    when = t.done
    if when == 0 and t.does == LOADS and a.does == FREES and order.strict == 0:
        when = t.begun  # every user of the registers has read
    if when != 0 and warp != a.thread // 32:
        return knows(w, a, t.thread, warp, when)
    return u32(when != 0)


def knows(w: Warp, a: TensorAccess, other: u32, column: u32, tick: u32) -> u32:
    """Whether those who make the access at hand know what another thread or agent did at a tick, and with fences."""
    order = w.shadow.order
    left = w.mask
    if a.does >= COPIES:
        left = 1 << (a.thread & 31)
    plain: u32 = 0
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        if lies_between(w, lane, column, tick) != 0:
            return ORDERED
        plain = plain | is_told(w, lane, other, tick)
    if plain == 0:
        return UNORDERED
    return ORDERED if order.strict == 0 or a.does == FREES else UNFENCED


def is_told(w: Warp, lane: u32, other: u32, tick: u32) -> u32:
    """1 if a lane knows what another thread did at a tick, or any other thread of that one's warp."""
    order = w.shadow.order
    if is_known(w, me(w, lane), other, tick) != 0:
        return 1
    if other >= order.threads:
        return 0
    for number in range(32):
        if is_known(w, me(w, lane), other & ~u32(31) | number, tick) != 0:
            return 1
    return 0


def lies_between(w: Warp, lane: u32, column: u32, tick: u32) -> u32:
    """1 if a lane knows of what a warp or an agent did at a tick, with fences before and behind what conveyed it."""
    s = w.shadow
    if s.order.lost != 0 or tick <= s.birth:
        return 1
    at = s.order.tensor + tensor_columns(s.order) + column
    return u32(known_tick(s, me(w, lane), at) >= tick)


@watching
def fence_tensor(w: Warp, lanes: u32, after: u32) -> None:
    """`tcgen05.fence::before_thread_sync` of lanes, or `::after_thread_sync`."""
    s = w.shadow
    order = s.order
    if order.tensor == 0:
        return
    keep_fences(w, lanes)
    whole = is_whole(w, lanes)
    shared = row_of_warp(order, me(w, 0))
    if after != 0 and whole != 0:
        pass_on(order, shared, shared, s.common)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            row = row_of(order, me(w, lane))
            if after == 0:
                row[order.tensor + me(w, lane) // 32] = order.clock
            elif whole == 0:
                pass_on(order, row, row, s.common)
                pass_on(order, row, shared, shared)
            elif w.own >> lane & 1 != 0:
                pass_on(order, row, row, row)
            else:
                own = order.tensor + me(w, lane) // 32
                row[own + tensor_columns(order)] = max(row[own + tensor_columns(order)], row[own])
    if after != 0 and whole == 0:
        w.own = w.own | lanes
    w.acquired = w.acquired | lanes
    w.uneven = w.uneven | lanes
    released(w)


def pass_on(order: HappensBefore, row: Slice[u32], source: Slice[u32], other: Slice[u32]) -> None:
    """Record in a row that what two rows tell to precede a fence follows the other kind of fence, too."""
    count = tensor_columns(order)
    for column in range(count):
        at = order.tensor + column
        told = max(source[at], other[at])
        row[at + count] = max(row[at + count], told)


@watching
def wait_tensor(w: Warp, does: u32) -> None:
    """`tcgen05.wait`: the warp's loads, or its stores, are done."""
    s = w.shadow
    if address(s.touches) == 0:
        return
    spend(w, 8)
    for number in range(TENSOR_ACCESSES):
        t = s.touches[number]
        if t.does == does and t.done == 0 and t.thread // 32 == me(w, 0) // 32:
            t.done = s.order.clock


# -- reports


def judge(w: Warp, s: Shadow, t: TensorAccess, a: TensorAccess) -> None:
    """Report two overlapping accesses, unless the current one is ordered after the earlier one."""
    found: u32 = UNORDERED
    if t.serial != a.serial:
        found = order_of(w, t, a)
    if found == ORDERED:
        return
    size = 4 * min(t.columns, a.columns)
    before = begun_at(w, t.stamp, t.begun)
    lane = a.thread & 31
    if found == UNFENCED:
        far = warp_of(w, t.thread)
        note_pair(
            w, TENSOR_UNFENCED, a.stamp & SITE, lane, common_word(t, a), TENSOR, size, t.stamp & SITE, far.index,
            t.thread & 31, far.cta.ctaid,
        )  # fmt: skip
        return
    thread = a.thread if t.thread // 32 == a.thread // 32 else t.thread
    report(w, s, lane, u32(common_word(t, a)), size, a.stamp, a.writes, before, thread, READING | t.writes, TENSOR)


def common_word(t: TensorAccess, a: TensorAccess) -> u64:
    """The address of the first word that two accesses have in common."""
    for quarter in range(4):
        both = t.lanes[quarter] & a.lanes[quarter]
        if both != 0:
            return u64(quarter * 32 + trailing_zeros(both)) << 16 | u64(max(t.first, a.first))
    return u64(a.first)


# -- beginning and end


@watching
def forget_columns(w: Warp, cta: Cta, first: u32, columns: u32) -> None:
    """Columns are free: what was done to them no longer matters."""
    if address(w.shadow) == 0 or address(cta.shadow.touches) == 0:
        return
    for number in range(TENSOR_ACCESSES):
        t = cta.shadow.touches[number]
        if t.first < first + columns and first < t.first + t.columns:
            t.begun = 0


def end_touches(w: Warp) -> None:
    """A CTA comes to its end: note what its peer's threads still do to its tensor memory, as far as its own know."""
    s = w.shadow
    order = s.order
    if address(s.touches) == 0:
        return
    for number in range(TENSOR_ACCESSES):
        t = s.touches[number]
        others = u32(t.begun != 0 and t.does >= COPIES and t.thread - s.first >= s.warps * 32)
        if others != 0 and order.lost == 0 and s.common[order.threads + t.column] < t.begun:
            tell_end_in(w, s, t.thread, common_word(t, t), TENSOR, 4 * t.columns, t.stamp)
