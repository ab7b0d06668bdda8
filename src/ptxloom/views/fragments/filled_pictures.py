"""A fragment with the values in its registers: as text, and as a picture whose cells also name their holders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.isa.types import Kind, element_type
from ptxloom.views.core.palette import hue
from ptxloom.views.core.style import LANES_PER_HUE, PLAIN, Ink, Style
from ptxloom.views.core.svg import Box, draw
from ptxloom.views.core.tables import Cell, Table, text_table
from ptxloom.views.fragments.prefaces import title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.fragments import Fragment
    from ptxloom.fragments.filled import Filled

CELL_WIDTH: Final = 70
CELL_HEIGHT: Final = 32
MARGIN: Final = 8
LEFT: Final = 96  # room for the row's address and number
GAP: Final = 28
PER_LINE: Final = 2
_SUBSTANCE: Final = 4  # significant digits of a number with a point
_LONGEST: Final = 9  # characters of a number: what a cell holds


def full(filled: Filled, addresses: Sequence[int] | None = None, style: Style = PLAIN) -> str:
    """Every matrix as a table of values; `addresses` are the lanes' own, shown beside the rows that they name."""
    fragment = filled.fragment
    lines = [style.paint(heading(filled), Ink.BOLD)]
    for matrix in range(fragment.matrices):
        if fragment.matrices > 1:
            lines += ["", f"matrix {matrix}"]
        lines += text_table(_table(filled, matrix, addresses), style)
    return "\n".join(lines) + "\n"


def heading(filled: Filled) -> str:
    """What is shown."""
    return f"{title(filled.fragment)}, as {filled.type}"


def _table(filled: Filled, matrix: int, addresses: Sequence[int] | None) -> Table:
    fragment = filled.fragment
    shown = [[number(value, filled.type) for value in row] for row in filled.values[matrix].tolist()]
    columns = len(shown[0])
    widths = [max(len(str(c)), *(len(row[c]) for row in shown)) for c in range(columns)]
    with_address = addresses is not None and fragment.addressed
    head = (*(("address",) if with_address else ()), "row", *(str(c).rjust(w) for c, w in enumerate(widths)))
    room = max((len(f"{address:#x}") for address in addresses or ()), default=0)
    room = max(room, len("address"))
    rows: list[tuple[Cell, ...]] = []
    for row in range(fragment.rows):
        named: tuple[Cell, ...] = ()
        if with_address and addresses is not None:
            lane = fragment.address_lane(matrix=matrix, row=row)
            named = (Cell(f"{addresses[lane]:#x}".rjust(room), lane // LANES_PER_HUE),)
        values = (Cell(shown[row][c].rjust(widths[c]), _hue(filled, matrix, row, c)) for c in range(columns))
        rows.append((*named, Cell(str(filled.first_row + row)), *values))
    return Table(head, tuple(rows))


def _hue(filled: Filled, matrix: int, row: int, column: int) -> int:
    """The group of lanes that hold a value (the first of them)."""
    at = min(int(column / filled.per_element), filled.fragment.columns - 1)
    return filled.fragment.holder(matrix=matrix, row=row, column=at).lane // LANES_PER_HUE


def number(value: Any, type_: str = "") -> str:
    """A value in a few characters; plain bits in hexadecimal digits.

    Example:
        >>> [number(v) for v in (3, -0.5, 1.0, 0.333333, 123456.0, float("nan"))]
        ['3', '-0.5', '1', '0.3333', '1.235e+05', 'nan']
        >>> number(-0.00090981), number(15360, "b16"), number(1, "b1")
        ('-0.00091', '0x3c00', '1')
    """
    if not isinstance(value, int):
        text = f"{float(value):.{_SUBSTANCE}g}"
        return text if len(text) <= _LONGEST else f"{float(value):.{_SUBSTANCE - 1}g}"
    known = element_type(type_) if type_ else None
    if known is None or known.kind is not Kind.BITS or known.bits < 4:
        return str(value)
    return f"0x{value:0{-(-known.bits // 4)}x}"


def svg(filled: Filled, addresses: Sequence[int] | None = None, subtitle: str = "") -> str:
    """The picture: a value in each cell, its holder under it, the address beside each row."""
    fragment = filled.fragment
    columns = filled.values.shape[2]
    width, height = LEFT + CELL_WIDTH * columns, 46 + CELL_HEIGHT * fragment.rows
    beside = min(PER_LINE, fragment.matrices)
    whole = beside * width + (beside - 1) * GAP
    boxes = [Box(MARGIN, MARGIN, max(whole, 7 * len(heading(filled)) + MARGIN), 18, (heading(filled),), bold=True)]
    if subtitle:
        boxes.append(Box(MARGIN, MARGIN + 18, max(whole, 7 * len(subtitle)), 16, (subtitle,)))
    for matrix in range(fragment.matrices):
        x = MARGIN + matrix % PER_LINE * (width + GAP)
        y = MARGIN + 40 + matrix // PER_LINE * (height + GAP)
        boxes += _matrix(filled, matrix, addresses, x, y)
    return draw(boxes, f"{heading(filled)}: the values of each matrix, and which lane holds them")


def _matrix(filled: Filled, matrix: int, addresses: Sequence[int] | None, x: int, y: int) -> list[Box]:
    """One matrix, its upper left corner at (x, y)."""
    fragment = filled.fragment
    columns = filled.values.shape[2]
    boxes = [Box(x + LEFT, y, CELL_WIDTH * columns, 18, (f"matrix {matrix}",), bold=True)] * (fragment.matrices > 1)
    boxes += [Box(x + LEFT + CELL_WIDTH * c, y + 18, CELL_WIDTH, 18, (str(c),)) for c in range(columns)]
    for row in range(fragment.rows):
        top = y + 38 + CELL_HEIGHT * row
        if addresses is not None and fragment.addressed:
            lane = fragment.address_lane(matrix=matrix, row=row)
            tip = f"lane {lane} passes the address {addresses[lane]:#x} of row {row} of matrix {matrix}"
            boxes.append(
                Box(
                    x,
                    top,
                    62,
                    CELL_HEIGHT,
                    (f"{addresses[lane]:#x}", f"T{lane}"),
                    _fill(lane // LANES_PER_HUE),
                    tip=tip,
                )
            )
        boxes.append(Box(x + 64, top, 30, CELL_HEIGHT, (str(filled.first_row + row),)))
        boxes += [_cell(filled, (matrix, row, c), x + LEFT + CELL_WIDTH * c, top) for c in range(columns)]
    return boxes


def _cell(filled: Filled, place: tuple[int, int, int], x: int, y: int) -> Box:
    """One value: itself above, its holder below."""
    matrix, row, column = place
    fragment: Fragment = filled.fragment
    held = fragment.holder(matrix=matrix, row=row, column=min(int(column / filled.per_element), fragment.columns - 1))
    value = number(filled.values[place].item(), filled.type)
    tip = f"row {row}, column {column}: {value}, held by lane {held.lane} in register {held.register}"
    return Box(x, y, CELL_WIDTH, CELL_HEIGHT, (value, fragment.label(held)), _fill(held.lane // LANES_PER_HUE), tip=tip)


def _fill(group: int) -> str:
    return hue(group)
