"""The contents of a picture: grids of cells with names for rows, columns and axes, a legend, a title.

Without positions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from ptxloom.dataclass import dataclass
from ptxloom.views.core.palette import Role


class Cell(NamedTuple):
    """A labelled cell.

    Attributes:
        lines: What stands in it.
        fill: A colour or a role.
        tip: What it is, in words.
        alarm: Whether it is wrong: its edge is heavy and of another colour.
        bold: Whether its text is.
    """

    lines: tuple[str, ...]
    fill: str = Role.BLANK
    tip: str = ""
    alarm: bool = False
    bold: bool = False


Cells: TypeAlias = Mapping[tuple[int, int], Cell]


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells in rows and columns.

    Attributes:
        title: What it shows.
        rows: The names of its rows.
        columns: The names of its columns.
        cells: By row and column; a place without a cell stays blank.
        row_axis: What rows count.
        column_axis: What columns count.
        margin: By row, a cell left of it: whose address names it.
        margin_axis: What these are.
        notes: Sentences under the title.
        listing: A table of texts: columns as wide as what they hold, no lines around cells that have no fill.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Cells
    row_axis: str = ""
    column_axis: str = ""
    margin: Mapping[int, Cell] | None = None
    margin_axis: str = ""
    notes: tuple[str, ...] = ()
    listing: bool = False


@dataclass(frozen=True, slots=True)
class Legend:
    """What colours stand for."""

    title: str
    entries: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture.

    Attributes:
        title: What it shows.
        bands: Grids in rows; those under each other have their columns under each other, those beside each other their
            rows beside each other; None leaves room.
        notes: Sentences under the title: what the labels mean, what it rests on.
        legend: What colours stand for.
    """

    title: str
    bands: tuple[tuple[Grid | None, ...], ...]
    notes: tuple[str, ...] = ()
    legend: Legend | None = None

    @property
    def grids(self) -> tuple[Grid, ...]:
        """All of them, in the order of reading."""
        return tuple(grid for band in self.bands for grid in band if grid is not None)
