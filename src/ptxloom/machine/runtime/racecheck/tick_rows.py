"""Rows of ticks, one a thread or agent: what a thread knows of others, or what has been published (vector clocks).

Lanes mostly learn together. So what all living lanes of a warp learn at once is kept once, in a row of the warp; what
only some learn is kept in their own rows (`Warp.own`). A lane's own fences stand in a few columns of its row, whatever
else is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, length, part, trailing_zeros, u32, u64
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.shadow import COLUMNS, HappensBefore
from ptxloom.machine.runtime.turns import QUICK, spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def row_of(order: HappensBefore, thread: u32) -> Slice[u32]:
    """What a thread knows."""
    return part(order.known, u64(thread) * u64(order.columns), order.columns)


def row_of_warp(order: HappensBefore, thread: u32) -> Slice[u32]:
    """What all threads of a thread's warp know."""
    return part(order.known_to_warps, u64(thread // 32) * u64(order.columns), order.columns)


def at_row(rows: Slice[u32], order: HappensBefore, number: u32) -> Slice[u32]:
    """A row of a table."""
    return part(rows, u64(number) * u64(order.columns), order.columns)


def join(w: Warp, into: Slice[u32], source: Slice[u32]) -> None:
    """Take the later tick of each column, for a warp."""
    spend(w, u32(length(into)) >> QUICK)
    for column in range(u32(min(length(into), length(source)))):
        into[column] = max(into[column], source[column])


def is_whole(w: Warp, lanes: u32) -> u32:
    """1 if lanes are all that live in a warp."""
    return u32(lanes & w.live == w.live)


def tell_lanes(w: Warp, lanes: u32, into: Slice[u32]) -> None:
    """Publish what lanes know and not all of their warp do."""
    order = w.shadow.order
    left = lanes
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        row = row_of(order, me(w, lane))
        if w.own >> lane & 1 != 0:
            join(w, into, row)
        else:
            tell_fences(order, me(w, lane), row, into)


def tell_fences(order: HappensBefore, thread: u32, row: Slice[u32], into: Slice[u32]) -> None:
    """Publish the columns in which a thread's row holds fences of its own."""
    if order.fenced != 0:
        tell_column(row, into, order.fenced + thread)
        if address(order.grid) != 0:
            tell_column(row, into, order.fenced + order.threads + thread)
    if order.mapped != 0:
        tell_column(row, into, order.mapped + thread)
    if order.inits != 0:
        tell_column(row, into, order.inits + thread)
    if order.tensor != 0:
        tell_column(row, into, order.tensor + thread // 32)
        tell_column(row, into, order.tensor + tensor_columns(order) + thread // 32)


def tell_column(row: Slice[u32], into: Slice[u32], column: u32) -> None:
    """Publish one column."""
    into[column] = max(into[column], row[column])


def tensor_columns(order: HappensBefore) -> u32:
    """How many columns hold fences of `tcgen05`: one for each warp of the cluster, one for each agent."""
    return order.threads // 32 + COLUMNS


def learn_column(w: Warp, lanes: u32, column: u32, tick: u32) -> None:
    """Lanes learn up to which tick one other has come."""
    order = w.shadow.order
    if is_whole(w, lanes) != 0:
        row = row_of_warp(order, me(w, 0))
        row[column] = max(row[column], tick)
    else:
        left = lanes
        while left != 0:
            row = row_of(order, me(w, trailing_zeros(left)))
            left = left & left - 1
            row[column] = max(row[column], tick)
        w.own = w.own | lanes
        w.uneven = w.uneven | lanes
    w.acquired = w.acquired | lanes


def learn_row(w: Warp, lanes: u32, source: Slice[u32]) -> None:
    """Lanes learn what has been published."""
    order = w.shadow.order
    if is_whole(w, lanes) != 0:
        join(w, row_of_warp(order, me(w, 0)), source)
    else:
        left = lanes
        while left != 0:
            join(w, row_of(order, me(w, trailing_zeros(left))), source)
            left = left & left - 1
        w.own = w.own | lanes
        w.uneven = w.uneven | lanes
    w.acquired = w.acquired | lanes
