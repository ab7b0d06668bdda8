"""Counting, finding, moving and choosing bits (PTX ISA 9.7.1 and 9.7.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.meaning.family import Family
from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_BIG: Final = "u32 s32 u64 s64"


@family("popc", types="b32 b64", lanewise=True)
def popc(b: Words[W], op: Op) -> None:
    """The number of set bits."""
    value = b.read(op.operands[1], op.type)
    b.write(op.operands[0], b.resize(b.intrinsic("llvm.ctpop", value), 32))


@family("clz", types="b32 b64", lanewise=True)
def clz(b: Words[W], op: Op) -> None:
    """The number of zeros above the highest set bit."""
    b.write(op.operands[0], b.resize(_leading_zeros(b, b.read(op.operands[1], op.type)), 32))


def _leading_zeros(b: Words[W], value: W) -> W:
    return b.intrinsic("llvm.ctlz", value, b.constant("i1", 0))


@family("bfind", types=_BIG, lanewise=True)
def bfind(b: Words[W], op: Op) -> None:
    """The position of the highest bit that differs from the sign, or the shift that moves it to the top; -1 if none."""
    value = b.read(op.operands[1], op.type)
    bits = op.type.bits
    if op.type.signed:
        value = b.apply("xor", value, b.apply("ashr", value, b.constant(value.type, bits - 1)))
    zeros = b.resize(_leading_zeros(b, value), 32)
    found = zeros if op.has("shiftamt") else b.apply("sub", b.constant(zeros.type, bits - 1), zeros)
    none = b.compare("eq", zeros, b.constant(zeros.type, bits))
    b.write(op.operands[0], b.select(none, b.constant(found.type, -1), found))


@family("brev", types="b32 b64", lanewise=True)
def brev(b: Words[W], op: Op) -> None:
    """The bits in reverse order."""
    b.write(op.operands[0], b.intrinsic("llvm.bitreverse", b.read(op.operands[1], op.type)))


def _amount(b: Words[W], operand: tree.Operand, bits: int) -> W:
    """A position or length in elements of `bits`: its low byte; on an H200 all of it for 64-bit fields."""
    value = b.read(operand, "u32")
    byte = b.constant(value.type, 255)
    if bits == 64:
        return b.resize(b.intrinsic("llvm.umin", value, byte), 64)
    return b.apply("and", value, byte)


def _shift(b: Words[W], name: str, value: W, by: W) -> W:
    """`shl` or `lshr` by any amount: zero from the width on."""
    inside = b.compare("ult", by, b.constant(by.type, value.bits))
    moved = b.apply(name, value, b.intrinsic("llvm.umin", by, b.constant(by.type, value.bits - 1)))
    return b.select(inside, moved, b.constant(value.type, 0))


@family("bfe", types=_BIG, lanewise=True)
def bfe(b: Words[W], op: Op) -> None:
    """The field of `len` bits from `pos` up; bits beyond the value read as its sign."""
    target, source, position, length = op.operands
    bits = op.type.bits
    value = b.read(source, op.type)
    start, size = _amount(b, position, bits), _amount(b, length, bits)
    width = b.constant(value.type, bits)
    if not op.type.signed:
        mask = b.apply("sub", _shift(b, "shl", b.constant(value.type, 1), size), b.constant(value.type, 1))
        b.write(target, b.apply("and", _shift(b, "lshr", value, start), mask))
        return
    end = b.intrinsic("llvm.umin", b.apply("add", start, size), width)
    top = b.apply("shl", value, b.intrinsic("llvm.umin", b.apply("sub", width, end), b.constant(value.type, bits - 1)))
    held = b.intrinsic("llvm.smax", b.apply("sub", end, start), b.constant(value.type, 1))
    field = b.apply("ashr", top, b.apply("sub", width, held))
    beyond = b.compare("sge", start, end)
    field = b.select(beyond, b.apply("ashr", value, b.constant(value.type, bits - 1)), field)
    empty = b.compare("eq", size, b.constant(size.type, 0))
    b.write(target, b.select(empty, b.constant(value.type, 0), field))


@family("bfi", types="b32 b64", lanewise=True)
def bfi(b: Words[W], op: Op) -> None:
    """The second value with the low `len` bits of the first inserted at `pos`."""
    target, source, base, position, length = op.operands
    bits = op.type.bits
    field, whole = b.read(source, op.type), b.read(base, op.type)
    start, size = _amount(b, position, bits), _amount(b, length, bits)
    ones = b.apply("sub", _shift(b, "shl", b.constant(field.type, 1), size), b.constant(field.type, 1))
    mask = _shift(b, "shl", ones, start)
    moved = b.apply("and", _shift(b, "shl", field, start), mask)
    kept = b.apply("and", whole, b.apply("xor", mask, b.constant(mask.type, -1)))
    b.write(target, b.apply("or", kept, moved))


@family("fns", types="b32")
def fns(b: Words[W], op: Op) -> None:
    """The position of the n-th set bit from `base` on, upwards or downwards; -1 if there is no such bit.

    Unspecified cases follow an H200: a base above 31 finds nothing; for an offset of -2^31 the result is 0.
    """
    target, source, base, offset = op.operands
    value, start, count = b.read(source, "b32"), b.read(base, "b32"), b.read(offset, "s32")
    zero, one = b.constant(value.type, 0), b.constant(value.type, 1)
    upwards = b.compare("sgt", count, zero)
    none = b.constant(value.type, -1)
    result = none
    left = b.intrinsic("llvm.abs", count, b.constant("i1", 0))
    left = b.select(b.compare("eq", count, zero), one, left)
    valid = b.compare("ult", start, b.constant(value.type, LANES))
    for step in range(LANES):  # the position of the search after `step` steps
        by = b.constant(value.type, step)
        place = b.select(upwards, b.apply("add", start, by), b.apply("sub", start, by))
        inside = b.apply("and", valid, b.compare("ult", place, b.constant(value.type, LANES)))
        if step:
            inside = b.apply("and", inside, b.compare("ne", count, zero))
        bit = b.apply("and", b.apply("lshr", value, b.apply("and", place, b.constant(value.type, 31))), one)
        hit = b.apply("and", inside, b.compare("ne", bit, zero))
        left = b.select(hit, b.apply("sub", left, one), left)
        last = b.apply("and", hit, b.compare("eq", left, zero))
        result = b.select(last, place, result)
    lowest = b.compare("eq", count, b.constant(count.type, -(1 << 31)))
    b.write(target, b.select(lowest, zero, result))


@family("szext", types="u32 s32", lanewise=True)
def szext(b: Words[W], op: Op) -> None:
    """The low `n` bits, sign- or zero-extended."""
    target, source, amount = op.operands
    value, size = b.read(source, op.type), b.read(amount, "u32")
    width = b.constant(size.type, 32)
    if op.has("wrap"):
        size = b.apply("and", size, b.constant(size.type, 31))
    size = b.intrinsic("llvm.umin", size, width)
    unused = b.apply("sub", width, size)
    top = _shift(b, "shl", value, unused)
    name = "ashr" if op.type.signed else "lshr"
    extended = b.apply(name, top, b.intrinsic("llvm.umin", unused, b.constant(size.type, 31)))
    b.write(target, b.select(b.compare("eq", size, b.constant(size.type, 0)), b.constant(size.type, 0), extended))


@family("bmsk", types="b32", lanewise=True)
def bmsk(b: Words[W], op: Op) -> None:
    """A run of `width` ones from `start` up."""
    target, first, second = op.operands
    start, size = b.read(first, "u32"), b.read(second, "u32")
    if op.has("wrap"):
        start, size = (b.apply("and", v, b.constant(v.type, 31)) for v in (start, size))
    ones = b.apply("sub", _shift(b, "shl", b.constant(start.type, 1), size), b.constant(start.type, 1))
    b.write(target, _shift(b, "shl", ones, start))


@family("lop3", types="b32", lanewise=True)
def lop3(b: Words[W], op: Op) -> None:
    """Any function of three bits, by its truth table; the Boolean form also returns whether any bit is set."""
    target, first, second, third, table, *rest = op.operands
    code = constant(table)
    if code is None:
        raise op.unsupported("the table must be a constant")
    result = b.lookup(code, *(b.read(o, "b32") for o in (first, second, third)))
    combine = op.one_of(("and", "or", "xor"))
    if combine:
        assert isinstance(target, tree.Pair)
        some = b.mask_of(b.compare("ne", result, b.constant(result.type, 0)))
        chosen = b.apply(combine, some, b.read_mask(rest[0]))
        b.write(target.first, result)
        b.write_mask(target.second, chosen)
    else:
        b.write(target, result)


@family("shf", types="b32")
def shf(b: Words[W], op: Op) -> None:
    """Two words concatenated to 64 bits and shifted; the high word of a left shift, the low word of a right shift."""
    target, low, high, amount = op.operands
    by = b.read(amount, "u32")
    by = b.apply("and", by, b.constant(by.type, 31)) if op.has("wrap") else _at_most_32(b, by)
    whole = b.apply("shl", b.resize(b.read(high, "b32"), 64), b.constant(b.vector("i64"), 32))
    whole = b.apply("or", whole, b.resize(b.read(low, "b32"), 64))
    moved = b.apply("shl" if op.has("l") else "lshr", whole, b.resize(by, 64))
    if op.has("l"):
        moved = b.apply("lshr", moved, b.constant(moved.type, 32))
    b.write(target, b.resize(moved, 32))


def _at_most_32(b: Words[W], by: W) -> W:
    return b.intrinsic("llvm.umin", by, b.constant(by.type, 32))


@family("prmt", types="b32")
def prmt(b: Words[W], op: Op) -> None:
    """Four bytes chosen from eight, by a selector or by a mode and a number from 0 to 3."""
    target, first, second, selector = op.operands
    mode = op.one_of(_MODES)
    known = None if mode else constant(selector)
    chosen = b.read(selector, "b32") if known is None else known
    b.write(target, b.permute(b.read(first, "b32"), b.read(second, "b32"), chosen, mode))


_MODES: Final = frozenset({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})
