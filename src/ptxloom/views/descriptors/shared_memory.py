"""Two views of pieces of 16 bytes: where each row of a tile lies, and what each line of shared memory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.views.core.palette import Role, hue
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, text_table
from ptxloom.views.drawing.figure import Cell as Drawn
from ptxloom.views.drawing.figure import Figure, Grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LINE_BYTES: Final = 128
PIECE_BYTES: Final = 16
PIECES: Final = LINE_BYTES // PIECE_BYTES
MOST_LINES: Final = 64
"""Rows and lines that a picture shows."""
TEXT_LINES: Final = 16
"""Likewise a text: patterns repeat after 8 rows."""
EMPTY: Final = "·"

_UNITS: Final = "A cell is 16 bytes: four banks of 4 bytes each."


@dataclass(frozen=True, slots=True)
class Piece:
    """16 bytes of a tile.

    Attributes:
        row: The row in the tile's table.
        column: The column.
        address: In shared memory.
        label: Its label in the picture of memory.
        group: Its group, for the colour; None for filled elements.
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
    """A tile and the shared memory that holds it.

    Attributes:
        title: The text for screen readers.
        corner: The meaning of the tile's rows.
        labels: The meaning of the labels in memory.
        rows: The names of the tile's rows, as far as there are pieces.
        columns: The names of its columns.
        pieces: The pieces of these rows.
        rows_in_all: The number of rows of the tile.
        lines_in_all: The number of lines of shared memory that it takes.
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
    """The lines of shared memory that hold addresses, in order."""
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
    """Shared memory, 128 bytes a line, and the contents of each piece."""
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


def figure(picture: Picture) -> Figure:
    """Both views side by side, the same colours in both."""
    more = [
        *_more(picture.rows_in_all - MOST_LINES, "row of the tile"),
        *_more(picture.lines_in_all - MOST_LINES, "line"),
    ]
    return Figure(picture.title, ((_tile(picture), memory_grid(picture.pieces, picture.labels)),), (_UNITS, *more))


def _tile(picture: Picture) -> Grid:
    """The tile, an address in each piece."""
    cells = {
        (piece.row, piece.column): _piece(piece, f"0x{piece.address:05x}")
        for piece in picture.pieces
        if piece.row < MOST_LINES
    }
    return Grid("the address of each row", picture.rows[:MOST_LINES], picture.columns, cells, picture.corner)


def memory_grid(pieces: Sequence[Piece], labels: str, title: str = "shared memory, 128 bytes a line") -> Grid:
    """Lines of shared memory, with the contents of each piece."""
    lines = lines_of(piece.address for piece in pieces)[:MOST_LINES]
    by_address = {piece.address: piece for piece in pieces}
    cells: dict[tuple[int, int], Drawn] = {}
    for number, line in enumerate(lines):
        for at in range(PIECES):
            piece = by_address.get(line + PIECE_BYTES * at)
            cells[number, at] = Drawn(()) if piece is None else _piece(piece, piece.label)
    rows = tuple(f"0x{line:05x}" for line in lines)
    banks = tuple(f"{4 * at}–{4 * at + 3}" for at in range(PIECES))
    return Grid(title, rows, banks, cells, "address ↓", "banks →", notes=(labels,) if labels else ())


def _piece(piece: Piece, text: str) -> Drawn:
    return Drawn((text,), Role.OTHER if piece.group is None else hue(piece.group), piece.tip)
