"""Room for what racecheck and initcheck remember of a launch's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.machine import native
from ptxloom.machine.runtime import shadow, state
from ptxloom.machine.semantics import watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.launch import Grid

_LANES: Final = 32
_WORD: Final = 4


def watch_races(grid: Grid, ctas: Sequence[int]) -> None:
    """Give the CTAs of a cluster (their addresses, by rank) shadows of their shared memory."""
    warps: int = grid.launch.warps
    threads = len(ctas) * warps * _LANES
    order = _order(grid, len(ctas), threads)
    for rank, at in enumerate(ctas):
        cta: Any = native.structure(state.Cta).from_address(at)
        cta.shadow = _shadow(grid, order, rank, threads)
        for index in range(warps):
            warp: Any = native.structure(state.Warp).from_address(cta.warps + index * grid.warp_bytes)
            warp.shadow = cta.shadow


def _order(grid: Grid, members: int, threads: int) -> int:
    take = grid.arena.take
    at = take(shadow.ORDER_BYTES)
    order: Any = native.structure(shadow.Order).from_address(at)
    order.bits = (threads - 1).bit_length()
    order.ceiling = (1 << shadow.TICK_BITS - order.bits) - _LANES
    order.threads = threads
    order.columns = threads + shadow.COLUMNS
    if any(watch.orders_finely(op) for op in grid.program.ops):
        row = order.columns * _WORD
        order.known, order.seen = take(threads * row), take(threads * row)
        order.fences, order.syncs = take(threads * _WORD), take(shadow.SYNCS * shadow.SYNC_BYTES)
        order.arriving, order.complete = take(shadow.SYNCS * row), take(shadow.SYNCS * row)
        order.barriers, order.gathering = take(members * 16 * row), take(2 * row)
        order.room = take(row)
    return at


def _shadow(grid: Grid, order_at: int, rank: int, threads: int) -> int:
    take, size = grid.arena.take, grid.shared_bytes
    order: Any = native.structure(shadow.Order).from_address(order_at)
    at = take(shadow.SHADOW_BYTES)
    s: Any = native.structure(shadow.Shadow).from_address(at)
    s.order = order_at
    s.bytes, s.warps = size, grid.launch.warps
    s.first = rank * s.warps * _LANES
    readers = threads // _LANES
    s.summaries = -(-readers // 8) * 8
    s.writes, s.write_sites = take(size * _WORD), take(size * _WORD)
    s.reads, s.read_sites = take(readers * size * 8), take(readers * size * _WORD)
    s.summary = take(((size >> shadow.BLOCK_SHIFT) + 1) * s.summaries * _WORD)
    if order.known:
        s.common = take(order.columns * _WORD)
    if any(op.opcode == "cp" and op.has("async") for op in grid.program.ops):
        s.copies = take(s.warps * shadow.COPIES * shadow.COPY_BYTES)
    return at
