"""The offset of each lane's row in a tile of shared memory, which a kernel adds to the tile's address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from ptxloom.atoms.fit import Fit
    from ptxloom.banks.tiles import Tile


@dataclass(frozen=True, slots=True)
class RowOffsets:
    """The addresses of a copy's lanes.

    Attributes:
        tile: The tile.
        lanes: By lane, the byte offset of its row, without lanes that provide no address.
        steps: The distance to the next operand along M or N, and along K (for D: along N), in bytes.
    """

    tile: Tile
    lanes: tuple[int, ...]
    steps: tuple[int, int]


def row_offsets(fit: Fit, tile: Tile) -> RowOffsets:
    """The offset of each lane's row, for the operand in the tile's first corner.

    Args:
        fit: How an atom fills an operand.
        tile: Its columns are the coordinate along which the operand is contiguous.

    Returns:
        Offsets in bytes from the tile's address, without a swizzle.

    Raises:
        UsageError: The operand is larger than the tile.
    """
    first, second = fit.usage.mma.extent(fit.usage.operand)
    along_first = fit.usage.along_first
    rows, columns = (second, first) if along_first else (first, second)
    if rows > tile.rows or columns > tile.columns:
        raise UsageError("tile", f"{tile.rows}x{tile.columns}", f"at least {rows}x{columns}, what the operand takes")
    lanes = tuple(
        _offset(tile, *((place.second, place.first) if along_first else (place.first, place.second)))
        for place in fit.rows
    )
    across, along = _offset(tile, rows, 0), _offset(tile, 0, columns)
    return RowOffsets(tile, lanes, (along, across) if along_first else (across, along))


def _offset(tile: Tile, row: int, column: int) -> int:
    return row * tile.pitch_bytes + column * tile.element_bits // 8
