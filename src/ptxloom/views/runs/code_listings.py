"""Lines of PTX as a grid, some of them marked: what pictures of hazards and profiles are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.views.core.cells import lay_out
from ptxloom.views.core.palette import Role
from ptxloom.views.drawing.figure import Cell, Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.source import Source

LONGEST = 100
"""Characters of a line that are drawn."""


def listing(
    source: Source,
    lines: Sequence[int],
    title: str,
    marked: Mapping[int, str],
    *,
    notes: Sequence[str] = (),
    margins: Mapping[int, Sequence[Cell]] | None = None,
    heads: Sequence[str] = (),
) -> Grid:
    """Lines of a source.

    Args:
        source: The text.
        lines: The numbers of the lines to draw.
        title: The title.
        marked: By number, the colour of a line.
        notes: The text above them.
        margins: By number, the text between a line and its number.
        heads: The names of the margin's columns.
    """
    texts = source.text.splitlines()
    cells: dict[tuple[int, int], Cell] = {}
    for row, number in enumerate(lines):
        for column, cell in enumerate((margins or {}).get(number, ())):
            cells[row, column] = cell
        text = lay_out(texts[number - 1].rstrip()[:LONGEST])[0] if number <= len(texts) else ""
        cells[row, len(heads)] = Cell((text,), marked.get(number, Role.BLANK))
    names = (*heads, source.title.rpartition("/")[2])
    return Grid(title, tuple(map(str, lines)), names, cells, "line", notes=tuple(notes), listing=True)
