"""A fragment with the values in its registers: as text, and as a picture whose cells also name their holders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.isa.types import Kind, element_type
from ptxloom.views.core.numbers import few_digits
from ptxloom.views.core.palette import hue
from ptxloom.views.core.style import LANES_PER_HUE, PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, text_table
from ptxloom.views.drawing.figure import Cell as Drawn
from ptxloom.views.drawing.figure import Figure, Grid
from ptxloom.views.fragments.colouring import group_of
from ptxloom.views.fragments.legends import legend
from ptxloom.views.fragments.prefaces import axis_names, matrix_title, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.fragments import Fragment
    from ptxloom.fragments.filled import Filled

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
        ['3', '-0.5', '1', '0.3333', '123456', 'nan']
        >>> number(-0.00090981), number(15360, "b16"), number(1, "b1")
        ('-0.00091', '0x3c00', '1')
    """
    if not isinstance(value, int):
        text = few_digits(float(value), _SUBSTANCE)
        return text if len(text) <= _LONGEST else few_digits(float(value), _SUBSTANCE - 1)
    known = element_type(type_) if type_ else None
    if known is None or known.kind is not Kind.BITS or known.bits < 4:
        return str(value)
    return f"0x{value:0{-(-known.bits // 4)}x}"


def figure(
    fills: Sequence[Filled], addresses: Sequence[int] | None = None, notes: Sequence[str] = (), colour_by: str = "lane"
) -> Figure:
    """The picture: a value in each cell, its holder under it, the address beside each row.

    Args:
        fills: Operands of one instruction; A, B and C or D of a product in their usual arrangement.
        addresses: The lanes' addresses.
        notes: Remarks on them.
        colour_by: What a colour stands for.
    """
    grids = {(one.fragment.operand, m): _grid(one, m, addresses, colour_by) for one in fills for m in _matrices(one)}
    corner = next((grids[name, 0] for name in "dc" if (name, 0) in grids), None)
    bands: list[tuple[Grid | None, ...]]
    if ("a", 0) in grids and ("b", 0) in grids and corner is not None:
        others = [grid for (name, _), grid in grids.items() if name not in "ab" and grid is not corner]
        bands = [(None, grids["b", 0]), (grids["a", 0], corner, *others)]
    else:
        alone = [*grids.values()]
        bands = [tuple(alone[at : at + PER_LINE]) for at in range(0, len(alone), PER_LINE)]
    first = fills[0]
    said = (*notes, "A cell holds a value, and under it the lane, value and register that hold it.")
    return Figure(
        heading(first) if len(fills) == 1 else first.fragment.spelling,
        tuple(bands),
        said,
        legend(first.fragment, colour_by),
    )


def _matrices(filled: Filled) -> range:
    return range(filled.fragment.matrices)


def _grid(filled: Filled, matrix: int, addresses: Sequence[int] | None, colour_by: str) -> Grid:
    """One matrix with its values."""
    fragment = filled.fragment
    rows, columns = range(fragment.rows), range(filled.values.shape[2])
    margin = None
    if addresses is not None and fragment.addressed:
        margin = {row: _address(fragment, matrix, row, addresses) for row in rows}
    down, across = axis_names(fragment)
    operand = f"{fragment.operand.upper()}, as {filled.type}" if fragment.operand != "r" else ""
    return Grid(
        operand or (matrix_title(fragment, matrix) if fragment.matrices > 1 else ""),
        tuple(str(filled.first_row + row) for row in rows),
        tuple(map(str, columns)),
        {(row, column): _cell(filled, (matrix, row, column), colour_by) for row in rows for column in columns},
        f"{down} ↓",
        f"{across} →",
        margin,
        "address",
    )


def _address(fragment: Fragment, matrix: int, row: int, addresses: Sequence[int]) -> Drawn:
    """The address of a row, and the lane that passes it."""
    lane = fragment.address_lane(matrix=matrix, row=row)
    tip = f"lane {lane} passes the address {addresses[lane]:#x} of row {row} of matrix {matrix}"
    return Drawn((f"{addresses[lane]:#x}", f"T{lane}"), hue(lane // LANES_PER_HUE), tip)


def _cell(filled: Filled, place: tuple[int, int, int], colour_by: str) -> Drawn:
    """One value: itself above, its holder below."""
    matrix, row, column = place
    fragment: Fragment = filled.fragment
    held = fragment.holder(matrix=matrix, row=row, column=min(int(column / filled.per_element), fragment.columns - 1))
    value = number(filled.values[place].item(), filled.type)
    tip = f"row {row}, column {column}: {value}, held by lane {held.lane} in register {held.register}"
    return Drawn((value, fragment.label(held)), hue(group_of(fragment, held, colour_by)), tip)
