"""Tables as text for eyes, and as CSV or Markdown for other programs."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxloom.views.cells import width
from ptxloom.views.style import PLAIN, Ink, Style

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text and, where cells belong to groups (of lanes, of banks), its group: the colour it takes."""

    text: str
    group: int | None = None


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
        painted = (p if c.group is None else style.hue(p, c.group) for c, p in zip(cells, padded, strict=True))
        lines.append("  ".join(painted).rstrip())
    return lines


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


def side_by_side(blocks: Sequence[Sequence[str]], widths: Sequence[int], gap: int = 4) -> list[str]:
    """Blocks of lines next to each other; `widths` are the cells each block takes, colour not counted."""
    height = max(map(len, blocks))
    lines = ["" for _ in range(height)]
    at = 0
    used = [0] * height
    for block, block_width in zip(blocks, widths, strict=True):
        for i, line in enumerate(block):
            lines[i] += " " * (at - used[i]) + line
            used[i] = at + _plain_width(line)
        at += block_width + gap
    return lines


def _plain_width(line: str) -> int:
    """The cells of a painted line: escape sequences take none."""
    parts = line.split("\x1b[")
    return width(parts[0]) + sum(width(p.partition("m")[2]) for p in parts[1:])
