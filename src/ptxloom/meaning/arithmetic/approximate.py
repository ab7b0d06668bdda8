"""Approximate functions (PTX ISA 9.7.3 and 9.7.4): the hardware's tables, and the code that ptxas emits around them.

Without `.ftz` a subnormal operand is scaled up first and the result scaled back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.arithmetic import numbers
from ptxloom.meaning.family import Family
from ptxloom.meaning.vectors import like

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_TURN: Final = 0x3E22F983  # 1 / (2 pi), the factor that ptxas uses
_HUGE: Final = 0x7E800000  # 2^126: reciprocals of larger values are subnormal
_SCALES: Final = {"sqrt": -12.0, "rsqrt": 12.0, "rcp": 24.0}


def unit(b: Words[W], name: str, value: W) -> W:
    """A function of the multi-function unit, on floats."""
    return numbers.as_float(b, b.approximated(name, numbers.bits_of(b, value)))


def _number(b: Words[W], like_: W, value: float) -> W:
    return b.constant(like_.type, repr(float(value)))


def _is_subnormal(b: Words[W], value: W) -> W:
    magnitude = b.apply("and", numbers.bits_of(b, value), b.constant(like(value.type, "i32"), 0x7FFFFFFF))
    return b.compare("ult", magnitude, b.constant(magnitude.type, 1 << 23))


def _is_huge(b: Words[W], value: W) -> W:
    magnitude = b.apply("and", numbers.bits_of(b, value), b.constant(like(value.type, "i32"), 0x7FFFFFFF))
    return b.compare("ugt", magnitude, b.constant(magnitude.type, _HUGE))


def _scaled(b: Words[W], where: W, value: W, by: float) -> W:
    return b.select(where, b.apply("fmul", value, _number(b, value, by)), value)


def _f32(op: Op) -> bool:
    return op.has("approx") and op.type.name == "f32"


@family("rcp", "sqrt", "rsqrt", when=_f32)
def roots(b: Words[W], op: Op) -> None:
    """The reciprocal, the square root, and the reciprocal of the square root."""
    value = b.read(op.operands[1], "f32")
    if op.has("ftz"):
        b.write(op.operands[0], unit(b, op.opcode, value))
        return
    small = _is_subnormal(b, value)
    huge = _is_huge(b, value)
    argument = _scaled(b, small, value, 2.0**24)
    if op.opcode == "rcp":
        argument = _scaled(b, huge, argument, 0.25)
    result = unit(b, op.opcode, argument)
    result = _scaled(b, small, result, 2.0 ** _SCALES[op.opcode])
    if op.opcode == "rcp":
        result = _scaled(b, huge, result, 0.25)
    b.write(op.operands[0], numbers.canonical(b, result))


@family("div", when=lambda op: op.has("approx", "full"))
def div(b: Words[W], op: Op) -> None:
    """A times the reciprocal of b; `.full` scales both where the reciprocal would be subnormal."""
    top, bottom = (b.read(operand, "f32") for operand in op.operands[1:])
    flush = op.has("ftz")
    if flush:
        top, bottom = numbers.flush_float(b, top), numbers.flush_float(b, bottom)
    one = _number(b, bottom, 1.0)
    scale = one if flush else b.select(_is_subnormal(b, bottom), _number(b, bottom, 2.0**24), one)
    if op.has("full"):
        scale = b.select(_is_huge(b, bottom), _number(b, bottom, 0.25), scale)
    bottom, top = b.apply("fmul", bottom, scale), b.apply("fmul", top, scale)
    multiplied = numbers.rounded_flushed if flush else numbers.rounded
    b.write(op.operands[0], numbers.canonical(b, multiplied(b, "fmul", "rn", top, unit(b, "rcp", bottom))))


@family("sin", "cos")
def waves(b: Words[W], op: Op) -> None:
    """The sine and cosine of radians, which are first converted to turns."""
    value = b.read(op.operands[1], "f32")
    factor = numbers.as_float(b, b.constant(like(value.type, "i32"), _TURN))
    b.write(op.operands[0], unit(b, op.opcode, numbers.rounded(b, "fmul", "rz", value, factor)))


@family("lg2")
def lg2(b: Words[W], op: Op) -> None:
    """The logarithm to base 2."""
    value = b.read(op.operands[1], "f32")
    if op.has("ftz"):
        b.write(op.operands[0], unit(b, "lg2", value))
        return
    small = _is_subnormal(b, value)
    result = unit(b, "lg2", _scaled(b, small, value, 2.0**24))
    result = b.select(small, b.apply("fsub", result, _number(b, result, 24.0)), result)
    b.write(op.operands[0], numbers.canonical(b, result))


@family("ex2", types="f32")
def ex2(b: Words[W], op: Op) -> None:
    """Two to a power; where that may be subnormal, the square of two to half of it."""
    value = b.read(op.operands[1], "f32")
    if op.has("ftz"):
        b.write(op.operands[0], unit(b, "ex2", value))
        return
    small = b.compare("olt", value, _number(b, value, -126.0))
    result = unit(b, "ex2", _scaled(b, small, value, 0.5))
    b.write(op.operands[0], numbers.canonical(b, b.select(small, b.apply("fmul", result, result), result)))


@family("ex2", types="f16 f16x2 bf16 bf16x2")
def ex2_half(b: Words[W], op: Op) -> None:
    """Two to a power, truncated toward zero; overflow gives infinity."""
    name = op.type.name.removesuffix("x2")
    wide = numbers.widen(b, numbers.bits_of(b, b.read(op.operands[1], op.type)), name)
    result = _paired(b, "ex2", wide)
    bits = numbers.narrow(b, result, name, "rz")
    if name == "f16":
        large = b.compare("oge", result, _number(b, result, 65536.0))
        bits = b.select(large, b.constant(bits.type, numbers.FORMATS[name].infinity), bits)
    b.write(op.operands[0], bits)


def _paired(b: Words[W], name: str, value: W) -> W:
    """A function of the unit on 32 or 64 values."""
    lanes = range(32)
    if value.type == like("<32 x i32>", "float"):
        return unit(b, name, value)
    halves = [b.shuffle(value, [2 * lane + half for lane in lanes]) for half in (0, 1)]
    low, high = (unit(b, name, half) for half in halves)
    return b.shuffle(low, [lane + 32 * half for lane in lanes for half in (0, 1)], high)


@family("tanh")
def tanh(b: Words[W], op: Op) -> None:
    """The hyperbolic tangent; narrow results are truncated toward zero."""
    name = op.type.name.removesuffix("x2")
    wide = numbers.widen(b, numbers.bits_of(b, b.read(op.operands[1], op.type)), name)
    result = _paired(b, "tanh", wide)
    b.write(op.operands[0], numbers.narrow(b, result, name, "rn" if name == "f32" else "rz"))


@family("rcp", "rsqrt", types="f64", when=lambda op: op.has("approx"))
def doubles(b: Words[W], op: Op) -> None:
    """For f64: the unit's result for the high half; without `.ftz` refined as in ptxas's code."""
    value = b.read(op.operands[1], "f64")
    if op.has("ftz"):
        b.write(op.operands[0], _high(b, f"{op.opcode}64", value))
        return
    if op.opcode == "rcp":
        raise op.unsupported()
    infinity, zero = b.constant(value.type, "0x7FF0000000000000"), _number(b, value, 0.0)
    small = b.compare("olt", value, b.constant(value.type, "0x0010000000000000"))
    found = _scaled(b, small, _refined(b, _scaled(b, small, value, 2.0**54)), 2.0**27)
    found = b.select(b.compare("oeq", value, infinity), zero, found)
    found = b.select(b.compare("oeq", value, zero), b.intrinsic("llvm.copysign", infinity, value), found)
    invalid = b.constant(value.type, "0xFFF8000000000000")
    found = b.select(b.compare("olt", value, zero), invalid, found)
    b.write(op.operands[0], numbers.first_nan(b, found, value))


def _high(b: Words[W], name: str, value: W) -> W:
    """A function of the unit on the high halves of doubles; the low halves of the results are zero."""
    bits = numbers.bits_of(b, value)
    half = b.constant(bits.type, 32)
    found = b.approximated(name, b.resize(b.apply("lshr", bits, half), 32))
    return numbers.as_float(b, b.apply("shl", b.resize(found, 64), half))


def _refined(b: Words[W], value: W) -> W:
    """One step of third order from the unit's reciprocal root."""
    start = _high(b, "rsqrt64", value)
    square = b.apply("fmul", start, start)
    left = b.intrinsic("llvm.fma", value, b.apply("fneg", square), _number(b, value, 1.0))
    factor = b.intrinsic("llvm.fma", left, _number(b, value, 0.375), _number(b, value, 0.5))
    return b.intrinsic("llvm.fma", factor, b.apply("fmul", start, left), start)
