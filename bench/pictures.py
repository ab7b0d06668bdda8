"""Drawing: milliseconds of CPU from a value to an SVG, best of five."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import ptxloom as pl
from ptxloom.atoms import atom, make_tiled_copy_a, make_tiled_mma

if TYPE_CHECKING:
    from collections.abc import Callable


def milliseconds(work: Callable[[], object]) -> float:
    """The least CPU time of five."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best * 1e3


def main() -> None:
    mma = make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (128, 128, 64))
    values = {
        "an mma atom (512 cells)": atom("SM80_16x8x16_F32F16F16F32_TN"),
        "ldmatrix.x4 (256 cells)": pl.fragment("ldmatrix.m8n8.x4.b16"),
        "a layout of 128x64": pl.layout.Layout((128, 64), (64, 1)),
        "a tiled copy of A, 128x128x64, both sides": make_tiled_copy_a("SM75_U32x4_LDSM_N", mma),
        "a tiled mma, 128x128x64, A, B and C": mma,
    }
    for name, value in values.items():
        print(f"{name:45} {milliseconds(lambda value=value: pl.draw(value)):7.1f} ms")


if __name__ == "__main__":
    main()
