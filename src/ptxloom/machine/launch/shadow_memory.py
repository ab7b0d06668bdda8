"""Room for what racecheck and initcheck remember of a launch's memory."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ptxloom.machine.analysis.definite_assignment import unsure_registers
from ptxloom.machine.instruments import racecheck
from ptxloom.machine.native import language
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.initcheck import slow_path
from ptxloom.machine.runtime.racecheck import shadow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ptxloom.machine.memory.arena import Arena
    from ptxloom.machine.memory.piece import Piece
    from ptxloom.machine.program.model import Program

_LANES: Final = 32
_WORD: Final = 4
_ALIGNMENT: Final = 64
_COLUMNS: Final = 1 << 16  # of what the clusters of a grid publish at a flag
_FLAG_WORDS: Final = 1 << 26  # of all flags
_TRACES: Final = 1 << 14  # further ones, beside those that cells hold and two for each word
_FLAGS: Final = (64, 4096)  # how many at least, and at most
_SHARED: Final = "racecheck's record of shared memory"
_GLOBAL: Final = "racecheck's record of global memory"


def watch_races(arena: Arena, launch: Any, program: Program, ctas: Sequence[int], races: GlobalRaces | None) -> None:
    """Give the CTAs of a cluster (their addresses, by rank) shadows of their shared memory.

    Args:
        arena: Where the shadows come from.
        launch: The `state.Launch`.
        program: What runs.
        ctas: The addresses of the CTAs, by rank.
        races: What is remembered of global memory, if that is watched too.
    """
    warps: int = launch.warps
    order = _order(arena, launch, program, races)
    for rank, at in enumerate(ctas):
        cta: Any = language.structure(state.Cta).from_address(at)
        cta.shadow = _shadow(arena, launch, program, order, rank)
        for index in range(warps):
            warp: Any = language.structure(state.Warp).from_address(cta.warps + index * launch.warp_bytes)
            warp.shadow = cta.shadow


def _order(arena: Arena, launch: Any, program: Program, races: GlobalRaces | None) -> int:
    take = partial(arena.take, what=_SHARED)
    members: int = launch.members
    threads: int = members * launch.warps * _LANES
    at = take(shadow.ORDER_BYTES)
    order: Any = language.structure(shadow.Order).from_address(at)
    order.bits = (threads + shadow.COLUMNS - 1).bit_length()
    order.ceiling = (1 << shadow.TICK_BITS - order.bits) - _LANES
    order.threads = threads
    order.columns = threads + shadow.COLUMNS
    order.access = take(shadow.ACCESS_BYTES)
    order.crowd_limit = members * launch.shared_bytes
    order.crowds = take((order.crowd_limit + 1) * shadow.CROWD_BYTES)
    room = (_TRACES + order.crowd_limit) * shadow.TRACE_BYTES
    order.first_trace = order.next_trace = take(room)
    order.last_trace = order.first_trace + room
    if any(racecheck.goes_by_async_proxy(op) for op in program.ops):
        order.fenced = order.columns
        order.columns += threads * (1 if races is None else 2)
    order.issuers = take(shadow.COLUMNS * _WORD)
    if races is not None:
        order.grid = races.address
    if members > 1 or any(racecheck.orders_finely(op) for op in program.ops):
        row = order.columns * _WORD
        order.known, order.seen = take(threads * row), take(threads * row)
        order.fences, order.fences_wide = take(threads * _WORD), take(threads * _WORD)
        order.released_when, order.released_scope = take(threads * _WORD), take(threads * _WORD)
        order.released_at, order.syncs = take(threads * 2 * _WORD), take(shadow.SYNCS * shadow.SYNC_BYTES)
        order.arriving, order.complete = take(shadow.SYNCS * row), take(shadow.SYNCS * row)
        order.seen_inside, order.inside = order.seen, order.complete  # but in a cluster a CTA is not all
        if members > 1:
            order.seen_inside, order.inside = take(threads * row), take(shadow.SYNCS * row)
        order.barriers, order.gathering = take(members * 16 * row), take(2 * row)
        order.room = take(row)
        if races is not None:
            row = races.columns * _WORD
            order.lessons, order.learnt = take(shadow.LESSONS * shadow.LESSON_BYTES), take((shadow.LESSONS + 1) * row)
            order.taught, order.fences_far = take(row), take(threads * _WORD)
            order.fences_total = take(threads * _WORD)
    return at


def _shadow(arena: Arena, launch: Any, program: Program, order_at: int, rank: int) -> int:
    take, size = partial(arena.take, what=_SHARED), launch.shared_bytes
    threads: int = launch.members * launch.warps * _LANES
    order: Any = language.structure(shadow.Order).from_address(order_at)
    at = take(shadow.SHADOW_BYTES)
    s: Any = language.structure(shadow.Shadow).from_address(at)
    s.order = order_at
    s.bytes, s.warps = size, launch.warps
    s.first = rank * s.warps * _LANES
    readers = threads // _LANES
    s.summaries = -(-readers // 8) * 8
    s.writes, s.write_sites = take(size * _WORD), take(size * _WORD)
    s.reads = take(readers * size * 8)
    s.looks = take(s.warps * shadow.LOOKS * shadow.LOOK_BYTES)
    s.summary = take(((size >> shadow.BLOCK_SHIFT) + 1) * s.summaries * _WORD)
    if order.known:
        s.common = take(order.columns * _WORD)
    if launch.members > 1:
        s.visits = take(threads * shadow.VISIT_BYTES)
    if any(op.opcode == "cp" and op.has("async") for op in program.ops):
        s.operations = take(s.warps * shadow.OPERATIONS * shadow.OPERATION_BYTES)
    return at


def watch_first_reads(arena: Arena, launch: Any, ctas: Sequence[int]) -> None:
    """Give the CTAs of a cluster marks of what has been written in their shared and local memory."""
    take = partial(arena.take, what="initcheck's marks of shared and local memory")
    for at in ctas:
        cta: Any = language.structure(state.Cta).from_address(at)
        cta.written = take(launch.shared_bytes + 1)
        for index in range(launch.warps):
            warp: Any = language.structure(state.Warp).from_address(cta.warps + index * launch.warp_bytes)
            warp.written = cta.written
            if launch.local_bytes:
                warp.local_written = _unwritten(take, _LANES * launch.local_bytes)


def _unwritten(take: Callable[[int], int], size: int) -> int:
    """Marks of memory in which nobody has written."""
    at = take(size)
    ctypes.memset(at, slow_path.UNWRITTEN_BYTE, size)
    return at


def poison_bytes(program: Program, checks: frozenset[str]) -> tuple[int, int]:
    """The poison of a warp's registers, in bytes, and where in it that of unsure ones starts; 0 if nobody watches."""
    if checks.isdisjoint(("initcheck", "initcheck:global")):
        return 0, 0
    unsure = unsure_registers(program).bytes if "initcheck" in checks else 0
    return program.register_bytes + unsure, program.register_bytes


class Unwritten:
    """Global memory that came uninitialised, each piece with marks of what has been written since."""

    def __init__(self, arena: Arena, arrays: Sequence[NDArray[Any]]) -> None:
        self._arena = arena
        self._pieces: list[tuple[int, int, int]] = []  # start, end, marks
        for array in arrays:
            self.add(array)

    def add(self, array: NDArray[Any], written: Iterable[Piece] = ()) -> None:
        """Another piece, of which parts are written."""
        start = array.ctypes.data
        marks = _unwritten(partial(self._arena.take, what="initcheck's marks of global memory"), array.nbytes + 1)
        self._pieces.append((start, start + array.nbytes, marks))
        for part in written:
            ctypes.memset(marks + part.start - start, slow_path.WRITTEN, part.size)

    def renew(self, address: int, size: int) -> None:
        """Bytes of a piece are somebody else's from now on: they hold nothing."""
        for start, end, marks in self._pieces:
            if start <= address < end:
                ctypes.memset(marks + address - start, slow_path.UNWRITTEN_BYTE, size)

    def mark(self, table: NDArray[np.uint64]) -> None:
        """Set the marks of the spans in a table (`state.Span`) that lie in one of the pieces."""
        for row in table:
            for start, end, marks in self._pieces:
                if start <= row[0] and row[1] <= end and row[0] < row[1]:
                    row[3] = marks + int(row[0]) - start


class GlobalRaces:
    """What racecheck remembers of global memory.

    Attributes:
        address: Where the grid's part lies (`shadow.Grid`).
        columns: Of a row of ticks: the threads of the grid, or fewer if there are too many.
    """

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._cells: dict[tuple[int, int], int] = {}
        self.address = arena.take(shadow.GRID_BYTES)
        self.columns = 0

    def start(self, launch: Any, members: int) -> None:
        """Make room for what the clusters, of so many CTAs, publish; the launch's shape is known by now."""
        take = partial(self._arena.take, what=_GLOBAL)
        threads = members * launch.warps * _LANES
        shift = 0
        while launch.total * -(-threads >> shift) > _COLUMNS and threads >> shift:
            shift += 1
        share = -(-threads >> shift)
        self.columns = launch.total * share
        state_: Any = language.structure(shadow.Grid).from_address(self.address)
        state_.columns, state_.share, state_.shift = self.columns, share, shift
        state_.limit = min(max(_FLAG_WORDS // self.columns, _FLAGS[0]), _FLAGS[1])
        state_.flags = take(state_.limit * shadow.FLAG_BYTES)
        state_.rows = take(state_.limit * self.columns * _WORD)
        state_.over, state_.told = take(launch.total), take(self.columns * _WORD)

    def mark(self, table: NDArray[np.uint64]) -> None:
        """Give the spans of a table (`state.Span`) that may be written their cells."""
        for row in table:
            start, end = int(row[0]), int(row[1])
            if start < end and row[2]:
                row[4] = self._cells[start, end] = self._cells_of(_words(start, end), end - start)

    def _cells_of(self, words: int, size: int) -> int:
        """Cells for a piece of memory, and room for further traces of what is accessed there."""
        take = partial(self._arena.take, what=_GLOBAL)
        at = take((words + size) * shadow.CELL_BYTES)
        state_: Any = language.structure(shadow.Grid).from_address(self.address)
        room = (_TRACES + 2 * words) * shadow.TRACE_BYTES
        if state_.last_trace - state_.next_trace < room:
            state_.next_trace = take(room)
            state_.last_trace = state_.next_trace + room
        return at

    def renew(self, address: int, size: int) -> None:
        """Bytes are somebody else's from now on: forget who accessed them."""
        for (start, end), cells in self._cells.items():
            if start <= address < end and size:
                first = _words(start, address + 1) - 1
                count = _words(address, address + size)
                ctypes.memset(cells + first * shadow.CELL_BYTES, 0, count * shadow.CELL_BYTES)
                first = _words(start, end) + address - start
                ctypes.memset(cells + first * shadow.CELL_BYTES, 0, size * shadow.CELL_BYTES)


def _words(start: int, end: int) -> int:
    """How many aligned words hold bytes of [start, end)."""
    return (end - 1 >> 2) - (start >> 2) + 1
