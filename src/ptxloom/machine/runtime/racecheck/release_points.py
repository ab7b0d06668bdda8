"""What a thread knew at its last fences, and when it last released: that is what its relaxed writes publish (8.8).

What a thread learns afterwards is not part of a release pattern. Until then its row of `known` says what it knew;
before it learns something, the row is copied to one of a few kept rows, which a later fence frees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, u32, u64
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.racecheck.tick_rows import at_row, join, row_of
from ptxloom.machine.runtime.state import NONE, Warp
from ptxloom.machine.runtime.structs.shadow import FEW_ROWS, POINTS, Order, Point

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def point_of(order: Order, thread: u32, kind: u32) -> Point:
    """The last point of a kind in what a thread did: a fence of a scope as wide at least, or a release."""
    return order.points[kind * order.threads + thread]


def mark_point(w: Warp, lane: u32, kind: u32) -> None:
    """A lane fences, or releases, now."""
    order = w.shadow.order
    point = point_of(order, me(w, lane), kind)
    point.tick = order.clock
    point.base = w.shadow.base
    point.kept = 0
    w.pointed = w.pointed | 1 << lane


def keep_points(w: Warp, lane: u32) -> None:
    """A lane is about to learn something: keep what it knew at its points."""
    if w.pointed >> lane & 1 == 0:
        return
    w.pointed = w.pointed & ~(1 << lane)
    order = w.shadow.order
    number: u32 = 0
    for kind in range(POINTS):
        point = point_of(order, me(w, lane), kind)
        if point.tick > w.shadow.birth and point.kept == 0:
            if number == 0:
                number = keep_row(order, me(w, lane))
            point.kept = number


def keep_row(order: Order, thread: u32) -> u32:
    """Copy what a thread knows to the row that has been kept longest; returns that row's number, from 1 on."""
    number = order.kept_last % order.kept_limit + 1
    order.kept_last = number
    keeper = order.keepers[number]
    if keeper != 0:
        for kind in range(POINTS):
            if point_of(order, keeper - 1, kind).kept == number:
                point_of(order, keeper - 1, kind).kept = NONE
                order.limits = order.limits | FEW_ROWS
    order.keepers[number] = thread + 1
    copy(at_row(order.kept, order, number), row_of(order, thread), u64(order.columns) * 4)
    return number


def publish_point(w: Warp, lane: u32, kind: u32, into: Slice[u32]) -> None:
    """Publish what a lane knew at a point, and what it had done itself."""
    s = w.shadow
    order = s.order
    thread = me(w, lane)
    if order.inits != 0:
        into[order.inits + thread] = max(into[order.inits + thread], row_of(order, thread)[order.inits + thread])
    point = point_of(order, thread, kind)
    if point.tick <= s.birth or point.tick > order.clock:
        return
    if point.kept != NONE:
        row = row_of(order, thread)
        if point.kept != 0:
            row = at_row(order.kept, order, point.kept)
        join(w, into, row)
        if point.base >= s.changed:
            join(w, into, s.common)
        elif point.base >= s.changed_before:
            join(w, into, s.common_before)
    if w.launch.members > 1:
        for other in range(s.warps * 32):
            into[s.first + other] = max(into[s.first + other], point.base)
    into[thread] = max(into[thread], point.tick)
