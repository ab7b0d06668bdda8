"""Numbers of 8, 6 and 4 bits on vectors: widened exactly, narrowed to nearest or by random bits (PTX ISA 5.2.3, 5.2.4).

E4m3 and e5m2 match an H200. The others follow the manual and the host functions of CUDA's headers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.meaning.arithmetic import numbers
from ptxloom.meaning.vectors import like
from ptxloom.meaning.words import W

if TYPE_CHECKING:
    from ptxloom.float_formats import FloatFormat
    from ptxloom.meaning.words import Arithmetic

_F32_FRACTION: Final = numbers.FORMATS["f32"].fraction
_F32_BIAS: Final = numbers.FORMATS["f32"].bias

NARROW: Final = {name: form for name, form in FLOAT_FORMATS.items() if form.signed and form.bits <= 8}
HALVES: Final = {name: form for name, form in FLOAT_FORMATS.items() if form.bits == 16}
"""Other formats that are rounded with random bits."""


def widen(b: Arithmetic[W], bits: W, name: str) -> W:
    """The value of bits of a narrow format, exactly, as f32; higher bits are ignored."""
    form = NARROW[name]
    wide = b.resize(bits, 32)
    magnitude = b.apply("and", wide, b.constant(wide.type, form.sign - 1))
    moved = numbers.as_float(b, b.apply("shl", magnitude, b.constant(wide.type, _F32_FRACTION - form.fraction)))
    rebase = b.constant(wide.type, (2 * _F32_BIAS - form.bias) << _F32_FRACTION)
    result = numbers.bits_of(b, b.apply("fmul", moved, numbers.as_float(b, rebase)))
    if form.has_infinity:
        special = b.compare("ugt", magnitude, b.constant(wide.type, form.largest))
        infinite = b.apply("or", numbers.bits_of(b, moved), b.constant(wide.type, numbers.FORMATS["f32"].infinity))
        result = b.select(special, infinite, result)
    elif form.has_nan:
        special = b.compare("eq", magnitude, b.constant(wide.type, form.nan))
        result = b.select(special, b.constant(wide.type, numbers.FORMATS["f32"].nan), result)
    sign = b.apply("and", wide, b.constant(wide.type, form.sign))
    sign = b.apply("shl", sign, b.constant(wide.type, 32 - form.bits))
    return numbers.as_float(b, b.apply("or", result, sign))


def narrow(b: Arithmetic[W], value: W, name: str) -> W:
    """An f32 as bits of a narrow format, to nearest even; overflow gives the largest."""
    form = NARROW[name]
    bits, magnitude = _parts(b, value)
    dropped = _F32_FRACTION - form.fraction
    last = b.apply("and", b.apply("lshr", magnitude, b.constant(bits.type, dropped)), b.constant(bits.type, 1))
    added = b.apply("add", magnitude, b.apply("add", last, b.constant(bits.type, (1 << dropped - 1) - 1)))
    rebased = b.apply("sub", added, b.constant(bits.type, (_F32_BIAS - form.bias) << _F32_FRACTION))
    normal = b.apply("lshr", rebased, b.constant(bits.type, dropped))
    # adding a power of two aligns the last bit with the format's subnormals, rounding correctly
    magic = b.constant(bits.type, (_smallest_field(form) + dropped) << _F32_FRACTION)
    total = b.apply("fadd", numbers.as_float(b, magnitude), numbers.as_float(b, magic))
    small = b.apply("sub", numbers.bits_of(b, total), magic)
    is_small = b.compare("ult", magnitude, b.constant(bits.type, _smallest_field(form) << _F32_FRACTION))
    limited = b.intrinsic("llvm.umin", normal, b.constant(bits.type, form.largest))
    return _signed(b, value, b.select(is_small, small, limited), form)


class Chance(NamedTuple, Generic[W]):
    """Random bits: i32 of which the lowest `width` are used."""

    bits: W
    width: int


def narrow_at_random(b: Arithmetic[W], value: W, form: FloatFormat, chance: Chance[W], finite: bool) -> W:
    """An f32 as bits of a format, away from zero where the dropped bits plus the random bits carry, else towards zero.

    Args:
        b: The reader.
        value: f32.
        form: The target format; also one of `HALVES`.
        chance: The random bits, added to the same number of the highest dropped bits.
        finite: Whether overflow gives the largest number, not infinity.
    """
    bits, magnitude = _parts(b, value)
    field = b.apply("lshr", magnitude, b.constant(bits.type, _F32_FRACTION))
    exponent = b.intrinsic("llvm.umax", field, b.constant(bits.type, 1))
    smallest = b.constant(bits.type, _smallest_field(form))
    below = b.intrinsic("llvm.usub.sat", smallest, exponent)
    below = b.intrinsic("llvm.umin", below, b.constant(bits.type, 30))  # from there on all bits are dropped
    base = b.apply("shl", b.intrinsic("llvm.usub.sat", exponent, smallest), b.constant(bits.type, form.fraction))
    fraction = b.apply("and", bits, b.constant(bits.type, (1 << _F32_FRACTION) - 1))
    normal = b.compare("ne", field, b.constant(bits.type, 0))
    one = b.select(normal, b.constant(bits.type, 1 << _F32_FRACTION), b.constant(bits.type, 0))
    significand = b.resize(b.apply("or", fraction, one), 64)
    cut = b.apply("add", b.resize(below, 64), b.constant(significand.type, _F32_FRACTION - form.fraction))
    up = b.apply("shl", b.resize(chance.bits, 64), b.apply("sub", cut, b.constant(cut.type, chance.width)))
    kept = b.resize(b.apply("lshr", b.apply("add", significand, up), cut), 32)
    limit = b.constant(bits.type, form.largest if finite else form.largest + 1)
    return _signed(b, value, b.intrinsic("llvm.umin", b.apply("add", base, kept), limit), form)


def _smallest_field(form: FloatFormat) -> int:
    """The f32 exponent field of the smallest normal number."""
    return _F32_BIAS + form.least_exponent


def _parts(b: Arithmetic[W], value: W) -> tuple[W, W]:
    bits = numbers.bits_of(b, value)
    return bits, numbers.magnitude(b, bits, "f32")


def _signed(b: Arithmetic[W], value: W, magnitude: W, form: FloatFormat) -> W:
    """The magnitude of a result with the sign of its f32 source, in the container's width; NaN has no sign."""
    bits = numbers.bits_of(b, value)
    sign = b.apply("lshr", bits, b.constant(bits.type, 32 - form.bits))
    sign = b.apply("and", sign, b.constant(bits.type, form.sign))
    nan = b.constant(bits.type, form.nan)
    return b.resize(b.select(numbers.is_nan(b, value), nan, b.apply("or", magnitude, sign)), max(form.container, 8))


# ----------------------------------------------------------------------------------------------- powers of two: ue8m0


def power(b: Arithmetic[W], bits: W) -> W:
    """The f32 of a ue8m0 in the low 8 bits: a power of two from -127 on, or NaN."""
    wide = b.apply("and", b.resize(bits, 32), b.constant(like(bits.type, "i32"), 0xFF))
    moved = b.apply("shl", wide, b.constant(wide.type, _F32_FRACTION))
    least = b.compare("eq", wide, b.constant(wide.type, 0))
    moved = b.select(least, b.constant(wide.type, 1 << _F32_FRACTION - 1), moved)
    none = b.compare("eq", wide, b.constant(wide.type, 0xFF))
    return numbers.as_float(b, b.select(none, b.constant(wide.type, numbers.FORMATS["f32"].nan), moved))


def power_bits(b: Arithmetic[W], value: W, *, up: bool, finite: bool) -> W:
    """The ue8m0 of an f32's magnitude: the power of two at or below it, or (`up`) at or above it."""
    _, magnitude = _parts(b, value)
    found = b.apply("lshr", magnitude, b.constant(magnitude.type, _F32_FRACTION))
    if up:  # 2^-127 is the least, and a subnormal f32
        fraction = b.apply("and", magnitude, b.constant(magnitude.type, (1 << _F32_FRACTION) - 1))
        between = b.compare("ne", fraction, b.constant(magnitude.type, 0))
        above = b.compare("ugt", magnitude, b.constant(magnitude.type, 1 << _F32_FRACTION - 1))
        more = b.convert("zext", b.apply("and", between, above), "i32")
        found = b.apply("add", found, more)
    largest = b.constant(magnitude.type, 0xFE if finite else 0xFF)
    found = b.intrinsic("llvm.umin", found, largest)
    nan = b.constant(magnitude.type, 0xFF)
    return b.resize(b.select(numbers.is_nan(b, value), nan, found), 8)


# ------------------------------------------------------------------------------------------------- fixed point: s2f6


def fixed(b: Arithmetic[W], bits: W) -> W:
    """The f32 of an s2f6: 64ths."""
    value = b.convert("sitofp", b.resize(bits, 8), "float")
    return b.apply("fmul", value, b.constant(value.type, "0.015625"))


def fixed_bits(b: Arithmetic[W], value: W, rounding: str) -> W:
    """The s2f6 nearest to a double, or towards zero (`rz`); saturating, with the largest for NaN."""
    scaled = b.apply("fmul", value, b.constant(value.type, "64.0"))
    integral = b.intrinsic("llvm.trunc" if rounding == "rz" else "llvm.roundeven", scaled)
    low, high = (b.constant(value.type, end) for end in ("-128.0", "127.0"))
    limited = b.select(b.compare("olt", integral, high), integral, high)  # NaN, too
    limited = b.select(b.compare("ogt", limited, low), limited, low)
    return b.resize(b.convert("fptosi", limited, "i32"), 8)
