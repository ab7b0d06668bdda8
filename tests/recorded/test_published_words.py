"""Result words that were published for a B200 are those of `tcgen05.mma` here (`published/b200_words.json`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from machine.semantics.tensor_kernels import descriptor, lines, run
from ptxloom.descriptors.instruction import SCALED_KINDS, TYPES, InstructionDescriptor
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = json.loads((Path(__file__).parent / "published" / "b200_words.json").read_text(encoding="utf-8"))["words"]
_HEAD, _A_BYTES, _ROW_BYTES = 1024, 128 * 32, 32
_VECTORS = {"mxf8f6f4": "", "mxf4": "", "mxf4nvf4": "4X"}


def body() -> str:
    """One product of the kind and by the descriptor that stand before the factors."""
    made = descriptor(str(_HEAD), 128, 256, "%rd8") + descriptor(str(_HEAD + _A_BYTES), 128, 256, "%rd9")
    made += "ld.shared.u32 %r21, [%r3]; ld.shared.u32 %r23, [%r3+4]; setp.eq.u32 %p6, 0, 0;\n"
    made += "add.u32 %r24, %r13, 256; add.u32 %r25, %r13, 260;\n"
    for number, (kind, vector) in enumerate(_ways()):
        scaled = f".block_scale{f'.scale_vec::{vector}' if vector else ''}" if kind in SCALED_KINDS else ""
        beside = ", [%r24], [%r25]" if scaled else ""
        made += f"setp.eq.u32 %p7, %r23, {number};\n"
        made += f"@%p7 tcgen05.mma.cta_group::1.kind::{kind}{scaled} [%r13], %rd8, %rd9, %r21{beside}, %p6;\n"
    return made


def _ways() -> list[tuple[str, str]]:
    return [*((kind, _VECTORS.get(kind, "")) for kind in TYPES), ("mxf4nvf4", "2X")]


def packed(codes: list[int], kind: str, name: str) -> NDArray[np.uint8]:
    """A row of 32 bytes."""
    bits = element_type(name).packed_bits
    values = np.array(codes, np.uint64)
    ones = ((values[:, None] >> np.arange(bits, dtype=np.uint64)) & 1).astype(np.uint8)
    if bits < 8 and kind not in {"mxf4", "mxf4nvf4"}:  # 16 elements in 16 bytes, the last of them nothing
        rows = np.packbits(ones.reshape(-1, 16 * bits), axis=-1, bitorder="little")
        return np.pad(rows, [(0, 0), (0, 16 - rows.shape[-1])]).reshape(-1)
    return np.packbits(ones.reshape(-1), bitorder="little")


def word_of(said: dict[str, Any]) -> int:
    """The word of D that a product gives of one row and one column."""
    a, b, scales_a, scales_b = ([int(x, 16) for x in said[key].split()] for key in ("a", "b", "scales_a", "scales_b"))
    kind = said["kind"]
    told = InstructionDescriptor(
        kind, 128, 8, said["a_type"], said["b_type"], said["d_type"],
        saturate=said["saturate"], scale_type=said["scale_type"],
    )  # fmt: skip
    way = next(n for n, (one, vector) in enumerate(_ways()) if one == kind and vector in {"", said["scale_vector"]})
    head = np.zeros(_HEAD, np.uint8)
    head[:8] = np.array([told.bits, way], np.uint32).view(np.uint8)
    factors = np.zeros((128, _ROW_BYTES), np.uint8), np.zeros((8, _ROW_BYTES), np.uint8)
    factors[0][0], factors[1][0] = packed(a, kind, said["a_type"]), packed(b, kind, said["b_type"])
    before = np.zeros((512, 128), np.uint32)
    before[0, 0] = int(said["c"], 16)
    for column, scales in ((256, scales_a), (260, scales_b)):
        one = int.from_bytes(bytes(scales or (0,) * 4), "little")
        before[column : column + 4] = one
    after, outcome = run(body(), np.concatenate([head, *(lines(f) for f in factors)]), before)
    assert not outcome.hazards
    return int(after[0, 0])


@pytest.mark.parametrize("said", WORDS, ids=[word["name"] for word in WORDS])
def test_a_published_word_is_ours(said: dict[str, Any]) -> None:
    assert f"{word_of(said):08x}" == said["d"]
