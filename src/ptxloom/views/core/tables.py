"""Tables as text for eyes, and as CSV or Markdown for other programs."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.views.core.cells import elide, width
from ptxloom.views.core.style import PLAIN, Ink, Style


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text, and its colour: that of a group (of lanes, of banks), or an ink."""

    text: str
    group: int | None = None
    ink: Ink | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A head and rows of equal length."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def widths(self) -> tuple[int, ...]:
        """The cells that each column takes."""
        columns = zip(self.head, *([c.text for c in row] for row in self.rows), strict=True)
        return tuple(max(map(width, column)) for column in columns)


_LEAST: Final = 8  # cells that a narrowed column keeps
_GAP: Final = 2  # blanks between columns


def narrowed(table: Table, cells: int | None, spared: str = "") -> Table:
    """A table as wide as there is room for: the widest columns shrink, what does not fit in them is cut.

    Args:
        table: The table.
        cells: How much room there is; None for any.
        spared: The head of a column that shrinks only when no other can.

    Example:
        >>> table = narrowed(Table(("line", "instruction"), (row(1, "ldmatrix.sync.aligned"),)), 20)
        >>> text_table(table)[1]
        '   1  ldmatrix.sync…'
    """
    widths = list(table.widths)
    if cells is None:
        return table
    for columns in ([n for n, head in enumerate(table.head) if head != spared], [*range(len(widths))]):
        while sum(widths) + _GAP * (len(widths) - 1) > cells and max(widths[n] for n in columns) > _LEAST:
            widths[max(columns, key=widths.__getitem__)] -= 1
    rows = (tuple(replace(c, text=elide(c.text, w)) for c, w in zip(r, widths, strict=True)) for r in table.rows)
    return Table(table.head, tuple(rows))


def row(*texts: object) -> tuple[Cell, ...]:
    """A row of plain cells."""
    return tuple(Cell(str(t)) for t in texts)


def text_table(table: Table, style: Style = PLAIN) -> list[str]:
    """The table's lines: columns aligned, two blanks between them, no trailing blanks."""
    widths = table.widths
    head = "  ".join(_pad(h, w) for h, w in zip(table.head, widths, strict=True)).rstrip()
    lines = [style.paint(head, Ink.BOLD)]
    for cells in table.rows:
        padded = [_pad(c.text, w) for c, w in zip(cells, widths, strict=True)]
        padded[-1] = padded[-1].rstrip()
        painted = (_paint(c, p, style) for c, p in zip(cells, padded, strict=True))
        lines.append("  ".join(painted).rstrip())
    return lines


def _paint(cell: Cell, padded: str, style: Style) -> str:
    """A cell in its colour."""
    if cell.group is not None:
        return style.hue(padded, cell.group)
    return padded if cell.ink is None else style.paint(padded, cell.ink)


def _pad(text: str, cells: int) -> str:
    """Numbers to the right, everything else to the left."""
    blank = " " * (cells - width(text))
    return blank + text if text.replace("-", "").replace("x", "").isdecimal() else text + blank


def markdown_table(table: Table) -> list[str]:
    """The table's lines in GitHub's Markdown."""
    texts = (table.head, tuple("---" for _ in table.head), *([c.text for c in r] for r in table.rows))
    return ["| " + " | ".join(t.replace("|", "\\|") for t in line) + " |" for line in texts]


def csv_table(table: Table) -> str:
    """The table as CSV (RFC 4180, with line feeds)."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.head)
    writer.writerows([c.text for c in r] for r in table.rows)
    return out.getvalue()
