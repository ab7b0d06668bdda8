"""Block-scaled products by `tcgen05.mma`: scales by `tcgen05.cp` from tiles, or by threads from a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING, Final

import numpy as np

from diagnosis.planted.blackwell import HEAD, STAGE_BYTES, TensorFactors, epilogue
from diagnosis.planted.described_factors import NAMES, TILE, decoded
from diagnosis.planted.model import RightKernel
from ptxloom.descriptors.instruction import InstructionDescriptor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diagnosis.planted.model import Argument, Array

M, N, K_BYTES = 256, 128, 384
E2M1: Final = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
E4M3_ONES: Final = np.array([0x38, 0x40, 0x44], np.uint8)  # 1, 2, 3
WORD: Final = 4  # scales
SCALES_START: Final = 24576  # of a stage: behind A and B
PLACES: Final = {"a": 64, "b": 80}  # columns of tensor memory that hold scales
_COPY: Final = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
_NEXT_IDS: Final = 0x20000010  # both scale factor ids, one higher


@dataclass(frozen=True, slots=True)
class ScaledFactors(TensorFactors):
    """Factors in bytes, of e4m3 or of two e2m1, and their scales.

    Attributes:
        kind: `mxf8f6f4`, with a scale for 32 elements, or `mxf4nvf4`, for 16.
        tiled: Whether scales lie in tiles of 128 rows by four, as `tcgen05.cp` takes them, or row by row.
    """

    SHAPE = M, N, K_BYTES

    element: str = "e4m3"
    kind: str = "mxf8f6f4"
    tiled: bool = True

    @property
    def packs(self) -> bool:
        """Whether a byte has two elements."""
        return self.kind == "mxf4nvf4"

    @property
    def told(self) -> InstructionDescriptor:
        element, scale = ("e2m1", "ue4m3") if self.packs else ("e4m3", "ue8m0")
        return InstructionDescriptor(self.kind, self.rows, TILE, element, element, scale_type=scale)

    @property
    def words(self) -> int:
        """Words of scales of a row in a stage."""
        return 4 if self.packs else 1

    @property
    def blocks(self) -> int:
        """Scales of a row."""
        return K_BYTES // self.tile_k * self.words * WORD

    def arrays(self) -> tuple[Array, Array]:
        if not self.packs:
            return super(ScaledFactors, self).arrays()
        rng = np.random.default_rng(self.SEED)
        a, b = (rng.integers(0, 256, (rows, K_BYTES), np.uint8) for rows in (M, N))
        return a, b

    def scales(self) -> tuple[Array, Array]:
        """Codes of scales, (rows, blocks)."""
        rng = np.random.default_rng(self.SEED + 1)
        whole = [rng.integers(0, 3, (rows, self.blocks), np.uint8) for rows in (M, N)]
        a, b = (E4M3_ONES[one] if self.packs else one + np.uint8(126) for one in whole)
        return a, b

    def __call__(self) -> Sequence[Argument]:
        scales = [_in_tiles(one) if self.tiled else one for one in self.scales()]
        return *super(ScaledFactors, self).__call__(), *scales

    def product(self, *_: object) -> Array:
        a, b = (self._values(one, scales) for one, scales in zip(self.arrays(), self.scales(), strict=True))
        return a @ b.T

    def _values(self, elements: Array, scales: Array) -> Array:
        """What elements are worth, each with its scale."""
        if self.packs:
            plain = E2M1[np.stack((elements & 15, elements >> 4), axis=-1).reshape(len(elements), -1)]
            factors = np.searchsorted(E4M3_ONES, scales).astype(np.float32) + 1
        else:
            plain, factors = decoded(elements), np.exp2(scales.astype(np.float32) - 127)
        return plain * factors.repeat(plain.shape[1] // self.blocks, axis=1)


def scaled(name: str, factors: ScaledFactors) -> RightKernel:
    """C = (A * SA) @ (B * SB).T; a CTA has 128 x 64 of it."""
    parts = factors.parts()
    parts |= {
        "log_m": "7",
        "told": str(factors.told),
        "parameters": ", .param .u64 SA, .param .u64 SB",
        "taken": "\n".join(_taken()),
        "middle": "\n".join(() if factors.tiled else _by_threads(factors)),
        "products": "\n".join(_products(factors)),
        "epilogue": "\n".join(epilogue(128)),
    }
    if factors.tiled:
        parts["copies"] = "\n".join((parts["copies"], *_copies(factors)))
        parts["bytes"] = str(int(parts["bytes"]) + 2 * 512 * factors.words)
    text = Template(HEAD).substitute(parts)
    grid = (N // TILE, M // factors.rows)
    names = (*NAMES, "SA", "SB")
    return RightKernel(name, text, grid, 128, factors, names, 2, factors.product, 3 * STAGE_BYTES, says=factors.says)


def _taken() -> list[str]:
    return [
        "ld.param.u64 d4, [SA];",
        "ld.param.u64 d5, [SB];",
        "cvta.to.global.u64 d4, d4; // sa-given",
        "cvta.to.global.u64 d5, d5; // sb-given",
    ]


def _copies(factors: ScaledFactors) -> list[str]:
    """A tile of scales for each tile of a factor; two tiles of B share one."""
    size, tiles = 512 * factors.words, K_BYTES // factors.tile_k
    shift = size.bit_length() - 1
    into = {"a": SCALES_START, "b": SCALES_START + 2048}
    found = [
        "mov.u32 r60, %ctaid.y; // sa-tile",
        "mov.u32 r62, %ctaid.x; // sb-column",
        "shr.u32 r62, r62, 1; // sb-tile",
    ]
    for operand, index, base in (("a", "r60", "d4"), ("b", "r62", "d5")):
        found += [
            f"mad.lo.u32 {index}, {index}, {tiles}, r7; // s{operand}-index",
            f"shl.b32 {index}, {index}, {shift}; // s{operand}-bytes",
            f"cvt.u64.u32 d14, {index};",
            f"add.u64 d14, {base}, d14; // s{operand}-from",
            f"add.u32 r61, r11, {into[operand]}; // s{operand}-into",
            f"{_COPY} [r61], [d14], {size}, [r13]; // s{operand}-copy",
        ]
    return found


def _by_threads(factors: ScaledFactors) -> list[str]:
    """Each warp loads the scales of all rows, four of a row in a word, and stores them to its quarter."""
    found = ["and.b32 r50, r0, 31; // lane"]
    for operand, tile, base, count in (("a", "r5", "d4", 4), ("b", "r6", "d5", 2)):
        for word in range(count):
            found += [
                f"add.u32 r51, {tile}, {32 * word}; // s{operand}-rows",
                f"add.u32 r51, r51, r50; // s{operand}-row",
                f"mul.lo.u32 r51, r51, {factors.blocks}; // s{operand}-pitch",
                "shl.b32 r52, r8, 2; // s-stage",
                f"add.u32 r51, r51, r52; // s{operand}-k",
                "cvt.u64.u32 d16, r51;",
                f"add.u64 d16, {base}, d16; // s{operand}-from",
                f"ld.global.u32 r{70 + word}, [d16]; // s{operand}-load",
            ]
        registers = ", ".join(f"r{70 + n}" for n in range(count))
        found += [
            f"add.u32 r53, r43, {PLACES[operand]}; // s{operand}-columns",
            f"tcgen05.st.sync.aligned.32x32b.x{count}.b32 [r53], {{{registers}}}; // s{operand}-store",
        ]
    return [
        *found,
        "tcgen05.wait::st.sync.aligned;",
        "tcgen05.fence::before_thread_sync;",
        "bar.sync 0;",
        "tcgen05.fence::after_thread_sync;",
    ]


def _products(factors: ScaledFactors) -> list[str]:
    found = [f"add.u32 r65, r42, {PLACES['a']}; // sa-place", f"add.u32 r66, r42, {PLACES['b']}; // sb-place"]
    if factors.tiled:
        found += _to_tensor_memory(factors)
    vector = "4X" if factors.packs else "1X"
    opcode = f"tcgen05.mma.cta_group::1.kind::{factors.kind}.block_scale.scale_vec::{vector}"
    for number, (a, b) in enumerate(zip(*(tile.steps for tile in factors.tiles), strict=True)):
        columns, ids = (4 * number, 0) if factors.packs else (0, number * _NEXT_IDS)
        found += [
            f"add.s64 d12, d10, {a.offset_bytes // 16}; // a-step",
            f"add.s64 d13, d11, {b.offset_bytes // 16}; // b-step",
            f"add.u32 r67, r65, {columns}; // sa-step",
            f"add.u32 r68, r66, {columns}; // sb-step",
            f"add.u32 r69, r45, {ids:#x}; // ids",
            f"{opcode} [r42], d12, d13, r69, [r67], [r68], p6; // product",
            "setp.eq.u32 p6, r8, r8; // adding-on",
        ]
    return found


def _to_tensor_memory(factors: ScaledFactors) -> list[str]:
    """Four columns for each word of the rows; of B's two tiles the second has the upper two."""
    found = [
        "and.b32 r64, r6, 64; // sb-odd",
        "shr.u32 r64, r64, 5; // sb-half",
        "add.u32 r66, r66, r64; // sb-own",
    ]
    for operand, start in (("a", SCALES_START), ("b", SCALES_START + 2048)):
        found += [
            f"add.u32 r63, r21, {start}; // s{operand}-start",
            "shr.u32 r63, r63, 4;",
            "cvt.u64.u32 d15, r63;",
            f"or.b64 d15, d15, 0x0000400800080000; // s{operand}-words",
        ]
        for word in range(factors.words):
            found += [
                f"add.s64 d16, d15, {32 * word}; // s{operand}-next",
                f"add.u32 r61, r42, {PLACES[operand] + 4 * word}; // s{operand}-columns",
                f"tcgen05.cp.cta_group::1.32x128b.warpx4 [r61], d16; // s{operand}-cp",
            ]
    return found


def _in_tiles(scales: Array) -> Array:
    """(rows / 128, blocks / 4, 32, 4, 4): tiles of 512 bytes, in which 16 bytes have four rows, 32 apart."""
    rows, blocks = scales.shape
    return np.ascontiguousarray(scales.reshape(rows // 128, 4, 32, blocks // 4, 4).transpose(0, 3, 2, 1, 4))
