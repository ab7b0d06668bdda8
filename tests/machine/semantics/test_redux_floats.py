"""`redux.sync.min` and `max` of `.f32`, with `.abs` and `.NaN`, held to the manual's sentences (PTX ISA 9.7.13.12)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from machine.opcode_inputs import pool
from machine.small_kernels import entry

FORMS = [f"{op}{abs_}{nan}" for op, abs_, nan in product(("min", "max"), ("", ".abs"), ("", ".NaN"))]
NAN = 0x7FFFFFFF
MASKS = (0xFFFFFFFF, 0x0F5A00FF, 1 << 17)


def one_of(values: list[int], form: str) -> int:
    """What the manual says of the bits of some f32: -0 is below +0, NaN is left out or, with `.NaN`, the result."""
    values = [v & 0x7FFFFFFF for v in values] if ".abs" in form else values
    floats = np.array(values, np.uint32).view(np.float32)
    numbers = [(float(f), not v >> 31, v) for f, v in zip(floats, values, strict=True) if not np.isnan(f)]
    if not numbers or (".NaN" in form and len(numbers) < len(values)):
        return NAN
    return (max if "max" in form else min)(numbers)[2]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mask", MASKS)
def test_the_extreme_of_the_members(form: str, mask: int) -> None:
    values = pool("f32", 0).astype(np.uint32)[:1024]
    values[512:] = np.where(
        values[512:] % 5 > 0, values[512:] & 0x807FFFFF, values[512:]
    )  # mostly small: ties of zeros
    values[64:96] = 0x7FC00001
    values[96:128] = np.arange(32) % 2 * 0x80000000
    out = np.zeros(1024, np.uint32)
    body = f"""ld.param.u64 %rd2, [in]; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 256, %r0;
    mad.wide.u32 %rd3, %r1, 4, %rd2; mad.wide.u32 %rd4, %r1, 4, %rd1; ld.global.f32 %f1, [%rd3]; and.b32 %r2, %r0, 31;
    shr.u32 %r3, {mask}, %r2; and.b32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 1;
    @%p1 redux.sync.{form}.f32 %f1, %f1, {mask}; st.global.f32 [%rd4], %f1;"""
    entry(body, ".param .u64 out, .param .u64 in").launch(4, 256, [out, values])
    members = [lane for lane in range(32) if mask >> lane & 1]
    for got, given in zip(out.reshape(-1, 32).tolist(), values.reshape(-1, 32).tolist(), strict=True):
        expected = one_of([given[lane] for lane in members], form)
        assert got == [expected if lane in members else given[lane] for lane in range(32)]


def test_two_groups_of_a_warp_have_an_extreme_each() -> None:
    out = np.zeros(32, np.float32)
    body = """cvt.rn.f32.u32 %f1, %r0; setp.lt.u32 %p1, %r0, 8; selp.b32 %r1, 0xff, 0xffffff00, %p1;
    redux.sync.max.f32 %f2, %f1, %r1; st.global.f32 [%rd0], %f2;"""
    entry(body).launch(1, 32, [out])
    assert out.tolist() == [7.0] * 8 + [31.0] * 24
