"""Tensor memory as everybody draws it: 128 lanes down, columns across, the warp beside the lanes that it reaches.

A band of lanes and columns is a cell: which rows and columns of the matrix are there. What an operand leaves free is
blank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa.limits import TENSOR_LANES
from ptxloom.views.core.tables import Cell, Table
from ptxloom.views.fragments.colouring import band_height, rows_together
from ptxloom.views.fragments.prefaces import axis_names, id_of, matrix_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.fragments import Element, Fragment

QUARTER_LANES: Final = 32
_FEW: Final = 8  # columns of a picture
_COLUMN_FEW: Final = 4  # and of a text


@dataclass(frozen=True, slots=True)
class Band:
    """The contents of a band of lanes and columns.

    Attributes:
        lanes: The lanes of a CTA, first and last.
        columns: The columns, first and last.
        held: The elements there; empty if the operand leaves them free.
    """

    lanes: tuple[int, int]
    columns: tuple[int, int]
    held: tuple[Element, ...]


def bands(fragment: Fragment, cta: int = 0, most: int = _FEW) -> tuple[tuple[Band, ...], ...]:
    """The bands of a CTA's tensor memory, by lanes, then columns.

    Args:
        fragment: An operand that tensor memory holds.
        cta: 0, or 1 of a pair.
        most: How many bands of columns there may be.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> drawn = bands(fragment("tcgen05.mma.m64n32", "d"))
        >>> len(drawn), drawn[0][0].lanes, len(drawn[1][0].held)
        (8, (0, 15), 0)
    """
    height, width = band_height(fragment), -(-fragment.registers // most)
    found: list[tuple[Band, ...]] = []
    for lane in range(0, TENSOR_LANES, height):
        row: list[Band] = []
        for column in range(0, fragment.registers, width):
            last = min(column + width, fragment.registers) - 1
            corners = _corners(fragment, cta * TENSOR_LANES + lane, height, column, last)
            row.append(Band((lane, lane + height - 1), (column, last), corners))
        found.append(tuple(row))
    return tuple(found)


def _corners(fragment: Fragment, lane: int, height: int, first: int, last: int) -> tuple[Element, ...]:
    """All elements of a band."""
    per_column = fragment.register_bits // fragment.stride
    values = range(first * per_column, (last + 1) * per_column)
    lanes = (at for at in range(lane, lane + height) if fragment.reaches(at))
    return tuple(fragment.at(at, value) for at in lanes for value in values)


def texts(fragment: Fragment, held: Sequence[Element]) -> tuple[str, ...]:
    """Which rows and columns, and of several matrices which."""
    down, across = axis_names(fragment)
    rows, columns, matrices = (sorted({e[place] for e in held}) for place in (5, 6, 4))
    lines = [f"{down} {runs(rows)}", f"{across} {runs(columns)}"]
    if len({e.lane for e in held}) == 1:
        lines[0] = f"lane {held[0].lane % TENSOR_LANES}: {lines[0]}"
    if fragment.matrices > 1:
        lines.append(_matrices(fragment, matrices))
    return tuple(lines)


def _matrices(fragment: Fragment, matrices: Sequence[int]) -> str:
    """The matrices of a band, by what they are called."""
    noun = matrix_title(fragment, 0).rpartition(" ")[0]
    ids = [id_of(fragment, matrix) for matrix in matrices]
    return f"{noun.replace('scale factor id', 'id')} {', '.join(map(str, ids))}"


def runs(numbers: Sequence[int]) -> str:
    """Numbers in ascending order as runs.

    Example:
        >>> runs([0, 1, 2, 3]), runs([5]), runs([0, 1, 8, 9])
        ('0–3', '5', '0–1, 8–9')
    """
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in found)


def span(ends: tuple[int, int]) -> str:
    """First and last as one word."""
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}–{ends[1]}"


def memory_tables(fragment: Fragment) -> Iterator[tuple[str, Table]]:
    """The same as tables for a text, a title before each."""
    for cta in range(1 + fragment.is_pair):
        drawn = bands(fragment, cta, _COLUMN_FEW)
        head = ("warp", "lanes", *(_columns(band) for band in drawn[0]))
        rows = tuple(
            (
                Cell(str(row[0].lanes[0] // QUARTER_LANES)),
                Cell(span(row[0].lanes)),
                *(_text_cell(fragment, band) for band in row),
            )
            for row in drawn
        )
        yield f"tensor memory of CTA {cta}" if fragment.is_pair else "tensor memory", Table(head, rows)


def _columns(band: Band) -> str:
    first, last = band.columns
    return f"column {first}" if first == last else f"columns {first}–{last}"


def _text_cell(fragment: Fragment, band: Band) -> Cell:
    if not band.held:
        return Cell("free")
    group = min(e.row for e in band.held) // rows_together(fragment)
    return Cell(", ".join(texts(fragment, band.held)), group)
