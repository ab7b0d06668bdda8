"""Rows read with points-to facts: the places of results from those of operands.

Adding, subtracting, aligning, copying and selecting keep the place of an address. A `Lattice` decides what
is known where several merge, and about other results from an address: definite or possible targets.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from ptxloom.binding.effects import destinations
from ptxloom.meaning import table
from ptxloom.meaning.form import MISFITS, Form
from ptxloom.meaning.origins import ORIGINS, Origin
from ptxloom.meaning.types import ptx_type
from ptxloom.meaning.vectors import like, vector, width
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ptxloom.meaning.types import Type

P = TypeVar("P")
_STEPS: Final = {"add": (0, 1), "sub": (0,), "and": (0, 1), "or": (0, 1)}  # operands that may be addresses
_CHOICES: Final = frozenset(("llvm.umin", "llvm.umax", "llvm.smin", "llvm.smax"))
_ELSEWHERE: Final = frozenset((Origin.MEMORY, Origin.BEFORE, Origin.ELSEWHERE))


class Lattice(Protocol[P]):
    """The facts about a value."""

    @property
    def data(self) -> P:
        """The fact for a value that is not an address of any of the places."""
        ...

    def either(self, one: P, other: P) -> P:
        """The fact for one of two values."""
        ...

    def step(self, values: Sequence[P], places: Sequence[int]) -> P:
        """The fact for a sum: values at some places may be addresses, the others are offsets."""
        ...

    def opaque(self, values: Sequence[P]) -> P:
        """The fact for any other function of several values."""
        ...

    def cut(self, value: P, bits: int) -> P:
        """The fact for the low bits, fewer than 64, of a value."""
        ...


class Pointing(NamedTuple, Generic[P]):
    """A value: what any of its elements points to."""

    type: str
    element: str
    bits: int
    to: P


@lru_cache(256)
def _shape(name: str) -> tuple[str, str, int]:
    type_ = ptx_type(name)
    return vector(type_.llvm, type_.packed), type_.llvm, width(type_.llvm)


class PointingWords(Generic[P]):
    """Reads rows; `found` is what each register that they write points to, by the identity of its name."""

    width: int = 1
    architecture: int = 0
    is_paired: bool = False

    def __init__(self, lattice: Lattice[P], read: Callable[[tree.Operand], P]) -> None:
        self._lattice = lattice
        self._read = read
        self.found: dict[int, P] = {}

    def vector(self, scalar: str) -> str:
        """The type with one scalar per lane."""
        return vector(scalar, 1)

    def _made(self, type_: str, to: P) -> Pointing[P]:
        scalar = type_.rpartition(" ")[2].rstrip(">")
        return Pointing(type_, scalar, width(scalar), to)

    def _opaque(self, type_: str, *operands: Pointing[P]) -> Pointing[P]:
        return self._made(type_, self._lattice.opaque([one.to for one in operands]))

    # -- values

    def constant(self, type_: str, value: object) -> Pointing[P]:
        """No address."""
        del value
        return self._made(type_, self._lattice.data)

    def apply(self, name: str, *operands: Pointing[P]) -> Pointing[P]:
        """A step from an address, or a value that is no longer an address."""
        places = _STEPS.get(name)
        if places is None:
            return self._opaque(operands[0].type, *operands)
        return operands[0]._replace(to=self._lattice.step([one.to for one in operands], places))

    def compare(self, predicate: str, left: Pointing[P], right: Pointing[P]) -> Pointing[P]:
        """No address."""
        del predicate, right
        return self._made(like(left.type, "i1"), self._lattice.data)

    def select(self, condition: Pointing[P], then: Pointing[P], otherwise: Pointing[P]) -> Pointing[P]:
        """Either."""
        del condition
        return then._replace(to=self._lattice.either(then.to, otherwise.to))

    def convert(self, name: str, value: Pointing[P], scalar: str) -> Pointing[P]:
        """The same in another width."""
        type_ = like(value.type, scalar)
        if name not in {"zext", "sext", "trunc"}:
            return self._opaque(type_, value)
        to = width(scalar)
        return self._made(type_, self._lattice.cut(value.to, to) if to < value.bits else value.to)

    def bitcast(self, value: Pointing[P], type_: str) -> Pointing[P]:
        """The same bits."""
        return self._made(type_, value.to)

    def resize(self, value: Pointing[P], bits: int, signed: bool = False) -> Pointing[P]:
        """The same in another width."""
        name = "trunc" if bits < value.bits else "sext" if signed else "zext"
        return value if bits == value.bits else self.convert(name, value, f"i{bits}")

    def shuffle(self, first: Pointing[P], indices: Sequence[int], second: Pointing[P] | None = None) -> Pointing[P]:
        """Parts of values."""
        several = (first,) if second is None else (first, second)
        return self._opaque(vector(first.element, len(tuple(indices))), *several)

    def intrinsic(
        self, name: str, *operands: Pointing[P], result: str | None = None, overload: str | None = None
    ) -> Pointing[P]:
        """The smaller or the larger; any other intrinsic returns no address."""
        del overload
        if name in _CHOICES:
            return operands[0]._replace(to=self._lattice.either(operands[0].to, operands[1].to))
        return self._opaque(result or operands[0].type, *operands)

    def divide(self, name: str, left: Pointing[P], right: Pointing[P]) -> Pointing[P]:
        """No longer an address."""
        del name
        return self._opaque(left.type, left, right)

    def lookup(self, table: int, first: Pointing[P], second: Pointing[P], third: Pointing[P]) -> Pointing[P]:
        """No longer an address."""
        del table
        return self._opaque(first.type, first, second, third)

    def permute(self, first: Pointing[P], second: Pointing[P], selector: Pointing[P] | int, mode: str) -> Pointing[P]:
        """No longer an address."""
        del selector, mode
        return self._opaque(first.type, first, second)

    # -- operands and results

    def read(self, operand: tree.Operand, type_: Type | str) -> Pointing[P]:
        """What an operand points to."""
        return Pointing(*_shape(type_ if isinstance(type_, str) else type_.name), self._read(operand))

    def read_all(self, operand: tree.Operand, type_: Type | str) -> tuple[Pointing[P], ...]:
        """The elements of a vector expression."""
        return tuple(self.read(one, type_) for one in tree.elements_of(operand))

    def read_mask(self, operand: tree.Operand) -> Pointing[P]:
        """No address."""
        del operand
        return self.constant("i32", 0)

    def literal(self, operand: tree.Operand) -> int | None:
        """Not needed: no address depends on it."""
        del operand

    def elements_in(self, operand: tree.Operand) -> int:
        """A vector register is one value."""
        del operand
        return 1

    def address(self, operand: tree.Operand) -> Pointing[P]:
        """An element's address."""
        return self._made(vector("i64", 1), self._read(operand))

    def special(self, name: str) -> Pointing[P]:
        """No address."""
        del name
        return self.constant(vector("i32", 1), 0)

    def within_cta(self, addresses: Pointing[P]) -> Pointing[P]:
        """The same address."""
        return addresses

    def of_cta(self, addresses: Pointing[P], rank: Pointing[P]) -> Pointing[P]:
        """An address of another CTA is not one of the places here."""
        del rank
        return addresses._replace(to=self._lattice.data)

    def write(self, operand: tree.Operand, value: Pointing[P], signed: bool = False) -> None:
        """Keep a result."""
        del signed
        self.found[id(operand)] = value.to

    def write_all(self, operand: tree.Operand, values: tuple[Pointing[P], ...], signed: bool = False) -> None:
        """Keep the results of a vector expression."""
        for one, value in zip(tree.elements_of(operand), values, strict=True):
            self.write(one, value, signed)

    def write_mask(self, operand: tree.Operand, mask: Pointing[P]) -> None:
        """Record that a predicate is not an address."""
        self.write(operand, mask)

    # -- masks, the carry flag, floating point

    def lanes(self, mask: Pointing[P]) -> Pointing[P]:
        """No address."""
        del mask
        return self.constant(vector("i1", 1), 0)

    def mask_of(self, lanes: Pointing[P]) -> Pointing[P]:
        """No address."""
        del lanes
        return self.constant("i32", 0)

    def carry(self) -> Pointing[P]:
        """No address."""
        return self.constant("i32", 0)

    def set_carry(self, mask: Pointing[P]) -> None:
        """Do nothing."""

    def rounded(self, name: str, direction: str, *operands: Pointing[P]) -> Pointing[P]:
        """No longer an address."""
        del name, direction
        return self._opaque(operands[0].type, *operands)

    def fixed_point(self, name: str, value: Pointing[P], bits: int) -> Pointing[P]:
        """No longer an address."""
        del name
        return self._opaque(like(value.type, f"i{bits}"), value)

    def approximated(self, name: str, bits: Pointing[P]) -> Pointing[P]:
        """No longer an address."""
        del name
        return self._opaque(bits.type, bits)


def pointees(lattice: Lattice[P], instruction: tree.Instruction, read: Callable[[tree.Operand], P]) -> list[P]:
    """The points-to facts of an instruction's destinations, in the order of the text.

    A result from memory, a callee or a tensor core is not an address of the places; any other without a row is an
    unknown function of the operands.
    """
    names = [one.name for one in destinations(instruction)]
    if not names:
        return []
    if ORIGINS.get(instruction.opcode) in _ELSEWHERE:
        return [lattice.data for _ in names]
    form = Form(instruction)
    found: dict[int, P] = {}
    try:
        row = table.find(form)
        if row is not None:
            reader = PointingWords(lattice, read)
            row.build(reader, form)
            found = reader.found
    except MISFITS:
        found = {}
    if len(found) < len(names):
        other = lattice.opaque([read(one) for one in instruction.operands[1:]])
        return [found.get(id(name), other) for name in names]
    return [found.get(id(name), lattice.data) for name in names]
