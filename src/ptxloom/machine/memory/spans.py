"""Spans of global memory as native code looks them up: in order, without overlap (`state.Span`)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

Span: TypeAlias = "tuple[int, int, bool]"
"""Start, end, and whether it may be written."""
Spans: TypeAlias = "NDArray[np.uint64]"
"""The same, a row each."""

NO_SPANS: Spans = np.zeros((0, 3), np.uint64)
_FEW: Final = 16
"""Rows that Python adds up sooner than NumPy begins to."""


def table_of(spans: Iterable[Span]) -> Spans:
    """Spans in order, overlapping ones joined as far as they may be written; those without a byte are left out.

    Example:
        >>> table_of([(32, 48, True), (0, 16, True), (8, 24, True), (64, 64, True)]).tolist()
        [[0, 24, 1], [32, 48, 1]]
    """
    return np.array(in_order(spans), np.uint64).reshape(-1, 3)


def in_order(spans: Iterable[Span]) -> list[Span]:
    """The rows of `table_of`."""
    rows: list[Span] = []
    group: list[Span] = []
    reach = 0
    for span in sorted(one for one in spans if one[0] < one[1]):
        if group and span[0] >= reach:
            rows += _joined(group)
            group = []
        group.append(span)
        reach = max(reach, span[1]) if len(group) > 1 else span[1]
    rows += _joined(group)
    return rows


def with_spans(table: Spans, more: Sequence[Span]) -> Spans:
    """A table with a few further spans: what `table_of` returns for all of them, without sorting the table anew.

    Example:
        >>> with_spans(table_of([(0, 16, True), (64, 96, True)]), [(32, 48, False), (4, 8, True)]).tolist()
        [[0, 16, 1], [32, 48, 0], [64, 96, 1]]
    """
    places: list[int] = []
    rows: list[list[int]] = []
    for start, end, writable in table_of(more).tolist():
        at = int(np.searchsorted(table[:, 0], np.uint64(start), "right"))
        before: list[int] = table[at - 1].tolist() if at else [0, 0, 0]
        if at and end <= before[1] and writable <= before[2]:
            continue
        if before[1] > start or (at < len(table) and int(table[at, 0]) < end):
            whole: list[Span] = [(s, e, bool(w)) for s, e, w in table.tolist()]
            return table_of([*whole, *more])
        places.append(at)
        rows.append([start, end, writable])
    inserted: NDArray[Any] = np.insert(table, places, np.array(rows, np.uint64), axis=0) if rows else table
    return inserted


def place_of(table: Spans, span: Span) -> int | None:
    """The row before which a span goes that overlaps no other one; None if it overlaps one.

    Example:
        >>> place_of(table_of([(0, 16, True), (64, 96, True)]), (16, 20, False))
        1
        >>> place_of(table_of([(0, 16, True), (64, 96, True)]), (60, 65, False)) is None
        True
    """
    start, end, _ = span
    at = int(np.searchsorted(table[:, 0], np.uint64(start), "right"))
    is_apart = (not at or int(table[at - 1, 1]) <= start) and (at == len(table) or end <= int(table[at, 0]))
    return at if is_apart else None


def covered_bytes(table: Spans) -> int:
    """What the spans of a table hold.

    Example:
        >>> covered_bytes(table_of([(0, 16, True), (8, 24, True)]))
        24
    """
    if len(table) <= _FEW:
        return sum(end - start for start, end, _ in table.tolist())
    return int((table[:, 1] - table[:, 0]).sum())


def _joined(spans: list[Span]) -> list[Span]:
    """Spans that overlap, as pieces that do not: what a writable array covers may be written, the rest not."""
    if len(spans) < 2:
        return spans
    if len({writable for _, _, writable in spans}) < 2:
        return [(spans[0][0], max(end for _, end, _ in spans), spans[0][2])]
    edges = sorted({edge for start, end, _ in spans for edge in (start, end)})
    pieces: list[Span] = []
    for start, end in pairwise(edges):
        writable = any(w for s, e, w in spans if s <= start and end <= e)
        if pieces and pieces[-1][2] == writable:
            start = pieces.pop()[0]  # noqa: PLW2901 - the piece before goes on
        pieces.append((start, end, writable))
    return pieces
