"""Rows read with known bits.

The known bits of results, from those of operands. One lane represents the whole warp: a value's bits record what holds
in every lane, and in which bits lanes may differ. Masks are one bit, the lane's. Floating-point results are opaque
functions of their operands.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.meaning.types import ptx_type
from ptxloom.meaning.vectors import count, element, like, vector, width
from ptxloom.readings import bit_words, bits
from ptxloom.readings.bits import Bits, Level, fixed, various
from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ptxloom.meaning.types import Type


class Known(NamedTuple):
    """A value: the known bits of each of a lane's elements.

    Attributes:
        type: A vector type of one lane's elements.
        element: The type of an element.
        bits: The width of an element; 1 for masks.
        parts: The elements; only the low 64 bits of wider ones.
        above: How the bits above those may differ.
    """

    type: str
    element: str
    bits: int
    parts: tuple[Bits, ...]
    above: Level = Level.UNIFORM

    @property
    def level(self) -> Level:
        """The highest level of all its bits."""
        return max(bits.worst(*self.parts), self.above)


class _Shape(NamedTuple):
    element: str
    bits: int
    parts: int


@lru_cache(512)
def _shape(type_: str) -> _Shape:
    many, one = count(type_), element(type_)
    return _Shape(one, width(one) if many or one != "i32" else 1, many or 1)


def _value(type_: str, parts: tuple[Bits, ...], above: Level = Level.UNIFORM) -> Known:
    shape = _shape(type_)
    return Known(type_, shape.element, shape.bits, parts, above)


def _unknown(type_: str, level: Level) -> Known:
    """Any value."""
    shape = _shape(type_)
    above = level if shape.bits > bits.WIDEST else Level.UNIFORM
    return Known(type_, shape.element, shape.bits, (various(shape.bits, level),) * shape.parts, above)


@lru_cache(4096)
def _constant(type_: str, value: object) -> Known:
    shape = _shape(type_)
    one = fixed(value, shape.bits) if isinstance(value, int) else bits.shared(shape.bits)
    return Known(type_, shape.element, shape.bits, (one,) * shape.parts)


class KnownBits:
    """Reads rows.

    Args:
        read: Returns the known bits of an operand, as a number of a given width.
        result: The register of interest; other results are dropped.
    """

    width: int = 1
    architecture: int = 0
    is_paired: bool = False

    def __init__(self, read: Callable[[tree.Operand, int], Bits], result: tree.Name) -> None:
        self._read = read
        self._result = result
        self.found: Bits | None = None

    def vector(self, scalar: str) -> str:
        """The type with one scalar per lane."""
        return _lane(scalar)

    # -- values

    def constant(self, type_: str, value: object) -> Known:
        """A number, the same in all lanes."""
        return _constant(type_, value)

    def apply(self, name: str, *operands: Known) -> Known:
        """An operation on integers; others are opaque."""
        first = operands[0]
        act = bit_words.OPERATIONS.get(name)
        if act is None or len(operands) != 2:
            return _unknown(first.type, _worst(operands))
        second = operands[1]
        if first.bits > bits.WIDEST:
            return self._wide(name, act, first, second)
        return first._replace(
            parts=tuple(act(a, b, first.bits) for a, b in zip(first.parts, second.parts, strict=True))
        )

    def _wide(self, name: str, act: Callable[[Bits, Bits, int], Bits], first: Known, second: Known) -> Known:
        """Numbers of more than 64 bits: known by their lower 64 only."""
        if name not in bit_words.UPWARDS:
            return _unknown(first.type, Level.UNKNOWN if _worst((first, second)) else Level.UNIFORM)
        found = act(first.parts[0], second.parts[0], bits.WIDEST)
        return first._replace(parts=(found,), above=_worst((first, second)))

    def compare(self, predicate: str, left: Known, right: Known) -> Known:
        """A comparison of integers; for floats only whether lanes may differ."""
        type_ = like(left.type, "i1")
        act = bit_words.COMPARISONS.get(predicate) if left.element[0] == "i" else None
        if act is None or left.bits > bits.WIDEST:
            return _unknown(type_, _worst((left, right)))
        pairs = zip(left.parts, right.parts, strict=True)
        return _value(type_, tuple(act(a, b, left.bits) for a, b in pairs))

    def select(self, condition: Known, then: Known, otherwise: Known) -> Known:
        """The selected value if the condition is known, else what both have in common."""
        triples = zip(condition.parts, then.parts, otherwise.parts, strict=True)
        parts = tuple(bit_words.chosen(c, a, b) for c, a, b in triples)
        return then._replace(parts=parts, above=_worst((condition, then, otherwise)) if then.bits > bits.WIDEST else 0)

    def convert(self, name: str, value: Known, scalar: str) -> Known:
        """Integers to other widths; other conversions are opaque."""
        type_ = like(value.type, scalar)
        to = width(scalar)
        match name:
            case "zext":
                return _value(type_, value.parts, value.above)
            case "trunc":
                return _value(type_, tuple(bits.cut(one, to) for one in value.parts), _above(to, value.above))
            case "sext":
                parts = tuple(bits.extended(one, value.bits, min(to, bits.WIDEST)) for one in value.parts)
                return _value(type_, parts, _above(to, value.level))
            case _:
                return _unknown(type_, value.level)

    def bitcast(self, value: Known, type_: str) -> Known:
        """The same bits as another type: the first element is lowest."""
        shape = _shape(type_)
        if len(value.parts) == shape.parts:
            return Known(type_, shape.element, shape.bits, value.parts, value.above)
        if shape.bits * shape.parts > bits.WIDEST:
            return _unknown(type_, value.level)
        whole = bit_words.joined(value.parts, value.bits)
        return Known(type_, shape.element, shape.bits, bit_words.split(whole, shape.bits, shape.parts))

    def resize(self, value: Known, bits: int, signed: bool = False) -> Known:
        """Integers truncated or extended."""
        if bits == value.bits:
            return value
        return self.convert("trunc" if bits < value.bits else "sext" if signed else "zext", value, f"i{bits}")

    def shuffle(self, first: Known, indices: Sequence[int], second: Known | None = None) -> Known:
        """Elements of two values in a fixed order."""
        both = first.parts + (second.parts if second is not None else ())
        parts = tuple(both[at] for at in indices)
        return _value(vector(first.element, len(parts)), parts)

    def intrinsic(self, name: str, *operands: Known, result: str | None = None, overload: str | None = None) -> Known:
        """A function of integers; others are opaque."""
        del overload
        first = operands[0]
        act = bit_words.FUNCTIONS.get(name)
        if act is None or result is not None or first.bits > bits.WIDEST or first.element[0] != "i":
            return _unknown(result or first.type, _worst(operands))
        second = operands[1] if len(operands) > 1 and operands[1].type == first.type else first
        return first._replace(
            parts=tuple(act(a, b, first.bits) for a, b in zip(first.parts, second.parts, strict=True))
        )

    def divide(self, name: str, left: Known, right: Known) -> Known:
        """A quotient or a remainder."""
        pairs = zip(left.parts, right.parts, strict=True)
        return left._replace(parts=tuple(bit_words.divided(name, a, b, left.bits) for a, b in pairs))

    def lookup(self, table: int, first: Known, second: Known, third: Known) -> Known:
        """A bitwise function."""
        triples = zip(first.parts, second.parts, third.parts, strict=True)
        return first._replace(parts=tuple(bits.combined(table, *three) for three in triples))

    def permute(self, first: Known, second: Known, selector: Known | int, mode: str) -> Known:
        """Bytes, if the selector is known."""
        chosen = selector if isinstance(selector, int) else selector.parts[0].exact
        if chosen is None or mode:
            several = (first, second) if isinstance(selector, int) else (first, second, selector)
            return _unknown(first.type, _worst(several))
        return first._replace(parts=(bit_words.permuted(first.parts[0], second.parts[0], chosen),))

    # -- operands and results

    def read(self, operand: tree.Operand, type_: Type | str) -> Known:
        """The known bits of a register, or a number."""
        how = _way(type_ if isinstance(type_, str) else type_.name)
        known = self._read(operand, how.bits)
        if how.bits > bits.WIDEST:
            return _unknown(how.type, known.level)
        if how.parts == 1:
            return Known(how.type, how.element, how.bits, (bits.cut(known, how.bits),))
        part = how.bits // how.parts
        return Known(how.type, how.element, part, bit_words.split(known, part, how.parts))

    def read_all(self, operand: tree.Operand, type_: Type | str) -> tuple[Known, ...]:
        """The elements of a vector expression."""
        return tuple(self.read(one, type_) for one in tree.elements_of(operand))

    def read_mask(self, operand: tree.Operand) -> Known:
        """A predicate."""
        return Known("i32", "i32", 1, (bits.cut(self._read(operand, 1), 1),))

    def literal(self, operand: tree.Operand) -> int | None:
        """A literal, or a register's known value."""
        found = constant(operand)
        return self._read(operand, bits.WIDEST).exact if found is None else found

    def elements_in(self, operand: tree.Operand) -> int:
        """A vector register is one value."""
        del operand
        return 1

    def address(self, operand: tree.Operand) -> Known:
        """An element's address: a function of the operand's names."""
        return _unknown(_lane("i64"), self._read(operand, 64).level)

    def special(self, name: str) -> Known:
        """A special register."""
        return _unknown(_lane("i32"), self._read(tree.Name(name, start=0), 32).level)

    def within_cta(self, addresses: Known) -> Known:
        """Shared addresses with other bits for the CTA's rank."""
        return _unknown(addresses.type, addresses.level)

    def of_cta(self, addresses: Known, rank: Known) -> Known:
        """Shared addresses in the CTA of a rank."""
        return _unknown(addresses.type, _worst((addresses, rank)))

    def write(self, operand: tree.Operand, value: Known, signed: bool = False) -> None:
        """Keep a result; the bits above its written width are never read, or hold its sign."""
        if operand is not self._result:
            return
        whole = value.parts[0] if len(value.parts) == 1 else bit_words.joined(value.parts, value.bits)
        if value.bits * len(value.parts) > bits.WIDEST:
            whole = various(bits.WIDEST, value.level)
        self.found = bits.extended(whole, value.bits, bits.WIDEST) if signed else whole

    def write_all(self, operand: tree.Operand, values: tuple[Known, ...], signed: bool = False) -> None:
        """Keep the result among those of a vector expression."""
        for one, value in zip(tree.elements_of(operand), values, strict=True):
            self.write(one, value, signed)

    def write_mask(self, operand: tree.Operand, mask: Known) -> None:
        """Keep a predicate."""
        self.write(operand, mask)

    # -- masks and the carry flag

    def lanes(self, mask: Known) -> Known:
        """A lane's bit."""
        return Known(_lane("i1"), "i1", 1, mask.parts)

    def mask_of(self, lanes: Known) -> Known:
        """A lane's bit."""
        return Known("i32", "i32", 1, lanes.parts)

    def carry(self) -> Known:
        """CC.CF, which is not tracked."""
        return _unknown("i32", Level.UNKNOWN)

    def set_carry(self, mask: Known) -> None:
        """Do nothing: CC.CF is not tracked."""

    # -- floating point

    def rounded(self, name: str, direction: str, *operands: Known) -> Known:
        """Opaque."""
        del name, direction
        return _unknown(operands[0].type, _worst(operands))

    def fixed_point(self, name: str, value: Known, bits: int) -> Known:
        """Opaque."""
        del name
        return _unknown(like(value.type, f"i{bits}"), value.level)

    def approximated(self, name: str, bits: Known) -> Known:
        """Opaque."""
        del name
        return _unknown(bits.type, bits.level)


@lru_cache(64)
def _lane(scalar: str) -> str:
    return vector(scalar, 1)


class _Way(NamedTuple):
    """How a PTX type is read: the LLVM type of a lane's elements, that of one, their total bits, their number."""

    type: str
    element: str
    bits: int
    parts: int


@lru_cache(512)
def _way(name: str) -> _Way:
    type_ = ptx_type(name)
    return _Way(vector(type_.llvm, type_.packed), type_.llvm, type_.bits, type_.packed)


def _worst(operands: Sequence[Known]) -> Level:
    return max(one.level for one in operands)


def _above(to: int, level: Level) -> Level:
    return level if to > bits.WIDEST else Level.UNIFORM
