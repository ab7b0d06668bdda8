"""A profile as a picture: the lines of a kernel, hot ones darker, and what each of them cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.names.demangling import demangled
from ptxloom.views.core.cells import elide, harmless
from ptxloom.views.core.palette import HEAT, Role, heat
from ptxloom.views.drawing.figure import Cell, Figure, Grid, Legend
from ptxloom.views.runs.code_listings import LONGEST, listing
from ptxloom.views.runs.profiles import advice, share
from ptxloom.views.runs.source_lines import no_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.machine import Counts, Profile
    from ptxloom.syntax.tree import Function
    from ptxloom.views.runs.source_lines import SourceOf

_HEADS: Final = ("cost", "executed", "lanes", "wavefronts", "conflicts", "sectors")
_MOST_LINES: Final = 120
"""Lines of PTX that are drawn."""
_NOTE: Final = (
    "Cost in cycles of what the warps of a multiprocessor share: one for each instruction issued, one for each "
    "wavefront of shared memory, one for four sectors of 32 bytes of global memory."
)


def figure(profile: Profile, function: Function | None = None, sources: SourceOf = no_source) -> Figure:
    """Every line with its cost.

    Args:
        profile: What was counted.
        function: The kernel, whose lines are drawn as they stand; without it, only its instructions are known.
        sources: The text of lines that it was compiled from.
    """
    by_line: dict[int, Counts] = {}
    for row in profile.rows:
        if row.counts.executions and (function is None or row.function == function.name):
            by_line[row.line] = by_line[row.line] + row.counts if row.line in by_line else row.counts
    bands = [(_compiled_from(profile, sources),)] if profile.by_source else []
    bands.append((_of_function(function, by_line, profile) if function else _of_rows(by_line, profile),))
    names = [f"up to {(at + 1) * 100 // len(HEAT)} %" for at in range(len(HEAT))]
    legend = Legend("a line's cost beside that of the hottest line", tuple(zip(HEAT, names, strict=True)))
    return Figure(harmless(str(profile)), tuple(bands), (_NOTE, *advice(profile.remedies)), legend)


def _of_function(function: Function, by_line: Mapping[int, Counts], profile: Profile) -> Grid:
    """A kernel's lines that ran, the hottest first."""
    source = function.source
    lines, name = _hottest(by_line), demangled(function.name)
    title = f"{name}: lines of PTX, the hottest first"
    if len(lines) > _MOST_LINES:
        title = f"{name}: of {len(lines)} lines of PTX that ran, the {_MOST_LINES} hottest"
        lines = lines[:_MOST_LINES]
    most = max((counts.cost for counts in by_line.values()), default=0.0)
    margins = {line: _numbers(counts, profile.totals.cost, most) for line, counts in by_line.items()}
    marked = {line: heat(counts.cost / most) for line, counts in by_line.items() if counts.cost}
    return listing(source, lines, title, marked, margins=margins, heads=_HEADS)


def _of_rows(by_line: Mapping[int, Counts], profile: Profile) -> Grid:
    """The instructions that ran, the hottest first."""
    texts = {row.line: row.instruction for row in profile.rows}
    most = max((counts.cost for counts in by_line.values()), default=0.0)
    cells: dict[tuple[int, int], Cell] = {}
    lines = _hottest(by_line)
    for row, line in enumerate(lines):
        counts = by_line[line]
        for column, cell in enumerate(_numbers(counts, profile.totals.cost, most)):
            cells[row, column] = cell
        cells[row, len(_HEADS)] = Cell(
            (elide(texts[line], LONGEST),), heat(counts.cost / most) if counts.cost else Role.BLANK
        )
    return Grid("instructions", tuple(map(str, lines)), (*_HEADS, "PTX"), cells, "line", listing=True)


def _hottest(by_line: Mapping[int, Counts]) -> list[int]:
    """Lines by their cost, of equal ones the earlier first."""
    return sorted(by_line, key=lambda line: (-by_line[line].cost, line))


def _numbers(counts: Counts, all_: float, most: float) -> list[Cell]:
    """What a line cost."""
    fill = heat(counts.cost / most) if counts.cost else Role.BLANK
    lanes = f"{counts.lanes / counts.executions:.1f}" if counts.executions else ""
    texts = [f"{counts.executions:,}", lanes, *(f"{n:,}" if n else "" for n in (counts.wavefronts,))]
    sectors = Cell((f"{counts.sectors:,}",) if counts.sectors else ())
    conflicts = Cell((f"{counts.conflicts:,}",) if counts.conflicts else (), alarm=bool(counts.conflicts))
    return [Cell((share(counts.cost, all_),), fill), *(Cell((text,)) for text in texts), conflicts, sectors]


def _compiled_from(profile: Profile, sources: SourceOf) -> Grid:
    """The lines of the program that was compiled, the hottest first; their texts where these are known."""
    rows = sorted(profile.by_source, key=lambda row: (-row.counts.cost, row.origin.file, row.origin.line))
    texts = [(sources(row.origin) or "").rstrip() for row in rows]
    most = max((row.counts.cost for row in rows), default=0.0)
    cells: dict[tuple[int, int], Cell] = {}
    for number, row in enumerate(rows):
        for column, cell in enumerate(_numbers(row.counts, profile.totals.cost, most)):
            cells[number, column] = cell
        if any(texts):
            fill = heat(row.counts.cost / most) if most else Role.BLANK
            cells[number, len(_HEADS)] = Cell((elide(texts[number], LONGEST),), fill)
    names = tuple(f"{row.origin.file.rpartition('/')[2]}:{row.origin.line}" for row in rows)
    heads = (*_HEADS, "source") if any(texts) else _HEADS
    return Grid("lines of the program that was compiled", names, heads, cells, "line", listing=True)
