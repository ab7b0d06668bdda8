"""Two views of pieces of 16 bytes: where each row of a tile lies, and what each line of shared memory holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ptxloom.views.core.palette import hue
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.svg import Box, draw
from ptxloom.views.core.tables import Cell, Table, text_table

if TYPE_CHECKING:
    from collections.abc import Iterable

LINE_BYTES: Final = 128
PIECE_BYTES: Final = 16
PIECES: Final = LINE_BYTES // PIECE_BYTES
MOST_LINES: Final = 64
"""Rows and lines that a picture shows."""
TEXT_LINES: Final = 16
"""Likewise a text: patterns repeat after 8 rows."""
EMPTY: Final = "·"

_WIDTH: Final = 64
_HEIGHT: Final = 20
_LEFT: Final = 70
_MARGIN: Final = 10
_TOP: Final = 80
_BLANK: Final = "#ffffff"
_FILLED: Final = "#f4f4f4"


@dataclass(frozen=True, slots=True)
class Piece:
    """16 bytes of a tile.

    Attributes:
        row: In which row of the tile's table.
        column: In which column.
        address: In shared memory.
        label: What lies there, for the picture of memory.
        group: What it belongs to, for its colour; None for what is filled in.
        tip: The same as a sentence.
    """

    row: int
    column: int
    address: int
    label: str
    group: int | None
    tip: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A tile and the shared memory that it lies in.

    Attributes:
        title: What a screen reader says.
        corner: What the rows of the tile are.
        labels: What the labels in memory are.
        rows: The names of the tile's rows, as far as there are pieces.
        columns: The names of its columns.
        pieces: The pieces of these rows.
        rows_in_all: How many rows the tile has.
        lines_in_all: How many lines of shared memory it takes.
    """

    title: str
    corner: str
    labels: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    pieces: tuple[Piece, ...]
    rows_in_all: int
    lines_in_all: int

    @property
    def lines(self) -> tuple[int, ...]:
        """The addresses of the lines of shared memory that hold pieces, in order."""
        return lines_of(piece.address for piece in self.pieces)


def lines_of(addresses: Iterable[int]) -> tuple[int, ...]:
    """The lines of shared memory that addresses lie in, in order."""
    return tuple(sorted({address // LINE_BYTES * LINE_BYTES for address in addresses}))


def tile_table(picture: Picture, style: Style = PLAIN) -> list[str]:
    """Each row of the tile with the addresses of its pieces."""
    cells = {(piece.row, piece.column): piece for piece in picture.pieces}
    shown = picture.rows[:TEXT_LINES]
    rows = tuple(
        (Cell(name), *(_address(cells.get((number, column))) for column in range(len(picture.columns))))
        for number, name in enumerate(shown)
    )
    lines = text_table(Table((picture.corner, *picture.columns), rows), style)
    return lines + _more(picture.rows_in_all - len(shown), "row")


def _address(piece: Piece | None) -> Cell:
    return Cell(EMPTY) if piece is None else Cell(f"0x{piece.address:05x}", piece.group)


def memory_table(picture: Picture, style: Style = PLAIN) -> list[str]:
    """Shared memory, 128 bytes a line, and what lies in each piece of it."""
    by_address = {piece.address: piece for piece in picture.pieces}
    shown = picture.lines[:TEXT_LINES]
    rows = tuple(
        (Cell(f"0x{line:05x}"), *(_label(by_address.get(line + PIECE_BYTES * at)) for at in range(PIECES)))
        for line in shown
    )
    head = ("address", *(f"+{PIECE_BYTES * at}" for at in range(PIECES)))
    return text_table(Table(head, rows), style) + _more(picture.lines_in_all - len(shown), "line")


def _label(piece: Piece | None) -> Cell:
    if piece is None:
        return Cell(EMPTY, ink=Ink.DIM)
    return Cell(piece.label, piece.group, None if piece.group is not None else Ink.DIM)


def _more(count: int, noun: str) -> list[str]:
    return [f"... and {count} {noun}{'s' * (count != 1)} more"] if count > 0 else []


def svg(picture: Picture) -> str:
    """Both views side by side, the same colours in both."""
    right = _MARGIN + _LEFT + _WIDTH * len(picture.columns) + 40
    return draw([*_tile(picture), *_memory(picture, right)], picture.title)


def _tile(picture: Picture) -> list[Box]:
    """The tile, an address in each piece."""
    width = _WIDTH * len(picture.columns)
    boxes = [
        Box(_MARGIN, _MARGIN, max(_LEFT + width, 180), 18, ("where each row lies",), bold=True),
        Box(_MARGIN, _MARGIN + 56, _LEFT - 6, 16, (picture.corner,)),
    ]
    boxes += [
        Box(_MARGIN + _LEFT + _WIDTH * at, _MARGIN + 56, _WIDTH, 16, (name,)) for at, name in enumerate(picture.columns)
    ]
    shown = picture.rows[:MOST_LINES]
    boxes += [Box(_MARGIN, _TOP + _HEIGHT * at, _LEFT - 6, _HEIGHT, (name,)) for at, name in enumerate(shown)]
    boxes += [
        _piece(piece, _MARGIN + _LEFT + _WIDTH * piece.column, _TOP + _HEIGHT * piece.row, f"0x{piece.address:05x}")
        for piece in picture.pieces
        if piece.row < MOST_LINES
    ]
    return boxes + _continued(picture.rows_in_all - len(shown), "row", _MARGIN, _TOP + _HEIGHT * len(shown))


def _memory(picture: Picture, left: int) -> list[Box]:
    """Lines of shared memory, what lies in each piece."""
    shown = picture.lines[:MOST_LINES]
    by_address = {piece.address: piece for piece in picture.pieces}
    boxes = [Box(left, _MARGIN, _LEFT + _WIDTH * PIECES, 18, ("shared memory, 128 bytes a line",), bold=True)]
    boxes.append(Box(left, _MARGIN + 18, _LEFT + _WIDTH * PIECES, 16, (picture.labels,)))
    boxes += [Box(left, _MARGIN + 38, _LEFT - 6, 16, ("banks",)), Box(left, _MARGIN + 56, _LEFT - 6, 16, ("address",))]
    for at in range(PIECES):
        x = left + _LEFT + _WIDTH * at
        boxes.append(Box(x, _MARGIN + 38, _WIDTH, 16, (f"{4 * at} to {4 * at + 3}",)))
        boxes.append(Box(x, _MARGIN + 56, _WIDTH, 16, (f"+{PIECE_BYTES * at}",)))
    for number, line in enumerate(shown):
        y = _TOP + _HEIGHT * number
        boxes.append(Box(left, y, _LEFT - 6, _HEIGHT, (f"0x{line:05x}",)))
        for at in range(PIECES):
            x, piece = left + _LEFT + _WIDTH * at, by_address.get(line + PIECE_BYTES * at)
            if piece is None:
                boxes.append(Box(x, y, _WIDTH, _HEIGHT, (), _BLANK))
            else:
                boxes.append(_piece(piece, x, y, piece.label))
    return boxes + _continued(picture.lines_in_all - len(shown), "line", left, _TOP + _HEIGHT * len(shown))


def _piece(piece: Piece, x: int, y: int, text: str) -> Box:
    fill = _FILLED if piece.group is None else hue(piece.group)
    return Box(x, y, _WIDTH, _HEIGHT, (text,), fill, tip=piece.tip)


def _continued(count: int, noun: str, x: int, y: int) -> list[Box]:
    return [Box(x, y + 4, 180, 16, tuple(_more(count, noun)))] if count > 0 else []
