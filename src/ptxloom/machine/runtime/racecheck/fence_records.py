"""A thread's knowledge at its last fences and release, which its relaxed writes publish (PTX ISA 8.8).

What a thread learns afterwards is not part of a release pattern. Until then its rows say what it knew;
before it learns something, it is copied with its warp's to one of a few kept rows, which a later fence frees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, trailing_zeros, u32, u64
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.racecheck.tick_rows import at_row, join, row_of, row_of_warp
from ptxloom.machine.runtime.state import NONE, Warp
from ptxloom.machine.runtime.structs.shadow import FENCE_RECORDS, FEW_ROWS, FenceRecord, HappensBefore

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def fence_record_of(order: HappensBefore, thread: u32, kind: u32) -> FenceRecord:
    """The record of a thread's last fence of at least that scope, or of its last release."""
    return order.fence_records[kind * order.threads + thread]


def mark_fence(w: Warp, lane: u32, kind: u32) -> None:
    """Record a fence or a release of a lane."""
    order = w.shadow.order
    record = fence_record_of(order, me(w, lane), kind)
    record.tick = order.clock
    record.base = w.shadow.base
    record.kept = 0
    w.pointed = w.pointed | 1 << lane


def keep_fences(w: Warp, lanes: u32) -> None:
    """Before lanes learn something: keep what they knew at their fences."""
    left = w.pointed & lanes
    w.pointed = w.pointed & ~lanes
    order = w.shadow.order
    while left != 0:
        thread = me(w, trailing_zeros(left))
        left = left & left - 1
        number: u32 = 0
        for kind in range(FENCE_RECORDS):
            record = fence_record_of(order, thread, kind)
            if record.tick > w.shadow.birth and record.kept == 0:
                if number == 0:
                    number = keep_row(w, thread)
                record.kept = number


def keep_row(w: Warp, thread: u32) -> u32:
    """Copy what a thread knows to the row that has been kept longest; returns that row's number, from 1 on."""
    order = w.shadow.order
    number = order.kept_last % order.kept_limit + 1
    order.kept_last = number
    keeper = order.keepers[number]
    if keeper != 0:
        for kind in range(FENCE_RECORDS):
            if fence_record_of(order, keeper - 1, kind).kept == number:
                fence_record_of(order, keeper - 1, kind).kept = NONE
                order.limits = order.limits | FEW_ROWS
    order.keepers[number] = thread + 1
    copy(at_row(order.kept, order, number), row_of(order, thread), u64(order.columns) * 4)
    join(w, at_row(order.kept, order, number), row_of_warp(order, thread))
    return number


def publish_fence(w: Warp, lane: u32, kind: u32, into: Slice[u32]) -> None:
    """Publish what a lane knew at a fence or release, and what it had done itself."""
    s = w.shadow
    order = s.order
    thread = me(w, lane)
    if order.inits != 0:
        into[order.inits + thread] = max(into[order.inits + thread], row_of(order, thread)[order.inits + thread])
    record = fence_record_of(order, thread, kind)
    if record.tick <= s.birth or record.tick > order.clock:
        return
    if record.kept != NONE:
        if record.kept != 0:
            join(w, into, at_row(order.kept, order, record.kept))
        else:
            join(w, into, row_of(order, thread))
            join(w, into, row_of_warp(order, thread))
        if record.base >= s.changed:
            join(w, into, s.common)
        elif record.base >= s.changed_before:
            join(w, into, s.common_before)
    if w.launch.members > 1:
        for other in range(s.warps * 32):
            into[s.first + other] = max(into[s.first + other], record.base)
    into[thread] = max(into[thread], record.tick)
