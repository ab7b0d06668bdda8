"""A product by `fma` whose k is shared out to CTAs: each adds its slice of the sums, and the first one the bias."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.model import Argument, Array, RightKernel
from diagnosis.planted.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS, COLUMNS, DEPTH, SLICE = 4, 8, 16, 8


def sliced(name: str) -> RightKernel:
    """The kernel: `C = A @ B + bias`, C being zero before; a thread an element and slice."""
    w = Writer()
    w.start("A", "B", "bias", "C")
    w("shr.u32 %row, %thread, 3", "row")
    w("and.b32 %column, %thread, 7", "column")
    w("mov.u32 %slice, %ctaid.x")
    w(f"mul.lo.u32 %k, %slice, {SLICE}", "slice-start")
    w(f"add.u32 %end, %k, {SLICE}", "slice-end")
    w("mov.b32 %sum, 0")
    w.label("NEXT")
    _fetch(w, "a", "A", f"mad.lo.u32 %at, %row, {DEPTH}, %k")
    _fetch(w, "b", "B", f"mad.lo.u32 %at, %k, {COLUMNS}, %column")
    w("fma.rn.f32 %sum, %a, %b, %sum", "product")
    w("add.u32 %k, %k, 1")
    w("setp.lt.u32 %p_more, %k, %end")
    w("@%p_more bra NEXT")
    _fetch(w, "bias", "bias", "mov.u32 %at, %column")
    w("setp.eq.u32 %p_first, %slice, 0", "bias-slice")
    w("@%p_first add.f32 %sum, %sum, %bias", "bias-add")
    w(f"mad.lo.u32 %at, %row, {COLUMNS}, %column", "c-place")
    w("mul.wide.u32 %rd_to, %at, 4")
    w("add.u64 %rd_to, %rd_C, %rd_to")
    w("red.global.add.f32 [%rd_to], %sum", "c-add")
    arrays = ("A", "B", "bias", "C")
    text = w.kernel(arrays, (), 0)
    return RightKernel(name, text, (DEPTH // SLICE,), ROWS * COLUMNS, _given, arrays, 3, _product, says="C = A @ B")


def _fetch(w: Writer, name: str, array: str, place: str) -> None:
    w(place, f"{name}-place")
    w("mul.wide.u32 %rd_from, %at, 4")
    w(f"add.u64 %rd_from, %rd_{array}, %rd_from")
    w(f"ld.global.f32 %{name}, [%rd_from]", f"{name}-load")


def _given() -> Sequence[Argument]:
    rng = np.random.default_rng(6)
    a, b, bias = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((ROWS, DEPTH), (DEPTH, COLUMNS), COLUMNS))
    return a, b, bias, np.zeros((ROWS, COLUMNS), np.float32)


def _product(a: Array, b: Array, bias: Array, *_: object) -> Array:
    return a @ b + bias
