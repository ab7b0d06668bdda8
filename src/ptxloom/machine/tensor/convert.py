"""Elements to `.f32` and back, on vectors: from a word and a bit offset to exact floats, from results to registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.isa.types import element_type
from ptxloom.machine.native.ir import Value, count, like, suffix, vector
from ptxloom.machine.native.llvm import host_has

if TYPE_CHECKING:
    from ptxloom.machine.tensor.builder import TensorBuilder

_F32 = FLOAT_FORMATS["f32"]
#: The mask of an `.f32`'s bits that a narrower type keeps.
_KEPT = {name: -1 << _F32.fraction - FLOAT_FORMATS[name].fraction for name in ("tf32", "bf16")}
_DIRECTED_LANES = 16
_DIRECTED_MODE = "11"  # toward zero, and no exceptions
CANONICAL_NAN, INFINITY = _F32.nan, _F32.infinity


def has_half_conversions() -> bool:
    """Whether the processor converts between f16 and f32 itself; elsewhere LLVM would call a library for it."""
    return any(host_has(feature) for feature in ("f16c", "neon", "fullfp16"))


def has_directed_conversions() -> bool:
    """Whether the processor converts sixteen integers at once, and rounds as an instruction says."""
    return host_has("avx512f")


def decode(b: TensorBuilder, word: Value, bit: int, element: str) -> Value:
    """The element that starts at `bit` of each 32-bit word, as an exact `.f32`.

    Args:
        b: The builder.
        word: `<L x i32>`.
        bit: The first bit, the same in every lane.
        element: An element type; integers become floats, which hold them exactly.
    """
    match element:
        case "f32" | "tf32" | "bf16":
            high = b.shift_left(word, 32 - element_type(element).packed_bits - bit)
            return b.float_of(b.mask(high, _KEPT[element]) if element in _KEPT else high)
        case "f16":
            return half_to_float(b, b.shift_right(word, bit))
        case "e5m2":
            byte = b.shift_left(word, 8 - bit) if bit < 8 else b.shift_right(word, bit - 8)
            return half_to_float(b, b.mask(byte, 0xFF00))
        case "e4m3" | "e2m3" | "e3m2" | "e2m1":
            return _narrow_to_float(b, b.shift_right(word, bit), element)
        case _:
            return b.convert("sitofp", integer(b, word, bit, element), "float")


def integer(b: TensorBuilder, word: Value, bit: int, element: str) -> Value:
    """The integer element that starts at `bit` of each word, as `i32`."""
    width = element_type(element).packed_bits
    if element[0] == "u":
        return b.mask(b.shift_right(word, bit), (1 << width) - 1)
    return b.shift_right(b.shift_left(word, 32 - width - bit), 32 - width, signed=True)


def half_to_float(b: TensorBuilder, word: Value) -> Value:
    """The value of the `.f16` in the low half of each word; higher bits are ignored."""
    lanes = count(word.type)
    if has_half_conversions():
        half = b.bitcast(b.resize(word, 16), vector("half", lanes))
        return b.convert("fpext", half, "float")
    magnitude = b.shift_left(b.mask(word, 0x7FFF), 13)
    # The exponent's bias grows by 112; as a multiplication this holds for subnormals too.
    finite = b.bits_of(b.apply("fmul", b.float_of(magnitude), b.number(lanes, "float", 2.0**112)))
    special = b.apply("or", magnitude, b.like(magnitude, INFINITY))
    value = b.select(b.compare("uge", magnitude, b.like(magnitude, 0x7C00 << 13)), special, finite)
    return b.float_of(b.apply("or", value, b.shift_left(b.mask(word, 0x8000), 16)))


def _narrow_to_float(b: TensorBuilder, word: Value, element: str) -> Value:
    """The value of a format without infinities in the low bits of each word; higher bits are ignored."""
    form = FLOAT_FORMATS[element]
    magnitude = b.mask(word, form.sign - 1)
    scaled = b.float_of(b.shift_left(magnitude, _F32.fraction - form.fraction))
    rebase = b.number(count(word.type), "float", 2.0 ** (_F32.bias - form.bias))
    value = b.bits_of(b.apply("fmul", scaled, rebase))
    if form.has_nan:
        special = b.compare("eq", magnitude, b.like(magnitude, form.nan))
        value = b.select(special, b.like(magnitude, CANONICAL_NAN), value)
    return b.float_of(b.apply("or", value, b.shift_left(b.mask(word, form.sign), 32 - form.bits)))


def float_to_half(b: TensorBuilder, value: Value) -> Value:
    """`.f32` rounded to nearest even: the bits of an `.f16` in the low half of an `i32`, NaN as 0x7fff."""
    lanes = count(value.type)
    bits = b.bits_of(value)
    nan = b.compare("uno", value, value)
    if has_half_conversions():
        half = b.bitcast(b.convert("fptrunc", value, "half"), vector("i16", lanes))
        rounded = b.resize(half, 32)
    else:
        rounded = _round_to_half(b, bits)
    return b.select(nan, b.like(bits, 0x7FFF), rounded)


def _round_to_half(b: TensorBuilder, bits: Value) -> Value:
    magnitude = b.mask(bits, 0x7FFFFFFF)
    sign = b.mask(b.shift_right(bits, 16), 0x8000)
    odd = b.mask(b.shift_right(magnitude, 13), 1)
    normal = b.shift_right(b.apply("add", b.add(magnitude, 0xFFF - (112 << 23)), odd), 13)
    # Adding 2^-1 leaves a subnormal's bits, rounded to nearest even, at the low end.
    aligned = b.apply("fadd", b.float_of(magnitude), b.number(count(bits.type), "float", 0.5))
    small = b.add(b.bits_of(aligned), -0x3F000000)
    finite = b.select(b.compare("ult", magnitude, b.like(bits, 0x38800000)), small, normal)
    huge = b.compare("uge", magnitude, b.like(bits, 0x477FF000))
    return b.apply("or", b.select(huge, b.like(bits, 0x7C00), finite), sign)


def toward_zero(b: TensorBuilder, value: Value, *, odd: bool) -> Value:
    """`i32` as `.f32`: truncated toward zero, or rounded to odd, so that another rounding is harmless.

    Magnitudes must be below 2^31 - 64: 2^31 itself cannot be converted back.
    """
    if has_directed_conversions() and count(value.type) == _DIRECTED_LANES:
        kind = like(value.type, "float")
        name = f"llvm.x86.avx512.sitofp.round.{suffix(kind)}.{suffix(value.type)}"
        cut = b.intrinsic(name, value, Value("i32", _DIRECTED_MODE), result=kind)
        if not odd:
            return cut
        inexact = b.compare("ne", b.convert("fptosi", cut, "i32"), value)
        return b.float_of(b.apply("or", b.bits_of(cut), b.resize(inexact, 32)))
    magnitude = b.absolute(value)
    near = b.convert("sitofp", magnitude, "float")
    back = b.convert("fptosi", near, "i32")
    above = b.resize(b.compare("sgt", back, magnitude), 32, signed=True)
    bits = b.apply("add", b.bits_of(near), above)
    if odd:
        bits = b.apply("or", bits, b.resize(b.compare("ne", back, magnitude), 32))
    return b.float_of(b.apply("or", bits, b.mask(value, -0x80000000)))


def canonical(b: TensorBuilder, value: Value) -> Value:
    """The bits of `.f32` values with every NaN as 0x7fffffff."""
    bits = b.bits_of(value)
    return b.select(b.compare("uno", value, value), b.like(bits, CANONICAL_NAN), bits)
