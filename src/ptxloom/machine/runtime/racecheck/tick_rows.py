"""Rows of ticks, one a thread or agent: what a thread knows of others, or what has been published (vector clocks)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import length, part, u32, u64
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.shadow import HappensBefore
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
