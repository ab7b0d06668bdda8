"""C = A @ B on tensor cores, in many tilings and types: what `ldmatrix` and `mma.sync` are mostly used for.

A is row-major. B is row-major, too, and comes to the product through `ldmatrix.trans`, or it lies as its transpose,
with k within a row. A k tile has 64 bytes of every row, two steps of the product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.epilogues import epilogue, matrix_epilogue
from diagnosis.planted.fragment_loads import load_a, load_b
from diagnosis.planted.model import RightKernel
from diagnosis.planted.tiling import TILE_BYTES, Factors, Product, log
from diagnosis.planted.writer import Writer, registers

if TYPE_CHECKING:
    from diagnosis.planted.tiling import Tiling


def gemm(name: str, tiling: Tiling) -> RightKernel:
    """The kernel of a tiling."""
    w = Writer()
    sizes = ("n", "k")
    w.start("A", "B", "C", sizes=sizes)
    w(f"shr.u32 %warp_m, %warp, {log(tiling.warps[1])}", "warp-row")
    w(f"and.b32 %warp_n, %warp, {tiling.warps[1] - 1}", "warp-column")
    w("mov.u32 %block_m, %ctaid.y", "cta-row")
    w("mov.u32 %block_n, %ctaid.x", "cta-column")
    w(f"mul.lo.u32 %block_m, %block_m, {tiling.tile[0]}", "tile-row")
    w(f"mul.lo.u32 %block_n, %block_n, {tiling.tile[1]}", "tile-column")
    w(f"mul.lo.u32 %k_bytes, %k, {tiling.type.bytes}")
    w(f"mul.lo.u32 %n_bytes, %n, {tiling.type.bytes}")
    w("mov.u32 %tiles, tiles")
    for i, j, e in np.ndindex(tiling.fragments):
        w(f"mov.b32 %d_{i}_{j}_{e}, 0")
    (_pipelined if tiling.stages == 2 else _simple)(w, tiling)
    (matrix_epilogue if tiling.halves else epilogue)(w, tiling)
    shared = max(tiling.stage_bytes * tiling.stages, tiling.tile[0] * (tiling.tile[1] + 8) * 2 * tiling.halves)
    target = "sm_90" if tiling.halves else tiling.type.target
    text = w.kernel(("A", "B", "C"), sizes, shared, target)
    m, n, _ = tiling.size
    grid = (n // tiling.tile[1], m // tiling.tile[0])
    names = ("A", "B", "C", *sizes)
    return RightKernel(name, text, grid, tiling.threads, Factors(tiling), names, 2, Product(tiling), says=tiling.says)


def _simple(w: Writer, tiling: Tiling) -> None:
    w("mov.u32 %start, 0")
    w.label("NEXT")
    _fetch(w, tiling, "%tiles", "%start")
    w("bar.sync 0", "barrier")
    _multiply(w, tiling, "%tiles")
    w("bar.sync 0", "barrier")
    w(f"add.u32 %start, %start, {TILE_BYTES}", "k-next")
    w("setp.lt.u32 %p_more, %start, %k_bytes", "k-end")
    w("@%p_more bra NEXT")


def _pipelined(w: Writer, tiling: Tiling) -> None:
    w("mov.u32 %start, 0")
    w("mov.u32 %stage, 0")
    w("mov.u32 %into, %tiles")
    _fetch(w, tiling, "%into", "%start")
    w("cp.async.commit_group")
    w.label("NEXT")
    w(f"add.u32 %following, %start, {TILE_BYTES}", "k-next")
    w("setp.ge.u32 %p_last, %following, %k_bytes")
    w("@%p_last bra LAST")
    w(f"sub.u32 %into, {tiling.stage_bytes}, %stage", "stage-write")
    w("add.u32 %into, %into, %tiles", "stage-write")
    _fetch(w, tiling, "%into", "%following")
    w("cp.async.commit_group")
    w("cp.async.wait_group 1", "wait")
    w("bra READY")
    w.label("LAST")
    w("cp.async.wait_group 0", "wait-last")
    w.label("READY")
    w("bar.sync 0", "barrier")
    w("add.u32 %from, %stage, %tiles", "stage-read")
    _multiply(w, tiling, "%from")
    w("bar.sync 0", "barrier-after")
    w("mov.u32 %start, %following")
    w(f"sub.u32 %stage, {tiling.stage_bytes}, %stage", "stage-next")
    w("setp.lt.u32 %p_more, %start, %k_bytes")
    w("@%p_more bra NEXT")


def _fetch(w: Writer, tiling: Tiling, stage: str, start: str) -> None:
    """Bring the k tile that begins at a byte to a stage."""
    for operand in ("a", "b"):
        room = tiling.room(operand)
        for part in range(room.rows * room.chunks // tiling.threads):
            w(f"add.u32 %i, %thread, {part * tiling.threads}", f"{operand}-part")
            w(f"shr.u32 %row, %i, {log(room.chunks)}", f"{operand}-copy-row")
            w(f"and.b32 %chunk, %i, {room.chunks - 1}", f"{operand}-copy-chunk")
            _global_row(w, tiling, operand, start)
            room.at(w, operand, "write", stage)
            _copy(w, tiling, operand, room.first)


def _global_row(w: Writer, tiling: Tiling, operand: str, start: str) -> None:
    """Leave in `%rd_from` where the chunk is in global memory."""
    if operand == "b" and tiling.trans:
        w(f"shr.u32 %g_row, {start}, {log(tiling.type.bytes)}", "b-k")
        w("add.u32 %g_row, %g_row, %row", "b-global-row")
        w("mul.wide.u32 %rd_row, %g_row, %n_bytes", "b-leading-dimension")
        w(f"mul.lo.u32 %g_byte, %block_n, {tiling.type.bytes}", "b-global-column")
    else:
        w(f"add.u32 %g_row, %row, %block_{'m' if operand == 'a' else 'n'}", f"{operand}-global-row")
        w("mul.wide.u32 %rd_row, %g_row, %k_bytes", f"{operand}-leading-dimension")
        w(f"mov.u32 %g_byte, {start}", f"{operand}-k")
    w("mad.lo.u32 %g_byte, %chunk, 16, %g_byte", f"{operand}-global-byte")
    w("cvt.u64.u32 %rd_byte, %g_byte")
    w(f"add.u64 %rd_from, %rd_{operand.upper()}, %rd_row", f"{operand}-base")
    w("add.u64 %rd_from, %rd_from, %rd_byte")


def _copy(w: Writer, tiling: Tiling, operand: str, first: int) -> None:
    if tiling.masked:
        w("mov.u32 %filled, 16")
        if operand == "b" and tiling.trans:
            w("setp.lt.u32 %p_in, %g_row, %k")
        else:
            w("setp.lt.u32 %p_in, %g_byte, %k_bytes")
        w("selp.u32 %filled, 16, 0, %p_in", f"{operand}-tail")
        w(f"selp.b64 %rd_from, %rd_from, %rd_{operand.upper()}, %p_in", f"{operand}-tail-address")
        w(f"cp.async.cg.shared.global [%at+{first}], [%rd_from], 16, %filled", f"{operand}-copy")
    elif tiling.stages == 2:
        w(f"cp.async.cg.shared.global [%at+{first}], [%rd_from], 16", f"{operand}-copy")
    else:
        w(f"ld.global.v4.b32 {registers('word', 4)}, [%rd_from]", f"{operand}-copy")
        w(f"st.shared.v4.b32 [%at+{first}], {registers('word', 4)}", f"{operand}-copy-to")


def _multiply(w: Writer, tiling: Tiling, stage: str) -> None:
    """Add the products of a k tile to the accumulators."""
    rows, columns, _ = tiling.fragments
    for step in range(2):
        for i in range(rows):
            load_a(w, tiling, stage, step, i)
        for j in range(0, columns, 2):
            load_b(w, tiling, stage, step, j)
        for i in range(rows):
            for j in range(columns):
                d = ", ".join(f"%d_{i}_{j}_{e}" for e in range(4))
                a, b = registers(f"a_{i}_", 4), registers(f"b_{j}_", 2)
                w(f"{tiling.type.instruction} {{{d}}}, {a}, {b}, {{{d}}}", "mma")
