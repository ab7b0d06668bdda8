"""A kernel's PTX, each line with its share of the cost of a run: a heat map down the margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.views.core.cells import lay_out
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.runs.profiles import heat, share, share_ink

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.machine import Counts, Profile
    from ptxloom.syntax.tree import Function

_NUMBER: Final = 6  # characters of a line's number
_HEAD: Final = f"{'cost':>7}   {'executed':>12} {'lanes':>5} {'wavefronts':>12} {'conflicts':>11} {'sectors':>11}"
_BULK_HEAD: Final = f" {'bulk global':>15} {'bulk shared':>15}"  # in bytes


def listing(
    function: Function, profile: Profile, style: Style = PLAIN, sources: Mapping[int, Sequence[str]] | None = None
) -> list[str]:
    """The lines of a function as they stand in the file; those without instructions have an empty margin.

    Args:
        function: With a body.
        profile: What was counted.
        style: How it is painted.
        sources: By the number of a line, what stands above it: the text that it was compiled from.
    """
    source = function.source
    first, last = function.span_in(source).line, function.span_in(source).end_line
    by_line: dict[int, Counts] = {}
    for row in profile.rows:
        if row.function == function.name and row.counts.executions:
            seen = by_line.get(row.line)
            by_line[row.line] = row.counts if seen is None else seen + row.counts
    all_ = profile.totals.cost
    most = max((counts.cost for counts in by_line.values()), default=0.0)
    has_bulk = any(counts.bulk_bytes for counts in by_line.values())
    head = _HEAD + _BULK_HEAD * has_bulk
    lines = [style.paint(f"{head}  line", Ink.BOLD)]
    for number, text in enumerate(source.text.splitlines()[first - 1 : last], first):
        counts = by_line.get(number)
        margin = " " * len(head) if counts is None else _margin(counts, all_, most, style) + _bulk(counts) * has_bulk
        lines += (f"{' ' * (len(head) + _NUMBER)}{text}" for text in (sources or {}).get(number, ()))
        lines.append(f"{margin} {number:>5} | {lay_out(text)[0]}".rstrip())
    return lines


def _margin(counts: Counts, all_: float, most: float, style: Style) -> str:
    """What stands left of a line."""
    ink = share_ink(counts, all_)
    hot = f"{share(counts.cost, all_):>7} {heat(counts.cost, most)}"
    numbers = [_number(n) for n in (counts.executions, None, counts.wavefronts, counts.conflicts, counts.sectors)]
    numbers[1] = f"{counts.lanes / counts.executions:.1f}"
    rest = f" {numbers[0]:>12} {numbers[1]:>5} {numbers[2]:>12} {numbers[3]:>11} {numbers[4]:>11}"
    return (style.paint(hot, ink) if ink else hot) + rest


def _bulk(counts: Counts) -> str:
    """What bulk copies moved."""
    return f" {_number(counts.bulk_global_bytes):>15} {_number(counts.bulk_shared_bytes):>15}"


def _number(value: int | None) -> str:
    return f"{value:,}" if value else ""
