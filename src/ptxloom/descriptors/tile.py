"""From a tile to its descriptors: its layout in shared memory, and the 64 bits for each step along K.

A tile is laid out as by TMA, in consecutive boxes as wide as the swizzle: swizzle atoms follow
each other first across the contiguous coordinate, then along it. CUTLASS's collectives do the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.matrix import GENERATIONS, UNUSED_LEADING, MatrixDescriptor
from ptxloom.descriptors.operand import CHUNK_BITS, MAJORS, STEP_BITS, SharedOperand, canonical_layout
from ptxloom.descriptors.swizzling import SwizzleMode, swizzle_mode
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.display import mimebundle
from ptxloom.isa.limits import SHARED_BYTES
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from ptxloom.layout import Layout

MOST_OPERAND_ROWS: Final = 256


def widest_swizzle(row_bytes: int) -> str:
    """The widest mode whose rows fill `row_bytes` bytes.

    Args:
        row_bytes: The bytes of a tile along its contiguous coordinate.

    Example:
        >>> widest_swizzle(64), widest_swizzle(80)
        ('64B', 'none')
    """
    return next((f"{span}B" for span in (128, 64, 32) if row_bytes % span == 0), "none")


@dataclass(frozen=True, slots=True)
class Step:
    """The part of a tile that one product reads.

    Attributes:
        column: Its first K.
        offset_bytes: Its offset from the tile's start.
        descriptor: The descriptor, for the tile's start address.
    """

    column: int
    offset_bytes: int
    descriptor: MatrixDescriptor


@dataclass(frozen=True, slots=True)
class SharedTile:
    """A tile of A or B in shared memory.

    Attributes:
        rows: The number of elements along M or N.
        columns: The number along K.
        element: Their type, such as "f16".
        major: "k" or "mn": the coordinate along which they are contiguous.
        swizzle: "none", "32B", "64B" or "128B".
        start_address: The start of the tile, aligned for the swizzle.
        generation: "wgmma" or "tcgen05".

    Example:
        >>> tile = SharedTile(64, 64, "f16", "k", "128B")
        >>> [(step.column, str(step.descriptor)) for step in tile.steps[:2]]
        [(0, '0x4000004000010000'), (16, '0x4000004000010002')]
    """

    rows: int
    columns: int
    element: str = "f16"
    major: str = "k"
    swizzle: str = "128B"
    start_address: int = 0
    generation: str = "wgmma"

    _repr_mimebundle_ = mimebundle

    def __post_init__(self) -> None:
        if self.major not in MAJORS:
            raise UsageError("major", self.major, "k or mn: the coordinate along which elements are contiguous")
        codes = GENERATIONS[self.generation].codes if self.generation in GENERATIONS else {}
        if self.swizzle not in codes:
            legal = f"one of {', '.join(codes)} for {self.generation}" if codes else "wgmma's or tcgen05's"
            raise UsageError("swizzle", self.swizzle, legal)
        for value in (self.rows, self.columns):
            must_be(int, "tile", value, "rows and columns")
        self._judge_extents()
        if self.start_address % self.mode.alignment_bytes or not 0 <= self.start_address < 1 << 18:
            legal = f"a multiple of {self.mode.alignment_bytes:,} below 262,144, where a {self.swizzle} pattern begins"
            raise UsageError("start_address", self.start_address, legal)

    def _judge_extents(self) -> None:
        """Check for whole groups of rows and steps, in whole rows of the swizzle, that fit in shared memory.

        Raises:
            UsageError: One of these is not met.
        """
        tile = f"{self.rows}x{self.columns}"
        step = self.step_columns
        if self.rows < 8 or self.rows % 8 or self.columns < step or self.columns % step:
            raise UsageError("tile", tile, f"of a multiple of 8 along M or N and of {step} along K for {self.element}")
        along = (self.columns if self.major == "k" else self.rows) * self.element_bits // 8
        span = self.mode.span_bytes
        if along % span:
            fits = widest_swizzle(along)
            legal = (
                f"of whole {self.swizzle} rows along {self.major.upper()}: {along} bytes are not a multiple of {span}"
            )
            raise UsageError("tile", tile, f"{legal}; swizzle {fits} fits")
        if self.tile_bytes > SHARED_BYTES:
            raise UsageError("tile", tile, f"no larger than shared memory, {SHARED_BYTES:,} bytes")

    @property
    def mode(self) -> SwizzleMode:
        """How the swizzle moves bytes."""
        return swizzle_mode(self.swizzle)

    @property
    def element_bits(self) -> int:
        """The width of an element in memory."""
        return element_type(self.element).container_bits

    @property
    def tile_bytes(self) -> int:
        """The bytes of shared memory that it takes."""
        return self.rows * self.columns * self.element_bits // 8

    @property
    def step_columns(self) -> int:
        """K of one product."""
        return STEP_BITS // self.element_bits

    @property
    def operand_rows(self) -> int:
        """M or N of one product that reads the tile: all of it, or 64 if that is too many."""
        return self.rows if self.rows <= MOST_OPERAND_ROWS else 64

    @property
    def offsets(self) -> tuple[int, int]:
        """The leading and the stride dimension byte offset."""
        rows, span = self.mode.pattern_rows, self.mode.span_bytes
        across = self.rows if self.major == "k" else self.columns
        leading, stride = across * span, rows * span
        return (stride, leading) if self.major == "mn" and self.mode.chunks == 1 else (leading, stride)

    @property
    def layout(self) -> Layout:
        """(M or N, K) -> elements from the tile's start, before swizzling."""
        return canonical_layout(self.major, self.mode, self.element_bits, (self.rows, self.columns), self.offsets)

    @property
    def descriptor(self) -> MatrixDescriptor:
        """The descriptor of the first product."""
        leading, stride = self.offsets
        looked_at = self.major == "mn" or self.mode.chunks * CHUNK_BITS < STEP_BITS
        leading = leading if looked_at else UNUSED_LEADING
        return MatrixDescriptor(self.start_address, leading, stride, self.swizzle, 0, self.generation)

    @property
    def operand(self) -> SharedOperand:
        """The operand of the first product."""
        return SharedOperand(self.descriptor, self.operand_rows, self.step_columns, self.element, self.major)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The products along K."""
        return tuple(self._step(column) for column in range(0, self.columns, self.step_columns))

    def _step(self, column: int) -> Step:
        first, offset = self.descriptor, self._bytes_to(0, column)
        return Step(column, offset, replace(first, start_address=first.start_address + offset))

    @property
    def next_rows_bytes(self) -> int | None:
        """The offset of row 64 and the following rows; None for a tile without them."""
        return self._bytes_to(64, 0) if self.rows > 64 else None

    def _bytes_to(self, row: int, column: int) -> int:
        return self.layout(row, column) * self.element_bits // 8
