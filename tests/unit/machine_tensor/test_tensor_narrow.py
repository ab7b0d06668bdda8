"""Products of 8, 6 and 4 bits as `sm_120` forms them, dense, sparse and block-scaled, against plain fractions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mma_reference import F16, F32, Number, floor_log2, power, special_sum
from ptxloom import fragment
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.isa.products import MatrixForm, matrix_form
from ptxloom.machine.tensor.batch import mma
from ptxloom.machine.tensor.recipe import known_forms

if TYPE_CHECKING:
    from numpy.typing import NDArray

NARROW = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")


@dataclass(frozen=True, slots=True)
class Narrow:
    """A narrow format: e4m3 has one NaN, e5m2 is IEEE's, the others are all numbers."""

    name: str

    @property
    def fields(self) -> tuple[int, int]:
        return int(self.name[1]), int(self.name[3])

    @property
    def least(self) -> int:
        return 2 - (1 << self.fields[0] - 1)

    def decode(self, bits: int) -> Number:
        exponent_bits, fraction_bits = self.fields
        magnitude = bits & (1 << exponent_bits + fraction_bits) - 1
        sign = -1 if bits != magnitude else 1
        field, fraction = magnitude >> fraction_bits, magnitude & (1 << fraction_bits) - 1
        if self.name == "e5m2" and field == 31:
            return nan if fraction else sign * inf
        if self.name == "e4m3" and magnitude == 0x7F:
            return nan
        significand = fraction + (1 << fraction_bits) * bool(field)
        return sign * significand * power(max(field, 1) - 1 + self.least - fraction_bits)

    def exponent(self, value: Fraction) -> int:
        return max(floor_log2(abs(value)), self.least)


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale: ue8m0 is a power of two, ue4m3 an e4m3 whose sign does not count."""

    kind: str
    bits: int

    @property
    def value(self) -> Number:
        if self.kind == "ue8m0":
            return nan if self.bits == 0xFF else power(self.bits - 127)
        return Narrow("e4m3").decode(self.bits & 0x7F)

    @property
    def exponent(self) -> int:
        value = self.value
        if self.kind == "ue8m0":
            return self.bits - 127
        return Narrow("e4m3").exponent(value) if isinstance(value, Fraction) and value else -126


@dataclass(frozen=True, slots=True)
class Given:
    """Matrices of bits: A as stored, B, C; for each stored element of A the row of B; scales by row and by column."""

    a: NDArray[np.uint32]
    b: NDArray[np.uint32]
    c: NDArray[np.uint32]
    chosen: NDArray[np.intp]
    scale_a: NDArray[np.uint32]
    scale_b: NDArray[np.uint32]


def width(name: str) -> int:
    return {"f16": 16, "f32": 32}.get(name) or 1 + sum(Narrow(name).fields)


def given(form: MatrixForm, seed: int, case: str) -> Given:
    rng = np.random.default_rng([seed, len(case)])

    def bits(operand: str) -> NDArray[np.uint32]:
        kind = form.type_of(operand)
        found = rng.integers(0, 1 << width(kind), form.extent(operand), dtype=np.uint64).astype(np.uint32)
        if kind == "f32":
            found = rng.normal(size=found.shape).astype(np.float32)
            found = (found * 2.0 ** rng.integers(-12, 20, found.shape)).astype(np.float32).view(np.uint32)
        elif case == "numbers" and kind == "f16":
            found &= 0xBBFF
        elif case == "numbers":  # neither infinities nor NaN
            top = 1 << width(kind) - 2
            found = np.where(found & top, found & ~np.uint32(top >> 1), found)
        return found

    rows = np.arange(form.stored_k)
    chosen = np.broadcast_to(rows, form.extent("a")).copy()
    if form.sparse:  # of each chunk two, in rising order; pairs of 4-bit elements together
        half, pairs = form.chunk // 2, np.array([(x, y) for x in range(4) for y in range(x + 1, 4)])
        picks = pairs[rng.integers(0, 6, (form.m, form.k // form.chunk))]
        unit = form.chunk // 4
        chosen = (
            np.arange(form.k // form.chunk)[:, None] * form.chunk
            + np.repeat(picks, unit, axis=2) * unit
            + np.tile(np.arange(unit), 2)
        ).reshape(form.m, -1)
        assert half * form.k // form.chunk == form.stored_k
    count = int(form.scale_vector[:1] or 1)
    middle = 127 if form.scale_type == "ue8m0" else 0x38
    spread = 254 if case == "bits" else 12
    scale_a, scale_b = (
        np.clip(middle + rng.integers(-spread, spread + 1, (lines, count)), 0, 255).astype(np.uint32)
        for lines in (form.m, form.n)
    )
    return Given(bits("a"), bits("b"), bits("c"), chosen, scale_a, scale_b)


def spread(form: MatrixForm, operand: str, matrix: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A matrix of bits over the registers of a warp."""
    held = fragment(form, operand)
    registers = np.zeros((32, held.registers), np.uint32)
    for element in held:
        registers[element.lane, element.register] |= matrix[element.row, element.column] << np.uint32(element.bit)
    return registers


def metadata(form: MatrixForm, chosen: NDArray[np.intp], selector: int) -> NDArray[np.uint32]:
    """Eight chunks of a row in a lane: rows g in lanes 0 and 2 of the quad, rows g + 8 in lanes 1 and 3."""
    words = np.zeros(32, np.uint32)
    unit = form.chunk // 4
    for row, chunk in product(range(form.m), range(form.k // form.chunk)):
        first = chosen[row, chunk * form.chunk // 2] % form.chunk // unit
        second = chosen[row, chunk * form.chunk // 2 + unit] % form.chunk // unit
        lane = 4 * (row % 8) + row // 8 + 2 * (chunk // 8) + selector
        words[lane] |= np.uint32((first | second << 2) << 4 * (chunk % 8))
    return words


def scale_words(scales: NDArray[np.uint32], byte: int, lanes: list[int]) -> NDArray[np.uint32]:
    """Scales in the bytes of the lanes that give them; all else is noise."""
    words = np.random.default_rng(1).integers(0, 1 << 32, 32, dtype=np.uint64).astype(np.uint32)
    for lane, line in zip(lanes, scales, strict=True):
        for index, scale in enumerate(line):
            at = np.uint32(8 * (byte + index))
            words[lane] = words[lane] & ~(np.uint32(0xFF) << at) | scale << at
    return words


def run(
    form: MatrixForm, x: Given, selectors: tuple[int, int, int, int] = (0, 0, 0, 0), target: str = "sm_120"
) -> NDArray[np.uint32]:
    more: dict[str, Any] = {"metadata": metadata(form, x.chosen, 0)} if form.sparse else {}
    if form.scale_vector:
        a_lanes = [4 * (row % 8) + 2 * selectors[1] + row // 8 for row in range(16)]
        b_lanes = [4 * column + selectors[3] for column in range(8)]
        more["scales"] = scale_words(x.scale_a, selectors[0], a_lanes), scale_words(x.scale_b, selectors[2], b_lanes)
        more["scale_selectors"] = selectors
    registers = (spread(form, name, matrix) for name, matrix in zip("abc", (x.a, x.b, x.c), strict=True))
    d = mma(form, *registers, target=target, **more)
    held = fragment(form, "d")
    found = np.zeros((held.rows, held.columns), np.uint32)
    for element in held:
        word = d[element.lane, element.register] >> np.uint32(element.bit)
        found[element.row, element.column] = word & np.uint32((1 << held.width) - 1)
    return found


def one(form: MatrixForm, x: Given, row: int, column: int) -> int:
    """An element of D by the rule that `recipe` states, in fractions."""
    left, right = Narrow(form.a_type), Narrow(form.b_type)
    result = F16 if form.d_type == "f16" else F32
    pairs = [
        (left.decode(int(x.a[row, k])), right.decode(int(x.b[x.chosen[row, k], column]))) for k in range(form.stored_k)
    ]
    own = result.decode(int(x.c[row, column]))
    scales = [(Scale(form.scale_type, int(s)), Scale(form.scale_type, int(t))) for s, t in zip(
        x.scale_a[row], x.scale_b[column], strict=True)] if form.scale_vector else []  # fmt: skip
    special = special_sum([*pairs, (own, Fraction(1))])
    if any(not isinstance(each.value, Fraction) for pair in scales for each in pair):
        special = nan
    if special is not None:
        top = (1 << result.exponent_bits) - 1 << result.mantissa_bits
        sign = 1 << (result.exponent_bits + result.mantissa_bits)
        return sign - 1 if isnan(special) else top | (sign if special < 0 else 0)
    terms = [(Fraction(own), result.exponent(Fraction(own)))] if own else []
    group = 16 if form.kind in {"mxf4", "mxf4nvf4"} else 1
    for start in range(0, form.stored_k, group):
        numbers = [(Fraction(a), Fraction(b)) for a, b in pairs[start : start + group]]
        total = sum((a * b for a, b in numbers), Fraction(0))
        above = 0
        if group == 1:
            if not total:
                continue
            above = left.exponent(numbers[0][0]) + right.exponent(numbers[0][1])
        if scales:
            pair = scales[start * len(scales) // form.stored_k]
            total *= Fraction(pair[0].value) * Fraction(pair[1].value)
            above += pair[0].exponent + pair[1].exponent
        terms.append((total, above))
    if not terms:
        return 0
    unit = power(max(above for _, above in terms) - (35 if group > 1 else 25))
    return result.encode(sum(int(value / unit) for value, _ in terms) * unit, to_zero=result is F32)


def compare(form: MatrixForm, x: Given, selectors: tuple[int, int, int, int] = (0, 0, 0, 0)) -> None:
    found = run(form, x, selectors)
    for row in range(form.m):
        for column in range(row % 4, form.n, 4):
            assert found[row, column] == one(form, x, row, column), (row, column)


NEW = tuple(
    form
    for form in known_forms("sm_120")
    if form.a_type in NARROW and form.opcode == "mma" and (form.kind or form.sparse != "sp")
)


@pytest.mark.sample(every=23)
@pytest.mark.parametrize("case", ["bits", "numbers"])
@pytest.mark.parametrize("form", NEW, ids=lambda form: form.spelling)
def test_every_form_is_the_sum_that_is_published(form: MatrixForm, case: str) -> None:
    compare(form, given(form, 1, case))


MXF8 = matrix_form("m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0")
MXF4 = matrix_form("m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0")
NVF4 = matrix_form("m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3")


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(
    ("form", "selectors"),
    [
        *((MXF8, (a, t, b, u)) for a, t, b, u in [(3, 1, 2, 3), (1, 0, 0, 1), (0, 1, 3, 2), (2, 0, 1, 0)]),
        *((MXF4, (a, t, b, u)) for a, t, b, u in [(2, 1, 0, 3), (0, 0, 2, 1), (2, 0, 2, 2)]),
        *((NVF4, (0, t, 0, u)) for t, u in [(1, 3), (0, 2), (1, 0)]),
    ],
)
def test_selectors_say_which_bytes_and_lanes_give_the_scales(
    form: MatrixForm, selectors: tuple[int, int, int, int]
) -> None:
    compare(form, given(form, 2, "numbers"), selectors)


@pytest.mark.parametrize(
    ("form", "selectors"),
    [(MXF8, (4, 0, 0, 0)), (MXF8, (0, 2, 0, 0)), (MXF4, (1, 0, 0, 0)), (NVF4, (0, 0, 2, 0)), (MXF8, (0, 0, 0, 4))],
)
def test_selectors_that_the_manual_does_not_list_are_refused(
    form: MatrixForm, selectors: tuple[int, int, int, int]
) -> None:
    x = given(form, 1, "numbers")
    registers = [spread(form, name, matrix) for name, matrix in zip("abc", (x.a, x.b, x.c), strict=True)]
    scales = np.zeros(32, np.uint32), np.zeros(32, np.uint32)
    with pytest.raises(UsageError, match="scale selectors"):
        mma(form, *registers, scales=scales, scale_selectors=selectors, target="sm_120")
    with pytest.raises(UsageError, match="scales"):
        mma(form, *registers, target="sm_120")
    with pytest.raises(UnsupportedForm, match="needs `sm_120`"):
        mma(form, *registers, scales=scales, target="sm_100")


@pytest.mark.parametrize("form", [MXF8, MXF4, NVF4], ids=["mxf8f6f4", "mxf4", "mxf4nvf4"])
def test_one_scale_that_is_no_number_makes_its_row_none(form: MatrixForm) -> None:
    x = given(form, 3, "numbers")
    scales = x.scale_a.copy()
    scales[5, -1] = 0xFF
    d = run(form, replace(x, scale_a=scales))
    assert (d[5] == 0x7FFFFFFF).all()
    assert not (np.delete(d, 5, axis=0) == 0x7FFFFFFF).any()


def test_sm_100_turns_fp8_into_halves_as_hopper_does() -> None:
    form = matrix_form("m16n8k32.row.col.f32.e4m3.e5m2.f32")
    x = given(form, 4, "numbers")
    registers = [spread(form, name, matrix) for name, matrix in zip("abc", (x.a, x.b, x.c), strict=True)]
    hopper, blackwell, other = (mma(form, *registers, target=target) for target in ("sm_90", "sm_100", "sm_120"))
    assert (hopper == blackwell).all()
    assert (hopper != other).any()
    kind = matrix_form("m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e5m2.f32")
    assert (mma(kind, *registers, target="sm_100") == hopper).all()


def ada(form: MatrixForm, x: Given, row: int, column: int) -> int:
    """An element of D as `sm_89` sums fp8: 16 products at a time, with 13 bits, and of `.f32` 13 bits are left."""
    left, right = Narrow(form.a_type), Narrow(form.b_type)
    result = F16 if form.d_type == "f16" else F32
    total = result.decode(int(x.c[row, column]))
    for start in range(0, form.stored_k, 16):
        places = range(start, min(start + 16, form.stored_k))
        pairs = [(left.decode(int(x.a[row, k])), right.decode(int(x.b[x.chosen[row, k], column]))) for k in places]
        special = special_sum([*pairs, (total, Fraction(1))])
        if special is not None:
            total = special
            continue
        own = Fraction(total)
        terms = [(own, result.exponent(own))] if own else []
        for a, b in ((Fraction(a), Fraction(b)) for a, b in pairs):
            if a and b:
                terms.append((a * b, left.exponent(a) + right.exponent(b)))
        if terms:
            unit = power(max(above for _, above in terms) - 13)
            exact = sum(int(value / unit) for value, _ in terms) * unit
            bits = result.encode(exact, to_zero=result is F32)
            total = result.decode(bits & ~0x3FF if result is F32 else bits)
    if isinstance(total, Fraction):
        return result.encode(total, to_zero=True)
    top = (1 << result.exponent_bits) - 1 << result.mantissa_bits
    sign = 1 << (result.exponent_bits + result.mantissa_bits)
    return sign - 1 if isnan(total) else top | (sign if total < 0 else 0)


ADA = tuple(form for form in known_forms("sm_89") if form.a_type in {"e4m3", "e5m2"})


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("case", ["bits", "numbers"])
@pytest.mark.parametrize("form", ADA, ids=lambda form: form.spelling)
def test_sm_89_sums_fp8_with_13_bits(form: MatrixForm, case: str) -> None:
    x = given(form, 5, case)
    found = run(form, x, target="sm_89")
    for row in range(form.m):
        for column in range(row % 4, form.n, 4):
            assert found[row, column] == ada(form, x, row, column), (row, column)
