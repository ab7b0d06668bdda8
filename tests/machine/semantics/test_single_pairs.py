"""`add`, `sub`, `mul` and `fma` of `.f32x2`: two f32, each as the confirmed scalar instruction gives it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from machine.opcode_inputs import INPUTS, pool
from machine.small_kernels import entry

FORMS = [
    f"{opcode}{f'.{rounding}' if rounding else ''}{ftz}"
    for opcode, rounding, ftz in product(("add", "sub", "mul", "fma"), ("", "rn", "rz", "rm", "rp"), ("", ".ftz"))
    if rounding or opcode != "fma"
]
LETTERS = "abc"


def both(form: str) -> np.ndarray:
    """Pairs by one instruction and by two: (INPUTS, 2, 2) uint32; pair, way, half."""
    letters = LETTERS[: 3 if form.startswith("fma") else 2]
    pools = [pool("f32", at).astype(np.uint32) for at in range(len(letters))]
    inputs = np.stack([np.stack([one, np.roll(one[::-1], at)], axis=1) for at, one in enumerate(pools)], axis=1)
    out = np.zeros((INPUTS, 2, 2), np.uint32)
    loads = "\n".join(
        f"ld.global.v2.f32 {{x{name}, y{name}}}, [%rd3+{8 * at}]; mov.b64 p{name}, {{x{name}, y{name}}};"
        for at, name in enumerate(letters)
    )

    def operands(stem: str) -> str:
        return ", ".join(stem + name for name in letters)

    body = f"""mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 256, %r0; ld.param.u64 %rd2, [in];
    mad.wide.u32 %rd3, %r1, {8 * len(letters)}, %rd2; mad.wide.u32 %rd4, %r1, 16, %rd1;
    .reg .f32 x<4>, y<4>; .reg .b64 p<4>; .reg .f32 xa, ya, xb, yb, xc, yc; .reg .b64 pa, pb, pc; {loads}
    {form}.f32x2 p0, {operands("p")}; {form}.f32 x0, {operands("x")}; {form}.f32 y0, {operands("y")};
    mov.b64 p1, {{x0, y0}}; st.global.v2.b64 [%rd4], {{p0, p1}};"""
    entry(body, ".param .u64 out, .param .u64 in").launch(INPUTS // 256, 256, [out, inputs])
    return out


@pytest.mark.parametrize("form", FORMS)
def test_a_pair_is_two_scalars_bit_for_bit(form: str) -> None:
    pairs = both(form)
    assert (pairs[:, 0] == pairs[:, 1]).all()


@pytest.mark.parametrize("direction", ["rn", "rz", "rm", "rp"])
def test_each_half_is_the_exact_result_rounded_once(direction: str) -> None:
    rng = np.random.default_rng(8)
    numbers = (rng.normal(size=(64, 3, 2)) * 2.0 ** rng.integers(-20, 20, (64, 3, 2))).astype(np.float32)
    out = np.zeros((64, 2), np.float32)
    body = f"""ld.param.u64 %rd2, [in]; mad.wide.u32 %rd3, %r0, 24, %rd2; mad.wide.u32 %rd4, %r0, 8, %rd1;
    ld.global.b64 %rd5, [%rd3]; ld.global.b64 %rd6, [%rd3+8]; ld.global.b64 %rd7, [%rd3+16];
    fma.{direction}.f32x2 %rd5, %rd5, %rd6, %rd7; st.global.b64 [%rd4], %rd5;"""
    entry(body, ".param .u64 out, .param .u64 in").launch(1, 64, [out, numbers])
    for found, (a, b, c) in zip(out.ravel(), numbers.transpose(0, 2, 1).reshape(-1, 3), strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        assert found == nearest(exact, direction)


def nearest(exact: Fraction, direction: str) -> np.float32:
    """A rational number as f32, far from overflow and subnormal numbers."""
    near = np.float32(float(exact))
    below, above = (np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf))
    if direction == "rn":
        return min(
            (below, near, above), key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1)
        )
    up = direction == "rp" or (direction == "rz" and exact < 0)
    fitting = [one for one in (below, near, above) if (one >= exact if up else one <= exact)]
    return min(fitting) if up else max(fitting)


def test_active_lanes_alone_are_written() -> None:
    out = np.full((64, 2), 7, np.float32)
    body = """and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; mad.wide.u32 %rd2, %r0, 8, %rd1; ld.global.b64 %rd3, [%rd2];
    mov.b64 %rd4, 0x3F80000040000000; @%p1 add.f32x2 %rd3, %rd3, %rd4; st.global.b64 [%rd2], %rd3;"""
    entry(body).launch(1, 64, [out])
    assert out.tolist() == [[9, 8], [7, 7]] * 32
