"""Fragments of A and B by `ldmatrix`: which row address each lane gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnosis.planted.tiling import CHUNK
from diagnosis.planted.writer import registers

if TYPE_CHECKING:
    from diagnosis.planted.tiling import Tiling
    from diagnosis.planted.writer import Writer


def load_a(w: Writer, tiling: Tiling, stage: str, step: int, i: int) -> None:
    """Load the fragment of 16 rows: rows 0 and 8 of the first half of k, then of the second."""
    w("and.b32 %row, %lane, 15", "a-lane")
    w(f"mad.lo.u32 %row, %warp_m, {tiling.part[0]}, %row", "a-warp")
    w(f"add.u32 %row, %row, {i * 16}", "a-row")
    w("shr.u32 %chunk, %lane, 4", "a-lane-chunk")
    w(f"add.u32 %chunk, %chunk, {step * 2}", "a-step")
    room = tiling.room("a")
    room.at(w, "a", "read", stage)
    w(f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {registers(f'a_{i}_', 4)}, [%at+{room.first}]", "a-load")


def load_b(w: Writer, tiling: Tiling, stage: str, step: int, j: int) -> None:
    """Load the fragments of two neighbouring products, or of the only one."""
    number = min(2, tiling.fragments[1])
    (_rows_of_k if tiling.trans else _rows_of_columns)(w, tiling, step, j, number)
    room = tiling.room("b")
    room.at(w, "b", "read", stage)
    names = ", ".join(f"%b_{j + half}_{e}" for half in range(number) for e in range(2))
    opcode = f"ldmatrix.sync.aligned.m8n8.x{2 * number}{'.trans' * tiling.trans}.shared.b16"
    w(f"{opcode} {{{names}}}, [%at+{room.first}]", "b-load")


def _rows_of_columns(w: Writer, tiling: Tiling, step: int, j: int, number: int) -> None:
    """Columns of C are rows here, k lies along them."""
    w("and.b32 %row, %lane, 7", "b-lane")
    if number == 2:
        w("bfe.u32 %high, %lane, 4, 1", "b-lane-high")
        w("mad.lo.u32 %row, %high, 8, %row", "b-lane-row")
    w(f"mad.lo.u32 %row, %warp_n, {tiling.part[1]}, %row", "b-warp")
    w(f"add.u32 %row, %row, {j * 8}", "b-row")
    w("bfe.u32 %chunk, %lane, 3, 1", "b-lane-chunk")
    w(f"add.u32 %chunk, %chunk, {step * 2}", "b-step")


def _rows_of_k(w: Writer, tiling: Tiling, step: int, j: int, _: int) -> None:
    w("and.b32 %row, %lane, 15", "b-lane")
    w(f"add.u32 %row, %row, {step * tiling.type.step}", "b-step")
    w("shr.u32 %chunk, %lane, 4", "b-lane-chunk")
    w(f"add.u32 %chunk, %chunk, {j}", "b-column")
    w(f"mad.lo.u32 %chunk, %warp_n, {tiling.part[1] * tiling.type.bytes // CHUNK}, %chunk", "b-warp")
