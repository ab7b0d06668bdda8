"""`cvt` to and from numbers of 8, 6 and 4 bits, held to tables of all their values (PTX ISA 9.7.9.21)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np
import pytest

from machine.small_kernels import HEAD, of_any_target
from sweeps import part_and_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

TYPES: Final = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}
NAN: Final = {
    "e4m3": 0x7F,
    "e5m2": 0x7F,
    "e2m3": 0x1F,
    "e3m2": 0x1F,
    "e2m1": 7,
}  # the last three have none: the largest
FRACTION: Final = {"e4m3": 3, "e5m2": 2, "e2m3": 3, "e3m2": 2, "e2m1": 1, "f16": 10, "bf16": 7}
SMALLEST: Final = {"e4m3": -6, "e5m2": -14, "e2m3": 0, "e3m2": -2, "e2m1": 0, "f16": -14, "bf16": -126}  # normal, 2^n
HALVES: Final = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Let NumPy compute with NaN and infinities without a word."""
    with np.errstate(all="ignore"):
        yield


def run(body: str, inputs: NDArray[Any], bits: int, target: str = "sm_90") -> NDArray[Any]:
    """What a statement leaves in `%d`, of `bits` bits, for each row of inputs: words in `%r1` and on, `%f1` and on."""
    count, words = inputs.shape
    out = np.zeros(count, np.uint32)
    loads = " ".join(
        f"ld.global.u32 %r{n + 1}, [%rd4+{4 * n}]; mov.b32 %f{n + 1}, %r{n + 1}; cvt.u16.u32 %h{n + 1}, %r{n + 1}; "
        f"mov.b16 {{%b{n + 1}, _}}, %h{n + 1};"
        for n in range(words)
    )
    declared = (
        f".reg .b16 %h<9>; .reg .b8 %b<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .b{bits} %d;"
    )
    text = f"""{HEAD.replace("sm_90", target)} .entry k(.param .b64 out, .param .b64 in, .param .b32 n) {{ {declared}
    .reg .pred %p; mov.u32 %r10, %ctaid.x; mov.u32 %r11, %tid.x; mad.lo.u32 %r10, %r10, 256, %r11;
    ld.param.u32 %r11, [n]; setp.ge.u32 %p, %r10, %r11; @%p ret;
    ld.param.b64 %rd1, [out]; ld.param.b64 %rd2, [in]; mad.wide.u32 %rd3, %r10, 4, %rd1;
    mad.wide.u32 %rd4, %r10, {4 * words}, %rd2; {loads}
    {body} {"cvt.u32.u8" if bits == 8 else "cvt.u32.u16" if bits == 16 else "mov.b32"} %r11, %d;
    st.global.u32 [%rd3], %r11; ret; }}"""
    of_any_target(text, "k").launch(-(-count // 256), 256, [out, np.ascontiguousarray(inputs, np.uint32), count])
    return out


def words(values: NDArray[Any]) -> NDArray[Any]:
    """The bits of f32."""
    return np.ascontiguousarray(values, np.float32).view(np.uint32)


def container(name: str) -> int:
    return 4 if name == "e2m1" else 8


def codes(name: str) -> NDArray[Any]:
    """The values of the codes that are not negative, in order, as far as they are finite."""
    bits = np.arange(1 << FRACTION[name] + int(name[1]), dtype=np.uint8)
    values = bits.view(TYPES[name]).astype(np.float64)
    return values[np.isfinite(values)]


def nearest(values: NDArray[Any], name: str) -> NDArray[Any]:
    """The codes nearest to some values, ties to even, by the table of codes."""
    table = codes(name)
    exact = np.abs(values.astype(np.float64))
    middles = (table[1:] + table[:-1]) / 2
    code = np.searchsorted(middles, exact, "left")
    tied = (code < len(middles)) & (middles[np.minimum(code, len(middles) - 1)] == exact)
    return coded(code + (tied & (code % 2 == 1)), values, name)


def coded(code: NDArray[Any], values: NDArray[Any], name: str) -> NDArray[Any]:
    """Codes with the signs of what they are of, and NaN's own."""
    sign = np.signbit(values).astype(np.uint32) << (FRACTION[name] + int(name[1]))
    return np.where(np.isnan(values), NAN[name], code.astype(np.uint32) | sign)


def interesting(name: str) -> NDArray[Any]:
    """F32 at, beside and between all values of a format, beyond them, and specials."""
    table = codes(name)
    edges = np.concatenate(
        (table, (table[1:] + table[:-1]) / 2, table / 3, [table[-1] * 1.5, 1e30, 2.0**-149, 2.0**-130])
    )
    near = edges.astype(np.float32)
    beside = [np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf)]
    found = np.concatenate((near, *beside, np.array([np.inf, np.nan, 0.0], np.float32)))
    return np.concatenate((found, -found))


def everywhere(bits: int) -> NDArray[Any]:
    """F32 of all signs and exponents, spread evenly over their bits."""
    return (np.arange(1 << bits, dtype=np.uint32) * np.uint32((1 << 32 - bits) + 1)).view(np.float32)


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("bits", part_and_whole(14, 24))
@pytest.mark.parametrize("name", TYPES)
def test_two_f32_become_the_nearest_codes(name: str, bits: int, relu: str) -> None:
    low = np.concatenate((interesting(name), everywhere(bits)))
    high = np.roll(low, 1)
    width = 2 * container(name)
    out = run(f"cvt.rn.satfinite{relu}.{name}x2.f32 %d, %f2, %f1;", words(np.stack([low, high], 1)), width)
    if relu:
        low, high = (np.where(v < 0, np.float32(0), np.where(v == 0, np.float32(0), v)) for v in (low, high))
    assert (out == (nearest(low, name) | nearest(high, name) << container(name))).all()


@pytest.mark.parametrize("source", HALVES)
@pytest.mark.parametrize("name", TYPES)
def test_every_half_becomes_the_nearest_code(name: str, source: str) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    low = bits.view(HALVES[source]).astype(np.float32)
    pairs = (bits | np.roll(bits, 7).astype(np.uint32) << 16)[:, None]
    out = run(f"cvt.rn.satfinite.{name}x2.{source}x2 %d, %r1;", pairs, 2 * container(name))
    assert (out == (nearest(low, name) | nearest(np.roll(low, 7), name) << container(name))).all()


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("target", HALVES)
@pytest.mark.parametrize("name", TYPES)
def test_every_pair_of_codes_becomes_its_values(name: str, target: str, relu: str) -> None:
    width = container(name)
    bits = np.arange(1 << 2 * width, dtype=np.uint32)
    operand = "%b1" if width == 4 else "%h1"
    out = run(f"cvt.rn{relu}.{target}x2.{name}x2 %d, {operand};", bits[:, None], 32)
    mask = (2 << FRACTION[name] + int(name[1])) - 1

    def half(code: NDArray[Any]) -> NDArray[Any]:
        value = (code & mask).astype(np.uint8).view(TYPES[name]).astype(np.float32)
        value = np.where(value <= 0, np.float32(0), value) if relu else value
        made = value.astype(HALVES[target]).view(np.uint16).astype(np.uint32)
        return np.where(np.isnan(value), np.uint32(0x7FFF), made)

    assert (out == (half(bits & (1 << width) - 1) | half(bits >> width) << 16)).all()


@dataclass(frozen=True)
class Powers:
    """A conversion to ue8m0: up to the next power of two or down, and whether 2^127 is the largest."""

    rounding: str
    finite: bool

    def of(self, value: float) -> int:
        """The code of one number, by what a power of two is."""
        if np.isnan(value):
            return 0xFF
        if np.isinf(value):
            return 0xFE if self.finite else 0xFF
        fraction, exponent = np.frexp(abs(value))  # fraction of [1/2, 1)
        power = -127 if value == 0 else int(exponent) - (1 if self.rounding == "rz" or fraction == 0.5 else 0)
        return min(max(power, -127) + 127, 0xFE if self.finite else 0xFF)


@pytest.mark.parametrize("finite", ["", ".satfinite"])
@pytest.mark.parametrize("rounding", ["rz", "rp"])
@pytest.mark.parametrize("source", ["f32", "bf16x2"])
def test_powers_of_two(source: str, rounding: str, finite: str) -> None:
    bits = np.arange(1 << 16, dtype=np.uint32)
    kind = Powers(rounding, bool(finite))
    if source == "bf16x2":
        values, pairs = bits << 16, (bits | np.roll(bits, 5) << 16)[:, None]
        out = run(f"cvt.{rounding}{finite}.ue8m0x2.bf16x2 %d, %r1;", pairs, 16)
    else:
        values = np.concatenate((bits[::8] << 16, (bits[::8] << 16) + 1, (bits[::8] << 16) - np.uint32(1)))
        out = run(f"cvt.{rounding}{finite}.ue8m0x2.f32 %d, %f2, %f1;", np.stack([values, np.roll(values, 5)], 1), 16)
    low = np.array([kind.of(v) for v in values.view(np.float32).tolist()], np.uint32)
    assert (out == (low | np.roll(low, 5) << 8)).all()


def test_every_power_of_two_as_a_bfloat() -> None:
    bits = np.arange(1 << 16, dtype=np.uint32)
    out = run("cvt.rn.bf16x2.ue8m0x2 %d, %h1;", bits[:, None], 32)
    values = 2.0 ** (np.arange(256, dtype=np.float64) - 127)
    halves = values.astype(np.float32).astype(ml_dtypes.bfloat16).view(np.uint16).astype(np.uint32)
    halves[255] = 0x7FFF
    assert (out == (halves[bits & 255] | halves[bits >> 8] << 16)).all()


@pytest.mark.parametrize("finite", ["", ".satfinite"])
@pytest.mark.parametrize("name", [*TYPES, "s2f6"])
def test_factors_multiply_what_is_widened(name: str, finite: str) -> None:
    width = 4 if name == "e2m1" else 8
    code, factor = np.meshgrid(np.arange(1 << width), np.arange(256), indexing="ij")
    code, factor = code.ravel().astype(np.uint32), factor.ravel().astype(np.uint32)
    pairs = np.stack([code | np.roll(code, 3) << width, factor | np.roll(factor, 3) << 8], 1)
    operand = "%b1" if width == 4 else "%h1"
    out = run(f"cvt.rn{finite}.scaled::n2::ue8m0.bf16x2.{name}x2 %d, {operand}, %h2;", pairs, 32)
    if name == "s2f6":
        value = code.astype(np.uint8).view(np.int8) / 64.0
    else:
        mask = (2 << FRACTION[name] + int(name[1])) - 1
        value = (code & mask).astype(np.uint8).view(TYPES[name]).astype(np.float64)
    power = np.where(factor == 255, np.nan, 2.0 ** (factor.astype(np.float64) - 127))
    single = (value * power).astype(np.float32)  # exact, or infinite
    half = single.astype(ml_dtypes.bfloat16).view(np.uint16).astype(np.uint32)
    half = np.where(np.isnan(single), 0x7FFF, half)
    if finite:
        half = np.where(np.isinf(single), half - 1, half)
    assert (out == (half | np.roll(half, 3) << 16)).all()


@pytest.mark.parametrize("scaled", ["", ".scaled::n2::ue8m0"])
@pytest.mark.parametrize("form", ["rn.satfinite", "rz.satfinite", "rn.satfinite.relu"])
@pytest.mark.parametrize("source", ["f32", "bf16x2"])
def test_fixed_point(source: str, form: str, scaled: str) -> None:
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 1 << 16, 1 << 14).astype(np.uint32)
    bits[::2] = words(rng.uniform(-2.5, 2.5, bits[::2].size)) >> 16
    ties = words((np.arange(-260, 260) + 0.5) / 64) >> 16
    bits[: ties.size] = ties
    factor = rng.integers(0, 256, bits.size).astype(np.uint32)
    factor[::3] = 127
    value = (bits << 16).view(np.float32)
    both = np.stack([bits | np.roll(bits, 1) << 16, factor | np.roll(factor, 1) << 8], 1)
    extra = ", %h2" if scaled else ""
    if source == "f32":
        both = np.stack([words(value), factor | np.roll(factor, 1) << 8, words(np.roll(value, 1))], 1)
        out = run(f"cvt.{form}{scaled}.s2f6x2.f32 %d, %f3, %f1{extra};", both, 16)
    else:
        out = run(f"cvt.{form}{scaled}.s2f6x2.bf16x2 %d, %r1{extra};", both, 16)
    power = np.where(factor == 255, np.nan, 2.0 ** (factor.astype(np.float64) - 127)) if scaled else 1.0
    exact = value.astype(np.float64) / power * 64
    exact = np.where(exact < 0, 0.0, exact) if "relu" in form else exact
    integral = np.clip((np.trunc if "rz" in form else np.rint)(exact), -128, 127)
    low = np.where(np.isnan(exact), 127, integral).astype(np.int8).view(np.uint8).astype(np.uint32)
    assert (out == (low | np.roll(low, 1) << 8)).all()


def at_random(values: NDArray[Any], chance: NDArray[Any], name: str, count: int) -> NDArray[Any]:
    """Magnitudes rounded by `count` random bits: up where they and the first `count` bits cut off carry."""
    exact = np.abs(values.astype(np.float64))
    step = 2.0 ** (np.maximum(np.frexp(exact)[1] - 1, SMALLEST[name]).astype(np.float64) - FRACTION[name])
    whole = np.floor(exact / step)
    first = np.floor((exact / step - whole) * 2**count)
    return (whole + (first + chance >= 2**count)) * step


@pytest.mark.parametrize("finite", ["", ".satfinite"])
@pytest.mark.parametrize("name", HALVES)
def test_halves_rounded_by_random_bits(name: str, finite: str) -> None:
    rng = np.random.default_rng(6)
    count = 13 if name == "f16" else 16
    value = np.concatenate((everywhere(14), (rng.normal(size=1 << 13) * 2.0 ** rng.integers(-26, 17, 1 << 13))))
    value = value.astype(np.float32)
    random = rng.integers(0, 1 << 32, value.size, dtype=np.uint64).astype(np.uint32)
    rows = np.stack([words(value), words(np.roll(value, 1)), random], 1)
    out = run(f"cvt.rs{finite}.{name}x2.f32 %d, %f2, %f1, %r3;", rows, 32)
    largest = 65504.0 if name == "f16" else (2 - 2.0**-7) * 2.0**127

    def half(values: NDArray[Any], chance: NDArray[Any]) -> NDArray[Any]:
        made = at_random(values, chance & (1 << count) - 1, name, count)
        made = np.where(np.isinf(values), np.inf, made)
        limited = np.where(made > largest, largest if finite else np.inf, made)
        bits = limited.astype(np.float32).astype(HALVES[name]).view(np.uint16).astype(np.uint32)
        return np.where(np.isnan(values), np.uint32(0x7FFF), bits | np.signbit(values).astype(np.uint32) << 15)

    assert (out == (half(value, random) | half(np.roll(value, 1), random >> 16) << 16)).all()


ORDERS: Final = {  # which byte the lowest element takes, the next and so on; negative: from its last bit
    ("sm_100a", 8): (0, 1, 2, 3),
    ("sm_100a", 4): (0, 2, 1, 3),
    ("sm_103a", 8): (1, -1, 3, -3),
    ("sm_103a", 4): (2, -1, 3, -2),
}
"""Minus one stands for byte 0 backwards, and so on."""


def byte_of(random: NDArray[Any], order: int) -> NDArray[Any]:
    if order >= 0:
        return random >> 8 * order & 0xFF
    plain = random >> 8 * (-order - 1) & 0xFF
    turned = np.zeros_like(plain)
    for n in range(8):
        turned |= (plain >> n & 1) << (7 - n)
    return turned


@pytest.mark.parametrize("target", ["sm_100a", "sm_103a"])
@pytest.mark.parametrize("name", TYPES)
def test_quadruples_rounded_by_random_bits(name: str, target: str) -> None:
    rng = np.random.default_rng(7)
    value = np.concatenate((interesting(name), codes(name)[rng.integers(0, len(codes(name)), 1 << 12)] * 1.1))
    value = np.concatenate((value, everywhere(12))).astype(np.float32)
    random = rng.integers(0, 1 << 32, value.size, dtype=np.uint64).astype(np.uint32)
    turned = [np.roll(value, n) for n in range(4)]  # the lowest first
    rows = np.stack([words(v) for v in turned] + [random], 1)
    width = container(name)
    out = run(f"cvt.rs.satfinite.{name}x4.f32 %d, {{%f4, %f3, %f2, %f1}}, %r5;", rows, 4 * width, target)
    table = codes(name)
    expected = np.zeros_like(out)
    for place, (values, order) in enumerate(zip(turned, ORDERS[target, width], strict=True)):
        made = np.minimum(at_random(values, byte_of(random, order), name, 8), table[-1])
        made = np.where(np.isinf(values), table[-1], made)
        expected |= coded(np.searchsorted(table, np.nan_to_num(made)), values, name) << place * width
    assert (out == expected).all()


@pytest.mark.parametrize("name", TYPES)
def test_random_bits_round_up_as_often_as_what_is_cut_off_says(name: str) -> None:
    table = codes(name)
    below, above = table[3], table[4]
    value = np.full(256, below + (above - below) * 77 / 256, np.float32)
    random = np.arange(256, dtype=np.uint32) * np.uint32(0x01010101)
    rows = np.stack([words(value)] * 4 + [random], 1)
    width = container(name)
    out = run(f"cvt.rs.satfinite.relu.{name}x4.f32 %d, {{%f4, %f3, %f2, %f1}}, %r5;", rows, 4 * width, "sm_100a")
    for place in range(4):
        assert (out >> place * width & (1 << width) - 1).tolist() == [3] * (256 - 77) + [4] * 77
