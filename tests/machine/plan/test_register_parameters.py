"""Calls that pass registers and literals, and functions whose parameters are registers."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

import ptxloom as pl

MODULE = """
.version 8.0
.target sm_80
.address_size 64
.func (.reg .u32 sum, .reg .f64 wide) grow(.reg .u32 value, .reg .u32 by)
{
    .reg .pred %p;
    add.u32 sum, value, by; cvt.rn.f64.u32 wide, by;
    setp.gt.u32 %p, value, 5; @%p ret; add.u32 sum, sum, 100; ret;
}
.func (.param .b32 result) twice(.param .b32 value)
{
    .reg .b32 %r<3>; ld.param.b32 %r1, [value]; add.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret;
}
.func (.reg .u32 product) factorial(.reg .u32 n)
{
    .reg .pred %p; .reg .u32 less, rest;
    setp.le.u32 %p, n, 1; mov.u32 product, 1; @%p ret;
    sub.u32 less, n, 1; call (rest), factorial, (less); mul.lo.u32 product, rest, n;
}
.func (.reg .pred yes) asks(.reg .u32 n) { setp.gt.u32 yes, n, 1; ret; }
.visible .entry k(.param .u64 out)
{
    .reg .b64 %rd<4>; .reg .b32 %r<9>; .reg .f64 %d<3>; .reg .pred %p;
    mov.u32 %r1, %tid.x; mov.u32 %r3, 7; setp.gt.u32 %p, %r1, 2;
    call (%r2, %d1), grow, (%r1, 4);
    @%p call (%r3), twice, (%r1);
    mov.u64 %rd2, twice;
    one: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (%r4), %rd2, (%r3), one;
    call (_), factorial, (3);
    some: .calltargets twice;
    call (%r5), %rd2, (40), some;
    cvt.rzi.u32.f64 %r6, %d1; add.u32 %r5, %r5, %r6;
    ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r1, 16, %rd1;
    st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};
    ret;
}
.visible .entry recursive(.param .u64 out)
{
    .reg .b64 %rd<4>; .reg .b32 %r<9>;
    mov.u32 %r1, %tid.x; call (%r2), factorial, (%r1);
    ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r1, 4, %rd1; st.global.u32 [%rd1], %r2; ret;
}
.visible .entry predicate() { .reg .pred %p; call (%p), asks, (3); ret; }
"""


@pytest.mark.parametrize("checks", [("memcheck", "synccheck"), ("memcheck", "racecheck", "initcheck")])
def test_registers_and_literals_are_passed_and_given_back(checks: tuple[str, ...]) -> None:
    out = np.zeros((40, 4), np.uint32)
    result = pl.kernel(pl.parse(MODULE), "k").launch(1, 40, [out], checks=checks)
    lanes = np.arange(40)
    third = np.where(lanes > 2, 2 * lanes, 7)
    assert np.array_equal(out[:, 0], lanes + 4 + np.where(lanes > 5, 0, 100))
    assert np.array_equal(out[:, 1], third)
    assert np.array_equal(out[:, 2], 2 * third)
    assert (out[:, 3] == 84).all()
    assert not result.hazards


def test_each_call_of_a_recursive_function_has_its_own() -> None:
    out = np.zeros(12, np.uint32)
    pl.kernel(pl.parse(MODULE), "recursive").launch(1, 12, [out])
    assert out.tolist() == [factorial(n) for n in range(12)]


def test_a_predicate_as_a_parameter_is_refused_by_name() -> None:
    with pytest.raises(pl.UnsupportedInstruction, match=r"\.reg \.pred yes"):
        pl.kernel(pl.parse(MODULE), "predicate", unchecked=True)
    with pytest.raises(pl.IllegalPtx, match=r"a call cannot pass `\.pred`"):
        pl.kernel(pl.parse(MODULE), "predicate")
