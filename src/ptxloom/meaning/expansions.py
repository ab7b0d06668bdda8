"""Expands words into simpler ones, for readers that do not implement them: division, tables, bytes, other CTAs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.isa.spaces import CLUSTER_SHIFT
from ptxloom.meaning.vectors import vector

if TYPE_CHECKING:
    from ptxloom.meaning.words import Arithmetic, W, Words


# ---------------------------------------------------------------------------------------------------------- division


def divide(b: Arithmetic[W], name: str, x: W, y: W) -> W:
    """`sdiv`, `udiv`, `srem` or `urem`; by zero all ones."""
    by_zero = b.compare("eq", y, b.constant(y.type, 0))
    divisor = b.select(by_zero, b.constant(y.type, 1), y)
    if name[0] == "s":  # the most negative value by -1 wraps, as does its negation
        minus = b.compare("eq", y, b.constant(y.type, -1))
        divisor = b.select(minus, b.constant(y.type, 1), divisor)
        quotient = _quotient(b, x, divisor, signed=True)
        quotient = b.select(minus, b.apply("sub", b.constant(x.type, 0), x), quotient)
    else:
        quotient = _quotient(b, x, divisor, signed=False)
    if name.endswith("rem"):
        quotient = b.apply("sub", x, b.apply("mul", quotient, y))
    return b.select(by_zero, b.constant(y.type, -1), quotient)


def _quotient(b: Arithmetic[W], x: W, y: W, *, signed: bool) -> W:
    """X / y, y not zero; up to 32 bits exact in double precision: no quotient is that close to the next integer."""
    if x.bits > 32:
        return b.apply("sdiv" if signed else "udiv", x, y)
    letter = "s" if signed else "u"
    doubles = [b.convert(f"{letter}itofp", v, "double") for v in (x, y)]
    return b.convert(f"fpto{letter}i", b.apply("fdiv", *doubles), f"i{x.bits}")


# ------------------------------------------------------------------------------------------------------ truth tables


def lookup(b: Arithmetic[W], table: int, x: W, y: W, z: W) -> W:
    """Bitwise, entry 4x + 2y + z of a table of eight bits."""
    low, high = table & 15, table >> 4 & 15  # the function of y and z where x is 0, and where it is 1
    return _mux(b, x, _two(b, y, z, low), _two(b, y, z, low ^ high), low ^ high)


def _mux(b: Arithmetic[W], x: W, where_zero: W, change: W, change_table: int) -> W:
    """`where_zero`, changed where x is 1."""
    if change_table == 0:
        return where_zero
    return b.apply("xor", where_zero, x if change_table == 15 else b.apply("and", x, change))


def _two(b: Arithmetic[W], y: W, z: W, table: int) -> W:
    """A function of two bits by its table: bit 2y + z."""
    low, high = table & 3, table >> 2
    return _mux(b, y, _one(b, z, low), _one(b, z, low ^ high), 15 if low ^ high == 3 else low ^ high)


def _one(b: Arithmetic[W], z: W, table: int) -> W:
    """A function of one bit by its table."""
    match table:
        case 0 | 3:
            return b.constant(z.type, -1 if table else 0)
        case 2:
            return z
        case _:
            return b.apply("xor", z, b.constant(z.type, -1))


# ------------------------------------------------------------------------------------------------------------- bytes


def permute(b: Words[W], first: W, second: W, code: W | int, mode: str) -> W:
    """Four bytes selected from two 32-bit words, by a selector or by a mode and a number."""
    return _fixed(b, first, second, code) if isinstance(code, int) else _chosen(b, first, second, code, mode)


def _fixed(b: Words[W], first: W, second: W, code: int) -> W:
    """Select by a constant; bit 3 of a choice replicates the byte's sign."""
    choices = [code >> 4 * n & 15 for n in range(4)]
    count = 4 * b.width
    pair = [b.bitcast(one, vector("i8", count)) for one in (first, second)]
    places = [at - at % 4 + (c & 3) + count * (c >> 2 & 1) for at, c in _cycled(choices, count)]
    bytes_ = b.shuffle(pair[0], places, pair[1])
    if any(c & 8 for c in choices):
        signs = b.apply("ashr", bytes_, b.constant(bytes_.type, 7))
        merged = [at + count * (c >> 3) for at, c in _cycled(choices, count)]
        bytes_ = b.shuffle(bytes_, merged, signs)
    return b.bitcast(bytes_, b.vector("i32"))


def _cycled(choices: list[int], count: int) -> list[tuple[int, int]]:
    """The positions of a result's bytes, each with its choice: those of the first lane come first."""
    return [(at, choices[at % 4]) for at in range(count)]


def _chosen(b: Words[W], first: W, second: W, code: W, mode: str) -> W:
    wide = b.apply("shl", b.resize(second, 64), b.constant(b.vector("i64"), 32))
    wide = b.apply("or", wide, b.resize(first, 64))
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
    return result


def _mode_choice(b: Arithmetic[W], mode: str, number: W, n: int) -> W:
    """The byte that mode `mode` puts at position n, for selector `number` (0 to 3)."""
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


# -------------------------------------------------------------------------------------------------------- other CTAs


def of_cta(b: Words[W], at: W, rank: W) -> W:
    """Addresses with the rank in their upper bits, or 1 more than it where 0 stands for the executing CTA."""
    inside = b.apply("and", at, b.constant(at.type, ~(0xFF << CLUSTER_SHIFT)))
    member = rank if b.is_paired else b.apply("add", rank, b.constant(at.type, 1))
    return b.apply("or", inside, b.apply("shl", member, b.constant(at.type, CLUSTER_SHIFT)))
