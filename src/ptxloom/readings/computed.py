"""Classifies what an instruction computes, by its term: a copy, a sum, a product, a function of bits."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ptxloom.isa.load import known
from ptxloom.meaning.form import Form
from ptxloom.meaning.vectors import count
from ptxloom.readings.terms import (
    CONSTANT,
    OPERAND,
    Term,
    WrittenInstruction,
    asked_of,
    meaning,
    meaning_of,
    operands_of,
    parts_of,
    words,
)
from ptxloom.syntax.bind import bind
from ptxloom.syntax.tree import Name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.syntax import tree

_MOST: Final = 4096  # cached instructions
_SAME_BITS: Final = frozenset(("bitcast", "sext", "zext", "trunc", "shuffle"))
_SAME_NUMBER: Final = _SAME_BITS | {"fpext", "fptrunc", "sitofp", "uitofp"}
_INTEGER_SUMS: Final = frozenset(("add", "sub"))
_FLOAT_SUMS: Final = frozenset(("fadd", "fsub"))
_PRODUCTS: Final = frozenset(("mul", "fmul", "fma"))
_QUOTIENTS: Final = frozenset(("fdiv", "rcp", "sdiv", "srem", "udiv", "urem"))
_SHIFTS: Final = frozenset(("ashr", "lshr", "shl"))
_MOST_TRUTH: Final = 3  # operands of a function of bits
_AROUND_SHIFTS: Final = frozenset(("and", "compare", "llvm.umin", "or", "select", "trunc", "zext"))
_FIELDS: Final = _SHIFTS | _AROUND_SHIFTS | {"add", "llvm.smax", "sub", "xor"}
_LESSER: Final = frozenset(("llvm.umin", "llvm.umax", "llvm.smin", "llvm.smax"))
_COMPARES: Final = frozenset(("and", "ashr", "bitcast", "compare", "select", "xor"))
_SCALES: Final = _PRODUCTS | _QUOTIENTS | {"and", "ashr", "lshr", "shl"}


def source(instruction: tree.Instruction) -> int | None:
    """The operand that an instruction copies, resizes or reinterprets; None if it does something else.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "mov.b32 %r1, %r2; cvt.u64.u32 %rd1, %r2; neg.s32 %r1, %r2; ld.global.b32 %r1, [%rd1];"
        >>> [source(one) for one in parse(texts).statements]
        [1, 1, None, None]
    """
    term = _only(instruction)
    while term is not None and term.word in _SAME_BITS and len(term.of) == 1:
        term = term.of[0]
    return term.what[0] if term is not None and isinstance(term.what, tuple) and term.word == OPERAND else None


def is_extreme(instruction: tree.Instruction) -> bool:
    """Whether a result is the maximum or minimum of two registers.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "max.f32 %f1, %f2, %f3; min.s32 %r1, %r2, %r3; max.f32 %f1, %f2, 0f00000000; add.f32 %f1, %f2, %f3;"
        >>> [is_extreme(one) for one in parse(texts).statements]
        [True, True, False, False]
    """
    found = words(instruction)
    lesser = bool(found & _LESSER) or ({"compare", "select"} <= found <= _COMPARES)
    return lesser and all(isinstance(operand, Name) for operand in instruction.operands)


def converts(instruction: tree.Instruction) -> bool:
    """Whether an instruction returns one operand unchanged, or as another type."""
    found = meaning_of(instruction)
    if found is None:
        return False
    return (
        found.converts
        or source(instruction) is not None
        or (_rearranges(found.words) and _operands(instruction) == frozenset((1,)))
    )


def resizes(instruction: tree.Instruction) -> bool:
    """Whether an instruction returns an operand's number, perhaps as another type.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "mov.b32 %r1, %r2; cvt.s64.s32 %rd1, %r2; shl.b32 %r1, %r2, 4;"
        >>> [resizes(one) for one in parse(texts).statements]
        [True, True, False]
    """
    found = meaning_of(instruction)
    return found is not None and (found.converts or source(instruction) is not None)


def moves_bits(instruction: tree.Instruction) -> bool:
    """Whether results are an operand's unchanged bits, in one register or distributed over several.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "mov.b64 {%r1, %r2}, %rd1; cvta.shared.u64 %rd1, %rd2; not.b32 %r1, %r2; shl.b32 %r1, %r2, 8;"
        >>> [moves_bits(one) for one in parse(texts).statements]
        [True, True, False, False]
    """
    found = meaning_of(instruction)
    return found is not None and not found.converts and len(instruction.operands) == 2 and _rearranges(found.words)


def chooses(instruction: tree.Instruction) -> bool:
    """Whether a result is one of two operands, selected by a predicate."""
    return words(instruction) == frozenset(("lanes", "select"))


def permutes(instruction: tree.Instruction) -> bool:
    """Whether a result is made of bytes of two operands."""
    return "permute" in words(instruction)


def reformats(instruction: tree.Instruction) -> bool:
    """Whether each element of a result is one of an operand, in another format."""
    found = meaning_of(instruction)
    return found is not None and found.converts


def shifts_one(instruction: tree.Instruction) -> bool:
    """Whether a register is shifted."""
    return _shifts(instruction) and len(instruction.operands) == 3


def shifts_two(instruction: tree.Instruction) -> bool:
    """Whether two concatenated registers are shifted."""
    return _shifts(instruction) and len(instruction.operands) == 4


def _shifts(instruction: tree.Instruction) -> bool:
    found = words(instruction)
    return bool(found & _SHIFTS) and found <= _SHIFTS | _AROUND_SHIFTS and len(Form(instruction).types) == 1


def takes_field(instruction: tree.Instruction) -> bool:
    """Whether a result is a field of an operand's bits, by its position and length."""
    return _has_field(instruction) and len(instruction.operands) == 4


def replaces_field(instruction: tree.Instruction) -> bool:
    """Whether a result is an operand with a field of bits, by position and length, replaced by another's."""
    return _has_field(instruction) and len(instruction.operands) == 5


def _has_field(instruction: tree.Instruction) -> bool:
    found = words(instruction)
    return {"shl", "sub", "llvm.umin"} <= found <= _FIELDS


def negates(instruction: tree.Instruction) -> bool:
    """Whether an instruction changes the sign of its operand."""
    flips = "xor" in words(instruction) and Form(instruction).types[-1:] != () and Form(instruction).type.is_float
    return signs(instruction) == (-1,) or (flips and _operands(instruction) == frozenset((1,)))


def signs(instruction: tree.Instruction) -> tuple[int, ...]:
    """The coefficient of each operand after the first in an integer sum or difference; empty for anything else.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "sub.s32 %r1, %r2, %r3; mov.u32 %r1, %r2; add.sat.s32 %r1, %r2, %r3; add.f32 %f1, %f2, %f3;"
        >>> [signs(one) for one in parse(texts).statements]
        [(1, -1), (1,), (), ()]
    """
    term = _only(instruction)
    found = [0] * len(instruction.operands)
    if term is None or not _count(term, 1, found):
        return ()
    return tuple(found[1:])


def adds(instruction: tree.Instruction) -> bool:
    """Whether a result is the sum or difference of operands, of numbers of any kind."""
    term, found = _only(instruction), words(instruction)
    if term is None or found & (_PRODUCTS | _QUOTIENTS) or len(_operands(instruction)) < len(instruction.operands) - 1:
        return False
    return bool(found & _FLOAT_SUMS) or any(one.word in _INTEGER_SUMS for one in _numbers(term))


def subtracts(instruction: tree.Instruction) -> bool:
    """Whether a sum is a difference of floating-point numbers."""
    return "fsub" in words(instruction)


def divides(instruction: tree.Instruction) -> bool:
    """Whether a result is a quotient, a remainder or a reciprocal."""
    return bool(words(instruction) & _QUOTIENTS)


def multiplies_operands(instruction: tree.Instruction) -> bool:
    """Whether a result is a product of operands, possibly with an addend."""
    found = words(instruction)
    return bool(found & _PRODUCTS) and not found & _QUOTIENTS and len(_operands(instruction)) > 1


def products_of_parts(instruction: tree.Instruction) -> int:
    """The number of parts of a word that are multiplied with the corresponding parts of another, such as four bytes.

    0 for other instructions.
    """
    term = _only(instruction)
    factors = [] if term is None else [[_part(each) for each in one.of] for one in parts_of(term) if one.word == "mul"]
    return sum(left is not None and left == right for left, right in factors)


def scales(instruction: tree.Instruction) -> bool:
    """Whether an instruction multiplies, divides, shifts or masks."""
    return bool(words(instruction) & _SCALES) and not resizes(instruction)


def compares_integers(instruction: tree.Instruction) -> bool:
    """Whether an instruction sets predicates only by a comparison of two integers."""
    found = meaning_of(instruction)
    if found is None or "mask_of" not in found.words or not found.words <= {"compare", "mask_of", "xor"}:
        return False
    terms = (part for one in found.results for part in parts_of(one.value) if part.word == OPERAND)
    return all(one.element[0] == "i" for one in terms) and _operands(instruction) == frozenset((1, 2))


def alike(instruction: tree.Instruction, qualifiers: tuple[str, ...]) -> bool:
    """Whether an instruction computes the same bits with other qualifiers.

    Example:
        >>> from ptxloom.syntax import parse
        >>> total, least = parse("add.s32 %a, %b, %c; min.s32 %a, %b, %c;").statements
        >>> alike(total, ("u32",)), alike(least, ("u32",))
        (True, False)
    """
    return _alike(asked_of(instruction), qualifiers)


@lru_cache(_MOST)
def _alike(asked: WrittenInstruction, qualifiers: tuple[str, ...]) -> bool:
    other = asked.instruction.replace(qualifiers=qualifiers)
    if not known(other.opcode) or bind(other).form is None:
        return False
    left, right = meaning(asked), meaning_of(other)
    if left is None or right is None or len(left.results) != len(right.results):
        return False
    pairs = zip(left.results, right.results, strict=True)
    return all(a.place == b.place and a.signed == b.signed and _same(a.value, b.value) for a, b in pairs)


def truth(instruction: tree.Instruction) -> tuple[tuple[int, ...], int] | None:
    """The bitwise function of the first result: its operands and its table; None if it is not bitwise.

    The operands' bits form the index into the table, the first operand the highest bit.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "and.b32 %r1, %r2, %r3; not.b32 %r1, %r2; add.s32 %r1, %r2, %r3;"
        >>> [truth(one) for one in parse(texts).statements]
        [((1, 2), 8), ((1,), 1), None]
    """
    found = meaning_of(instruction)
    if found is None or not found.results:
        return None
    term = found.results[0].value
    places = tuple(sorted(operands_of(term)))
    if len(places) > _MOST_TRUTH:
        return None
    table_ = 0
    for number in range(1 << len(places)):
        given = {place: number >> len(places) - 1 - at & 1 for at, place in enumerate(places)}
        bit = _bit(term, given)
        if bit is None:
            return None
        table_ |= bit << number
    return places, table_


# ------------------------------------------------------------------------------------------------------ walks of terms


def _only(instruction: tree.Instruction) -> Term | None:
    """The term of the only result."""
    found = meaning_of(instruction)
    return found.results[0].value if found is not None and len(found.results) == 1 else None


def _operands(instruction: tree.Instruction) -> frozenset[int]:
    """The places of the operands that results depend on."""
    found = meaning_of(instruction)
    return found.operands if found is not None else frozenset()


def _rearranges(said: frozenset[str]) -> bool:
    """Whether words only move bits, by constant distances."""
    return said <= _SAME_BITS | {"and", "lshr", "or", "shl"}


def _numbers(term: Term) -> Iterator[Term]:
    """The terms that a value equals, except for its type, and for exceptional values such as NaN."""

    def into(one: Term) -> tuple[Term, ...]:
        return one.of[1:] if one.word == "select" else one.of if one.word in _SAME_NUMBER else ()

    return parts_of(term, into)


def _part(term: Term) -> object:
    """The elements of an operand that a value is, with their type; None if it is something else."""
    while term.word in _SAME_NUMBER - {"shuffle"}:
        (term,) = term.of
    return (term.type, term.what) if term.word == "shuffle" else None


def _same(one: Term, other: Term) -> bool:
    """Whether two terms are the same bits."""
    waiting, seen = [(one, other)], set[tuple[int, int]]()
    while waiting:
        left, right = waiting.pop()
        if (id(left), id(right)) in seen:
            continue
        seen.add((id(left), id(right)))
        shapes = [(each.word, each.what, each.bits, count(each.type), len(each.of)) for each in (left, right)]
        if shapes[0] != shapes[1]:
            return False
        waiting += zip(left.of, right.of, strict=True)
    return True


def _count(term: Term, sign: int, found: list[int]) -> bool:
    """Add the operands' coefficients in a sum; returns whether the term is one."""
    match term:
        case Term(word="add" | "sub", of=(left, right)):
            return _count(left, sign, found) and _count(right, sign if term.word == "add" else -sign, found)
        case Term(word="operand", what=(int(place), 0)):
            found[place] += sign
            return True
        case _:
            return term.word == CONSTANT


def _bit(term: Term, given: dict[int, int]) -> int | None:
    """One bit of a function, given that bit of its operands; None if the function is not bitwise."""
    match term:
        case Term(word="operand", what=(int(place), 0)):
            return given[place]
        case Term(word="constant", what=int(value)):
            return value & 1 if value in {0, -1} else None
        case Term(word="and" | "or" | "xor" | "lookup"):
            bits = [_bit(one, given) for one in term.of]
        case _:
            return None
    if None in bits:
        return None
    values = [bit for bit in bits if bit is not None]
    if term.word == "lookup":
        number = 4 * values[0] + 2 * values[1] + values[2]
        return int(str(term.what)) >> number & 1
    left, right = values
    return {"and": left & right, "or": left | right, "xor": left ^ right}[term.word]
