"""From a figure to a scene: the widths of cells, and what goes beside and below what."""

from __future__ import annotations

from itertools import accumulate
from math import ceil
from operator import attrgetter
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.views.core.palette import Role
from ptxloom.views.drawing.scene import ADVANCE, LEADING, SIZE, Box, Label, Mark, Scene, wide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.views.drawing.figure import Cell, Figure, Grid, Legend

MARGIN: Final = 14
GAP: Final = 26
"""Between grids."""
NARROWEST: Final = 660
"""Pixels that text may take beside a narrow picture before it is broken."""
TITLE_SIZE: Final = 13
_PAD: Final = 8  # beside the text of a cell, both sides together
_SWATCH: Final = 12
_ROW: Final = 20  # of a legend
_NAMES: Final = 18  # the line of the columns' names
_ALARM: Final = 2.5  # pixels of a heavy edge


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The space of a grid: above and left of its cells, and its cells."""

    left: float
    top: float
    widths: tuple[float, ...]
    height: float
    rows: int
    text: float

    @property
    def across(self) -> float:
        return sum(self.widths)

    @property
    def down(self) -> float:
        return self.height * self.rows


def place(figure: Figure) -> Scene:
    """The scene of a figure."""
    sizes = _sized(figure)
    stacks = [[band[at] for band in sizes if at < len(band)] for at in range(max(map(len, figure.bands)))]
    lefts = [max((s.left for s in stack if s), default=0) for stack in stacks]
    across = [
        max((max(s.across, s.text - left) for s in stack if s), default=0)
        for stack, left in zip(stacks, lefts, strict=True)
    ]
    starts = [*accumulate((left + wide_ + GAP for left, wide_ in zip(lefts, across, strict=True)), initial=MARGIN)]
    room = max(starts[-1] - GAP - MARGIN, NARROWEST)
    marks, y = _head(figure, room)
    for band, sized in zip(figure.bands, sizes, strict=True):
        top = max((s.top for s in sized if s), default=0)
        for at, (grid, size) in enumerate(zip(band, sized, strict=True)):
            if grid is not None and size is not None:
                marks += _grid(grid, size, starts[at] + lefts[at], y + top)
        y += top + max((s.down for s in sized if s), default=0) + GAP
    if figure.legend is not None:
        legend, y = _legend(figure.legend, y - 8, room)
        marks += legend
    else:
        y -= GAP
    right = max(_right(mark) for mark in marks)
    return Scene(figure.title, ceil(right + MARGIN), ceil(y + MARGIN), tuple(marks), figure.grids)


def _right(mark: Mark) -> float:
    match mark:
        case Box():
            return mark.x + mark.width
        case Label(anchor="start"):
            return mark.x + wide(mark.text, mark.size)
        case Label(anchor="middle"):
            return mark.x + wide(mark.text, mark.size) / 2
        case _:
            return 0


def _head(figure: Figure, room: float) -> tuple[list[Mark], float]:
    """The title and the notes, and where they end."""
    marks: list[Mark] = []
    y: float = MARGIN
    for line in wrap(figure.title, int(room / (TITLE_SIZE * ADVANCE))):
        y += LEADING + 4
        marks.append(Label(MARGIN, y - 4, line, size=TITLE_SIZE, bold=True))
    for note in figure.notes:
        for line in wrap(note, int(room / (SIZE * ADVANCE))):
            y += LEADING + 2
            marks.append(Label(MARGIN, y - 3, line, paint=Role.FAINT))
    return marks, y + 14


def _sized(figure: Figure) -> list[list[_Sizes | None]]:
    """Every grid's room; cells of grids beside each other are equally high, under each other equally wide."""
    widths = [
        max((_cell_width(b[at]) for b in figure.bands if at < len(b)), default=0)
        for at in range(max(map(len, figure.bands)))
    ]
    sizes: list[list[_Sizes | None]] = []
    for band in figure.bands:
        height = max((_cell_height(grid) for grid in band if grid is not None), default=0)
        sizes.append([grid and _size(grid, widths[at], height) for at, grid in enumerate(band)])
    return sizes


def _size(grid: Grid, width: float, height: float) -> _Sizes:
    names = ceil(max((wide(name) for name in (*grid.rows, grid.row_axis)), default=0))
    left = names + 10 * any((*grid.rows, grid.row_axis))
    if grid.margin is not None:
        left += _margin_width(grid) + 8
    lines = len(_title_lines(grid)) + bool(grid.column_axis)
    top = lines * (LEADING + 3) + _NAMES * any(grid.columns) + 2
    across = _columns(grid) if grid.listing else (width,) * len(grid.columns)
    text = max((wide(line) for line in _title_lines(grid)), default=0)
    return _Sizes(left, top, across, height, len(grid.rows), text)


def _title_lines(grid: Grid) -> list[str]:
    return [*([grid.title] if grid.title else []), *grid.notes]


def _margin_width(grid: Grid) -> float:
    texts = [line for cell in (grid.margin or {}).values() for line in cell.lines]
    return ceil(max(map(wide, (*texts, grid.margin_axis)))) + _PAD


def _cell_width(grid: Grid | None) -> float:
    """The width of a cell of one grid: that of its longest text."""
    if grid is None or grid.listing:
        return 0
    texts = {line for cell in grid.cells.values() for line in cell.lines}
    return max(22, *(ceil(wide(text)) + _PAD for text in (*texts, *grid.columns)))


def _columns(grid: Grid) -> tuple[float, ...]:
    """The width of each column of a listing."""
    widths = [wide(name) for name in grid.columns]
    for (_, column), cell in grid.cells.items():
        widths[column] = max(widths[column], *(wide(line) for line in cell.lines), 0)
    return tuple(ceil(width) + 2 * _PAD for width in widths)


def _cell_height(grid: Grid) -> float:
    most = max((len(cell.lines) for cell in (*grid.cells.values(), *(grid.margin or {}).values())), default=1)
    return LEADING * max(most, 1) + (5 if grid.listing else 8)


def _grid(grid: Grid, size: _Sizes, x: float, y: float) -> list[Mark]:
    """A grid whose first cell has its corner at (x, y)."""
    marks: list[Mark] = []
    above = y - size.top
    for number, line in enumerate(_title_lines(grid)):
        paint = Role.INK if number == 0 and grid.title else Role.FAINT
        at = above + (LEADING + 3) * (number + 1) - 4
        marks.append(Label(x - size.left, at, line, bold=number == 0 and bool(grid.title), paint=paint))
    marks += _names(grid, size, x, y)
    lefts = [x, *accumulate(size.widths, initial=x)][1:]
    boxes = [
        _cell(cell, lefts[column], y + size.height * row, size.widths[column], size.height)
        for (row, column), cell in grid.cells.items()
    ]
    boxes.sort(key=attrgetter("weight"))  # heavy edges are drawn above those of their neighbours
    marks += map(_listed, boxes) if grid.listing else boxes
    for row, cell in (grid.margin or {}).items():
        marks.append(_cell(cell, x - size.left, y + size.height * row, _margin_width(grid), size.height))
    return marks


def _listed(box: Box) -> Box:
    """A cell of a table of texts."""
    frame = "" if box.fill == Role.BLANK and box.frame != Role.ALARM else box.frame
    fill = "" if box.fill == Role.BLANK else box.fill
    return box._replace(fill=fill, frame=frame, left=True)


def _names(grid: Grid, size: _Sizes, x: float, y: float) -> list[Mark]:
    """The names of rows, columns and axes."""
    marks: list[Mark] = []
    if grid.column_axis:
        at = y - 6 - _NAMES * any(grid.columns)
        marks.append(Label(x + size.across / 2, at, grid.column_axis, "middle", paint=Role.FAINT))
    if grid.row_axis:
        marks.append(Label(x - 6, y - 6, grid.row_axis, "end", paint=Role.FAINT))
    if grid.margin is not None:
        marks.append(
            Label(x - size.left + _margin_width(grid) / 2, y - 6, grid.margin_axis, "middle", paint=Role.FAINT)
        )
    left = x
    for name, width in zip(grid.columns, size.widths, strict=True):
        if grid.listing:
            marks.append(Label(left + _PAD / 2, y - 6, name, paint=Role.FAINT))
        else:
            marks.append(Label(left + width / 2, y - 6, name, "middle"))
        left += width
    for number, name in enumerate(grid.rows):
        marks.append(Label(x - 6, y + size.height * (number + 0.5) + 4, name, "end"))
    return marks


def _cell(cell: Cell, x: float, y: float, width: float, height: float) -> Box:
    frame, weight = (Role.ALARM, _ALARM) if cell.alarm else (Role.LINE, 1)
    return Box(x, y, width, height, cell.lines, cell.fill, frame, weight, cell.bold, False, cell.tip)


def _legend(legend: Legend, y: float, room: float) -> tuple[Sequence[Mark], float]:
    """The meanings of colours, on as many lines as needed, and the bottom edge."""
    marks: list[Mark] = []
    x: float = MARGIN
    if legend.title:
        for line in wrap(legend.title, int(room / (SIZE * ADVANCE))):
            marks.append(Label(MARGIN, y + LEADING, line, paint=Role.FAINT))
            y += LEADING + 3
        y += 4
    for paint, text in legend.entries:
        width = _SWATCH + 6 + ceil(wide(text)) + 18
        if x > MARGIN and x + width > MARGIN + room:
            x, y = MARGIN, y + _ROW
        marks.append(Box(x, y + 3, _SWATCH, _SWATCH, (), paint))
        marks.append(Label(x + _SWATCH + 6, y + 13, text))
        x += width
    return marks, y + _ROW * bool(legend.entries)
