"""Memory for racecheck's state of a launch."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.instruments import racecheck
from ptxloom.machine.instruments.wanted import FAR, FENCES
from ptxloom.machine.launch.shadows.shadow import ShadowMaker, warps_of
from ptxloom.machine.native import language
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.structs import histories, pending_operations, shadow
from ptxloom.machine.runtime.structs.spans import ROW_TRACES, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ptxloom.machine.memory.arena import Arena
    from ptxloom.machine.program.model import Program

_DEFERRED_BITS: Final = 6  # log2 of those of `Shadow.deferred`
_WORD: Final = 4
_ALIGNMENT: Final = 64
_COLUMNS: Final = 1 << 16  # of what the clusters of a grid publish at a flag
_FLAG_WORDS: Final = 1 << 26  # of all flags
_TRACES: Final = 1 << 14  # further ones, beside those that cells hold and two for each word
_KEPT: Final = 1024  # rows of what threads knew at fences, at most
_FLAGS: Final = (64, 4096)  # how many at least, and at most
_SHARED: Final = "racecheck's record of shared memory"
_LIMITS: Final = {  # by bits of `shadow.FEW_SYNCS` and its like
    shadow.FEW_SYNCS: f"racecheck distinguishes {shadow.SYNCS} mbarriers and flags of a cluster, and there are more: "
    "it may have missed races",
    shadow.FEW_FLAGS: "racecheck has no room for all flags in global memory: it may have missed races between CTAs",
    shadow.FEW_CLOCKS: f"racecheck distinguishes {shadow.LEARNED_CLOCKS} reads of flags in global memory, and a "
    "cluster made more: it may have missed races between CTAs",
    shadow.FEW_TRACES: "racecheck has no room for all accesses that may still race: it may have missed races",
    shadow.FEW_ROWS: f"racecheck keeps what {_KEPT:,} threads knew at their fences, and there are more: "
    "it may have reported races that are not there",
}
_GLOBAL: Final = "racecheck's record of global memory"
IN_ROWS: Final = True  # accesses to whole rows of global memory are remembered by themselves (`row_history`)


class RaceShadow(ShadowMaker):
    """Racecheck's state: for the shared memory of each cluster, and for global memory if that is watched."""

    def __init__(self, arena: Arena, program: Program, checks: frozenset[str]) -> None:
        self._arena = arena
        self._ordering = racecheck.ordering_of(program)
        self._global = _GlobalRaces(arena, in_rows=IN_ROWS and not self._ordering.finely) if FAR in checks else None
        self._strict = FENCES in checks
        self._orders: list[int] = []

    def start(self, launch: Any) -> None:
        """Publish the strengths of instructions' accesses to native code."""
        launch.strengths = self._arena.put(self._ordering.strengths)
        if self._global is not None:
            self._global.start(launch)

    def mark(self, spans: NDArray[np.uint64]) -> None:
        """Attach cells to spans that may be written."""
        if self._global is not None:
            self._global.mark(spans)

    def renew(self, address: int, size: int) -> None:
        """Forget earlier accesses to bytes that have a new owner from now on."""
        if self._global is not None:
            self._global.renew(address, size)

    def cluster(self, launch: Any, ctas: Sequence[int]) -> None:
        """Attach shadows of their shared memory to the CTAs."""
        order = _order(self._arena, launch, self._ordering, self._global, self._strict)
        self._orders.append(order)
        for rank, at in enumerate(ctas):
            cta: Any = language.structure(state.Cta).from_address(at)
            cta.shadow = _shadow(self._arena, launch, self._ordering, order, rank)
            for warp in warps_of(launch, cta):
                warp.shadow = cta.shadow

    def limits(self) -> tuple[str, ...]:
        """Sentences about what did not fit."""
        full = 0 if self._global is None else self._global.limits
        for order in self._orders:
            full |= int(language.structure(shadow.HappensBefore).from_address(order).limits)
        return tuple(text for bit, text in _LIMITS.items() if full & bit)


def _order(arena: Arena, launch: Any, ordering: racecheck.Ordering, races: _GlobalRaces | None, strict: bool) -> int:
    take = partial(arena.take, what=_SHARED)
    members: int = launch.members
    threads: int = members * launch.warps * LANES
    at = take(shadow.ORDER_BYTES)
    order: Any = language.structure(shadow.HappensBefore).from_address(at)
    order.bits = (threads + shadow.COLUMNS - 1).bit_length()
    order.ceiling = (1 << shadow.TICK_BITS - order.bits) - LANES
    order.threads, order.members = threads, members
    order.columns = threads + shadow.COLUMNS
    order.access = take(histories.ACCESS_BYTES)
    order.history_limit = members * launch.shared_bytes
    order.histories = take((order.history_limit + 1) * shadow.HISTORY_BYTES)
    order.trace_limit = _TRACES + order.history_limit
    order.traces = take(order.trace_limit * histories.TRACE_BYTES)
    if ordering.by_async_proxy:
        order.fenced = order.columns
        order.columns += threads * (1 if races is None else 2)
    if races is not None and ordering.maps:
        order.mapped = order.columns
        order.columns += 2 * threads
    order.strict = int(strict)
    if ordering.tensor:
        order.tensor = order.columns
        order.columns += 2 * (threads // LANES + shadow.COLUMNS)
    if ordering.fences_inits:
        order.inits = order.columns
        order.columns += threads
    order.issuers = take(shadow.COLUMNS * _WORD)
    if races is not None:
        order.grid = races.address
    if members > 1 or ordering.finely:
        row = order.columns * _WORD
        order.known, order.seen = take(threads * row), take(threads * row)
        order.known_to_warps = take(threads // LANES * row)
        order.fence_records, order.released_scope = (
            take(shadow.FENCE_RECORDS * threads * shadow.FENCE_RECORD_BYTES),
            take(threads * _WORD),
        )
        order.kept_limit = min(threads, _KEPT)
        order.kept = take((order.kept_limit + 1) * row)
        order.keepers = take((order.kept_limit + 1) * _WORD)
        order.released_at, order.syncs = take(threads * 2 * _WORD), take(shadow.SYNCS * shadow.SYNC_BYTES)
        order.arriving, order.complete = take(shadow.SYNCS * row), take(shadow.SYNCS * row)
        order.seen_inside, order.inside = order.seen, order.complete  # but in a cluster a CTA is not all
        if members > 1:
            order.seen_inside, order.inside = take(threads * row), take(shadow.SYNCS * row)
        order.barriers, order.gathering = take(members * 16 * row), take(2 * row)
        order.room = take(row)
        if races is not None:
            row = races.columns * _WORD
            order.learned_clocks, order.learnt = (
                take(shadow.LEARNED_CLOCKS * shadow.LEARNED_CLOCK_BYTES),
                take((shadow.LEARNED_CLOCKS + 1) * row),
            )
            order.taught, order.fences_total = take(row), take(threads * _WORD)
    return at


def _shadow(arena: Arena, launch: Any, ordering: racecheck.Ordering, order_at: int, rank: int) -> int:
    take, size = partial(arena.take, what=_SHARED), launch.shared_bytes
    threads: int = launch.members * launch.warps * LANES
    order: Any = language.structure(shadow.HappensBefore).from_address(order_at)
    at = take(shadow.SHADOW_BYTES)
    s: Any = language.structure(shadow.Shadow).from_address(at)
    s.order = order_at
    s.bytes, s.warps = size, launch.warps
    s.first = rank * s.warps * LANES
    readers = threads // LANES
    s.summaries = -(-readers // 8) * 8
    s.writes, s.write_sites = take(size * _WORD), take(size * _WORD)
    s.reads = take(readers * size * 8)
    s.read_records = take(s.warps * shadow.READ_RECORDS * shadow.READ_RECORD_BYTES)
    s.defers = int(launch.members == 1 and not order.strict)
    s.grain = max((size - 1).bit_length() - _DEFERRED_BITS, shadow.BLOCK_SHIFT)
    s.summary = take(((size >> shadow.BLOCK_SHIFT) + 1) * s.summaries * _WORD)
    if order.known:
        s.common, s.common_before = take(order.columns * _WORD), take(order.columns * _WORD)
    if launch.members > 1:
        s.remote_accesses = take(threads * shadow.REMOTE_ACCESS_BYTES)
    if ordering.copies:
        s.operations = take(s.warps * shadow.OPERATIONS * pending_operations.OPERATION_BYTES)
    if ordering.tensor:
        s.touches = take(shadow.TENSOR_ACCESSES * pending_operations.TENSOR_ACCESS_BYTES)
    if ordering.products or ordering.tensor:
        s.products = take(s.warps * shadow.PRODUCTS * pending_operations.PRODUCT_BYTES)
    if ordering.products:
        s.fragment_count = ordering.fragments
        s.fragments = take(s.warps * s.fragment_count * pending_operations.FRAGMENT_BYTES)
    return at


class _GlobalRaces:
    """Racecheck's state for global memory.

    Attributes:
        address: The address of the grid's part (`histories.GridHistory`).
        columns: Of a row of ticks: the threads of the grid, or fewer if there are too many.
    """

    def __init__(self, arena: Arena, *, in_rows: bool) -> None:
        self._arena = arena
        self._in_rows = in_rows
        self._cells: dict[tuple[int, int], int] = {}
        self.address = arena.take(histories.GRID_BYTES)
        self.columns = 0

    def start(self, launch: Any) -> None:
        """Allocate memory for what the clusters publish."""
        take = partial(self._arena.take, what=_GLOBAL)
        threads: int = launch.members * launch.warps * LANES
        shift = 0
        while launch.total * -(-threads >> shift) > _COLUMNS and threads >> shift:
            shift += 1
        share = -(-threads >> shift)
        self.columns = launch.total * share
        state_: Any = language.structure(histories.GridHistory).from_address(self.address)
        state_.columns, state_.share, state_.shift = self.columns, share, shift
        state_.limit = min(max(_FLAG_WORDS // self.columns, _FLAGS[0]), _FLAGS[1])
        state_.flags = take(state_.limit * histories.FLAG_BYTES)
        state_.rows = take(state_.limit * self.columns * _WORD)
        state_.clusters = launch.total
        state_.over, state_.told = take(launch.total * _WORD), take(self.columns * _WORD)

    @property
    def limits(self) -> int:
        """What did not fit, as bits."""
        return int(language.structure(histories.GridHistory).from_address(self.address).limits)

    def mark(self, table: NDArray[np.uint64]) -> None:
        """Attach cells to the spans of a table (`spans.Span`) that may be written."""
        for row in table:
            start, end = int(row[0]), int(row[1])
            if start < end and row[2]:
                row[4] = self._cells[start, end] = self._cells_of(_words(start, end), end - start)
                row[6] = _words(start, end) + end - start
                if self._in_rows and not row[5]:  # blocks of the heap have new owners
                    self._add_segments(row, start, end)

    def _add_segments(self, row: NDArray[np.uint64], start: int, end: int) -> None:
        """Let a span remember accesses to whole rows by themselves."""
        take = partial(self._arena.take, what=_GLOBAL)
        count = (end - 1 >> histories.SEGMENT_SHIFT) - (start >> histories.SEGMENT_SHIFT) + 1
        fields = language.record(Span).offsets
        row[fields["segments"] // 8] = take(count * histories.SEGMENT_BYTES)
        row[fields["segment_count"] // 8] = count
        row[fields["rows"] // 8] = take(count * ROW_TRACES * histories.ROW_TRACE_BYTES)

    def _cells_of(self, words: int, size: int) -> int:
        """Allocate cells for a piece of memory, and space for further traces of accesses there."""
        take = partial(self._arena.take, what=_GLOBAL)
        at = take((words + size) * histories.CELL_BYTES)
        state_: Any = language.structure(histories.GridHistory).from_address(self.address)
        room = _TRACES + 2 * words
        if state_.trace_limit - state_.trace_count < room:
            state_.traces = take(room * histories.TRACE_BYTES)
            state_.trace_limit, state_.trace_count = room, 0
        return at

    def renew(self, address: int, size: int) -> None:
        """Forget earlier accesses to bytes that have a new owner from now on."""
        for (start, end), cells in self._cells.items():
            if start <= address < end and size:
                first = _words(start, address + 1) - 1
                count = _words(address, address + size)
                ctypes.memset(cells + first * histories.CELL_BYTES, 0, count * histories.CELL_BYTES)
                first = _words(start, end) + address - start
                ctypes.memset(cells + first * histories.CELL_BYTES, 0, size * histories.CELL_BYTES)


def _words(start: int, end: int) -> int:
    """How many aligned words hold bytes of [start, end)."""
    return (end - 1 >> 2) - (start >> 2) + 1
