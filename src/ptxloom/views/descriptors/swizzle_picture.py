"""A tile in shared memory before and after a swizzle or padding, and what each access to it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.views.core.palette import HUES, Role, hue
from ptxloom.views.descriptors.shared_memory import LINE_BYTES, PIECE_BYTES, Piece, memory_grid
from ptxloom.views.drawing.figure import Cell, Figure, Grid, Legend

if TYPE_CHECKING:
    from ptxloom.banks.swizzles import Choice, Found
    from ptxloom.banks.tiles import Arrangement

_MOST_LINES: Final = 16
"""Patterns repeat after eight rows."""


def figure(found: Found) -> Figure:
    """The tile as it is and as it should be: each piece of 16 bytes by its row and its place in the row."""
    best = found.choices[0] if found.free else found.best
    shown = [found.plain] if best == found.plain else [found.plain, best]
    grids = tuple(_memory(choice.arrangement) for choice in shown)
    notes = (
        "A cell is 16 bytes, four banks: r2 c5 is the sixth piece of row 2.",
        "What is read down a column of pieces wants eight pieces in eight groups of banks.",
    )
    places = min(len(HUES), found.tile.row_bytes // PIECE_BYTES)
    entries = tuple((hue(at), f"c{at}") for at in range(places))
    legend = Legend("a colour for each piece of a row", entries)
    return Figure(f"{found.tile}: {best.arrangement}", (grids, (_costs(shown),)), notes, legend)


def _memory(arrangement: Arrangement) -> Grid:
    """The first lines of memory."""
    tile = arrangement.tile
    pieces: list[Piece] = []
    for row in range(tile.rows):
        for at in range(tile.row_bytes // PIECE_BYTES):
            place = row * arrangement.pitch_bytes + at * PIECE_BYTES
            address = arrangement.swizzle(place) if arrangement.swizzle else place
            tip = f"row {row}, bytes {at * PIECE_BYTES} to {(at + 1) * PIECE_BYTES - 1}, at {address:#x}"
            if address < _MOST_LINES * LINE_BYTES:
                pieces.append(Piece(row, at, address, f"r{row} c{at}", at, tip))
    lines = -(-arrangement.storage_bytes // LINE_BYTES)
    part = f"the first {_MOST_LINES} of {lines} lines of 128 bytes" if lines > _MOST_LINES else "128 bytes a line"
    return memory_grid(pieces, part, str(arrangement))


def _costs(shown: list[Choice]) -> Grid:
    """Wavefronts of each access, in each arrangement."""
    cells: dict[tuple[int, int], Cell] = {}
    for column, choice in enumerate(shown):
        for row, cost in enumerate(choice.costs):
            over = cost.wavefronts > cost.ideal
            tip = f"{cost.name}: {cost.wavefronts} wavefronts where {cost.ideal} would do"
            cells[row, column] = Cell((f"{cost.wavefronts} of {cost.ideal}",), Role.BLANK, tip, alarm=over)
    return Grid(
        "wavefronts of all warps, and how many would do without bank conflicts",
        tuple(cost.name for cost in shown[0].costs),
        tuple(str(choice.arrangement) for choice in shown),
        cells,
        "access",
        listing=True,
    )
