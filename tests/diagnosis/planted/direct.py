"""Products without `ldmatrix`: each lane fetches from global memory what the manual says it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.model import Argument, Array, RightKernel
from diagnosis.planted.writer import Writer, registers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diagnosis.planted.element_types import Type

COLUMNS = 8
STEPS = 2
BLOCK = 8  # rows of B that share a scale
_LOADED = {1: "u8", 2: "u16", 4: "b32"}


@dataclass(frozen=True, slots=True)
class Given:
    """Makes the arguments: A of 16 rows, B row-major of 8 columns, two steps of k."""

    type: Type
    scaled: bool = False

    def __call__(self) -> Sequence[Argument]:
        k = STEPS * self.type.step
        rng = np.random.default_rng(4)
        a, b = (self.type.encode(rng.integers(-4, 5, shape)) for shape in ((16, k), (k, COLUMNS)))
        scales = (self.type.encode(rng.integers(1, 5, (k // BLOCK, COLUMNS))),) if self.scaled else ()
        return a, b, *scales, np.zeros((16, COLUMNS), self.type.sums), k


@dataclass(frozen=True, slots=True)
class _Product:
    type: Type

    def __call__(self, a: Array, b: Array, *rest: Array | int) -> Array:
        matrices = [one for one in rest if isinstance(one, np.ndarray)]
        factor = self.type.decode(b)
        for scales in matrices[:-1]:
            factor = factor * self.type.decode(scales).repeat(BLOCK, axis=0)
        return (self.type.decode(a) @ factor).astype(matrices[-1].dtype)


def direct(name: str, kind: Type, *, scaled: bool = False) -> RightKernel:
    """One warp, one tile: B's elements are gathered one by one down a column, and packed.

    Args:
        name: The kernel's.
        kind: Of A and B.
        scaled: Whether B's elements, halves, are multiplied by S: one element of it for each 8 of a column.
    """
    w = Writer()
    arrays = ("A", "B", *["S"] * scaled, "C")
    w.start(*arrays, sizes=("k",))
    w("shr.u32 %group, %lane, 2", "lane-group")
    w("and.b32 %within, %lane, 3", "lane-within")
    for e in range(4):
        w(f"mov.b32 %d{e}, 0")
    w("mov.u32 %start, 0")
    w.label("NEXT")
    _load_a(w, kind)
    _load_b(w, kind, scaled=scaled)
    d = registers("d", 4)
    w(f"{kind.instruction} {d}, {registers('a', 4)}, {registers('b', 2)}, {d}", "mma")
    w(f"add.u32 %start, %start, {kind.step}", "k-next")
    w("setp.lt.u32 %p_more, %start, %k")
    w("@%p_more bra NEXT")
    w("mad.lo.u32 %at, %group, 4, %within")
    w("mul.wide.u32 %rd_to, %at, 8")
    w("add.u64 %rd_to, %rd_C, %rd_to")
    w("st.global.v2.b32 [%rd_to], {%d0, %d1}", "c-store-0")
    w(f"st.global.v2.b32 [%rd_to+{8 * COLUMNS * 4}], {{%d2, %d3}}", "c-store-1")
    text = w.kernel(arrays, ("k",), 0, kind.target)
    names = (*arrays, "k")
    made = Given(kind, scaled)
    return RightKernel(name, text, (1,), 32, made, names, len(arrays) - 1, _Product(kind), says="C = A @ B")


def _load_a(w: Writer, kind: Type) -> None:
    """Four words: rows l/4 and l/4 + 8, the first and the second half of k."""
    for word in range(4):
        w(f"add.u32 %row, %group, {8 * (word % 2)}", f"a-row-{word}")
        w(f"mul.lo.u32 %column, %within, {4 // kind.bytes}", f"a-pair-{word}")
        w(f"add.u32 %column, %column, {kind.step // 2 * (word // 2)}", f"a-half-{word}")
        w("add.u32 %column, %column, %start", "a-step")
        w("mad.lo.u32 %at, %row, %k, %column", "a-leading-dimension")
        w(f"mul.wide.u32 %rd_from, %at, {kind.bytes}")
        w("add.u64 %rd_from, %rd_A, %rd_from")
        w(f"ld.global.b32 %a{word}, [%rd_from]", f"a-load-{word}")


def _load_b(w: Writer, kind: Type, *, scaled: bool) -> None:
    elements = 4 // kind.bytes
    for word in range(2):
        for e in range(elements):
            w(f"mad.lo.u32 %row, %within, {elements}, {kind.step // 2 * word + e}", f"b-row-{word}-{e}")
            w("add.u32 %row, %row, %start", "b-step")
            w(f"mad.lo.u32 %at, %row, {COLUMNS}, %group", "b-leading-dimension")
            w(f"mul.wide.u32 %rd_from, %at, {kind.bytes}")
            w("add.u64 %rd_from, %rd_B, %rd_from")
            w(f"ld.global.{_LOADED[kind.bytes]} %e{e}, [%rd_from]", f"b-load-{word}")
            if scaled:
                _scale(w, e)
        _pack(w, f"%b{word}", kind.bytes)


def _scale(w: Writer, e: int) -> None:
    """Multiply an element by its block's scale."""
    w(f"div.u32 %block, %row, {BLOCK}", "s-block")
    w(f"mad.lo.u32 %at, %block, {COLUMNS}, %group", "s-leading-dimension")
    w("mul.wide.u32 %rd_from, %at, 2")
    w("add.u64 %rd_from, %rd_S, %rd_from")
    w("ld.global.b16 %h_scale, [%rd_from]", "s-load")
    w(f"cvt.u16.u32 %h_element, %e{e}")
    w("mul.f16 %h_element, %h_element, %h_scale")
    w(f"cvt.u32.u16 %e{e}, %h_element")


def _pack(w: Writer, into: str, size: int) -> None:
    """The elements of a word, the first lowest."""
    match size:
        case 1:
            w("prmt.b32 %low, %e0, %e1, 0x0040", "b-pack-low")
            w("prmt.b32 %high, %e2, %e3, 0x0040", "b-pack-high")
            w(f"prmt.b32 {into}, %low, %high, 0x5410", "b-pack")
        case 2:
            w(f"prmt.b32 {into}, %e0, %e1, 0x5410", "b-pack")
        case _:
            w(f"mov.b32 {into}, %e0", "b-pack")
