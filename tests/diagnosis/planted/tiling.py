"""How a product is cut up: between CTAs, warps and steps, and how its tiles lie in shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diagnosis.planted.element_types import Type
    from diagnosis.planted.model import Argument, Array
    from diagnosis.planted.writer import Writer

TILE_BYTES = 64  # of k
CHUNK = 16  # bytes of a row of an 8x8 matrix


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a product is cut up.

    Args:
        type: Of A and B.
        tile: Rows and columns of C that a CTA computes.
        warps: Along the rows and along the columns.
        trans: Whether B is row-major.
        swizzle: Whether chunks of a row are exchanged in shared memory; else rows are padded by a chunk.
        stages: Tiles of k that are under way: 1, or 2 with `cp.async`.
        masked: Whether k need not be a multiple of the tile.
        halves: Whether C is of f16, stored through `stmatrix`.
        size: m, n and k of the launch.
        spare: Rows that the arrays have beyond those that the launch is about.
    """

    type: Type
    tile: tuple[int, int]
    warps: tuple[int, int]
    size: tuple[int, int, int]
    trans: bool = False
    swizzle: bool = False
    stages: int = 1
    masked: bool = False
    halves: bool = False
    spare: int = 0

    @property
    def threads(self) -> int:
        """Of a CTA."""
        return 32 * self.warps[0] * self.warps[1]

    @property
    def part(self) -> tuple[int, int]:
        """Rows and columns of C that a warp computes."""
        return self.tile[0] // self.warps[0], self.tile[1] // self.warps[1]

    @property
    def fragments(self) -> tuple[int, int, int]:
        """Accumulators of a warp: along the rows, along the columns, and elements of each in a lane."""
        return self.part[0] // 16, self.part[1] // 8, 4

    def room(self, operand: str) -> Room:
        """How an operand's tile lies in shared memory."""
        if operand == "a":
            return Room(0, self.tile[0], TILE_BYTES, self.swizzle)
        first = self.room("a").bytes
        if self.trans:
            return Room(first, TILE_BYTES // self.type.bytes, self.tile[1] * self.type.bytes, self.swizzle)
        return Room(first, self.tile[1], TILE_BYTES, self.swizzle)

    @property
    def says(self) -> str:
        """What is computed."""
        return "C = A @ B" if self.trans else "C = A @ B.T"

    @property
    def stage_bytes(self) -> int:
        """Both operands' tiles."""
        room = self.room("b")
        return room.first + room.bytes


@dataclass(frozen=True, slots=True)
class Room:
    """A tile in shared memory.

    Args:
        first: Byte where it begins, in its stage.
        rows: Of the tile.
        row_bytes: What a row holds.
        swizzle: Whether a row's chunks are exchanged; else it is padded.
    """

    first: int
    rows: int
    row_bytes: int
    swizzle: bool

    @property
    def pitch(self) -> int:
        """Bytes from row to row."""
        return self.row_bytes if self.swizzle else self.row_bytes + CHUNK

    @property
    def bytes(self) -> int:
        """Of the tile."""
        return self.rows * self.pitch

    @property
    def chunks(self) -> int:
        """In a row."""
        return self.row_bytes // CHUNK

    def at(self, w: Writer, operand: str, who: str, stage: str) -> None:
        """Leave in `%at` the address of the chunk `%chunk` of the row `%row`, for one who writes or reads."""
        w("mov.u32 %place, %chunk")
        if self.swizzle:
            w(f"shr.u32 %turn, %row, {max(0, 3 - self.chunks.bit_length() + 1)}", f"{operand}-{who}-swizzle-rows")
            w(f"and.b32 %turn, %turn, {min(self.chunks, 8) - 1}", f"{operand}-{who}-swizzle-mask")
            w("xor.b32 %place, %place, %turn", f"{operand}-{who}-swizzle")
        w(f"mad.lo.u32 %at, %row, {self.pitch}, {stage}", f"{operand}-{who}-pitch")
        w(f"mad.lo.u32 %at, %place, {CHUNK}, %at", f"{operand}-{who}-chunk")


@dataclass(frozen=True, slots=True)
class Factors:
    """Makes a product's arguments, of small integers, whose sums are exact in any order.

    Args:
        tiling: Says their shapes.
        ones: Whether A is 1 everywhere: what many a test of a kernel uses, and what hides most mistakes with A.
    """

    tiling: Tiling
    ones: bool = False

    def __call__(self) -> Sequence[Argument]:
        m, n, k = self.tiling.size
        rng = np.random.default_rng(1)
        spare = self.tiling.spare
        shapes = (m + spare, k), (k + spare, n) if self.tiling.trans else (n + spare, k)
        a, b = (rng.integers(-4, 5, shape) for shape in shapes)
        if self.ones:
            a = np.ones_like(a)
        c = np.zeros((m, n), np.float16 if self.tiling.halves else self.tiling.type.sums)
        return self.tiling.type.encode(a), self.tiling.type.encode(b), c, n, k


@dataclass(frozen=True, slots=True)
class Product:
    """What a product must leave in C, of its arguments."""

    tiling: Tiling

    def __call__(self, a: Array, b: Array, c: Array, *_: int) -> Array:
        m, n, k = self.tiling.size
        left, right = (self.tiling.type.decode(matrix) for matrix in (a, b))
        return (left[:m] @ (right[:k] if self.tiling.trans else right[:n].T)).astype(c.dtype)


def log(power: int) -> int:
    return power.bit_length() - 1
