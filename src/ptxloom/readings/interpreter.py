"""Rows read with plain numbers, 32 lanes at a time: an interpreter that shares only the rows with compiled code.

It checks LLVM's translation, with Python's integers, even for floating point (`readings.floats`). Anything that
depends on a launch, or on the tables of the multi-function unit, is `Unreadable`.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa.limits import LANES
from ptxloom.meaning.form import Unreadable
from ptxloom.meaning.literals import literal_bits
from ptxloom.meaning.types import Type, ptx_type
from ptxloom.meaning.vectors import count, element, like, vector, width
from ptxloom.readings import floats
from ptxloom.readings.floats import FORMATS
from ptxloom.readings.integers import (
    COMPARISONS,
    FUNCTIONS,
    OPERATIONS,
    digits,
    divided,
    looked_up,
    mask,
    permuted,
    signed,
)
from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ptxloom.float_formats import FloatFormat


@dataclass(frozen=True, slots=True)
class Numbers:
    """A value: the bits of each of its elements."""

    type: str
    values: tuple[int, ...]

    @property
    def element(self) -> str:
        """The type of one element."""
        return element(self.type)

    @property
    def bits(self) -> int:
        """The width of one element."""
        return width(self.element)

    @property
    def form(self) -> FloatFormat | None:
        """The format of one element; None for integers."""
        return FORMATS.get(self.element)


@dataclass(slots=True)
class Cell:
    """A register: its width (1: a predicate) and its value in each lane."""

    bits: int
    values: tuple[int, ...] = (0,) * LANES


class Interpreter:
    """Runs rows on named registers."""

    def __init__(self, registers: dict[str, Cell], architecture: int = 90) -> None:
        self.registers = registers
        self.width: int = LANES
        self.architecture: int = architecture
        self.is_paired: bool = False
        self._carry = Numbers("i32", (0,))

    def vector(self, scalar: str) -> str:
        """The type with one scalar per lane."""
        return vector(scalar, self.width)

    # -- values

    def constant(self, type_: str, value: object) -> Numbers:
        """A number in every element."""
        scalar = element(type_)
        bits = value & mask(width(scalar)) if isinstance(value, int) else _float(str(value), scalar)
        return Numbers(type_, (bits,) * (count(type_) or 1))

    def apply(self, name: str, *operands: Numbers) -> Numbers:
        """An operation on integers or floats."""
        first, form = operands[0], operands[0].form
        if form is not None:
            return self.rounded(name, "rn", *operands)
        act = OPERATIONS[name]
        pairs = zip(first.values, operands[1].values, strict=True)
        return Numbers(first.type, tuple(act(a, b, first.bits) & mask(first.bits) for a, b in pairs))

    def compare(self, predicate: str, left: Numbers, right: Numbers) -> Numbers:
        """A comparison of integers or floats."""
        pairs = zip(left.values, right.values, strict=True)
        form, bits = left.form, left.bits
        if form is not None:
            found = tuple(int(floats.compare(predicate, a, b, form)) for a, b in pairs)
        elif predicate[0] == "s":
            act = COMPARISONS[predicate[1:]]
            found = tuple(int(act(signed(a, bits), signed(b, bits))) for a, b in pairs)
        else:
            act = COMPARISONS[predicate if predicate in {"eq", "ne"} else predicate[1:]]
            found = tuple(int(act(a, b)) for a, b in pairs)
        return Numbers(like(left.type, "i1"), found)

    def select(self, condition: Numbers, then: Numbers, otherwise: Numbers) -> Numbers:
        """Element by element."""
        triples = zip(condition.values, then.values, otherwise.values, strict=True)
        return Numbers(then.type, tuple(a if c else b for c, a, b in triples))

    def convert(self, name: str, value: Numbers, scalar: str) -> Numbers:
        """Integers and floats to other widths, and to each other."""
        if scalar == value.element:
            return value
        bits, come, form, to = width(scalar), value.bits, value.form, FORMATS.get(scalar)
        if name in {"zext", "trunc"}:
            found = tuple(one & mask(bits) for one in value.values)
        elif name == "sext":
            found = tuple(signed(one, come) & mask(bits) for one in value.values)
        elif to is not None and form is not None:
            found = tuple(floats.converted(one, form, to) for one in value.values)
        elif to is not None:
            found = tuple(floats.of_integer(signed(one, come) if name[0] == "s" else one, to) for one in value.values)
        else:
            source = FORMATS[value.element]
            found = tuple((floats.to_integer(one, source) or 0) & mask(bits) for one in value.values)
        return Numbers(like(value.type, scalar), found)

    def bitcast(self, value: Numbers, type_: str) -> Numbers:
        """The same bits as another type: the first element is lowest."""
        whole = sum(one << at * value.bits for at, one in enumerate(value.values))
        bits = width(element(type_))
        return Numbers(type_, tuple(whole >> at * bits & mask(bits) for at in range(count(type_) or 1)))

    def resize(self, value: Numbers, bits: int, signed: bool = False) -> Numbers:
        """Integers truncated or extended."""
        return self.convert("trunc" if bits < value.bits else "sext" if signed else "zext", value, f"i{bits}")

    def shuffle(self, first: Numbers, indices: Sequence[int], second: Numbers | None = None) -> Numbers:
        """Elements of two values in a fixed order."""
        both = first.values + (second.values if second is not None else ())
        order = tuple(indices)
        return Numbers(vector(first.element, len(order)), tuple(both[at] for at in order))

    def intrinsic(
        self, name: str, *operands: Numbers, result: str | None = None, overload: str | None = None
    ) -> Numbers:
        """A function of integers or floats."""
        del result, overload
        first, form = operands[0], operands[0].form
        second = operands[1].values if len(operands) > 1 and operands[1].type == first.type else first.values
        if form is not None:
            return self._of_floats(name.removeprefix("llvm."), form, *operands)
        act = FUNCTIONS[name]
        pairs = zip(first.values, second, strict=True)
        return Numbers(first.type, tuple(act(a, b, first.bits) & mask(first.bits) for a, b in pairs))

    def _of_floats(self, name: str, form: FloatFormat, *operands: Numbers) -> Numbers:
        first = operands[0]
        match name:
            case "fabs":
                found = tuple(one & form.sign - 1 for one in first.values)
            case "copysign":
                pairs = zip(first.values, operands[1].values, strict=True)
                found = tuple(a & form.sign - 1 | b & form.sign for a, b in pairs)
            case "roundeven" | "trunc" | "floor" | "ceil":
                found = tuple(floats.integral(one, form, name) for one in first.values)
            case _:
                return self.rounded(name, "rn", *operands)
        return Numbers(first.type, found)

    def divide(self, name: str, left: Numbers, right: Numbers) -> Numbers:
        """A quotient or a remainder."""
        pairs = zip(left.values, right.values, strict=True)
        return Numbers(left.type, tuple(divided(name, a, b, left.bits) & mask(left.bits) for a, b in pairs))

    def lookup(self, table: int, first: Numbers, second: Numbers, third: Numbers) -> Numbers:
        """Bit by bit by a table."""
        triples = zip(first.values, second.values, third.values, strict=True)
        return Numbers(first.type, tuple(looked_up(table, *three, first.bits) for three in triples))

    def permute(self, first: Numbers, second: Numbers, selector: Numbers | int, mode: str) -> Numbers:
        """Bytes of eight."""
        codes = (selector,) * len(first.values) if isinstance(selector, int) else selector.values
        triples = zip(first.values, second.values, codes, strict=True)
        return Numbers(first.type, tuple(permuted(a | b << 32, digits(code, mode)) for a, b, code in triples))

    # -- operands and results

    def read(self, operand: tree.Operand, type_: Type | str) -> Numbers:
        """A register, or a number."""
        wanted = ptx_type(type_) if isinstance(type_, str) else type_
        known = literal_bits(operand, wanted) if isinstance(operand, tree.Float) else constant(operand)
        if known is not None:
            plain: Iterable[int] = (known,) * LANES
        elif isinstance(operand, tree.Name) and operand.text in self.registers:
            plain = self.registers[operand.text].values
        else:
            raise Unreadable(str(operand))
        held = Numbers(vector(f"i{wanted.bits}"), tuple(one & mask(wanted.bits) for one in plain))
        return self.bitcast(held, vector(wanted.llvm, LANES * wanted.packed))

    def read_all(self, operand: tree.Operand, type_: Type | str) -> tuple[Numbers, ...]:
        """The elements of a vector expression."""
        return tuple(self.read(one, type_) for one in tree.elements_of(operand))

    def read_mask(self, operand: tree.Operand) -> Numbers:
        """A predicate, a bit per lane."""
        if isinstance(operand, tree.Unary):
            return self.apply("xor", self.read_mask(operand.operand), self.constant("i32", -1))
        if not isinstance(operand, tree.Name) or operand.text not in self.registers:
            raise Unreadable(str(operand))
        return self.mask_of(Numbers(vector("i1"), self.registers[operand.text].values))

    def literal(self, operand: tree.Operand) -> int | None:
        """A literal."""
        return constant(operand)

    def elements_in(self, operand: tree.Operand) -> int:
        """No register here is a vector."""
        del operand
        return 1

    def address(self, operand: tree.Operand) -> Numbers:
        """Nothing has an address here."""
        raise Unreadable(str(operand))

    def special(self, name: str) -> Numbers:
        """There are no special registers without a launch."""
        raise Unreadable(name)

    def within_cta(self, addresses: Numbers) -> Numbers:
        """There are no pairs of CTAs here."""
        return addresses

    def of_cta(self, addresses: Numbers, rank: Numbers) -> Numbers:
        """There are no clusters here."""
        raise Unreadable(f"{addresses.type} {rank.type}")

    def write(self, operand: tree.Operand, value: Numbers, signed: bool = False) -> None:
        """Set a register."""
        if not isinstance(operand, tree.Name):
            raise Unreadable(str(operand))
        if operand.text != "_":
            cell = self.registers[operand.text]
            bits = len(value.values) * value.bits // LANES
            plain = self.bitcast(value, vector(f"i{bits}"))
            cell.values = self.resize(plain, cell.bits, signed).values

    def write_all(self, operand: tree.Operand, values: tuple[Numbers, ...], signed: bool = False) -> None:
        """Set the registers of a vector expression."""
        for one, value in zip(tree.elements_of(operand), values, strict=True):
            self.write(one, value, signed)

    def write_mask(self, operand: tree.Operand, mask: Numbers) -> None:
        """Set a predicate."""
        if not isinstance(operand, tree.Name):
            raise Unreadable(str(operand))
        if operand.text != "_":
            self.registers[operand.text].values = self.lanes(mask).values

    # -- lanes, masks and the carry flag

    def lanes(self, mask: Numbers) -> Numbers:
        """A mask as `i1` elements."""
        return self.bitcast(mask, vector("i1"))

    def mask_of(self, lanes: Numbers) -> Numbers:
        """`i1` elements as a mask."""
        return self.bitcast(lanes, "i32")

    def carry(self) -> Numbers:
        """CC.CF."""
        return self._carry

    def set_carry(self, mask: Numbers) -> None:
        """Set CC.CF."""
        self._carry = mask

    # -- floating point

    def rounded(self, name: str, direction: str, *operands: Numbers) -> Numbers:
        """Exact, rounded once."""
        first, form = operands[0], FORMATS[operands[0].element]
        lanes = zip(*(one.values for one in operands), strict=True)
        if name == "fneg":
            return Numbers(first.type, tuple(one ^ form.sign for one in first.values))
        act = _ROUNDED[name]
        return Numbers(first.type, tuple(act(form, direction, *values) for values in lanes))

    def fixed_point(self, name: str, value: Numbers, bits: int) -> Numbers:
        """Floats as integers, clamped; NaN yields 0."""
        form = FORMATS[value.element]
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if name == "fptosi" else (0, mask(bits))
        found = (floats.to_integer(one, form) or 0 for one in value.values)
        return Numbers(like(value.type, f"i{bits}"), tuple(max(low, min(one, high)) & mask(bits) for one in found))

    def approximated(self, name: str, bits: Numbers) -> Numbers:
        """Only compiled code has the unit's tables."""
        raise Unreadable(f"{name} {bits.type}")


@lru_cache(256)
def _float(text: str, scalar: str) -> int:
    """The bits of a number as LLVM spells it: decimal, or the bits of a double."""
    number = int(text, 16) if text.startswith("0x") else int.from_bytes(struct.pack("<d", float(text)), "little")
    return floats.converted(number, FORMATS["double"], FORMATS[scalar])


_ROUNDED: Final[dict[str, Callable[..., int]]] = {
    "fadd": floats.add,
    "fsub": floats.subtract,
    "fmul": floats.multiply,
    "fdiv": floats.divide,
    "fma": floats.fused,
    "sqrt": floats.root,
}
