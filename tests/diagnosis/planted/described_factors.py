"""Factors that tensor copies bring to shared memory, where descriptors say how they lie: what such kernels share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ptxloom.descriptors import SharedTile
from ptxloom.descriptors.swizzling import swizzle_mode
from ptxloom.machine import tensor_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diagnosis.planted.model import Argument, Array

TILE: Final = 64  # columns of C that a CTA has
NAMES: Final = ("A", "B", "C", "n", "k")
_COPY: Final = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
_E4M3: Final = np.array([0xC4, 0xC0, 0xB8, 0x00, 0x38, 0x40, 0x44], np.uint8)  # -3 to 3

PARAMETERS: Final = """mov.u32 r0, %tid.x;
mov.b64 d1, A;
mov.b64 d2, B;
cvta.param.u64 d1, d1;
cvta.param.u64 d2, d2;
ld.param.u64 d3, [C];
ld.param.u32 r1, [n];
ld.param.u32 r2, [k];
"""
"""What kernels of two tensor maps read first."""


def ring(stage_bytes: int) -> str:
    """A thread copies to the other of two stages, if there is more, and all wait for the one to be read.

    Args:
        stage_bytes: Of a stage: half for a tile of A, half for one of B.

    Returns:
        A text with places for `DescribedFactors.parts`.
    """
    log = stage_bytes.bit_length() - 1
    return f"""copy:
and.b32 r10, r7, 1; // fill-stage
shl.b32 r11, r10, {log};
add.u32 r11, r3, r11;
add.u32 r12, r11, {stage_bytes // 2};
shl.b32 r13, r10, 3;
add.u32 r13, r4, r13;
shl.b32 r14, r7, $log_k; // copy-k
mbarrier.arrive.expect_tx.shared.b64 _, [r13], $bytes; // bytes
$copies
add.u32 r7, r7, 1;
multiply:
shl.b32 r15, r8, $log_k;
add.u32 r15, r15, $tile_k;
setp.ge.or.u32 p1, r15, r2, p0;
@p1 bra wait;
sub.u32 r16, r7, r8;
setp.lt.u32 p2, r16, 2;
@p2 bra copy;
wait:
and.b32 r20, r8, 1; // read-stage
shl.b32 r21, r20, {log}; // stage-bytes
add.u32 r21, r3, r21; // stage-start
shl.b32 r22, r20, 3;
add.u32 r22, r4, r22;
shr.u32 r23, r8, 1;
and.b32 r23, r23, 1; // phase
again:
mbarrier.try_wait.parity.shared.b64 p3, [r22], r23;
@!p3 bra again;
"""


def descriptors(stage_bytes: int) -> str:
    """The descriptors of the tiles in the stage to be read, with places for `DescribedFactors.parts`."""
    return f"""shr.u32 r24, r21, 4;
cvt.u64.u32 d10, r24; // a-start
add.u32 r25, r21, {stage_bytes // 2}; // b-base
shr.u32 r25, r25, 4;
cvt.u64.u32 d11, r25; // b-start
or.b64 d10, d10, $a_words; // a-words
or.b64 d11, d11, $b_words; // b-words
"""


@dataclass(frozen=True, slots=True)
class DescribedFactors:
    """How both factors lie in memory and in shared memory, and what makes their arrays.

    Attributes:
        element: "f16", "tf32" or "e4m3".
        swizzle: "none", "32B", "64B" or "128B", of shared memory.
        across: Of A and of B: whether they are contiguous along M or N, not along K.
        map_swizzle: Of A's and B's tensor maps, where it is another one.
        less: Of A and of B: by how much the boxes of the maps are smaller than a tile, along (K, M or N).
    """

    GENERATION: ClassVar[str]
    SHAPE: ClassVar[tuple[int, int, int]]
    SEED: ClassVar[int]

    element: str = "f16"
    swizzle: str = "128B"
    across: tuple[bool, bool] = (False, False)
    map_swizzle: tuple[str, str] | None = None
    less: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))

    @property
    def dtype(self) -> type[np.generic]:
        return {"f16": np.float16, "tf32": np.float32, "e4m3": np.uint8}[self.element]

    @property
    def tile_k(self) -> int:
        """K of a stage: 128 bytes of rows, or one row of the swizzle."""
        return {"32B": 16, "64B": 32}.get(self.swizzle, 64) if self.element == "f16" else 128 // self.dtype().itemsize

    def lines(self, number: int) -> int:
        """Rows of A (0), or columns of B (1), of a tile."""
        del number
        return TILE

    @property
    def tiles(self) -> tuple[SharedTile, SharedTile]:
        """A tile of A and one of B."""
        majors = ["mn" if across else "k" for across in self.across]
        made = [
            SharedTile(self.lines(n), self.tile_k, self.element, majors[n], self.swizzle, generation=self.GENERATION)
            for n in (0, 1)
        ]
        return made[0], made[1]

    @property
    def width(self) -> int:
        """Elements that a box has along the contiguous coordinate."""
        return swizzle_mode(self.swizzle).span_bytes // self.dtype().itemsize

    def box(self, number: int) -> tuple[int, int]:
        """The box of A's or B's map: elements along the contiguous coordinate, and across it."""
        other = self.tile_k if self.across[number] else self.lines(number)
        return self.width - self.less[number][0], other - self.less[number][1]

    def arrays(self) -> tuple[Array, Array]:
        """A and B of small whole numbers."""
        rng = np.random.default_rng(self.SEED)
        *lines, k = self.SHAPE
        found: list[Array] = []
        for rows, across in zip(lines, self.across, strict=True):
            whole = rng.integers(-3, 4, (k, rows) if across else (rows, k))
            found.append(_E4M3[whole + 3] if self.element == "e4m3" else whole.astype(self.dtype))
        return found[0], found[1]

    def __call__(self) -> Sequence[Argument]:
        swizzles = self.map_swizzle or (self.swizzle, self.swizzle)
        kind = "TFLOAT32" if self.element == "tf32" else None
        maps = [
            tensor_map(array, self.box(n), swizzle=swizzles[n], data_type=kind) for n, array in enumerate(self.arrays())
        ]
        m, n, k = self.SHAPE
        return *maps, np.zeros((m, n), np.float32), n, k

    def product(self, *_: object) -> Array:
        """What must come out."""
        a, b = (decoded(array) for array in self.arrays())
        return (a.T if self.across[0] else a) @ (b if self.across[1] else b.T)

    @property
    def says(self) -> str:
        """The same in words."""
        return "C = " + ("A.T" if self.across[0] else "A") + " @ " + ("B" if self.across[1] else "B.T")

    def parts(self) -> dict[str, str]:
        """What stands in a kernel's text of the copies and the descriptors."""
        tiles = self.tiles
        return {
            "log_k": str(self.tile_k.bit_length() - 1),
            "tile_k": str(self.tile_k),
            "bytes": str(sum(tile.tile_bytes for tile in tiles)),
            "copies": "\n".join(line for number in (0, 1) for line in self._copies(number)),
            "a_words": str(tiles[0].descriptor),
            "b_words": str(tiles[1].descriptor),
        }

    def _copies(self, number: int) -> list[str]:
        """The copies of one tile, a box each."""
        letter, across = "ab"[number], self.across[number]
        size = self.width * (self.tile_k if across else self.lines(number)) * self.dtype().itemsize
        found: list[str] = []
        for box in range(self.tiles[number].tile_bytes // size):
            first = f"r{5 + number}" if across else "r14"
            other = "r14" if across else f"r{5 + number}"
            found += [
                f"add.u32 r17, {first}, {box * self.width}; // {letter}-coordinate",
                f"add.u32 r18, {other}, 0; // {letter}-row",
                f"add.u32 r19, r{11 + number}, {box * size}; // {letter}-into",
                f"{_COPY} [r19], [d{1 + number}, {{r17, r18}}], [r13]; // {letter}-copy",
            ]
        return found


def decoded(array: Array) -> Array:
    """What elements are worth; bytes are e4m3."""
    if array.dtype != np.uint8:
        return array.astype(np.float32)
    table = np.zeros(256, np.float32)
    table[_E4M3] = np.arange(-3, 4)
    return table[array]
