"""Logic and shifts (PTX ISA 9.7.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.family import Family

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_BITS: Final = "b16 b32 b64"


@family("and", "or", "xor", types="pred", lanewise=True)
def logic_predicate(b: Words[W], op: Op) -> None:
    """Bitwise on predicates."""
    target, left, right = op.operands
    b.write_mask(target, b.apply(op.opcode, b.read_mask(left), b.read_mask(right)))


@family("and", "or", "xor", types=_BITS, lanewise=True)
def logic(b: Words[W], op: Op) -> None:
    """Bitwise on words."""
    target, left, right = op.operands
    b.write(target, b.apply(op.opcode, b.read(left, op.type), b.read(right, op.type)))


@family("not", types="pred", lanewise=True)
def not_predicate(b: Words[W], op: Op) -> None:
    """Logical negation."""
    b.write_mask(op.operands[0], b.apply("xor", b.read_mask(op.operands[1]), b.constant("i32", -1)))


@family("not", types=_BITS, lanewise=True)
def not_(b: Words[W], op: Op) -> None:
    """Every bit inverted."""
    value = b.read(op.operands[1], op.type)
    b.write(op.operands[0], b.apply("xor", value, b.constant(value.type, -1)))


@family("cnot", types=_BITS, lanewise=True)
def cnot(b: Words[W], op: Op) -> None:
    """1 for 0, 0 for any other value."""
    value = b.read(op.operands[1], op.type)
    zero = b.compare("eq", value, b.constant(value.type, 0))
    b.write(op.operands[0], b.resize(zero, op.type.bits))


@family("shl", "shr", types="b16 b32 b64 s16 s32 s64 u16 u32 u64", lanewise=True)
def shift(b: Words[W], op: Op) -> None:
    """Shift by a u32 amount, clamped at the width."""
    target, source, amount = op.operands
    value = b.read(source, op.type)
    bits = op.type.bits
    name = "shl" if op.opcode == "shl" else "ashr" if op.type.signed else "lshr"
    count = b.literal(amount)
    if count is not None:
        count &= 0xFFFFFFFF
        if count >= bits and name != "ashr":
            b.write(target, b.constant(value.type, 0))
        else:
            b.write(target, b.apply(name, value, b.constant(value.type, min(count, bits - 1))))
        return
    by = b.read(amount, "u32")
    limit = b.intrinsic("llvm.umin", by, b.constant(by.type, bits - 1))
    shifted = b.apply(name, value, b.resize(limit, bits))
    if name != "ashr":
        inside = b.compare("ult", by, b.constant(by.type, bits))
        shifted = b.select(inside, shifted, b.constant(shifted.type, 0))
    b.write(target, shifted)
