"""How accumulators go to C: from where they are, or as f16 through `stmatrix`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.tiling import log
from diagnosis.planted.writer import registers

if TYPE_CHECKING:
    from diagnosis.planted.tiling import Tiling
    from diagnosis.planted.writer import Writer


def epilogue(w: Writer, tiling: Tiling) -> None:
    """Store the accumulators from where they are: lane l holds two neighbours of rows l/4 and l/4 + 8."""
    w("shr.u32 %c_row, %lane, 2", "c-lane-row")
    w(f"mad.lo.u32 %c_row, %warp_m, {tiling.part[0]}, %c_row", "c-warp-row")
    w("add.u32 %c_row, %c_row, %block_m", "c-cta-row")
    w("and.b32 %c_column, %lane, 3", "c-lane-column")
    w("shl.b32 %c_column, %c_column, 1", "c-pair")
    w(f"mad.lo.u32 %c_column, %warp_n, {tiling.part[1]}, %c_column", "c-warp-column")
    w("add.u32 %c_column, %c_column, %block_n", "c-cta-column")
    rows, columns, _ = tiling.fragments
    for i, j, half in np.ndindex(rows, columns, 2):
        w(f"add.u32 %row, %c_row, {i * 16 + half * 8}", f"c-row-{half}")
        w(f"add.u32 %column, %c_column, {j * 8}", "c-column")
        w("mul.wide.u32 %rd_row, %row, %n", "c-leading-dimension")
        w("cvt.u64.u32 %rd_column, %column")
        w("add.u64 %rd_row, %rd_row, %rd_column")
        w("shl.b64 %rd_row, %rd_row, 2")
        w("add.u64 %rd_to, %rd_C, %rd_row")
        w(f"st.global.v2.b32 [%rd_to], {{%d_{i}_{j}_{2 * half}, %d_{i}_{j}_{2 * half + 1}}}", f"c-store-{half}")


def matrix_epilogue(w: Writer, tiling: Tiling) -> None:
    """Store the accumulators as f16: by `stmatrix` to shared memory, and from there in whole chunks."""
    pitch = (tiling.tile[1] + 8) * 2
    rows, columns, _ = tiling.fragments
    for i, j in np.ndindex(rows, columns // 2):
        for matrix in range(4):
            pair = [f"%d_{i}_{2 * j + matrix // 2}_{2 * (matrix % 2) + e}" for e in range(2)]
            w(f"cvt.rn.f16x2.f32 %packed{matrix}, {pair[1]}, {pair[0]}", "c-pack")
        w("and.b32 %row, %lane, 15", "c-lane-row")
        w(f"mad.lo.u32 %row, %warp_m, {tiling.part[0]}, %row", "c-warp-row")
        w(f"add.u32 %row, %row, {i * 16}", "c-row")
        w("shr.u32 %chunk, %lane, 4", "c-lane-chunk")
        w(f"mad.lo.u32 %chunk, %warp_n, {tiling.part[1] // 8}, %chunk", "c-warp-column")
        w(f"add.u32 %chunk, %chunk, {j * 2}", "c-column")
        w(f"mad.lo.u32 %at, %row, {pitch}, %tiles", "c-write-pitch")
        w("mad.lo.u32 %at, %chunk, 16, %at", "c-write-chunk")
        w(f"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%at], {registers('packed', 4)}", "c-stmatrix")
    w("bar.sync 0")
    chunks = tiling.tile[1] // 8
    for part in range(tiling.tile[0] * chunks // tiling.threads):
        w(f"add.u32 %i, %thread, {part * tiling.threads}")
        w(f"shr.u32 %row, %i, {log(chunks)}", "c-copy-row")
        w(f"and.b32 %chunk, %i, {chunks - 1}", "c-copy-chunk")
        w(f"mad.lo.u32 %at, %row, {pitch}, %tiles", "c-read-pitch")
        w("mad.lo.u32 %at, %chunk, 16, %at", "c-read-chunk")
        w(f"ld.shared.v4.b32 {registers('word', 4)}, [%at]", "c-read")
        w("add.u32 %row, %row, %block_m", "c-cta-row")
        w("mad.lo.u32 %column, %chunk, 8, %block_n", "c-cta-column")
        w("mad.lo.u32 %at, %row, %n, %column", "c-leading-dimension")
        w("mul.wide.u32 %rd_to, %at, 2")
        w("add.u64 %rd_to, %rd_C, %rd_to")
        w(f"st.global.v4.b32 [%rd_to], {registers('word', 4)}", "c-store")
