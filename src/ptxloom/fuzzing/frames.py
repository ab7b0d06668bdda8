"""The initial registers and cells of a kernel's threads: a pure function of the campaign's seed and the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.conformance.inputs import STYLES, float_words, integer_words, parts_of_float
from ptxloom.fuzzing.banks import BANKS, BLOCK, CELLS, FRAME_BYTES
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.conformance.inputs import Words

    Frames = NDArray[np.uint8]

_WARP: Final = 32


def frames(seed: int, kernel: int) -> Frames:
    """The parameter `in` of a kernel's programs: a frame per thread of a CTA."""
    made = np.zeros((BLOCK, FRAME_BYTES), np.uint8)
    chance = np.random.Generator(np.random.Philox(key=[seed & (1 << 64) - 1, kernel]))
    anchors = np.repeat(_words(chance, BLOCK // _WARP), _WARP)
    for bank in BANKS.values():
        type_ = element_type(bank.style)
        element = max(type_.bits, 8)
        each = bank.frame_bits // element
        width = element // 8
        for at in range(bank.count * each):
            style = np.repeat(_words(chance, BLOCK // _WARP), _WARP) % np.uint64(STYLES)
            words = _words(chance, BLOCK)
            split = parts_of_float(type_)
            drawn = (words, style, anchors)
            values = integer_words(*drawn, element) if split is None else float_words(drawn, *split)
            place = bank.offset + at * width
            made[:, place : place + width] = values.astype("<u8").view(np.uint8).reshape(BLOCK, 8)[:, :width]
    first = min(CELLS.values())
    made[:, first:] = chance.integers(0, 256, (BLOCK, FRAME_BYTES - first), np.uint8)
    return made


def _words(chance: np.random.Generator, count: int) -> Words:
    return chance.integers(0, (1 << 64) - 1, count, np.uint64, endpoint=True)
