"""A product of fp4 (e2m1): moved packed, unpacked to bytes by `ldmatrix`, shifted to where `mma` wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.model import Argument, Array, RightKernel
from diagnosis.planted.writer import Writer, registers

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP = 32  # elements of k
PITCH = 48  # bytes of a row in shared memory: two chunks of 16 elements, half of each padding, and a chunk more
ROWS_OF_A = 16
ROWS_OF_B = 8
VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def product_of_fp4(name: str) -> RightKernel:
    """One warp, one tile of 16 x 8; B lies as its transpose."""
    w = Writer()
    w.start("A", "B", "C", sizes=("k",))
    w("mov.u32 %tiles, tiles")
    for e in range(4):
        w(f"mov.b32 %d{e}, 0")
    w("mov.u32 %start, 0")
    w.label("NEXT")
    _copy(w, "a", ROWS_OF_A)
    w(f"setp.lt.u32 %p_b, %lane, {2 * ROWS_OF_B}")
    w("@!%p_b bra COPIED")
    _copy(w, "b", ROWS_OF_B)
    w.label("COPIED")
    w("bar.sync 0", "barrier")
    _load(w, "a", 4)
    _load(w, "b", 2)
    d = registers("d", 4)
    opcode = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32"
    w(f"{opcode} {d}, {registers('a', 4)}, {registers('b', 2)}, {d}", "mma")
    w("bar.sync 0", "barrier")
    w(f"add.u32 %start, %start, {STEP}", "k-next")
    w("setp.lt.u32 %p_more, %start, %k")
    w("@%p_more bra NEXT")
    w("mul.wide.u32 %rd_to, %lane, 8")
    w("add.u64 %rd_to, %rd_C, %rd_to")
    w("st.global.v2.b32 [%rd_to], {%d0, %d1}", "c-store-0")
    w(f"st.global.v2.b32 [%rd_to+{8 * ROWS_OF_B * 4}], {{%d2, %d3}}", "c-store-1")
    text = w.kernel(("A", "B", "C"), ("k",), (ROWS_OF_A + ROWS_OF_B) * PITCH, "sm_120a")
    return RightKernel(
        name, text, (1,), 32, _arguments, ("A", "B", "C", "k"), 2, _multiplied, target="sm_120a", says="C = A @ B.T"
    )


def _copy(w: Writer, operand: str, rows: int) -> None:
    """Eight bytes, 16 elements, a lane."""
    w("shr.u32 %row, %lane, 1", f"{operand}-copy-row")
    w("and.b32 %chunk, %lane, 1", f"{operand}-copy-chunk")
    w("mad.lo.u32 %element, %row, %k, %start", f"{operand}-leading-dimension")
    w("mad.lo.u32 %element, %chunk, 16, %element", f"{operand}-global-chunk")
    w("shr.u32 %element, %element, 1", f"{operand}-global-byte")
    w("cvt.u64.u32 %rd_byte, %element")
    w(f"add.u64 %rd_from, %rd_{operand.upper()}, %rd_byte")
    w("ld.global.v2.b32 {%word0, %word1}, [%rd_from]", f"{operand}-copy")
    w(f"mad.lo.u32 %at, %row, {PITCH}, %tiles", f"{operand}-write-pitch")
    w("mad.lo.u32 %at, %chunk, 16, %at", f"{operand}-write-chunk")
    w(f"st.shared.v2.b32 [%at+{_room(operand)}], {{%word0, %word1}}", f"{operand}-copy-to")


def _load(w: Writer, operand: str, number: int) -> None:
    if operand == "a":
        w("and.b32 %row, %lane, 15", "a-lane")
        w("shr.u32 %chunk, %lane, 4", "a-lane-chunk")
    else:
        w("and.b32 %row, %lane, 7", "b-lane")
        w("shr.u32 %chunk, %lane, 3")
        w("and.b32 %chunk, %chunk, 1", "b-lane-chunk")
    w(f"mad.lo.u32 %at, %row, {PITCH}, %tiles", f"{operand}-read-pitch")
    w("mad.lo.u32 %at, %chunk, 16, %at", f"{operand}-read-chunk")
    opcode = f"ldmatrix.sync.aligned.m8n16.x{number}.shared.b8x16.b4x16_p64"
    w(f"{opcode} {registers(operand, number)}, [%at+{_room(operand)}]", f"{operand}-load")
    for word in range(number):
        w(f"shl.b32 %{operand}{word}, %{operand}{word}, 2", f"{operand}-shift")


def _room(operand: str) -> int:
    return 0 if operand == "a" else ROWS_OF_A * PITCH


def _arguments() -> Sequence[Argument]:
    rng = np.random.default_rng(5)
    a, b = (rng.integers(0, 256, (rows, STEP), dtype=np.uint8) for rows in (ROWS_OF_A, ROWS_OF_B))
    return a, b, np.zeros((ROWS_OF_A, ROWS_OF_B), np.float32), 2 * STEP


def _multiplied(a: Array, b: Array, *_: object) -> Array:
    left, right = (VALUES[np.stack([x & 15, x >> 4], axis=-1).reshape(len(x), -1)] for x in (a, b))
    return left @ right.T
