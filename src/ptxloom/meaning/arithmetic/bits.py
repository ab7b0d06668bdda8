"""Counting, finding, moving and choosing bits (PTX ISA 9.7.1 and 9.7.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.meaning.family import Family
from ptxloom.meaning.vectors import vector
from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_BIG: Final = "u32 s32 u64 s64"


@family("popc", types="b32 b64", lanewise=True)
def popc(b: Words[W], op: Op) -> None:
    """How many bits are set."""
    value = b.read(op.operands[1], op.type)
    b.write(op.operands[0], b.resize(b.intrinsic("llvm.ctpop", value), 32))


@family("clz", types="b32 b64", lanewise=True)
def clz(b: Words[W], op: Op) -> None:
    """How many zeros lie above the highest set bit."""
    b.write(op.operands[0], b.resize(_leading_zeros(b, b.read(op.operands[1], op.type)), 32))


def _leading_zeros(b: Words[W], value: W) -> W:
    return b.intrinsic("llvm.ctlz", value, b.constant("i1", 0))


@family("bfind", types=_BIG, lanewise=True)
def bfind(b: Words[W], op: Op) -> None:
    """The place of the highest bit that differs from the sign, or the shift that brings it to the top; -1 if none."""
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
    """The field of `len` bits from `pos` up; what lies beyond the value reads as its sign."""
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
    """The second value with the low `len` bits of the first put in at `pos`."""
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
    """The place of the n-th set bit from `base` on, upwards or downwards; -1 if there is none.

    What the manual leaves open is as on an H200: a base above 31 finds nothing, an offset of -2^31 gives 0.
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
    for step in range(LANES):  # where the search is after `step` steps
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
    """Any function of three bits, by its truth table; the Boolean form also says whether a bit came out."""
    target, first, second, third, table, *rest = op.operands
    code = constant(table)
    if code is None:
        raise op.unsupported("the table must be a constant")
    x, y, z = (b.read(o, "b32") for o in (first, second, third))
    low, high = code & 15, code >> 4 & 15  # the function of y and z where x is 0, and where it is 1
    result = _mux(b, x, _two(b, y, z, low), _two(b, y, z, low ^ high), low ^ high)
    combine = op.one_of(("and", "or", "xor"))
    if combine:
        assert isinstance(target, tree.Pair)
        some = b.mask_of(b.compare("ne", result, b.constant(result.type, 0)))
        chosen = b.apply(combine, some, b.read_mask(rest[0]))
        b.write(target.first, result)
        b.write_mask(target.second, chosen)
    else:
        b.write(target, result)


def _mux(b: Words[W], x: W, where_zero: W, change: W, change_table: int) -> W:
    """`where_zero`, changed where x is 1."""
    if change_table == 0:
        return where_zero
    return b.apply("xor", where_zero, x if change_table == 15 else b.apply("and", x, change))


def _two(b: Words[W], y: W, z: W, table: int) -> W:
    """A function of two bits by its table: bit 2y + z."""
    low, high = table & 3, table >> 2
    return _mux(b, y, _one(b, z, low), _one(b, z, low ^ high), 15 if low ^ high == 3 else low ^ high)


def _one(b: Words[W], z: W, table: int) -> W:
    """A function of one bit by its table."""
    match table:
        case 0 | 3:
            return b.constant(z.type, -1 if table else 0)
        case 2:
            return z
        case _:
            return b.apply("xor", z, b.constant(z.type, -1))


@family("shf", types="b32")
def shf(b: Words[W], op: Op) -> None:
    """Two words as one of 64 bits, shifted; the high word of a left shift, the low word of a right shift."""
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


@family("prmt", types="b32", when=lambda op: constant(op.operands[3]) is not None and len(op.qualifiers) == 1)
def prmt_constant(b: Words[W], op: Op) -> None:
    """Four bytes chosen from eight by a constant; bit 3 of a choice takes the byte's sign instead."""
    target, first, second, selector = op.operands
    code = constant(selector)
    assert code is not None
    choices = [code >> 4 * n & 15 for n in range(4)]
    count = 4 * b.width
    pair = [b.bitcast(b.read(o, "b32"), vector("i8", count)) for o in (first, second)]
    places = [at - at % 4 + (c & 3) + count * (c >> 2 & 1) for at, c in _cycled(choices, count)]
    bytes_ = b.shuffle(pair[0], places, pair[1])
    if any(c & 8 for c in choices):
        signs = b.apply("ashr", bytes_, b.constant(bytes_.type, 7))
        merged = [at + count * (c >> 3) for at, c in _cycled(choices, count)]
        bytes_ = b.shuffle(bytes_, merged, signs)
    b.write(target, b.bitcast(bytes_, b.vector("i32")))


def _cycled(choices: list[int], count: int) -> list[tuple[int, int]]:
    """The places of the bytes of a result, each with what is chosen for it: first come those of the first lane."""
    return [(at, choices[at % 4]) for at in range(count)]


@family("prmt", types="b32")
def prmt(b: Words[W], op: Op) -> None:
    """Four bytes chosen from eight, by a selector or by a mode and a number from 0 to 3."""
    target, first, second, selector = op.operands
    wide = b.apply("shl", b.resize(b.read(second, "b32"), 64), b.constant(b.vector("i64"), 32))
    wide = b.apply("or", wide, b.resize(b.read(first, "b32"), 64))
    code = b.read(selector, "b32")
    mode = op.one_of(_MODES)
    result = b.constant(code.type, 0)
    for n in range(4):
        if mode:
            choice = _mode_choice(b, mode, b.apply("and", code, b.constant(code.type, 3)), n)
        else:
            choice = b.apply("and", b.apply("lshr", code, b.constant(code.type, 4 * n)), b.constant(code.type, 15))
        place = b.apply("shl", b.apply("and", choice, b.constant(choice.type, 7)), b.constant(choice.type, 3))
        byte = b.resize(b.apply("lshr", wide, b.resize(place, 64)), 8)
        sign = b.compare("ne", b.apply("and", choice, b.constant(choice.type, 8)), b.constant(choice.type, 0))
        byte = b.select(sign, b.apply("ashr", byte, b.constant(byte.type, 7)), byte)
        result = b.apply("or", result, b.apply("shl", b.resize(byte, 32), b.constant(code.type, 8 * n)))
    b.write(target, result)


_MODES: Final = frozenset({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})


def _mode_choice(b: Words[W], mode: str, number: W, n: int) -> W:
    """The byte that mode `mode` puts at place n, for selector `number` (0 to 3)."""
    place = b.constant(number.type, n)
    match mode:
        case "f4e":
            return b.apply("add", number, place)
        case "b4e":
            return b.apply("and", b.apply("sub", number, place), b.constant(number.type, 7))
        case "rc8":
            return number
        case "ecl":
            return b.intrinsic("llvm.umax", number, place)
        case "ecr":
            return b.intrinsic("llvm.umin", number, place)
        case _:  # rc16
            half = b.apply("and", number, b.constant(number.type, 1))
            return b.apply("add", b.apply("add", half, half), b.constant(number.type, n & 1))
