"""A tile in shared memory, and its possible layouts: rows padded, offsets swizzled, or in boxes as TMA writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors import swizzle_mode
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.isa.limits import SHARED_BYTES
from ptxloom.isa.types import element_type
from ptxloom.layout import Swizzle

if TYPE_CHECKING:
    from ptxloom.descriptors import SwizzleMode

ROW_BYTES: Final = 16  # of a matrix row, and what addresses are aligned to
TMA_MODES: Final = tuple(map(swizzle_mode, ("128B", "64B", "32B")))


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile in shared memory, its columns contiguous.

    Attributes:
        rows: How many rows.
        columns: How many elements in a row.
        element: The element's type.
        pitch_bytes: From one row to the next, before any padding.
    """

    rows: int
    columns: int
    element: str
    pitch_bytes: int

    @property
    def element_bits(self) -> int:
        """The width of an element in memory."""
        return element_type(self.element).container_bits

    @property
    def row_bytes(self) -> int:
        """How many bytes of a row hold elements."""
        return self.columns * self.element_bits // 8

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns} {self.element}, rows {self.pitch_bytes} bytes apart"


def make_tile(rows: int, columns: int, element: str, pitch_bytes: int | None = None) -> Tile:
    """A tile, its rows as close as they can be if no pitch is given.

    Args:
        rows: How many rows.
        columns: The number of elements in a row; they are contiguous.
        element: Their type, such as `f16`.
        pitch_bytes: From one row to the next.

    Returns:
        The tile, for `find_swizzles`.

    Raises:
        UsageError: The rows are not a multiple of 16 bytes, or overlap, or are more than shared memory holds.

    Example:
        >>> print(make_tile(64, 32, "f16"))
        64x32 f16, rows 64 bytes apart
    """
    must_be(int, "rows", rows, "a whole number")
    must_be(int, "columns", columns, "a whole number")
    tile = Tile(rows, columns, element, pitch_bytes or columns * element_type(element).container_bits // 8)
    if rows < 1 or columns < 1 or columns * tile.element_bits % (8 * ROW_BYTES):
        raise UsageError("tile", f"{rows}x{columns} {element}", "of rows that are a multiple of 16 bytes")
    if tile.pitch_bytes < tile.row_bytes or tile.pitch_bytes % ROW_BYTES:
        raise UsageError("pitch", tile.pitch_bytes, f"a multiple of 16, at least {tile.row_bytes}")
    if rows * tile.pitch_bytes > SHARED_BYTES:
        raise UsageError("tile", f"{rows}x{columns} {element}", f"no larger than shared memory, {SHARED_BYTES:,} bytes")
    return tile


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A layout of a tile in memory: its rows padded, then its offsets swizzled.

    Attributes:
        tile: The tile.
        padding_bytes: Added to each row's pitch.
        swizzle: On byte offsets; None without one.
        box_bytes: This many bytes of every row make a box, and the boxes are consecutive, as TMA writes them;
            None for whole rows.
    """

    tile: Tile
    padding_bytes: int = 0
    swizzle: Swizzle | None = None
    box_bytes: int | None = None

    @property
    def pitch_bytes(self) -> int:
        """From one row to the next, of a box where there are boxes."""
        return self.box_bytes or self.tile.pitch_bytes + self.padding_bytes

    @property
    def boxes(self) -> int:
        """The number of boxes side by side in the tile."""
        return self.tile.row_bytes // self.box_bytes if self.box_bytes else 1

    @property
    def box_columns(self) -> int:
        """How many elements wide a box is."""
        return self.tile.columns // self.boxes

    @property
    def tma_mode(self) -> SwizzleMode | None:
        """The mode in which a tensor map writes the tile so, in boxes as wide as the mode's span."""
        wide = self.box_bytes or self.tile.row_bytes
        fits = (
            mode for mode in TMA_MODES if mode.swizzle == self.swizzle and mode.span_bytes == wide == self.pitch_bytes
        )
        return next(fits, None)

    def offset(self, row: int, byte_column: int) -> int:
        """The byte offset of an element, before the swizzle."""
        box, within = divmod(byte_column, self.box_bytes) if self.box_bytes else (0, byte_column)
        return (box * self.tile.rows + row) * self.pitch_bytes + within

    @property
    def of_elements(self) -> Swizzle | None:
        """The swizzle on element indices, as CuTe writes it for a layout of these elements."""
        if self.swizzle is None:
            return None
        base = self.swizzle.base + 3 - (self.tile.element_bits.bit_length() - 1)
        return Swizzle(self.swizzle.bits, base, self.swizzle.shift)

    @property
    def storage_bytes(self) -> int:
        """How much memory the tile takes; a swizzle moves bytes within blocks, of which the last counts whole."""
        last = self.box_bytes or self.tile.row_bytes
        dense = self.pitch_bytes * (self.boxes * self.tile.rows - 1) + last
        block = 1 << (self.swizzle.base + self.swizzle.bits) if self.swizzle else 1
        return -(-dense // block) * block

    @property
    def expression(self) -> str:
        """The element index as C, of `row` and `column`."""
        pitch = self.pitch_bytes * 8 // self.tile.element_bits
        index = f"row * {pitch} + column"
        if self.boxes > 1:
            index = f"column / {pitch} * {self.tile.rows * pitch} + row * {pitch} + column % {pitch}"
        swizzle = self.of_elements
        if swizzle is None:
            return index
        mask, shift = (1 << swizzle.bits) - 1, swizzle.base + swizzle.shift
        picked = f"(i >> {shift} & {mask})" + (f" << {swizzle.base}" if swizzle.base else "")
        return f"(i = {index}, i ^ ({picked}))"

    @property
    def cute(self) -> str:
        """The layout as CuTe C++ writes it."""
        pitch = self.pitch_bytes * 8 // self.tile.element_bits
        shape = f"Shape<_{self.tile.rows}, _{self.tile.columns}>, Stride<Int<{pitch}>, _1>"
        if self.boxes > 1:
            columns = f"Shape<_{pitch}, _{self.boxes}>>, Stride<_{pitch}, Stride<_1, Int<{self.tile.rows * pitch}>>>"
            shape = f"Shape<_{self.tile.rows}, {columns}"
        swizzle = self.of_elements
        if swizzle is None:
            return f"Layout<{shape}>{{}}"
        return f"composition(Swizzle<{swizzle.bits}, {swizzle.base}, {swizzle.shift}>{{}}, Layout<{shape}>{{}})"

    def __str__(self) -> str:
        if self.padding_bytes:
            return f"{self.padding_bytes} bytes of padding"
        swizzle = self.of_elements
        where = f" in {self.boxes} boxes of {self.box_columns} columns" if self.boxes > 1 else ""
        return f"Swizzle<{swizzle.bits},{swizzle.base},{swizzle.shift}>{where}" if swizzle else "as it is"
