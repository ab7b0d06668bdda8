"""Floating-point formats on vectors: widening, narrowing with any rounding, flushing, saturating, the one NaN.

A value of a narrow format is passed as its bits (`<n x i16>`) and computed as f32 or f64. Rounding twice is
avoided by rounding to odd first: a result whose last bit means "inexact" cannot be mistaken for a tie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.meaning.vectors import integer_like, like

if TYPE_CHECKING:
    from ptxloom.meaning.words import Arithmetic, W, Words

DIRECTIONS: Final = ("rz", "rn", "rp", "rm")


FORMATS: Final = {name: FLOAT_FORMATS[name] for name in ("f16", "bf16", "f32", "f64")}
"""The formats of computation: results in f16 and bf16 are rounded."""
_LLVM: Final = {"f32": "float", "f64": "double"}


# ------------------------------------------------------------------------------------------------------ bits and values


def bits_of(b: Arithmetic[W], value: W) -> W:
    """A vector of floats as integers of their width."""
    return b.bitcast(value, integer_like(value.type))


def as_float(b: Arithmetic[W], bits: W) -> W:
    """A vector of 32- or 64-bit integers as floats."""
    return b.bitcast(bits, like(bits.type, {32: "float", 64: "double"}[bits.bits]))


def widen(b: Arithmetic[W], bits: W, name: str) -> W:
    """The value of bits in a format, exactly: f16, bf16 and f32 as `float`, f64 as `double`."""
    match name:
        case "f16":
            return b.convert("fpext", b.bitcast(bits, like(bits.type, "half")), "float")
        case "bf16":
            wide = b.resize(bits, 32)
            return as_float(b, b.apply("shl", wide, b.constant(wide.type, 16)))
        case _:
            return as_float(b, bits)


def is_nan(b: Arithmetic[W], value: W) -> W:
    """Which elements of a vector of floats are NaN."""
    return b.compare("uno", value, value)


def canonical(b: Arithmetic[W], value: W) -> W:
    """Floats with every NaN replaced by the one that an H200 produces; f64 keeps its NaN."""
    if value.element != "float":
        return value
    nan = as_float(b, b.constant(integer_like(value.type), FORMATS["f32"].nan))
    return b.select(is_nan(b, value), nan, value)


def magnitude(b: Arithmetic[W], bits: W, name: str) -> W:
    """Bits without their sign."""
    return b.apply("and", bits, b.constant(bits.type, FORMATS[name].sign - 1))


def flush(b: Arithmetic[W], bits: W, name: str) -> W:
    """Subnormal values as zeros of their sign."""
    form = FORMATS[name]
    exponent = b.apply("and", bits, b.constant(bits.type, form.infinity))
    sign = b.apply("and", bits, b.constant(bits.type, _signed(form.sign, form.bits)))
    return b.select(b.compare("eq", exponent, b.constant(bits.type, 0)), sign, bits)


def flush_float(b: Arithmetic[W], value: W) -> W:
    """`flush` on a vector of f32."""
    return as_float(b, flush(b, bits_of(b, value), "f32"))


def saturate(b: Arithmetic[W], value: W) -> W:
    """Clamped to [0, 1]; NaN and -0 become +0."""
    zero, one = b.constant(value.type, "0.0"), b.constant(value.type, "1.0")
    low = b.select(b.compare("ogt", value, zero), value, zero)
    return b.select(b.compare("olt", low, one), low, one)


def relu(b: Arithmetic[W], value: W) -> W:
    """Negative values as +0; NaN stays."""
    zero = b.constant(value.type, "0.0")
    return b.select(b.compare("ole", value, zero), zero, value)


def finite(b: Arithmetic[W], bits: W, name: str) -> W:
    """Infinities as the largest finite values."""
    form = FORMATS[name]
    infinite = b.compare("eq", magnitude(b, bits, name), b.constant(bits.type, form.infinity))
    return b.select(infinite, b.apply("sub", bits, b.constant(bits.type, 1)), bits)


def _signed(pattern: int, bits: int) -> int:
    return pattern - (1 << bits) if pattern >> bits - 1 else pattern


# ------------------------------------------------------------------------------------------------------------- rounding


def rounded(b: Words[W], name: str, direction: str, *operands: W) -> W:
    """`fadd`, `fsub`, `fmul`, `fdiv`, `fma` or `sqrt`, rounded once in a direction (`rn rz rm rp`)."""
    return b.rounded(name, direction, *operands)


def rounded_flushed(b: Words[W], name: str, direction: str, *operands: W) -> W:
    """`rounded` on f32, then `flush`; see `narrow_flushed` for what counts as subnormal."""
    result = rounded(b, name, direction, *operands)
    if name in {"fadd", "fsub", "sqrt"}:  # subnormal results are exact, or impossible
        return flush_float(b, result)
    # doubled, except for the second, which is a factor; overflow does not matter, as it is far from small
    doubled = (b.apply("fadd", v, v) if n != 1 else v for n, v in enumerate(operands))
    twice = b.intrinsic("llvm.fabs", rounded(b, name, direction, *doubled))
    limit = as_float(b, b.constant(integer_like(twice.type), 2 << FORMATS["f32"].fraction))
    small = b.compare("olt", twice, limit)
    return b.select(small, b.intrinsic("llvm.copysign", b.constant(result.type, "0.0"), result), result)


def odd_sum(b: Arithmetic[W], x: W, y: W) -> W:
    """X + y as doubles, rounded to odd: the last bit is set if anything was lost."""
    total = b.apply("fadd", x, y)
    virtual = b.apply("fsub", total, x)
    error = b.apply("fadd", b.apply("fsub", x, b.apply("fsub", total, virtual)), b.apply("fsub", y, virtual))
    return odd(b, total, error)


def odd(b: Arithmetic[W], value: W, error: W) -> W:
    """Doubles rounded to nearest, with their errors, as rounded to odd."""
    bits = bits_of(b, value)
    zero = b.constant(value.type, "0.0")
    exact = b.compare("ueq", error, zero)
    towards = b.compare("ogt", b.apply("fmul", _sign_as_one(b, value), error), zero)  # the true value is larger
    down = b.select(towards, bits, b.apply("sub", bits, b.constant(bits.type, 1)))
    inexact = b.apply("or", down, b.constant(bits.type, 1))
    return as_float(b, b.select(exact, bits, inexact))


def _sign_as_one(b: Arithmetic[W], value: W) -> W:
    return b.intrinsic("llvm.copysign", b.constant(value.type, "1.0"), value)


def to_float_odd(b: Arithmetic[W], value: W) -> W:
    """Doubles as f32, rounded to odd."""
    near = b.convert("fptrunc", value, "float")
    back = b.convert("fpext", near, "double")
    bits = bits_of(b, near)
    one = b.constant(bits.type, 1)
    larger = b.compare("ogt", b.intrinsic("llvm.fabs", back), b.intrinsic("llvm.fabs", value))
    down = b.select(larger, b.apply("sub", bits, one), bits)
    exact = b.compare("ueq", back, value)
    return as_float(b, b.select(exact, bits, b.apply("or", down, one)))


def narrow(b: Arithmetic[W], value: W, name: str, direction: str = "rn", *, payload: bool = False) -> W:
    """Floats as bits of a format, rounded once; NaN canonical, or (`payload`) with its sign and leading bits.

    `value` is double or float, exact or rounded to odd.
    """
    if name == "f64":
        return bits_of(b, value)
    if value.element == "double":
        if name == "f32":
            near = bits_of(b, b.convert("fptrunc", value, "float"))
            return _directed(b, near, value, name, direction)
        rounded = narrow(b, to_float_odd(b, value), name, direction)
        return b.select(is_nan(b, value), _short_nan(b, value, name), rounded) if payload else rounded
    if name == "f32":
        return bits_of(b, canonical(b, value))
    if name == "f16":
        near = bits_of(b, b.convert("fptrunc", value, "half"))
    else:
        wide = bits_of(b, value)
        last = b.apply("and", b.apply("lshr", wide, b.constant(wide.type, 16)), b.constant(wide.type, 1))
        sum_ = b.apply("add", b.apply("add", wide, b.constant(wide.type, 0x7FFF)), last)
        near = b.resize(b.apply("lshr", sum_, b.constant(wide.type, 16)), 16)
    near = b.select(is_nan(b, value), b.constant(near.type, FORMATS[name].nan), near)
    return _directed(b, near, value, name, direction)


def narrow_flushed(b: Arithmetic[W], value: W, name: str, direction: str = "rn", *, payload: bool = False) -> W:
    """`narrow`, then `flush`, as an H200 does.

    Flushing looks at the result rounded with unbounded exponents, computed from twice the result: if this is below the
    smallest normal number, the result is zero, although as a subnormal it may be rounded up to that number.
    """
    form = FORMATS[name]
    bits = narrow(b, value, name, direction, payload=payload)
    twice = magnitude(b, narrow(b, b.apply("fadd", value, value), name, direction), name)
    small = b.compare("ult", twice, b.constant(twice.type, 2 << form.fraction))
    return b.select(small, b.apply("and", bits, b.constant(bits.type, _signed(form.sign, form.bits))), bits)


def _short_nan(b: Arithmetic[W], value: W, name: str) -> W:
    """The bits of a double-precision NaN truncated to a format, quiet."""
    form = FORMATS[name]
    bits = bits_of(b, value)
    sign = b.apply(
        "lshr", b.apply("and", bits, b.constant(bits.type, -(1 << 63))), b.constant(bits.type, 64 - form.bits)
    )
    fraction = b.apply("lshr", bits, b.constant(bits.type, 52 - form.fraction))
    low = b.apply("and", fraction, b.constant(bits.type, (1 << form.fraction) - 1))
    quiet = b.constant(bits.type, form.infinity | 1 << form.fraction - 1)
    return b.resize(b.apply("or", b.apply("or", sign, low), quiet), form.bits)


def first_nan(b: Arithmetic[W], value: W, *operands: W) -> W:
    """A double-precision result, or, where operands are NaN, the first of these, quiet."""
    for operand in reversed(operands):
        bits = bits_of(b, operand)
        quiet = as_float(b, b.apply("or", bits, b.constant(bits.type, 1 << FORMATS["f64"].fraction - 1)))
        value = b.select(is_nan(b, operand), quiet, value)
    return value


def _directed(b: Arithmetic[W], near: W, exact: W, name: str, direction: str) -> W:
    """Bits rounded to nearest, moved by one last place if the direction requires it; `exact` is the unrounded value."""
    if direction == "rn":
        return near
    back = widen(b, near, name)
    if exact.element == "double":
        back = b.convert("fpext", back, "double")
    one = b.constant(near.type, 1)
    negative = b.compare("slt", near, b.constant(near.type, 0))
    if direction == "rz":
        beyond = b.compare("ogt", b.intrinsic("llvm.fabs", back), b.intrinsic("llvm.fabs", exact))
        return b.select(beyond, b.apply("sub", near, one), near)
    wrong = b.compare("olt" if direction == "rp" else "ogt", back, exact)
    outwards, inwards = b.apply("add", near, one), b.apply("sub", near, one)
    moved = b.select(negative, inwards, outwards) if direction == "rp" else b.select(negative, outwards, inwards)
    return b.select(wrong, moved, near)


# ------------------------------------------------------------------------------------------------------------ extremes


def extreme(b: Arithmetic[W], x: W, y: W, name: str, *, largest: bool, nan: bool, xorsign: bool) -> W:
    """The smaller or larger of two values (bits of a format): -0 below +0; a number before NaN, or NaN first."""
    form = FORMATS[name]
    sign = b.constant(x.type, _signed(form.sign, form.bits))
    signs = b.apply("and", b.apply("xor", x, y), sign)
    if xorsign:
        keep = b.constant(x.type, form.sign - 1)
        x, y = b.apply("and", x, keep), b.apply("and", y, keep)
    first = b.compare("sgt" if largest else "slt", ordered(b, x, name), ordered(b, y, name))
    chosen = b.select(first, x, y)
    x_nan, y_nan = (nan_bits(b, v, name) for v in (x, y))
    if xorsign:
        chosen, x, y = (b.apply("or", v, signs) for v in (chosen, x, y))
    if nan:
        either = b.apply("or", x_nan, y_nan)
        return b.select(either, b.constant(x.type, form.nan), chosen)
    chosen = b.select(x_nan, y, b.select(y_nan, x, chosen))
    both = b.apply("and", x_nan, y_nan)
    if name == "f64":
        return b.select(both, b.apply("or", y, b.constant(y.type, 1 << form.fraction - 1)), chosen)
    return b.select(both, b.constant(x.type, form.nan), chosen)


def ordered(b: Arithmetic[W], bits: W, name: str) -> W:
    """Bits as signed integers in the order of the values, and such integers as bits."""
    form = FORMATS[name]
    negative = b.apply("ashr", bits, b.constant(bits.type, form.bits - 1))
    return b.apply("xor", bits, b.apply("and", negative, b.constant(bits.type, form.sign - 1)))


def nan_bits(b: Arithmetic[W], bits: W, name: str) -> W:
    """Which elements are bits of a NaN."""
    return b.compare("ugt", magnitude(b, bits, name), b.constant(bits.type, FORMATS[name].infinity))
