"""Integer arithmetic (PTX ISA 9.7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.family import Family

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_WORDS: Final = "s16 u16 s32 u32 s64 u64"


@family("add", "sub", types=f"{_WORDS} u16x2 s16x2", lanewise=True)
def add_sub(b: Words[W], op: Op) -> None:
    """D = a ± b, wrapping; `.sat` clamps s32."""
    target, left, right = op.operands
    x, y = b.read(left, op.type), b.read(right, op.type)
    if op.has("sat"):
        b.write(target, b.intrinsic(f"llvm.s{op.opcode}.sat", x, y))
    else:
        b.write(target, b.apply(op.opcode, x, y))


@family("mul", types=_WORDS, lanewise=True)
def mul(b: Words[W], op: Op) -> None:
    """The low or high half of a product, or all of it (`.wide`)."""
    target, left, right = op.operands
    x, y = b.read(left, op.type), b.read(right, op.type)
    if op.has("lo"):
        b.write(target, b.apply("mul", x, y))
        return
    bits = op.type.bits
    product = b.apply("mul", b.resize(x, 2 * bits, op.type.signed), b.resize(y, 2 * bits, op.type.signed))
    if op.has("wide"):
        b.write(target, product)
    else:
        b.write(target, b.resize(b.apply("lshr", product, b.constant(product.type, bits)), bits))


@family("mad", types=_WORDS, lanewise=True)
def mad(b: Words[W], op: Op) -> None:
    """D = a * b + c, with the requested half of the product; `.sat` clamps hi.s32."""
    target, left, right, addend = op.operands
    x, y = b.read(left, op.type), b.read(right, op.type)
    bits = op.type.bits
    if op.has("lo"):
        b.write(target, b.apply("add", b.apply("mul", x, y), b.read(addend, op.type)))
        return
    product = b.apply("mul", b.resize(x, 2 * bits, op.type.signed), b.resize(y, 2 * bits, op.type.signed))
    if op.has("wide"):
        b.write(target, b.apply("add", product, b.read(addend, f"{op.type.kind}{2 * bits}")))
        return
    high = b.resize(b.apply("lshr", product, b.constant(product.type, bits)), bits)
    z = b.read(addend, op.type)
    b.write(target, b.intrinsic("llvm.sadd.sat", high, z) if op.has("sat") else b.apply("add", high, z))


@family("min", "max", types=f"{_WORDS} u16x2 s16x2", lanewise=True)
def min_max(b: Words[W], op: Op) -> None:
    """The smaller or larger; `.relu` clamps at zero."""
    target, left, right = op.operands
    letter = "s" if op.type.signed else "u"
    found = b.intrinsic(f"llvm.{letter}{op.opcode}", b.read(left, op.type), b.read(right, op.type))
    if op.has("relu"):
        found = b.intrinsic("llvm.smax", found, b.constant(found.type, 0))
    b.write(target, found)


@family("neg", types="s16 s32 s64", lanewise=True)
def neg(b: Words[W], op: Op) -> None:
    """D = -a."""
    value = b.read(op.operands[1], op.type)
    b.write(op.operands[0], b.apply("sub", b.constant(value.type, 0), value))


@family("abs", types="s16 s32 s64", lanewise=True)
def abs_(b: Words[W], op: Op) -> None:
    """D = |a|; the most negative value is unchanged."""
    value = b.read(op.operands[1], op.type)
    negated = b.apply("sub", b.constant(value.type, 0), value)
    b.write(op.operands[0], b.intrinsic("llvm.smax", value, negated))
