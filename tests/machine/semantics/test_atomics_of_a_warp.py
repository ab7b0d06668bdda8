"""Atomics of a warp are those of its lanes one after the other, whichever lanes take part and wherever they point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Callable

_KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 masks, .param .u64 ats, .param .u64 values, .param .u64 memory, .param .u64 out)
{{
  .reg .pred p; .reg .b32 t, r<4>; .reg .b64 d<8>; .reg .b{bits} v, old;
  .shared .align 16 .b8 room[64];
  mov.u32 t, %tid.x;
  mul.wide.u32 d0, t, 4;
  mul.wide.u32 d1, t, {size};
  ld.param.u64 d2, [masks]; cvta.to.global.u64 d2, d2; add.u64 d2, d2, d0; ld.global.u32 r0, [d2];
  ld.param.u64 d3, [ats]; cvta.to.global.u64 d3, d3; add.u64 d3, d3, d0; ld.global.u32 r1, [d3];
  ld.param.u64 d4, [values]; cvta.to.global.u64 d4, d4; add.u64 d4, d4, d1; ld.global.b{bits} v, [d4];
  ld.param.u64 d5, [memory]; cvta.to.global.u64 d5, d5;
  ld.param.u64 d6, [out]; cvta.to.global.u64 d6, d6; add.u64 d6, d6, d1;
  mov.u32 r2, room;
  setp.lt.u32 p, t, {words};
  cvt.u64.u32 d7, t; mad.lo.u64 d7, d7, {size}, d5;
  mad.lo.u32 r3, t, {size}, r2;
  @p ld.global.b{bits} old, [d7];
  @p st.shared.b{bits} [r3], old;
  bar.sync 0;
  setp.ne.u32 p, r0, 0;
  mul.wide.u32 d0, r1, {size};
  add.u64 d0, d5, d0;
  mad.lo.u32 r3, r1, {size}, r2;
  @!p bra done;
  atom.{space}.{op}.{type} old, [{address}], v;
  st.global.b{bits} [d6], old;
done:
  bar.sync 0;
  setp.lt.u32 p, t, {words};
  mad.lo.u32 r3, t, {size}, r2;
  @p ld.shared.b{bits} old, [r3];
  {back}
  ret;
}}
"""
_WORDS = 4
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, value: old + value,
    "min": min,
    "max": max,
    "and": lambda old, value: old & value,
    "or": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "exch": lambda _old, value: value,
    "inc": lambda old, value: 0 if old >= value else old + 1,
    "dec": lambda old, value: value if old == 0 or old > value else old - 1,
}
_FORMS = [
    *((op, type_) for op in ("min", "max") for type_ in ("u32", "s32", "u64", "s64")),
    ("add", "u32"),
    ("add", "s32"),
    ("add", "u64"),
    *((op, type_) for op in ("and", "or", "xor", "exch") for type_ in ("b32", "b64")),
    ("inc", "u32"),
    ("dec", "u32"),
]


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("op", "type_"), _FORMS)
def test_a_warps_atomics_are_its_lanes_in_order(op: str, type_: str, space: str) -> None:
    bits = int(type_[1:])
    kind = np.dtype(f"{'i' if type_[0] == 's' else 'u'}{bits // 8}")
    back = f"@p st.global.b{bits} [d7], old;" if space == "shared" else ""
    text = _KERNEL.format(
        op=op, type=type_, bits=bits, size=bits // 8, space=space, words=_WORDS, back=back,
        address="r3" if space == "shared" else "d0",
    )  # fmt: skip
    kernel = pl.kernel(pl.parse(text), "k")
    random = np.random.default_rng(29)
    near = op in {"inc", "dec"}
    for share, words in ((1.0, 1), (0.5, 1), (0.06, 1), (1.0, _WORDS), (0.5, _WORDS), (0.0, 1)):
        masks = (random.random(32) < share).astype(np.uint32)
        ats = (random.integers(words, size=32) + (random.integers(_WORDS) if words == 1 else 0)).astype(np.uint32)
        values = random.integers(5, size=32).astype(kind) if near else _bits(random, 32, kind)
        memory = random.integers(5, size=_WORDS).astype(kind) if near else _bits(random, _WORDS, kind)
        wanted, olds, out = memory.tolist(), [7] * 32, np.full(32, 7, kind)
        for lane in np.flatnonzero(masks):
            at = int(ats[lane])
            olds[lane] = wanted[at]
            new = _OPERATIONS[op](wanted[at], int(values[lane]))
            wanted[at] = int(np.array(new & (1 << bits) - 1, f"u{bits // 8}").view(kind))
        kernel.launch(grid=1, block=32, args=(masks, ats, values, memory, out))
        assert memory.tolist() == wanted
        assert out.tolist() == olds


def _bits(random: np.random.Generator, count: int, kind: np.dtype) -> np.ndarray:
    return np.frombuffer(random.bytes(count * kind.itemsize), kind).copy()
