"""Fused sums against plain integers, at the edges where the two ways in vector code meet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mma_reference import BF16, F16, F32, Format, fused_sum
from ptxloom import fragment
from ptxloom.machine.tensor import batch, convert
from ptxloom.machine.tensor.batch import mma
from ptxloom.machine.tensor.emit import TensorFunction, function

if TYPE_CHECKING:
    from numpy.typing import NDArray

Matrix: TypeAlias = "NDArray[np.uint32]"

F16_WIDE = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
F16_NARROW = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
BF16_WIDE = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
FORMATS = {F16_WIDE: (F16, F32, F32), F16_NARROW: (F16, F16, F16), BF16_WIDE: (BF16, F32, F32)}
BITS = {F16: 16, BF16: 16, F32: 32}


def spread(form: str, operand: str, matrix: Matrix) -> Matrix:
    """A matrix of bits over the registers of a warp."""
    held = fragment(form, operand)
    registers = np.zeros((32, held.registers), np.uint32)
    for element in held:
        registers[element.lane, element.register] |= matrix[element.row, element.column] << np.uint32(element.bit)
    return registers


def gather(form: str, registers: Matrix) -> Matrix:
    """The matrix D from registers."""
    held = fragment(form, "d")
    matrix = np.zeros((held.rows, held.columns), np.uint32)
    mask = np.uint32((1 << held.width) - 1)
    for element in held:
        matrix[element.row, element.column] = registers[element.lane, element.register] >> np.uint32(element.bit) & mask
    return matrix


def run(form: str, a: Matrix, b: Matrix, c: Matrix, target: str = "sm_90") -> Matrix:
    return gather(form, mma(form, spread(form, "a", a), spread(form, "b", b), spread(form, "c", c), target=target))


def expected(form: str, a: Matrix, b: Matrix, c: Matrix, older: bool = False) -> Matrix:
    """D, with a quarter of its elements (some in each row and column) by the reference, which is slow."""
    fraction_bits, halves = (24, 2) if older else (25, 1)
    rows, depth = a.shape
    d = run(form, a, b, c, "sm_80" if older else "sm_90")
    for row in range(rows):
        for column in range(row % 4, b.shape[1], 4):
            pairs = [(int(a[row, k]), int(b[k, column])) for k in range(depth)]
            value = int(c[row, column])
            for half in range(halves):
                share = pairs[half * depth // halves : (half + 1) * depth // halves]
                value = fused_sum(share, value, FORMATS[form], fraction_bits)
            d[row, column] = value
    return d


def filled(kind: Format, shape: tuple[int, int], value: int) -> Matrix:
    del kind
    return np.full(shape, value, np.uint32)


def random_bits(rng: np.random.Generator, kind: Format, shape: tuple[int, int], exponents: tuple[int, int]) -> Matrix:
    """Random signs and mantissas, with unbiased exponents in a range; one in eight is zero."""
    bias = 1 - kind.least
    low, high = (min(max(exponent + bias, 0), 2 * bias) for exponent in exponents)
    exponent = rng.integers(low, high, shape, endpoint=True)
    bits = exponent << kind.mantissa_bits | rng.integers(0, 1 << kind.mantissa_bits, shape)
    bits |= rng.integers(0, 2, shape) << (kind.mantissa_bits + kind.exponent_bits)
    return np.where(rng.integers(0, 8, shape) == 0, 0, bits).astype(np.uint32)


ranges = st.tuples(st.integers(-140, 128), st.integers(0, 40)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@settings(max_examples=12, deadline=None)
@given(form=st.sampled_from(sorted(FORMATS)), a=ranges, b=ranges, c=ranges, seed=st.integers(0, 2**32 - 1))
def test_any_range_of_exponents(
    form: str, a: tuple[int, int], b: tuple[int, int], c: tuple[int, int], seed: int
) -> None:
    factor, addend, _ = FORMATS[form]
    rng = np.random.default_rng(seed)
    first, second = random_bits(rng, factor, (16, 16), a), random_bits(rng, factor, (16, 8), b)
    third = random_bits(rng, addend, (16, 8), c)
    np.testing.assert_array_equal(run(form, first, second, third), expected(form, first, second, third))


@pytest.mark.parametrize("exponent", [-149, -127, -97, -96, -95, -30, 0, 31, 95, 96, 97, 126, 127])
@pytest.mark.parametrize("form", [F16_WIDE, BF16_WIDE])
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_addends_at_the_edges_of_the_fast_way(form: str, exponent: int, target: str) -> None:
    rng = np.random.default_rng(exponent + 500)
    factor = FORMATS[form][0]
    a = random_bits(rng, factor, (16, 16), (exponent // 2 - 14, exponent // 2))
    b = random_bits(rng, factor, (16, 8), (exponent // 2 - 14, exponent // 2))
    c = random_bits(rng, F32, (16, 8), (exponent, exponent))
    got = run(form, a, b, c, target)
    np.testing.assert_array_equal(got, expected(form, a, b, c, older=target == "sm_80"))


@pytest.mark.parametrize("sign", [0, 0x8000])
def test_a_sum_in_the_middle_of_two_subnormals_is_cut_toward_zero(sign: int) -> None:
    def factor(exponent: int) -> int:
        return exponent + 127 << 7

    a, b = filled(BF16, (16, 16), 0), filled(BF16, (16, 8), 0)
    for place, exponents in enumerate([(-64, -63), (-75, -74), (-75, -75)]):
        a[:, place], b[place] = factor(exponents[0]) | sign, factor(exponents[1])
    got = run(BF16_WIDE, a, b, filled(F32, (16, 8), 0))
    assert (got == (sign << 16 | 1 << 22 | 1)).all()  # 2^-127 + 2^-149, without the half of that
    np.testing.assert_array_equal(got, expected(BF16_WIDE, a, b, filled(F32, (16, 8), 0)))


@pytest.mark.parametrize("gap", range(20, 30))
def test_products_just_under_the_last_bit_kept(gap: int) -> None:
    rng = np.random.default_rng(gap)
    a = random_bits(rng, F16, (16, 16), (-14, 15))
    b = filled(F16, (16, 8), 0x3C00)
    a[:, 1:] = random_bits(rng, F16, (16, 15), (15 - gap, 15 - gap))
    a[:, 0] = 0x7BFF
    c = random_bits(rng, F32, (16, 8), (15 - gap, 15))
    np.testing.assert_array_equal(run(F16_WIDE, a, b, c), expected(F16_WIDE, a, b, c))


@pytest.mark.parametrize("sign", [0, 0x8000])
def test_a_sum_that_leaves_32_bits(sign: int) -> None:
    a, b = filled(F16, (16, 16), 0x3FFF | sign), filled(F16, (16, 8), 0x3FFF)
    for bits in (0x407FFFFF, 0xC07FFFFF, 0x40000001, 0x3F800000, 0x41000000, 0):
        c = filled(F32, (16, 8), bits)
        np.testing.assert_array_equal(run(F16_WIDE, a, b, c), expected(F16_WIDE, a, b, c))


@pytest.fixture(params=["by the processor", "by hand"])
def cut(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums are cut by an instruction of the processor, if it has one, or as any processor can do it."""
    if request.param == "by hand":
        monkeypatch.setattr(convert, "has_directed_conversions", lambda: False)
        monkeypatch.setattr(batch, "_batch", batch._batch.__wrapped__)
        monkeypatch.setattr(batch, "function", by_hand)


def by_hand(*form: Any) -> TensorFunction:
    """A function under a name of its own, formed anew."""
    made = function.__wrapped__(*form)
    symbol = f"{made.symbol}.by.hand"
    assert "avx512" not in made.ir
    return replace(made, symbol=symbol, ir=made.ir.replace(made.symbol, symbol))


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("sign", [0, 0x8000])
def test_a_sum_that_would_round_out_of_32_bits(sign: int) -> None:
    significands = [2016] * 14 + [1959, 2047], [2016] * 14 + [2002, 2047]
    left, right = (np.array([each - 1024 + 0x3C00 for each in side], np.uint32) for side in significands)
    products = sum(int(x) * int(y) << 5 for x, y in zip(*significands, strict=True))
    addend = (1 << 24) - 1 << 2
    assert (1 << 31) - 64 < products + addend < 1 << 31
    a, b = np.tile(left | np.uint32(sign), (16, 1)), np.tile(right[:, None], (1, 8))
    c = filled(F32, (16, 8), 0x3FFFFFFF | sign << 16)
    np.testing.assert_array_equal(run(F16_WIDE, a, b, c), expected(F16_WIDE, a, b, c))


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("sign", [0, 0x8000])
@pytest.mark.parametrize(("target", "last"), [("sm_80", -24), ("sm_90", -25)])
def test_a_half_is_rounded_once(target: str, last: int, sign: int) -> None:
    a, b, c = np.zeros((16, 16), np.uint32), np.zeros((16, 8), np.uint32), np.zeros((16, 8), np.uint32)
    for k, (left, right) in enumerate(((0, 0), (-5, -6), (-12, last + 12))):  # 1 + 2^-11, a tie, and the last bit kept
        a[:, k], b[k] = left + 15 << 10 | sign, right + 15 << 10
    a[8:, 2] = 0
    above, tie = 0x3C01 | sign, 0x3C00 | sign
    got = run(F16_NARROW, a, b, c, target)
    np.testing.assert_array_equal(got, expected(F16_NARROW, a, b, c, older=target == "sm_80"))
    assert (got[:8] == above).all()
    assert (got[8:] == tie).all()


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("form", sorted(FORMATS))
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_both_ways_to_cut_a_sum(form: str, target: str) -> None:
    factor, addend, _ = FORMATS[form]
    rng = np.random.default_rng(12)
    for _ in range(20):
        a, b = random_bits(rng, factor, (16, 16), (-6, 2)), random_bits(rng, factor, (16, 8), (-6, 2))
        c = random_bits(rng, addend, (16, 8), (-12, 6))
        got = run(form, a, b, c, target)
        np.testing.assert_array_equal(got, expected(form, a, b, c, older=target == "sm_80"))


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_nothing_but_zeros_and_small_addends(form: str) -> None:
    addend = FORMATS[form][1]
    a, b = filled(addend, (16, 16), 0), filled(addend, (16, 8), 0)
    top = 1 << (BITS[addend] - 1)
    for bits in (0, top, 1, top | 1, 0x10, 1 << addend.mantissa_bits):
        c = filled(addend, (16, 8), bits)
        np.testing.assert_array_equal(run(form, a, b, c), expected(form, a, b, c))


@pytest.mark.parametrize("exponent", [-149, -127, -126, -121, -98, -97, -96, -95, -70, 90, 127])
@pytest.mark.parametrize("form", [F16_WIDE, BF16_WIDE])
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_small_and_large_addends_where_some_sums_have_no_products(form: str, exponent: int, target: str) -> None:
    rng = np.random.default_rng(exponent + 700)
    factor = FORMATS[form][0]
    a, b = random_bits(rng, factor, (16, 16), (-3, 3)), random_bits(rng, factor, (16, 8), (-3, 3))
    a[3], a[6, 8:], b[:, 5], b[:8, 2] = 0, 0, 0, 0
    every = random_bits(rng, F32, (16, 8), (exponent, exponent))
    single = np.zeros_like(every)
    single[3, 7] = every[3, 7] | 1
    for c in (every, single):
        got = run(form, a, b, c, target)
        np.testing.assert_array_equal(got, expected(form, a, b, c, older=target == "sm_80"))
        np.testing.assert_array_equal(got[3, 3], fused_sum([], int(c[3, 3]), FORMATS[form], 25))


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
@pytest.mark.parametrize("form", [F16_WIDE, BF16_WIDE])
def test_one_small_addend_without_products_is_kept(form: str, target: str) -> None:
    """Beside rows whose products are cut, and addends that are not small."""
    rng = np.random.default_rng(7)
    factor = FORMATS[form][0]
    a, b = random_bits(rng, factor, (16, 16), (-6, 6)), random_bits(rng, factor, (16, 8), (-6, 6))
    a[3] = 0
    edge = (127 - 96) << 23  # of what is taken in the units of a sum without products
    for bits in (1, 2, 3, 0x007FFFFF, 0x00800001, edge - 2, edge - 1, edge, edge + 1, edge + 2, 0x3F7FFFFF):
        c = np.full((16, 8), 0x3F800000, np.uint32)
        c[3, 5] = bits
        assert run(form, a, b, c, target)[3, 5] == bits, hex(bits)


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_infinities_and_nans_keep_to_their_row_and_column(form: str) -> None:
    factor, addend, _ = FORMATS[form]
    rng = np.random.default_rng(7)
    a, b = random_bits(rng, factor, (16, 16), (-2, 2)), random_bits(rng, factor, (16, 8), (-2, 2))
    c = random_bits(rng, addend, (16, 8), (-2, 2))
    infinity = (1 << factor.exponent_bits) - 1 << factor.mantissa_bits
    a[2, 3], a[5, 1], b[4, 6], b[9, 1] = infinity, infinity | 1, infinity | 1 << 15, infinity
    a[7, 4] = 0
    c[11, 3] = (1 << addend.exponent_bits) - 1 << addend.mantissa_bits
    np.testing.assert_array_equal(run(form, a, b, c), expected(form, a, b, c))


@pytest.mark.parametrize("form", sorted(FORMATS))
@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_an_addend_that_is_no_number_beside_numbers(form: str, target: str) -> None:
    factor, addend, _ = FORMATS[form]
    rng = np.random.default_rng(8)
    a, b = random_bits(rng, factor, (16, 16), (-2, 2)), random_bits(rng, factor, (16, 8), (-2, 2))
    infinity = (1 << addend.exponent_bits) - 1 << addend.mantissa_bits
    for bits in (infinity, infinity | 1, infinity | 1 << BITS[addend] - 1):
        c = random_bits(rng, addend, (16, 8), (-2, 2))
        c[9, 5] = bits
        got = run(form, a, b, c, target)
        np.testing.assert_array_equal(got, expected(form, a, b, c, older=target == "sm_80"))


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_older_architectures_keep_24_bits_and_add_in_two_halves(form: str) -> None:
    factor, addend, _ = FORMATS[form]
    rng = np.random.default_rng(3)
    a, b = random_bits(rng, factor, (16, 16), (-8, 8)), random_bits(rng, factor, (16, 8), (-8, 8))
    c = random_bits(rng, addend, (16, 8), (-8, 8))
    got = run(form, a, b, c, target="sm_80")
    np.testing.assert_array_equal(got, expected(form, a, b, c, older=True))
    assert (got != run(form, a, b, c)).any()
