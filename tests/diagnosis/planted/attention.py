"""Flash attention by one warp a tile of 16 queries: Q K^T, a softmax in powers of two that are exact, and P V."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.model import Argument, Array, RightKernel
from diagnosis.planted.writer import Writer, registers

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 32  # of a head
QUERIES = 16  # of a tile
KEYS = 16  # of a block
ROW_BYTES = 2 * WIDTH
PITCH = ROW_BYTES + 16
ROOM = {"q": 0, "k": QUERIES * PITCH, "v": (QUERIES + KEYS) * PITCH}
SHARED_BYTES = (QUERIES + 2 * KEYS) * PITCH
EMPTY = "0fff800000"  # minus infinity


def attention(name: str) -> RightKernel:
    """The kernel: `O = softmax2(Q K^T) V`, over 48 keys."""
    w = Writer()
    w.start("Q", "K", "V", "O", sizes=("keys",))
    w("mov.u32 %tiles, tiles")
    w("mov.u32 %first, %ctaid.x")
    w(f"mul.lo.u32 %first, %first, {QUERIES}", "q-tile")
    _copy(w, "q", "Q", "%first")
    w("bar.sync 0")
    for step in range(2):
        w("and.b32 %row, %lane, 15", "q-lane")
        w("shr.u32 %chunk, %lane, 4", "q-lane-chunk")
        w(f"add.u32 %chunk, %chunk, {2 * step}", "q-step")
        _load(w, "q", "", f"q_{step}_")
    for e in range(16):
        w(f"mov.b32 %o{e}, 0")
    for half in range(2):
        w(f"mov.b32 %most{half}, {EMPTY}")
        w(f"mov.b32 %sum{half}, 0")
    w("mov.u32 %start, 0")
    w.label("NEXT")
    _copy(w, "k", "K", "%start")
    _copy(w, "v", "V", "%start")
    w("bar.sync 0", "barrier")
    _scores(w)
    _soften(w)
    _mix(w)
    w("bar.sync 0", "barrier")
    w(f"add.u32 %start, %start, {KEYS}", "block-next")
    w("setp.lt.u32 %p_more, %start, %keys")
    w("@%p_more bra NEXT")
    _store(w)
    text = w.kernel(("Q", "K", "V", "O"), ("keys",), SHARED_BYTES, "sm_80")
    return RightKernel(name, text, (2,), 32, Attended(), ("Q", "K", "V", "O", "keys"), 3, attended, says="S = Q @ K.T")


@dataclass(frozen=True, slots=True)
class Attended:
    """Makes the arguments: scores are small integers, so that every power of two and every sum is exact."""

    equal_values: bool = False

    def __call__(self) -> Sequence[Argument]:
        rng = np.random.default_rng(2)
        q, k = ((rng.integers(-2, 3, (rows, WIDTH)) * (rng.random((rows, WIDTH)) < 0.2)) for rows in (32, 48))
        v = rng.integers(-3, 4, (48, WIDTH))
        if self.equal_values:
            v = np.ones_like(v)
        return *(x.astype(np.float16) for x in (q, k, v)), np.zeros((32, WIDTH), np.float32), 48


def attended(q: Array, k: Array, v: Array, *_: object) -> Array:
    """What the kernel must leave in O."""
    scores = q.astype(np.float64) @ k.astype(np.float64).T
    powers = np.exp2(scores - scores.max(1, keepdims=True))
    mixed = (powers @ v.astype(np.float64)).astype(np.float32)
    return mixed / powers.sum(1, keepdims=True).astype(np.float32)


def _copy(w: Writer, operand: str, array: str, first: str) -> None:
    """Bring 16 rows of an array to shared memory."""
    for part in range(2):
        w(f"add.u32 %i, %lane, {32 * part}")
        w("shr.u32 %row, %i, 2", f"{operand}-copy-row")
        w("and.b32 %chunk, %i, 3", f"{operand}-copy-chunk")
        w(f"add.u32 %g_row, %row, {first}", f"{operand}-global-row")
        w(f"mul.wide.u32 %rd_from, %g_row, {ROW_BYTES}", f"{operand}-leading-dimension")
        w(f"add.u64 %rd_from, %rd_from, %rd_{array}", f"{operand}-base")
        w("mul.wide.u32 %rd_byte, %chunk, 16")
        w("add.u64 %rd_from, %rd_from, %rd_byte")
        w(f"ld.global.v4.b32 {registers('word', 4)}, [%rd_from]", f"{operand}-copy")
        w(f"mad.lo.u32 %at, %row, {PITCH}, %tiles", f"{operand}-write-pitch")
        w("mad.lo.u32 %at, %chunk, 16, %at", f"{operand}-write-chunk")
        w(f"st.shared.v4.b32 [%at+{ROOM[operand]}], {registers('word', 4)}", f"{operand}-copy-to")


def _load(w: Writer, operand: str, trans: str, into: str) -> None:
    w(f"mad.lo.u32 %at, %row, {PITCH}, %tiles", f"{operand}-read-pitch")
    w("mad.lo.u32 %at, %chunk, 16, %at", f"{operand}-read-chunk")
    opcode = f"ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16"
    w(f"{opcode} {registers(into, 4)}, [%at+{ROOM[operand]}]", f"{operand}-load")


def _product(w: Writer, d: str, a: str, b: str, mark: str) -> None:
    w(f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {d}", mark)


def _scores(w: Writer) -> None:
    for e in range(8):
        w(f"mov.b32 %s{e}, 0")
    for step in range(2):
        w("and.b32 %row, %lane, 7", "k-lane")
        w("shr.u32 %chunk, %lane, 4")
        w("mad.lo.u32 %row, %chunk, 8, %row", "k-lane-row")
        w("shr.u32 %chunk, %lane, 3")
        w("and.b32 %chunk, %chunk, 1", "k-lane-chunk")
        w(f"add.u32 %chunk, %chunk, {2 * step}", "k-step")
        _load(w, "k", "", f"k_{step}_")
        for half in range(2):
            d = "{" + ", ".join(f"%s{4 * half + e}" for e in range(4)) + "}"
            b = f"{{%k_{step}_{2 * half}, %k_{step}_{2 * half + 1}}}"
            _product(w, d, registers(f"q_{step}_", 4), b, "score")


def _soften(w: Writer) -> None:
    """The powers of a block of scores, rows l/4 and l/4 + 8, and what earlier blocks are scaled by."""
    for half in range(2):
        mine = [f"%s{4 * n + 2 * half + e}" for n in range(2) for e in range(2)]
        w(f"mov.b32 %old, %most{half}")
        for score in mine:
            w(f"max.f32 %most{half}, %most{half}, {score}")
        for distance in (1, 2):
            w(f"shfl.sync.bfly.b32 %other, %most{half}, {distance}, 31, -1")
            w(f"max.f32 %most{half}, %most{half}, %other")
        w(f"sub.f32 %old, %old, %most{half}")
        w("ex2.approx.f32 %scale, %old")
        w(f"mul.f32 %sum{half}, %sum{half}, %scale")
        for score in mine:
            w(f"sub.f32 {score}, {score}, %most{half}")
            w(f"ex2.approx.f32 {score}, {score}")
            w(f"add.f32 %sum{half}, %sum{half}, {score}")
        for n in range(4):
            for e in range(2):
                w(f"mul.f32 %o{4 * n + 2 * half + e}, %o{4 * n + 2 * half + e}, %scale")
    for part in range(4):
        w(f"cvt.rn.f16x2.f32 %p{part}, %s{2 * part + 1}, %s{2 * part}", "p-pack")


def _mix(w: Writer) -> None:
    for pair in range(2):
        w("and.b32 %row, %lane, 15", "v-lane")
        w("shr.u32 %chunk, %lane, 4", "v-lane-chunk")
        w(f"add.u32 %chunk, %chunk, {2 * pair}", "v-column")
        _load(w, "v", ".trans", f"v_{pair}_")
        for half in range(2):
            first = 4 * (2 * pair + half)
            d = "{" + ", ".join(f"%o{first + e}" for e in range(4)) + "}"
            b = f"{{%v_{pair}_{2 * half}, %v_{pair}_{2 * half + 1}}}"
            _product(w, d, registers("p", 4), b, "mix")


def _store(w: Writer) -> None:
    for half in range(2):
        for distance in (1, 2):
            w(f"shfl.sync.bfly.b32 %other, %sum{half}, {distance}, 31, -1")
            w(f"add.f32 %sum{half}, %sum{half}, %other")
        w("shr.u32 %row, %lane, 2", "o-lane-row")
        w(f"add.u32 %row, %row, {8 * half}", f"o-row-{half}")
        w("add.u32 %row, %row, %first", "o-tile")
        w("and.b32 %column, %lane, 3")
        w(f"mul.wide.u32 %rd_to, %row, {4 * WIDTH}", "o-leading-dimension")
        w("mul.wide.u32 %rd_byte, %column, 8")
        w("add.u64 %rd_to, %rd_to, %rd_byte")
        w("add.u64 %rd_to, %rd_to, %rd_O")
        for n in range(4):
            pair = [f"%o{4 * n + 2 * half + e}" for e in range(2)]
            for one in pair:
                w(f"div.rn.f32 {one}, {one}, %sum{half}")
            w(f"st.global.v2.b32 [%rd_to+{32 * n}], {{{', '.join(pair)}}}", f"o-store-{half}")
