"""The memory that a launch may touch, as it was when the launch began."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.memory.spans import covered_bytes, with_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.memory.spans import Span, Spans

_MOST_BESIDE: Final = 64  # launches whose tables are remembered for as long as the memory is the same


class Snapshot:
    """The memory that a launch may touch.

    Args:
        table: Its spans.
        kept: What keeps them alive.

    Attributes:
        table: Its spans.
        nbytes: How many bytes they hold.
    """

    def __init__(self, table: Spans, kept: tuple[object, ...] = ()) -> None:
        self.table = table
        self.nbytes = covered_bytes(table)
        self._kept = kept
        self._beside: dict[tuple[Span, ...], tuple[Spans, int]] = {}

    def beside(self, spans: Sequence[Span]) -> tuple[Spans, int]:
        """The table with a launch's own spans, and how many bytes all hold: the same table for the same spans."""
        key = tuple(spans)
        found = self._beside.get(key)
        if found is None:
            table = with_spans(self.table, key)
            if len(self._beside) >= _MOST_BESIDE:
                self._beside.clear()
            found = self._beside[key] = table, covered_bytes(table)
        return found
