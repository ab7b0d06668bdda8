"""A sweep as one table: what varied, what came of it, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from ptxloom.records import Record
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, csv_table, markdown_table, narrowed, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

_COSTS: Final = {
    "executions": "instructions",
    "wavefronts": "wavefronts",
    "conflicts": "conflicts",
    "sectors": "sectors",
    "cost": "cost",
}
_INKS: Final = {"right": Ink.GREEN, "ran": Ink.GREEN}


def table(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> Table:
    """The table.

    Args:
        names: The names of what varied.
        rows: Each point: `values`, `outcome`, `said`, `costs`.
    """
    return Table((*names, "outcome", *_COSTS.values(), "said"), tuple(_row(names, one) for one in rows))


def full(names: Sequence[str], rows: Sequence[dict[str, Any]], style: Style = PLAIN) -> str:
    """For people, with the cheapest of those that are right below it."""
    lines = text_table(narrowed(table(names, rows), style.columns, "outcome"), style)
    right = [one for one in rows if one["outcome"] in _INKS and one["costs"]]
    if len(right) > 1:
        best = min(right, key=lambda one: one["costs"]["cost"])
        said = ", ".join(f"{name}={harmless(best['values'][name])}" for name in names)
        lines.append(f"\nthe least cost: {said} ({best['costs']['cost']:,.0f})")
    return "\n".join(lines) + "\n"


def markdown(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    """For a page."""
    return "\n".join(markdown_table(table(names, rows))) + "\n"


def as_csv(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    """For spreadsheets."""
    return csv_table(table(names, rows))


class PointRecord(Record):
    """What came of a point."""

    values: Mapping[str, str]
    outcome: Literal["right", "ran", "wrong", "hazards", "ended", "refused", "killed"]
    said: str
    hazards: tuple[str, ...]
    costs: Mapping[str, float]


class SweepRecord(Record):
    """A sweep of a kernel over parameters."""

    over: tuple[str, ...]
    points: tuple[PointRecord, ...]


def as_json(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    """For programs."""
    return to_text(SweepRecord(over=tuple(names), points=tuple(PointRecord(**one) for one in rows)))


def _row(names: Sequence[str], one: dict[str, Any]) -> tuple[Cell, ...]:
    costs = one["costs"]
    counts = tuple(Cell(f"{costs[name]:.0f}" if name in costs else "") for name in _COSTS)
    values = tuple(Cell(harmless(one["values"][name])) for name in names)
    outcome = Cell(one["outcome"], ink=_INKS.get(one["outcome"], Ink.RED))
    return (*values, outcome, *counts, Cell(harmless(one["said"])))
