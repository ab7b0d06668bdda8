"""Division, remainder, sums of absolute differences and products of parts (PTX ISA 9.7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.family import Family
from ptxloom.meaning.vectors import vector

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()


@family("div", "rem", types="s16 u16 s32 u32 s64 u64", lanewise=True)
def div_rem(b: Words[W], op: Op) -> None:
    """The quotient toward zero, or the remainder. By zero: all ones, as on an H200 (unspecified by the manual)."""
    target, left, right = op.operands
    x, y = b.read(left, op.type), b.read(right, op.type)
    b.write(target, b.divide(f"{'s' if op.type.signed else 'u'}{op.opcode}", x, y))


@family("sad", types="s16 u16 s32 u32 s64 u64", lanewise=True)
def sad(b: Words[W], op: Op) -> None:
    """C + |a - b|."""
    target, first, second, addend = op.operands
    x, y, z = (b.read(o, op.type) for o in (first, second, addend))
    letter = "s" if op.type.signed else "u"
    larger, smaller = (b.intrinsic(f"llvm.{letter}{name}", x, y) for name in ("max", "min"))
    b.write(target, b.apply("add", z, b.apply("sub", larger, smaller)))


@family("mul24", "mad24", types="s32 u32")
def product_of_24_bits(b: Words[W], op: Op) -> None:
    """The low or high 32 of the 48 bits of a product of 24-bit values, and a sum with c."""
    target, left, right, *addend = op.operands
    name = "ashr" if op.type.signed else "lshr"
    factors: list[W] = []
    for operand in (left, right):
        top = b.apply("shl", b.read(operand, op.type), b.constant(b.vector("i32"), 8))
        factors.append(b.resize(b.apply(name, top, b.constant(top.type, 8)), 64, op.type.signed))
    product = b.apply("mul", *factors)
    if op.has("hi"):
        product = b.apply("lshr", product, b.constant(product.type, 16))
    result = b.resize(product, 32)
    if addend:
        z = b.read(addend[0], op.type)
        result = b.intrinsic("llvm.sadd.sat", result, z) if op.has("sat") else b.apply("add", result, z)
    b.write(target, result)


@family("clmad", lanewise=True)
def carryless_product(b: Words[W], op: Op) -> None:
    """The low or high 64 bits of the product of two polynomials over GF(2), plus c; the high ones are reversed."""
    target, left, right, addend = op.operands
    factors = [b.read(o, "u64") for o in (left, right)]
    if op.has("hi"):
        factors = [b.intrinsic("llvm.bitreverse", v) for v in factors]
    product = _carryless(b, factors[0], factors[1])
    if op.has("hi"):
        product = b.intrinsic("llvm.bitreverse", product)
        product = b.apply("lshr", product, b.constant(product.type, 1))
    b.write(target, b.apply("xor", product, b.read(addend, "u64")))


def _carryless(b: Words[W], x: W, y: W) -> W:
    """The low 64 bits: uses every fourth bit at a time, so that a column's sum of 16 overflows into unused bits."""
    masks = [b.constant(x.type, 0x1111111111111111 << n) for n in range(3)]
    masks.append(b.constant(x.type, -0x7777777777777778))
    lefts, rights = ([b.apply("and", value, mask) for mask in masks] for value in (x, y))
    total = b.constant(x.type, 0)
    for place, mask in enumerate(masks):
        column = b.constant(x.type, 0)
        for n, left in enumerate(lefts):
            column = b.apply("xor", column, b.apply("mul", left, rights[(place - n) % len(masks)]))
        total = b.apply("or", total, b.apply("and", column, mask))
    return total


@family("dp4a", "dp2a")
def dot_product(b: Words[W], op: Op) -> None:
    """C plus products of parts, wrapping: dp4a of four bytes each, dp2a of the halves of a by two bytes of b."""
    target, first, second, addend = op.operands
    of_a, of_b = op.types[-2:]
    result = b.read(addend, "b32")
    x, y = b.read(first, "b32"), b.read(second, "b32")
    parts = 4 if op.opcode == "dp4a" else 2
    for n in range(parts):
        left = _part(b, x, n, 32 // parts, signed=of_a.signed)
        right = _part(b, y, n + 2 * (parts == 2 and op.has("hi")), 8, signed=of_b.signed)
        result = b.apply("add", result, b.apply("mul", left, right))
    b.write(target, result)


def _part(b: Words[W], value: W, index: int, bits: int, *, signed: bool) -> W:
    """Part number `index` of each 32-bit word, extended to 32 bits."""
    count = b.width * 32 // bits
    parts = b.bitcast(value, vector(f"i{bits}", count))
    return b.resize(b.shuffle(parts, range(index, count, 32 // bits)), 32, signed)
