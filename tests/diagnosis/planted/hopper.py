"""Products by `wgmma` of factors that tensor copies bring to shared memory, through a ring of two stages."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.model import RightKernel
from ptxloom.descriptors import SharedTile
from ptxloom.descriptors.swizzling import swizzle_mode
from ptxloom.machine import tensor_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diagnosis.planted.model import Argument, Array

M, N, K = 128, 128, 192
TILE = 64  # rows of A and of B that a CTA multiplies
STAGE_BYTES = 16384

_HEAD = """.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tiles[];
.visible .entry k(.param .align 64 .b8 A[128], .param .align 64 .b8 B[128], .param .u64 C, .param .u32 n, .param .u32 k)
{
.reg .pred p<8>;
.reg .b32 r<48>;
.reg .b64 d<32>;
.reg .f32 f<32>;
.shared .align 8 .b64 full[2];
mov.u32 r0, %tid.x;
mov.b64 d1, A;
mov.b64 d2, B;
cvta.param.u64 d1, d1;
cvta.param.u64 d2, d2;
ld.param.u64 d3, [C];
ld.param.u32 r1, [n];
ld.param.u32 r2, [k];
mov.u32 r3, tiles;
mov.u32 r4, full;
mov.u32 r5, %ctaid.y;
shl.b32 r5, r5, 6; // a-tile
mov.u32 r6, %ctaid.x;
shl.b32 r6, r6, 6; // b-tile
setp.ne.u32 p0, r0, 0;
@p0 bra ready;
mbarrier.init.shared.b64 [r4], 1;
mbarrier.init.shared.b64 [r4+8], 1;
fence.mbarrier_init.release.cluster;
ready:
bar.sync 0;
mov.u32 r7, 0;
mov.u32 r8, 0;
$zero
@p0 bra multiply;
copy:
and.b32 r10, r7, 1; // fill-stage
shl.b32 r11, r10, 14;
add.u32 r11, r3, r11;
add.u32 r12, r11, 8192;
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
shl.b32 r21, r20, 14; // stage-bytes
add.u32 r21, r3, r21; // stage-start
shl.b32 r22, r20, 3;
add.u32 r22, r4, r22;
shr.u32 r23, r8, 1;
and.b32 r23, r23, 1; // phase
again:
mbarrier.try_wait.parity.shared.b64 p3, [r22], r23;
@!p3 bra again;
shr.u32 r24, r21, 4;
cvt.u64.u32 d10, r24; // a-start
add.u32 r25, r21, 8192; // b-base
shr.u32 r25, r25, 4;
cvt.u64.u32 d11, r25; // b-start
or.b64 d10, d10, $a_words; // a-words
or.b64 d11, d11, $b_words; // b-words
wgmma.fence.sync.aligned;
$products
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
bar.sync 0;
add.u32 r8, r8, 1;
shl.b32 r15, r8, $log_k;
setp.lt.u32 p4, r15, r2; // loop-end
@p4 bra multiply;
shr.u32 r30, r0, 5;
and.b32 r31, r0, 31;
shr.u32 r32, r31, 2;
shl.b32 r30, r30, 4;
add.u32 r30, r30, r32;
add.u32 r30, r30, r5; // d-row
and.b32 r33, r31, 3;
shl.b32 r33, r33, 1;
add.u32 r33, r33, r6; // d-column
mad.lo.u32 r34, r30, r1, r33;
mul.wide.u32 d20, r34, 4;
add.u64 d20, d3, d20;
mul.wide.u32 d21, r1, 32;
add.u64 d21, d20, d21;
$stores
ret;
}
"""
_COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
_NAMES = ("A", "B", "C", "n", "k")


@dataclass(frozen=True, slots=True)
class Factors:
    """How both factors lie in memory and in shared memory, and what makes their arrays.

    Attributes:
        element: "f16", "tf32" or "e4m3".
        swizzle: "none", "32B", "64B" or "128B", of shared memory.
        across: Of A and of B: whether they are contiguous along M or N, not along K.
        map_swizzle: Of A's and B's tensor maps, where it is another one.
        box: Of A and of B: by how much the boxes of the maps are smaller than a tile, along (K, M or N).
    """

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

    def tile(self, number: int) -> SharedTile:
        """A tile of A (0) or of B (1)."""
        major = "mn" if self.across[number] else "k"
        return SharedTile(TILE, self.tile_k, self.element, major, self.swizzle)

    @property
    def width(self) -> int:
        """Elements that a box has along the contiguous coordinate."""
        return swizzle_mode(self.swizzle).span_bytes // self.dtype().itemsize

    def box(self, number: int) -> tuple[int, int]:
        """The box of A's or B's map: elements along the contiguous coordinate, and across it."""
        other = self.tile_k if self.across[number] else TILE
        return self.width - self.less[number][0], other - self.less[number][1]

    def arrays(self) -> tuple[Array, Array]:
        """A and B of small whole numbers."""
        rng = np.random.default_rng(26)
        found: list[Array] = []
        for number, rows in enumerate((M, N)):
            shape = (K, rows) if self.across[number] else (rows, K)
            whole = rng.integers(-3, 4, shape)
            found.append(_E4M3[whole + 3] if self.element == "e4m3" else whole.astype(self.dtype))
        return found[0], found[1]

    def __call__(self) -> Sequence[Argument]:
        swizzles = self.map_swizzle or (self.swizzle, self.swizzle)
        maps = [
            tensor_map(
                array, self.box(n), swizzle=swizzles[n], data_type="TFLOAT32" if self.element == "tf32" else None
            )
            for n, array in enumerate(self.arrays())
        ]
        return *maps, np.zeros((M, N), np.float32), N, K

    def product(self, *_: object) -> Array:
        """What must come out."""
        a, b = (_values(array) for array in self.arrays())
        return (a.T if self.across[0] else a) @ (b if self.across[1] else b.T)


_E4M3 = np.array([0xC4, 0xC0, 0xB8, 0x00, 0x38, 0x40, 0x44], np.uint8)  # -3 to 3


def _values(array: Array) -> Array:
    if array.dtype != np.uint8:
        return array.astype(np.float32)
    table = np.zeros(256, np.float32)
    table[_E4M3] = np.arange(-3, 4)
    return table[array]


def hopper(name: str, factors: Factors) -> RightKernel:
    """C = A @ B.T, or as the factors lie; a CTA has 64 x 64 of it."""
    tiles = [factors.tile(number) for number in (0, 1)]
    said = "C = " + ("A.T" if factors.across[0] else "A") + " @ " + ("B" if factors.across[1] else "B.T")
    parts = {
        "zero": "\n".join(f"mov.f32 f{n}, 0f00000000;" for n in range(32)),
        "log_k": str(factors.tile_k.bit_length() - 1),
        "tile_k": str(factors.tile_k),
        "bytes": str(2 * tiles[0].tile_bytes),
        "copies": "\n".join(line for number in (0, 1) for line in _copies(factors, number)),
        "a_words": str(tiles[0].descriptor),
        "b_words": str(tiles[1].descriptor),
        "products": "\n".join(_products(factors, tiles)),
        "stores": "\n".join(_stores()),
    }
    text = Template(_HEAD).substitute(parts)
    grid = (N // TILE, M // TILE)
    return RightKernel(name, text, grid, 128, factors, _NAMES, 2, factors.product, 3 * STAGE_BYTES, says=said)


def _copies(factors: Factors, number: int) -> list[str]:
    """The copies of one tile, a box each."""
    letter, tile = "ab"[number], factors.tile(number)
    across = factors.across[number]
    size = factors.width * (factors.tile_k if across else TILE) * factors.dtype().itemsize
    found: list[str] = []
    for box in range(tile.tile_bytes // size):
        first = f"r{5 + number}" if across else "r14"
        other = "r14" if across else f"r{5 + number}"
        found += [
            f"add.u32 r17, {first}, {box * factors.width}; // {letter}-coordinate",
            f"add.u32 r18, {other}, 0; // {letter}-row",
            f"add.u32 r19, r{11 + number}, {box * size}; // {letter}-into",
            f"{_COPY} [r19], [d{1 + number}, {{r17, r18}}], [r13]; // {letter}-copy",
        ]
    return found


def _products(factors: Factors, tiles: list[SharedTile]) -> list[str]:
    form = {"f16": "m64n64k16.f32.f16.f16", "tf32": "m64n64k8.f32.tf32.tf32", "e4m3": "m64n64k32.f32.e4m3.e4m3"}
    tail = f", 1, 1, {int(factors.across[0])}, {int(factors.across[1])}" if factors.element == "f16" else ", 1, 1"
    registers = ", ".join(f"f{n}" for n in range(32))
    found: list[str] = []
    for a, b in zip(tiles[0].steps, tiles[1].steps, strict=True):
        found += [
            f"add.s64 d12, d10, {a.offset_bytes // 16}; // a-step",
            f"add.s64 d13, d11, {b.offset_bytes // 16}; // b-step",
            f"wgmma.mma_async.sync.aligned.{form[factors.element]} {{{registers}}}, d12, d13, 1{tail}; // product",
        ]
    return found


def _stores() -> list[str]:
    found: list[str] = []
    for n in range(8):
        for half in range(2):
            pair = f"{{f{4 * n + 2 * half}, f{4 * n + 2 * half + 1}}}"
            found.append(f"st.global.v2.f32 [d{20 + half}+{32 * n}], {pair}; // d-store")
    return found
