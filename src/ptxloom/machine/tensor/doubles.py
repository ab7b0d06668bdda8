"""Exact numbers in `.f64`, and the one rounding that turns them into a result; eight rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.ir import Value, count
from ptxloom.machine.tensor.convert import CANONICAL_NAN, INFINITY, float_to_half, half_to_float

if TYPE_CHECKING:
    from ptxloom.machine.tensor.builder import TensorBuilder


def special(b: TensorBuilder, ieee: Value, finite: Value) -> Value:
    """The result, with infinities and NaNs as in IEEE arithmetic."""
    infinite = b.compare("oeq", b.intrinsic("llvm.fabs", ieee), b.number(8, "double", float("inf")))
    value = b.select(infinite, b.bits_of(b.convert("fptrunc", ieee, "float")), b.bits_of(finite))
    return b.select(b.compare("uno", ieee, ieee), b.like(value, CANONICAL_NAN), value)


def rounded(b: TensorBuilder, exact: Value, *, wide: bool) -> Value:
    """An exact `.f64` to the result: toward zero to `.f32`, or the value of the nearest `.f16`."""
    bits = b.bits_of(exact)
    kept = b.mask(bits, -(1 << 29))
    if not wide:
        sticky = b.compare("ne", b.mask(bits, (1 << 29) - 1), b.like(bits, 0))
        kept = b.apply("or", kept, b.shift_left(b.resize(sticky, 64), 29))
        return half_value(b, b.convert("fptrunc", b.float_of(kept), "float"))
    magnitude = b.mask(kept, (1 << 63) - 1)
    normal = b.bits_of(b.convert("fptrunc", b.float_of(magnitude), "float"))
    huge = b.compare("uge", magnitude, b.like(magnitude, (1023 + 128) << 52))
    normal = b.select(huge, b.like(normal, INFINITY), normal)
    small = b.apply("fmul", b.intrinsic("llvm.fabs", exact), b.number(8, "double", 2.0**149))
    tiny = b.compare("ult", magnitude, b.like(magnitude, (1023 - 126) << 52))
    # Both arms are computed; a minimum keeps the conversion of large values in range.
    small = b.intrinsic("llvm.minnum", small, b.number(8, "double", 2.0**24))
    result = b.select(tiny, b.convert("fptosi", small, "i32"), normal)
    sign = b.resize(b.shift_left(b.shift_right(bits, 63), 31), 32)
    signed = b.apply("or", result, sign)
    return b.float_of(b.select(b.compare("eq", result, b.like(result, 0)), result, signed))


def half_value(b: TensorBuilder, value: Value) -> Value:
    """The `.f32` value of the nearest `.f16`; zero is +0."""
    return b.apply("fadd", half_to_float(b, float_to_half(b, value)), b.number(count(value.type), "float", 0.0))


def is_zero(b: TensorBuilder, value: Value) -> Value:
    """Which floats are zeros of either sign."""
    return b.compare("oeq", value, b.number(count(value.type), value.element, "0.0"))


def exponent(b: TensorBuilder, value: Value, least: int) -> Value:
    """The exponents of `.f32` values, at least the one of a format's subnormals."""
    field = b.shift_right(b.shift_left(b.bits_of(value), 1), 24)
    return b.add(b.both("smax", field, b.like(field, least + 127)), -127)


def power(b: TensorBuilder, exponents: Value) -> Value:
    """2 to an integer, as `.f64`."""
    return b.float_of(b.shift_left(b.resize(b.add(exponents, 1023), 64, signed=True), 52))
