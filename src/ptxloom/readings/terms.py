"""Rows read as terms: a result as an expression tree of words over the operands.

Code that classifies an instruction's results (a sum, a copy, a bitwise function, a product) examines its term, and
names no opcode. Terms are small, and cached for every way to write an instruction.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.meaning import table
from ptxloom.meaning.form import MISFITS, Form
from ptxloom.meaning.types import ptx_type
from ptxloom.meaning.vectors import element, integer_like, like, vector, width
from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.meaning.types import Type

CONSTANT: Final = "constant"
OPERAND: Final = "operand"
_MOST: Final = 4096  # cached instructions


@dataclass(frozen=True, slots=True)
class Term:
    """A value.

    Attributes:
        type: Its type as in rows, for one lane.
        word: Its kind: a word of `meaning.words`, or an operation named by one; CONSTANT or OPERAND.
        of: Its operands.
        what: The number of a constant; the place of an operand, and of an element in it; other arguments of its word.
    """

    type: str
    word: str
    of: tuple[Term, ...] = ()
    what: int | str | tuple[int, ...] | None = None

    @property
    def element(self) -> str:
        """The type of one element."""
        return element(self.type)

    @property
    def bits(self) -> int:
        """The width of one element."""
        return width(self.element)


class Result(NamedTuple):
    """The value written to the operand at a place; `signed`: sign-extended in wider registers."""

    place: int
    value: Term
    signed: bool = False


class Meaning(NamedTuple):
    """The meaning of an instruction.

    Attributes:
        results: The results, in the order in which its row writes them.
        words: Everything in the row: words, and the operations that they name.
        converts: Whether each element of a result is one of an operand's, in another format.
        operands: The places of the operands that results depend on.
    """

    results: tuple[Result, ...]
    words: frozenset[str]
    converts: bool
    operands: frozenset[int]


def meaning_of(instruction: tree.Instruction) -> Meaning | None:
    """The meaning of an instruction; None if its results depend on more than its operands.

    Example:
        >>> from ptxloom.syntax import parse
        >>> [one] = parse("mad.lo.s32 %r1, %r2, %r3, %r4;").statements
        >>> [result] = meaning_of(one).results
        >>> result.place, result.value.word, [part.word for part in result.value.of]
        (0, 'add', ['mul', 'operand'])
    """
    return meaning(asked_of(instruction))


def words(instruction: tree.Instruction) -> frozenset[str]:
    """The words and operations in an instruction's row; empty if it does more than compute."""
    found = meaning_of(instruction)
    return found.words if found is not None else frozenset()


def _all(term: Term) -> tuple[Term, ...]:
    return term.of


def parts_of(term: Term, into: Callable[[Term], tuple[Term, ...]] = _all) -> Iterator[Term]:
    """A term and all its subterms, each once; `into` selects the operands to follow."""
    waiting, seen = [term], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += into(one)


def operands_of(term: Term) -> frozenset[int]:
    """The places of the operands that a term depends on."""
    return frozenset(one.what[0] for one in parts_of(term) if isinstance(one.what, tuple) and one.word == OPERAND)


# ----------------------------------------------------------------------------------------------------------- the reader


class WrittenInstruction(NamedTuple):
    """An instruction as a key: instructions that are written alike mean the same."""

    instruction: tree.Instruction
    written: tuple[str, tuple[str, ...], tuple[object, ...]]

    def __hash__(self) -> int:
        return hash(self.written)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WrittenInstruction) and self.written == other.written

    def __ne__(self, other: object) -> bool:
        return not self == other


def asked_of(instruction: tree.Instruction) -> WrittenInstruction:
    """An instruction as a key."""
    written = tuple(map(_written, instruction.operands))
    return WrittenInstruction(instruction, (instruction.opcode, instruction.qualifiers, written))


def _written(operand: tree.Operand) -> object:
    """The properties of an operand that affect a row's words: its kind, its length, a constant's value."""
    match operand:
        case tree.Vector(elements):
            return tuple(map(_written, elements))
        case tree.Name(text="_"):
            return "_"
        case tree.Name():
            return ""
        case _:
            return (type(operand).__name__, constant(operand))


@lru_cache(_MOST)
def meaning(asked: WrittenInstruction) -> Meaning | None:
    """The meaning of an instruction, cached."""
    form = Form(asked.instruction)
    try:
        row = table.find(form)
        if row is None:
            return None
        reader = _Terms(asked.instruction.operands)
        row.build(reader, form)
    except MISFITS:
        return None
    operands = frozenset(place for one in reader.results for place in operands_of(one.value))
    return Meaning(tuple(reader.results), frozenset(reader.said), row.converts, operands)


class _Terms:
    """Reads rows, a lane at a time."""

    width: int = 1
    architecture: int = 0
    is_paired: bool = False

    def __init__(self, operands: tuple[tree.Operand, ...]) -> None:
        self.results: list[Result] = []
        self.said: set[str] = set()
        self._places = {
            id(each): (place, number)
            for place, one in enumerate(operands)
            for number, each in ((0, one), *enumerate(_elements(one)))
        }

    def vector(self, scalar: str) -> str:
        """The type with one scalar per lane."""
        return vector(scalar, 1)

    def _made(self, type_: str, word: str, *of: Term, what: int | str | tuple[int, ...] | None = None) -> Term:
        self.said.add(word)
        return Term(type_, word, of, what)

    # -- values

    def constant(self, type_: str, value: object) -> Term:
        """A number."""
        return Term(type_, CONSTANT, (), value if isinstance(value, int) else str(value))

    def apply(self, name: str, *operands: Term) -> Term:
        """An operation."""
        return self._made(operands[0].type, name, *operands)

    def compare(self, predicate: str, left: Term, right: Term) -> Term:
        """A comparison."""
        return self._made(like(left.type, "i1"), "compare", left, right, what=predicate)

    def select(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """A choice."""
        return self._made(then.type, "select", condition, then, otherwise)

    def convert(self, name: str, value: Term, scalar: str) -> Term:
        """The same as another type."""
        return self._made(like(value.type, scalar), name, value)

    def bitcast(self, value: Term, type_: str) -> Term:
        """The same bits."""
        return value if type_ == value.type else self._made(type_, "bitcast", value)

    def resize(self, value: Term, bits: int, signed: bool = False) -> Term:
        """The same in another width."""
        if bits == value.bits:
            return value
        return self.convert("trunc" if bits < value.bits else "sext" if signed else "zext", value, f"i{bits}")

    def shuffle(self, first: Term, indices: Sequence[int], second: Term | None = None) -> Term:
        """Elements in an order."""
        order = tuple(indices)
        several = (first,) if second is None else (first, second)
        return self._made(vector(first.element, len(order)), "shuffle", *several, what=order)

    def intrinsic(self, name: str, *operands: Term, result: str | None = None, overload: str | None = None) -> Term:
        """A function of LLVM."""
        del overload
        return self._made(result or operands[0].type, name, *operands)

    def divide(self, name: str, left: Term, right: Term) -> Term:
        """A quotient or a remainder."""
        return self._made(left.type, name, left, right)

    def lookup(self, table: int, first: Term, second: Term, third: Term) -> Term:
        """A function of bits."""
        return self._made(first.type, "lookup", first, second, third, what=table)

    def permute(self, first: Term, second: Term, selector: Term | int, mode: str) -> Term:
        """Bytes of two values."""
        given = (selector,) if isinstance(selector, Term) else ()
        return self._made(
            first.type, "permute", first, second, *given, what=mode or (selector if isinstance(selector, int) else None)
        )

    # -- operands and results

    def read(self, operand: tree.Operand, type_: Type | str) -> Term:
        """An operand."""
        found = type_ if not isinstance(type_, str) else ptx_type(type_)
        return Term(vector(found.llvm, found.packed), OPERAND, (), self._place(operand))

    def _place(self, operand: tree.Operand) -> tuple[int, int]:
        return self._places[id(operand)]

    def read_all(self, operand: tree.Operand, type_: Type | str) -> tuple[Term, ...]:
        """The elements of a vector expression."""
        return tuple(self.read(one, type_) for one in tree.elements_of(operand))

    def read_mask(self, operand: tree.Operand) -> Term:
        """A predicate."""
        return Term("i32", OPERAND, (), self._place(operand))

    def literal(self, operand: tree.Operand) -> int | None:
        """The value of a constant."""
        return constant(operand)

    def elements_in(self, operand: tree.Operand) -> int:
        """A vector register is one value."""
        del operand
        return 1

    def address(self, operand: tree.Operand) -> Term:
        """The address of an element."""
        return self._made(vector("i64", 1), "address", Term(vector("i64", 1), OPERAND, (), self._place(operand)))

    def special(self, name: str) -> Term:
        """A special register."""
        return self._made(vector("i32", 1), "special", what=name)

    def write(self, operand: tree.Operand, value: Term, signed: bool = False) -> None:
        """Keep a result; `signed`: sign-extended in wider registers."""
        self.results.append(Result(self._place(operand)[0], value, signed))

    def write_all(self, operand: tree.Operand, values: tuple[Term, ...], signed: bool = False) -> None:
        """Keep the results of a vector expression."""
        for one, value in zip(tree.elements_of(operand), values, strict=True):
            self.write(one, value, signed)

    def write_mask(self, operand: tree.Operand, mask: Term) -> None:
        """Keep a predicate."""
        self.write(operand, mask)

    # -- masks, the carry flag, floating point, other CTAs

    def lanes(self, mask: Term) -> Term:
        """A mask as elements."""
        return self._made(vector("i1", 1), "lanes", mask)

    def mask_of(self, lanes: Term) -> Term:
        """Elements as a mask."""
        return self._made("i32", "mask_of", lanes)

    def carry(self) -> Term:
        """CC.CF."""
        return self._made("i32", "carry")

    def set_carry(self, mask: Term) -> None:
        """Do nothing: CC.CF is not a register."""
        self.said.add("set_carry")
        del mask

    def rounded(self, name: str, direction: str, *operands: Term) -> Term:
        """A floating-point operation, rounded once."""
        return self._made(operands[0].type, name, *operands, what=direction)

    def fixed_point(self, name: str, value: Term, bits: int) -> Term:
        """An integer."""
        return self._made(like(value.type, f"i{bits}"), name, value)

    def approximated(self, name: str, bits: Term) -> Term:
        """A function of the multi-function unit."""
        return self._made(integer_like(bits.type), name, bits)

    def within_cta(self, addresses: Term) -> Term:
        """Addresses by CTAs."""
        return self._made(addresses.type, "within_cta", addresses)

    def of_cta(self, addresses: Term, rank: Term) -> Term:
        """An address of another CTA."""
        return self._made(addresses.type, "of_cta", addresses, rank)


def _elements(operand: tree.Operand) -> tuple[tree.Operand, ...]:
    match operand:
        case tree.Vector(elements):
            return elements
        case tree.Pair(first, second):
            return first, second
        case _:
            return ()
