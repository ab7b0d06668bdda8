"""The products and sums of a stretch of code, and the users of each product.

A product is recognised through moves and changes of sign, which ptxas removes before it fuses.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ptxloom.binding.effects import destinations
from ptxloom.dataclass import dataclass
from ptxloom.machine.contraction.straight import is_border, reads
from ptxloom.readings.computed import adds, divides, multiplies_operands, negates, source, subtracts, truth
from ptxloom.syntax.tree import Float, Integer, Name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ptxloom.syntax.tree import Instruction, Operand

    Key: TypeAlias = Callable[[Instruction, str], str]

TYPES: Final = frozenset(("f32", "f64", "f16", "bf16", "f16x2", "bf16x2", "f32x2"))
_NEGATED: Final = TYPES - {"bf16x2", "f32x2"}
_MOVED: Final = frozenset(("b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"))
_SIGN: Final = 0x80000000
_SUMMANDS: Final = 2
_OF_TWO_BITS: Final = ((1, 2), 0b0110)
"""The function of bits that differ."""
_UNITS: Final = frozenset((1.0, -1.0))
_APPROXIMATE: Final = frozenset(("approx", "full"))


@dataclass(slots=True, eq=False)
class Product:
    """A `mul` without a rounding, or an approximate quotient.

    Attributes:
        node: The instruction.
        position: Its place in the stretch.
        sums: The sums of its kind that it is a summand of.
        copies: The instructions that pass it on.
        is_read: Whether anything else reads it, or might.
    """

    node: Instruction
    position: int
    sums: list[Sum] = field(default_factory=list["Sum"])
    copies: list[Instruction] = field(default_factory=list["Instruction"])
    is_read: bool = False

    @property
    def is_quotient(self) -> bool:
        """Whether it is the product of a dividend and a reciprocal."""
        return divides(self.node)

    @property
    def is_fused(self) -> bool:
        """Whether nothing else needs it."""
        return bool(self.sums) and not self.is_read and all(one.product is self for one in self.sums)


class Term(NamedTuple):
    """A product as a summand, with or without a change of sign."""

    product: Product
    negative: bool


@dataclass(slots=True, eq=False)
class Sum:
    """An `add` or `sub` without a rounding.

    Attributes:
        node: The instruction.
        position: Its place in the stretch.
        terms: For each summand the product that it is, if it is one of the same kind.
        fused: Which summand is fused with it, if one is.
    """

    node: Instruction
    position: int
    terms: tuple[Term | None, Term | None]
    fused: int | None = None

    @property
    def subtracts(self) -> bool:
        """Whether the second summand is subtracted."""
        return subtracts(self.node)

    @property
    def product(self) -> Product | None:
        """The product that is fused with it."""
        term = None if self.fused is None else self.terms[self.fused]
        return None if term is None else term.product


def is_product(node: Instruction) -> bool:
    """Whether an instruction is a product that may be fused: without rounding, clamping and guard.

    An approximate quotient is one, too: of the dividend and the reciprocal of the divisor.
    """
    if node.predicate is not None or not node.qualifiers or node.qualifiers[-1] not in TYPES:
        return False
    if not _APPROXIMATE.isdisjoint(node.qualifiers):
        return divides(node) and (len(node.operands) > _SUMMANDS or node.qualifiers == ("approx", "f32"))
    if len(node.operands) != _SUMMANDS + 1 or not _is_plain(node, "ftz") or not multiplies_operands(node):
        return False
    return not any(type(one) is Float and one.value in _UNITS for one in node.operands[1:])


def passes(node: Instruction, product: Product) -> bool:
    """Whether an instruction that reads a product passes it on, with the same sign or the other."""
    if not _may_pass(node):
        return False
    type_, flushes = kind(product.node)
    match node.qualifiers, node.operands[2:]:
        case (moved,), () if source(node) is not None:
            return moved in _MOVED
        case (*flushing, own), () if negates(node):
            return own == type_ and own in _NEGATED and (flushes or not flushing)
        case ("b32",), (_,):
            return type_ == "f32"
        case _:
            return False


def kind(node: Instruction) -> tuple[str, bool]:
    """The type in which an instruction computes, and whether it flushes subnormals: what is fused agrees in both."""
    return node.qualifiers[-1], "ftz" in node.qualifiers


def _is_plain(node: Instruction, *allowed: str) -> bool:
    *others, type_ = node.qualifiers or ("",)
    return type_ in TYPES and all(one in allowed for one in others)


def watched(instructions: Sequence[Instruction], key: Key) -> set[str]:
    """The registers that may hold a product."""
    return {
        key(one, one.operands[0].text)
        for one in instructions
        if one.operands and isinstance(one.operands[0], Name) and (is_product(one) or _may_pass(one))
    }


def _may_pass(node: Instruction) -> bool:
    """Whether an instruction passes on products of some type: a move, a negation, a sign that is flipped as bits."""
    if node.predicate is not None or not all(type(one) is Name for one in node.operands[:2]):
        return False
    match node.operands[2:]:
        case ():
            moves = node.qualifiers[-1:] != () and node.qualifiers[-1] in _MOVED | _NEGATED
            return moves and (source(node) is not None or negates(node))
        case (Integer(value),) if node.qualifiers == ("b32",) and value & 0xFFFFFFFF == _SIGN:
            return truth(node) == _OF_TWO_BITS
        case _:
            return False


class Reading:
    """A stretch read from its start: the products in registers, and their readers."""

    def __init__(self, instructions: Sequence[Instruction], key: Key, needed: Collection[str]) -> None:
        self.products: list[Product] = []
        self.sums: list[Sum] = []
        self._key = key
        self._terms: dict[str, Term] = {}
        self._border = 0  # where the last one was
        for position, node in enumerate(instructions):
            if is_border(node):
                self._border = position
            self._read(node, position)
        for one in needed:
            if one in self._terms:
                self._terms[one].product.is_read = True

    def _read(self, node: Instruction, position: int) -> None:
        held: Term | None = None
        if is_product(node):
            self._look(node)
            held = Term(Product(node, position), negative=False)
            self.products.append(held.product)
        elif len(node.operands) == _SUMMANDS + 1 and _is_plain(node, "ftz", "sat") and adds(node):
            self._sum(node, position)
        else:
            held = self._look(node)
        for one in destinations(node):
            to = self._key(node, one.name.text)
            if held is None:
                self._terms.pop(to, None)
            else:
                self._terms[to] = held

    def _look(self, node: Instruction) -> Term | None:
        """Record what an instruction reads; returns the product that it passes on, if it does nothing else."""
        held: Term | None = None
        for name in reads(node):
            term = self._term(node, name)
            if term is not None and passes(node, term.product):
                term.product.copies.append(node)
                held = Term(term.product, term.negative != (source(node) is None))
            elif term is not None:
                term.product.is_read = True
        return held

    def _term(self, node: Instruction, name: str) -> Term | None:
        """The product that a register holds, if there is no border in between."""
        term = self._terms.get(self._key(node, name))
        if term is not None and term.product.position < self._border:
            term.product.is_read = True
            return None
        return term

    def _sum(self, node: Instruction, position: int) -> None:
        left, right = (self._summand(node, one) for one in node.operands[1:])
        found = Sum(node, position, (left, right))
        for term in (left, right):
            if term is not None:
                term.product.sums.append(found)
        if left is not None or right is not None:
            self.sums.append(found)
        if left is not None and right is not None and left.product is right.product:
            left.product.is_read = True
        if node.predicate is not None and type(node.operands[0]) is Name:  # what it writes may stay as it was
            kept = self._term(node, node.operands[0].text)
            if kept is not None:
                kept.product.is_read = True

    def _summand(self, node: Instruction, operand: Operand) -> Term | None:
        term = self._term(node, operand.text) if type(operand) is Name else None
        if term is not None and kind(term.product.node) != kind(node):
            term.product.is_read = True
            return None
        return term
