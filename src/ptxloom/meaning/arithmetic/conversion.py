"""Conversions between numbers of 16 bits and more: `cvt`, and `cvt.pack` (PTX ISA 9.7.9.21, 9.7.9.22)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.types import element_type
from ptxloom.meaning.arithmetic import numbers
from ptxloom.meaning.arithmetic.narrow import paired
from ptxloom.meaning.family import Family

if TYPE_CHECKING:
    from ptxloom.meaning.types import Type
    from ptxloom.meaning.words import Op, W, Words
    from ptxloom.syntax import tree

family: Final = Family()

_TO_INTEGER: Final = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_HALVES: Final = frozenset({"f16", "bf16"})
_PAIRS: Final = frozenset({"f16x2", "bf16x2"})


def _float_to_float(op: Op) -> bool:
    return len(op.types) == 2 and len(op.operands) == 2 and all(t.name in numbers.FORMATS for t in op.types)


def _integer_to_float(op: Op) -> bool:
    return len(op.types) == 2 and op.types[0].name in numbers.FORMATS and op.types[1].kind in "su"


def _float_to_integer(op: Op) -> bool:
    return len(op.types) == 2 and op.types[0].kind in "su" and op.types[1].name in numbers.FORMATS


def _read_float(b: Words[W], op: Op, operand: tree.Operand, type_: Type) -> W:
    """A float operand, exactly, as `float` or `double`; f32 flushed if requested, but not in conversions to f16."""
    bits = numbers.bits_of(b, b.read(operand, type_))
    if op.has("ftz") and type_.name == "f32" and op.types[0].name != "f16":
        bits = numbers.flush(b, bits, "f32")
    return numbers.widen(b, bits, type_.name)


def _write_float(b: Words[W], op: Op, value: W, name: str, direction: str) -> None:
    """Round to a format and write; clamping and flushing follow the rounding."""
    from_double = op.types[1].name == "f64"
    narrow = numbers.narrow_flushed if op.has("ftz") and name == "f32" else numbers.narrow
    bits = narrow(b, value, name, direction, payload=from_double)
    if op.has("sat", "relu"):
        clamp = numbers.saturate if op.has("sat") else numbers.relu
        bits = numbers.narrow(b, clamp(b, numbers.widen(b, bits, name)), name)
    if op.has("satfinite"):
        bits = numbers.finite(b, bits, name)
    b.write(op.operands[0], bits)


@family("cvt", when=_float_to_float, lanewise=True, converts=True)
def float_to_float(b: Words[W], op: Op) -> None:
    """To another format, rounded once; or, within one, to an integral value."""
    to, source = op.types
    value = _read_float(b, op, op.operands[1], source)
    integral = op.one_of(_TO_INTEGER)
    if to.name == "f32" and source.name in {"f32", "bf16"} and not integral and not op.has("ftz", "sat"):
        b.write(op.operands[0], value)  # the bits are copied, even of NaN
        return
    if integral:
        value = b.intrinsic(f"llvm.{_TO_INTEGER[integral]}", value)
    if to.name == "f64":
        value = b.convert("fpext", numbers.canonical(b, value) if op.has("ftz") else value, "double")
    direction = "rn" if integral else op.one_of(numbers.DIRECTIONS, "rn")
    if integral or to.name == source.name or (source.name in _HALVES and to.name == "f32"):
        direction = "rn"  # exact
    _write_float(b, op, value, to.name, direction)


@family("cvt", when=_integer_to_float, lanewise=True, converts=True)
def integer_to_float(b: Words[W], op: Op) -> None:
    """An integer rounded once."""
    to, source = op.types
    value = b.read(op.operands[1], source)
    direction = op.one_of(numbers.DIRECTIONS, "rn")
    name = "sitofp" if source.signed else "uitofp"
    if source.bits <= 32:
        _write_float(b, op, b.convert(name, value, "double"), to.name, direction)
        return
    high = b.apply("ashr" if source.signed else "lshr", value, b.constant(value.type, 32))
    low = b.apply("and", value, b.constant(value.type, 0xFFFFFFFF))
    upper = b.convert(name, b.resize(high, 32), "double")
    upper = b.apply("fmul", upper, b.constant(upper.type, "4294967296.0"))
    lower = b.convert("uitofp", b.resize(low, 32), "double")
    if to.name == "f64":
        total = numbers.rounded(b, "fadd", direction, upper, lower)
        zero = b.compare("eq", value, b.constant(value.type, 0))
        total = b.select(zero, b.constant(total.type, "0.0"), total)
    else:
        total = numbers.odd_sum(b, upper, lower)
    _write_float(b, op, total, to.name, direction)


@family("cvt", when=_float_to_integer, lanewise=True, converts=True)
def float_to_integer(b: Words[W], op: Op) -> None:
    """Rounded to an integral value, then clamped to the type.

    NaN yields 0 if neither type has 64 bits, else the type's highest bit alone (an H200; the manual says 0).
    """
    to, source = op.types
    value = _read_float(b, op, op.operands[1], source)
    if op.has("sat") and not op.one_of(_TO_INTEGER):
        value = numbers.saturate(b, value)
    integral = b.intrinsic(f"llvm.{_TO_INTEGER[op.one_of(_TO_INTEGER, 'rzi')]}", value)
    letter = "s" if to.signed else "u"
    converted = b.fixed_point(f"fpto{letter}i", integral, to.bits)
    if 64 in {to.bits, source.bits}:
        highest = b.constant(converted.type, -(1 << to.bits - 1))
        converted = b.select(numbers.is_nan(b, value), highest, converted)
    b.write(op.operands[0], converted, to.signed)


@family("cvt", types="f32", when=lambda op: op.types[0].name == "tf32", lanewise=True, converts=True)
def to_tf32(b: Words[W], op: Op) -> None:
    """An f32 with 10 bits of fraction."""
    bits = numbers.bits_of(b, b.read(op.operands[1], "f32"))
    mask = b.constant(bits.type, -0x2000)
    if op.has("rna"):
        added = b.constant(bits.type, 0x1000)
    elif op.has("rn"):
        last = b.apply("and", b.apply("lshr", bits, b.constant(bits.type, 13)), b.constant(bits.type, 1))
        added = b.apply("add", last, b.constant(bits.type, 0xFFF))
    else:
        added = b.constant(bits.type, 0)
    rounded = b.apply("and", b.apply("add", bits, added), mask)
    nan = numbers.is_nan(b, numbers.as_float(b, bits))
    if op.has("rna"):  # a NaN keeps its leading bits
        rounded = b.select(nan, b.apply("and", bits, mask), rounded)
    if op.has("relu"):
        negative = b.compare("slt", rounded, b.constant(bits.type, 0))
        rounded = b.select(negative, b.constant(bits.type, 0), rounded)
    if op.has("satfinite"):
        magnitude = b.apply("and", rounded, b.constant(bits.type, 0x7FFFFFFF))
        infinite = b.compare("uge", magnitude, b.constant(bits.type, numbers.FORMATS["f32"].infinity))
        rounded = b.select(infinite, b.apply("sub", rounded, b.constant(bits.type, 0x2000)), rounded)
    if not op.has("rna"):
        rounded = b.select(nan, b.constant(bits.type, 0x7FFFE000), rounded)
    b.write(op.operands[0], rounded)


@family(
    "cvt",
    types="f32",
    when=lambda op: op.types[0].name in _PAIRS and not op.has("rna", "rs"),
    lanewise=True,
    converts=True,
)
def to_pair(b: Words[W], op: Op) -> None:
    """Two f32, the first in the upper half."""
    name = op.types[0].name.removesuffix("x2")
    direction = op.one_of(numbers.DIRECTIONS, "rn")
    halves: list[W] = []
    for operand in op.operands[1:3]:
        value = b.read(operand, "f32")
        bits = numbers.narrow(b, value, name, direction)
        if op.has("relu"):
            bits = numbers.narrow(b, numbers.relu(b, numbers.widen(b, bits, name)), name)
        halves.append(numbers.finite(b, bits, name) if op.has("satfinite") else bits)
    b.write(op.operands[0], paired(b, halves[1], halves[0], 16))


@family("cvt", when=lambda op: op.has("pack"), lanewise=True, converts=True)
def pack(b: Words[W], op: Op) -> None:
    """Two s32 clamped to a narrow type, the first above the second; both above the shifted c if there is one."""
    to = op.types[0]
    bits = element_type(to.name).bits
    target, high, low, *rest = op.operands
    parts: list[W] = []
    smallest, largest = (-(1 << bits - 1), (1 << bits - 1) - 1) if to.signed else (0, (1 << bits) - 1)
    for operand in (low, high):
        value = b.read(operand, "s32")
        above = b.intrinsic("llvm.smax", value, b.constant(value.type, smallest))
        clamped = b.intrinsic("llvm.smin", above, b.constant(value.type, largest))
        parts.append(b.apply("and", clamped, b.constant(value.type, (1 << bits) - 1)))
    pair = b.apply("or", parts[0], b.apply("shl", parts[1], b.constant(parts[1].type, bits)))
    if rest:
        upper = b.apply("shl", b.read(rest[0], "b32"), b.constant(pair.type, 2 * bits))
        pair = b.apply("or", pair, upper)
    b.write(target, pair)
