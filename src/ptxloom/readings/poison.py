"""Rows read for poison: which bits of a result depend on unwritten bits.

Every word has one rule, like every VEX operation in Valgrind's memcheck: logic and shifts work bitwise; poison
in a term of a sum poisons the higher bits; a selection by poison is poison where the choices differ; a result that is
not an integer is poison as a whole. A rule is itself written in words and evaluates the values that it needs, so any
reader of words may be below it: LLVM IR tracks poison through a kernel, plain integers test the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from ptxloom.meaning import expansions
from ptxloom.meaning.types import Type, ptx_type
from ptxloom.meaning.vectors import count, integer_like, like, vector
from ptxloom.meaning.words import W, Words
from ptxloom.readings.poison_rules import PoisonRules
from ptxloom.readings.shadowed import COMPUTED, LOADED, MOVED, Shadowed
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

_UPWARDS: Final = frozenset(("add", "sub", "mul"))
_SHIFTS: Final = frozenset(("shl", "lshr", "ashr"))


class Keeper(Protocol[W]):
    """Holds the poison of registers; that of a predicate is a mask."""

    def poison_of(self, operand: tree.Operand, type_: Type) -> W | None:
        """The poison of an operand, integers of the type's shape; None if it has no poison."""
        ...

    def keep(self, operand: tree.Operand, found: Shadowed[W], *, signed: bool) -> None:
        """Store the poison of a result."""
        ...


class PoisonWords(PoisonRules[W]):
    """Reads a row for the poison of its results."""

    def __init__(self, below: Words[W], keeper: Keeper[W], *, rearranges: bool) -> None:
        super().__init__(below)
        self._keeper = keeper
        self._moved = LOADED if rearranges else MOVED
        self.width = below.width
        self.architecture = below.architecture
        self.is_paired = below.is_paired

    def vector(self, scalar: str) -> str:
        """The type with one scalar per lane."""
        return vector(scalar, self.width)

    # -- values

    def constant(self, type_: str, value: object) -> Shadowed[W]:
        """A number has no poison."""
        return Shadowed(type_, lambda: self._below.constant(type_, value))

    def apply(self, name: str, *operands: Shadowed[W]) -> Shadowed[W]:
        """Logic and shifts bitwise, sums and products upwards, anything else as a whole."""
        type_ = operands[0].type

        def make() -> W:
            return self._below.apply(name, *(one.value for one in operands))

        if all(one.poison is None for one in operands):
            return Shadowed(type_, make)
        if name == "xor":
            return self._made(type_, make, self._either(operands), COMPUTED, operands)
        if name in {"and", "or"}:
            done = max(one.done for one in operands if one.poison is not None)
            return self._made(type_, make, self._masked(name, *operands), min(self._moved, done), operands)
        if name in _SHIFTS:
            value, _ = operands
            done = min(self._moved, value.done if value.poison is not None else COMPUTED)
            return self._made(type_, make, self._shifted(name, *operands), done, operands)
        found = self._either(operands)
        if name in _UPWARDS and count(type_):
            zero = self._zero(type_)
            return self._made(type_, make, self._or(found, self._below.apply("sub", zero, found)), COMPUTED, operands)
        return self._made(type_, make, self._whole(found, type_), COMPUTED, operands)

    def compare(self, predicate: str, left: Shadowed[W], right: Shadowed[W]) -> Shadowed[W]:
        """Poison where either side is, unless written bits already decide."""
        type_ = like(left.type, "i1")

        def make() -> W:
            return self._below.compare(predicate, left.value, right.value)

        both = (left, right)
        if left.poison is None and right.poison is None:
            return Shadowed(type_, make)
        found = self._either(both)
        some = self._some(found)
        if predicate in {"eq", "ne"} and left.element[0] == "i" and left.is_exact and right.is_exact:
            written = self._not(found)
            apart = self._below.apply("and", self._below.apply("xor", left.value, right.value), written)
            some = self._below.apply("and", some, self._not(self._some(apart)))
        return self._made(type_, make, some, COMPUTED, both)

    def select(self, condition: Shadowed[W], then: Shadowed[W], otherwise: Shadowed[W]) -> Shadowed[W]:
        """The poison of the selected value; if the condition is poison, the bits in which both differ."""
        type_ = then.type

        def make() -> W:
            return self._below.select(condition.value, then.value, otherwise.value)

        sides = (then, otherwise)
        poisoned = [one for one in sides if one.poison is not None]
        if not poisoned and condition.poison is None:
            return Shadowed(type_, make)
        if condition.poison is not None and count(condition.type) and not (then.is_exact and otherwise.is_exact):
            return self._as_a_whole(type_, make, (condition, *sides))
        found = self._zero(type_)
        if poisoned:
            found = self._below.select(condition.value, *(self._poison(one) for one in sides))
        done = min((one.done for one in poisoned), default=LOADED)
        if condition.poison is None:
            return self._made(type_, make, found, done, sides)
        numbers = [self._below.bitcast(one.value, integer_like(type_)) for one in sides]
        apart = self._below.apply("xor", *numbers)
        apart = self._or(apart, self._either(sides)) if poisoned else apart
        found = self._below.select(condition.poison, apart, found)
        if count(condition.type) != self.width:
            return self._made(type_, make, found, COMPUTED, sides)
        steered = Shadowed(type_, make, steered=self._below.mask_of(condition.poison))
        return self._made(type_, make, found, done, (*sides, steered))

    def convert(self, name: str, value: Shadowed[W], scalar: str) -> Shadowed[W]:
        """Integers of another width bitwise, anything else as a whole."""
        type_ = like(value.type, scalar)

        def make() -> W:
            return self._below.convert(name, value.value, scalar)

        if value.poison is None:
            return Shadowed(type_, make)
        if name in {"zext", "sext", "trunc"}:
            found = self._below.convert(name, value.poison, scalar)
            return self._made(type_, make, found, min(self._moved, value.done), (value,))
        return self._made(type_, make, self._whole(value.poison, type_), COMPUTED, (value,))

    def bitcast(self, value: Shadowed[W], type_: str) -> Shadowed[W]:
        """The same bits."""

        def make() -> W:
            return self._below.bitcast(value.value, type_)

        if value.poison is None:
            return Shadowed(type_, make)
        found = self._below.bitcast(value.poison, integer_like(type_))
        return self._made(type_, make, found, value.done, (value,))

    def resize(self, value: Shadowed[W], bits: int, signed: bool = False) -> Shadowed[W]:
        """Dropped bits lose their poison; added bits are written, except for copies of the sign."""
        if bits == value.bits:
            return value
        return self.convert("trunc" if bits < value.bits else "sext" if signed else "zext", value, f"i{bits}")

    def shuffle(self, first: Shadowed[W], indices: Sequence[int], second: Shadowed[W] | None = None) -> Shadowed[W]:
        """Element by element."""
        type_ = vector(first.element, len(indices))

        def make() -> W:
            return self._below.shuffle(first.value, indices, None if second is None else second.value)

        both = (first,) if second is None else (first, second)
        if all(one.poison is None for one in both):
            return Shadowed(type_, make)
        parts = [self._poison(one) for one in both]
        found = self._below.shuffle(parts[0], indices, parts[1] if second is not None else None)
        done = min(one.done for one in both if one.poison is not None)
        return self._made(type_, make, found, min(self._moved, done), both)

    def intrinsic(
        self, name: str, *operands: Shadowed[W], result: str | None = None, overload: str | None = None
    ) -> Shadowed[W]:
        """Bit reversal works bitwise, anything else as a whole."""
        type_ = result or operands[0].type

        def make() -> W:
            return self._below.intrinsic(name, *(one.value for one in operands), result=result, overload=overload)

        poisoned = tuple(one for one in operands if one.poison is not None)
        if not poisoned:
            return Shadowed(type_, make)
        if name == "llvm.bitreverse":
            found = self._below.intrinsic(name, self._poison(operands[0]))
            return self._made(type_, make, found, min(self._moved, operands[0].done), operands)
        return self._as_a_whole(type_, make, poisoned)

    def divide(self, name: str, left: Shadowed[W], right: Shadowed[W]) -> Shadowed[W]:
        """As a whole."""
        return self._as_a_whole(left.type, lambda: self._below.divide(name, left.value, right.value), (left, right))

    def lookup(self, table: int, first: Shadowed[W], second: Shadowed[W], third: Shadowed[W]) -> Shadowed[W]:
        """As its expansion to logic operations."""
        return expansions.lookup(words_of(self), table, first, second, third)

    def permute(self, first: Shadowed[W], second: Shadowed[W], selector: Shadowed[W] | int, mode: str) -> Shadowed[W]:
        """Poison moves like the bytes of the values; all is poison if the selector is."""

        def chosen(low: W, high: W) -> W:
            return self._below.permute(low, high, selector if isinstance(selector, int) else selector.value, mode)

        def make() -> W:
            return chosen(first.value, second.value)

        operands = (first, second) if isinstance(selector, int) else (first, second, selector)
        poisoned = [one for one in operands[:2] if one.poison is not None]
        steering = [one.poison for one in operands[2:] if one.poison is not None]
        if not poisoned and not steering:
            return Shadowed(first.type, make)
        found = chosen(self._poison(first), self._poison(second))
        for one in steering:
            found = self._or(found, self._whole(one, first.type))
        done = min((one.done for one in poisoned), default=COMPUTED)
        return self._made(first.type, make, found, min(self._moved, done), operands)

    # -- floating point

    def rounded(self, name: str, direction: str, *operands: Shadowed[W]) -> Shadowed[W]:
        """As a whole."""
        values = operands
        return self._as_a_whole(
            operands[0].type, lambda: self._below.rounded(name, direction, *(one.value for one in values)), operands
        )

    def fixed_point(self, name: str, value: Shadowed[W], bits: int) -> Shadowed[W]:
        """As a whole."""
        type_ = like(value.type, f"i{bits}")
        return self._as_a_whole(type_, lambda: self._below.fixed_point(name, value.value, bits), (value,))

    def approximated(self, name: str, bits: Shadowed[W]) -> Shadowed[W]:
        """As a whole."""
        return self._as_a_whole(bits.type, lambda: self._below.approximated(name, bits.value), (bits,))

    # -- operands and results

    def read(self, operand: tree.Operand, type_: Type | str) -> Shadowed[W]:
        """The value of an operand, and its poison."""
        wanted = ptx_type(type_) if isinstance(type_, str) else type_
        shape = vector(wanted.llvm, self.width * wanted.packed)
        found = self._keeper.poison_of(operand, wanted)
        return Shadowed(shape, lambda: self._below.read(operand, type_), found)

    def read_all(self, operand: tree.Operand, type_: Type | str) -> tuple[Shadowed[W], ...]:
        """The elements of a vector expression; vector registers have no poison."""
        if isinstance(operand, tree.Vector):
            return tuple(self.read(one, type_) for one in operand.elements)
        if self._below.elements_in(operand) > 1:
            return tuple(_known(one) for one in self._below.read_all(operand, type_))
        return (self.read(operand, type_),)

    def read_mask(self, operand: tree.Operand) -> Shadowed[W]:
        """A predicate, or its negation, which has the same poison."""
        inner = operand.operand if isinstance(operand, tree.Unary) else operand
        found = self._keeper.poison_of(inner, ptx_type("pred"))
        return Shadowed(f"i{self.width}", lambda: self._below.read_mask(operand), found)

    def literal(self, operand: tree.Operand) -> int | None:
        """The known integer value of an operand."""
        return self._below.literal(operand)

    def elements_in(self, operand: tree.Operand) -> int:
        """The number of elements of a register."""
        return self._below.elements_in(operand)

    def address(self, operand: tree.Operand) -> Shadowed[W]:
        """The address of an element of an array, whose index has been checked."""
        return Shadowed(self.vector("i64"), lambda: self._below.address(operand))

    def special(self, name: str) -> Shadowed[W]:
        """A special register, which has no poison."""
        return _known(self._below.special(name))

    def write(self, operand: tree.Operand, value: Shadowed[W], signed: bool = False) -> None:
        """Keep the poison of a result."""
        self._keeper.keep(operand, value, signed=signed)

    def write_all(self, operand: tree.Operand, values: tuple[Shadowed[W], ...], signed: bool = False) -> None:
        """Keep the poison of the elements of a vector expression."""
        if isinstance(operand, tree.Vector):
            for one, value in zip(operand.elements, values, strict=True):
                self.write(one, value, signed)
        elif self._below.elements_in(operand) == 1:
            self.write(operand, values[0], signed)

    def write_mask(self, operand: tree.Operand, mask: Shadowed[W]) -> None:
        """Keep the poison of a predicate."""
        self._keeper.keep(operand, mask, signed=False)

    # -- lanes, masks and the carry flag

    def lanes(self, mask: Shadowed[W]) -> Shadowed[W]:
        """A mask as `i1` elements."""
        found = None if mask.poison is None else self._below.lanes(mask.poison)
        return Shadowed(self.vector("i1"), lambda: self._below.lanes(mask.value), found, mask.done, mask.steered)

    def mask_of(self, lanes: Shadowed[W]) -> Shadowed[W]:
        """`i1` elements as a mask."""
        found = None if lanes.poison is None else self._below.mask_of(lanes.poison)
        make = lambda: self._below.mask_of(lanes.value)  # noqa: E731 - a value that is set later
        return Shadowed(f"i{self.width}", make, found, lanes.done, lanes.steered)

    def carry(self) -> Shadowed[W]:
        """CC.CF, whose poison is not tracked."""
        return Shadowed(f"i{self.width}", self._below.carry)

    def set_carry(self, mask: Shadowed[W]) -> None:
        """Set CC.CF, without its poison."""

    def within_cta(self, addresses: Shadowed[W]) -> Shadowed[W]:
        """As a whole."""
        return self._as_a_whole(addresses.type, lambda: self._below.within_cta(addresses.value), (addresses,))

    def of_cta(self, addresses: Shadowed[W], rank: Shadowed[W]) -> Shadowed[W]:
        """As a whole."""
        both = (addresses, rank)
        return self._as_a_whole(addresses.type, lambda: self._below.of_cta(addresses.value, rank.value), both)


def _known(value: W) -> Shadowed[W]:
    return Shadowed(value.type, lambda: value)


def words_of(reader: PoisonWords[W]) -> Words[Any]:
    """The reader as rows see it: pyright proves that every word has a rule."""
    held: Words[Shadowed[W]] = reader
    return held
