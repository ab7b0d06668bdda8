"""Rows of ticks, one a thread or agent: what a thread knows of others, or what has been published (vector clocks)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, pointer, u32, u64
from ptxloom.machine.runtime.shadow import Order

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def row_of(order: Order, thread: u32) -> Ptr[u32]:
    """What a thread knows."""
    return pointer(u32, address(order.known) + u64(thread * order.columns) * 4)


def at_row(rows: Ptr[u32], order: Order, number: u32) -> Ptr[u32]:
    """A row of a table."""
    return pointer(u32, address(rows) + u64(number * order.columns) * 4)


def join(into: Ptr[u32], source: Ptr[u32], count: u32) -> None:
    """Take the later tick of each column."""
    for column in range(count):
        into[column] = max(into[column], source[column])
