"""Rows read with plain integers, 32 lanes at a time: an interpreter that shares with compiled code the rows alone.

It is a second opinion on what LLVM makes of them. Doubles are known as far as division needs them; all other floating
point, and what depends on a launch, is `Unreadable`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.meaning.form import Unreadable
from ptxloom.meaning.types import Type, ptx_type
from ptxloom.meaning.vectors import count, element, like, vector, width
from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


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


@dataclass(slots=True)
class Cell:
    """A register: its width (1: a predicate) and what each lane holds."""

    bits: int
    values: tuple[int, ...] = (0,) * LANES


class Integers:
    """Runs rows on registers that it is given, by their names."""

    def __init__(self, registers: dict[str, Cell], architecture: int = 90) -> None:
        self.registers = registers
        self.width: int = LANES
        self.architecture: int = architecture
        self.is_paired: bool = False
        self._carry = Numbers("i32", (0,))

    def vector(self, scalar: str) -> str:
        """The type of one scalar a lane."""
        return vector(scalar, self.width)

    # -- values

    def constant(self, type_: str, value: object) -> Numbers:
        """A number in every element."""
        if not isinstance(value, int):
            raise Unreadable(str(value))
        return Numbers(type_, (value & _mask(width(element(type_))),) * (count(type_) or 1))

    def apply(self, name: str, *operands: Numbers) -> Numbers:
        """An operation on integers, or the quotient of doubles."""
        first = operands[0]
        act = _OPERATIONS.get(name)
        if act is None or len(operands) != 2 or first.element[0] != ("d" if name == "fdiv" else "i"):
            raise Unreadable(f"{name} {first.type}")
        pairs = zip(first.values, operands[1].values, strict=True)
        return Numbers(first.type, tuple(act(a, b, first.bits) & _mask(first.bits) for a, b in pairs))

    def compare(self, predicate: str, left: Numbers, right: Numbers) -> Numbers:
        """A comparison of integers."""
        if left.element[0] != "i":
            raise Unreadable(f"{predicate} {left.type}")
        name = predicate if predicate in {"eq", "ne"} else predicate[1:]
        sides = (left.values, right.values)
        if predicate[0] == "s":
            sides = (
                tuple(_signed(one, left.bits) for one in sides[0]),
                tuple(_signed(one, left.bits) for one in sides[1]),
            )
        return Numbers(like(left.type, "i1"), tuple(int(_COMPARISONS[name](a, b)) for a, b in zip(*sides, strict=True)))

    def select(self, condition: Numbers, then: Numbers, otherwise: Numbers) -> Numbers:
        """Element by element."""
        triples = zip(condition.values, then.values, otherwise.values, strict=True)
        return Numbers(then.type, tuple(a if c else b for c, a, b in triples))

    def convert(self, name: str, value: Numbers, scalar: str) -> Numbers:
        """Integers to other widths, to doubles and back."""
        bits, come = width(scalar), value.bits
        match name, scalar:
            case ("zext" | "trunc", _):
                found = tuple(one & _mask(bits) for one in value.values)
            case ("sext", _):
                found = tuple(_signed(one, come) & _mask(bits) for one in value.values)
            case ("sitofp" | "uitofp", "double"):
                found = tuple(_pattern(_signed(one, come) if name[0] == "s" else one) for one in value.values)
            case ("fptosi" | "fptoui", _) if value.element == "double":
                found = tuple(int(_double(one)) & _mask(bits) for one in value.values)
            case _:
                raise Unreadable(f"{name} {value.type} to {scalar}")
        return Numbers(like(value.type, scalar), found)

    def bitcast(self, value: Numbers, type_: str) -> Numbers:
        """The same bits as another type: the first element lies lowest."""
        whole = sum(one << at * value.bits for at, one in enumerate(value.values))
        bits = width(element(type_))
        return Numbers(type_, tuple(whole >> at * bits & _mask(bits) for at in range(count(type_) or 1)))

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
        """A function of integers."""
        del result, overload
        act, first = FUNCTIONS.get(name), operands[0]
        if act is None or first.element[0] != "i":
            raise Unreadable(f"{name} {first.type}")
        second = operands[1].values if len(operands) > 1 and operands[1].type == first.type else first.values
        pairs = zip(first.values, second, strict=True)
        return Numbers(first.type, tuple(act(a, b, first.bits) & _mask(first.bits) for a, b in pairs))

    def divide(self, name: str, left: Numbers, right: Numbers) -> Numbers:
        """A quotient, or what is left."""
        pairs = zip(left.values, right.values, strict=True)
        return Numbers(left.type, tuple(divided(name, a, b, left.bits) & _mask(left.bits) for a, b in pairs))

    def lookup(self, table: int, first: Numbers, second: Numbers, third: Numbers) -> Numbers:
        """Bit by bit by a table."""
        triples = zip(first.values, second.values, third.values, strict=True)
        return Numbers(first.type, tuple(_looked_up(table, *three, first.bits) for three in triples))

    def permute(self, first: Numbers, second: Numbers, selector: Numbers | int, mode: str) -> Numbers:
        """Bytes of eight."""
        codes = (selector,) * len(first.values) if isinstance(selector, int) else selector.values
        triples = zip(first.values, second.values, codes, strict=True)
        return Numbers(first.type, tuple(_permuted(a | b << 32, _digits(code, mode)) for a, b, code in triples))

    # -- operands and results

    def read(self, operand: tree.Operand, type_: Type | str) -> Numbers:
        """A register, or a number."""
        wanted = ptx_type(type_) if isinstance(type_, str) else type_
        known = constant(operand)
        if known is not None:
            plain: Iterable[int] = (known,) * LANES
        elif isinstance(operand, tree.Name) and operand.text in self.registers:
            plain = self.registers[operand.text].values
        else:
            raise Unreadable(str(operand))
        held = Numbers(vector(f"i{wanted.bits}"), tuple(one & _mask(wanted.bits) for one in plain))
        return self.bitcast(held, vector(wanted.llvm, LANES * wanted.packed))

    def read_all(self, operand: tree.Operand, type_: Type | str) -> tuple[Numbers, ...]:
        """The elements of a vector expression."""
        return tuple(self.read(one, type_) for one in tree.elements_of(operand))

    def read_mask(self, operand: tree.Operand) -> Numbers:
        """A predicate, a bit a lane."""
        if isinstance(operand, tree.Unary):
            return self.apply("xor", self.read_mask(operand.operand), self.constant("i32", -1))
        if not isinstance(operand, tree.Name) or operand.text not in self.registers:
            raise Unreadable(str(operand))
        return self.mask_of(Numbers(vector("i1"), self.registers[operand.text].values))

    def literal(self, operand: tree.Operand) -> int | None:
        """A number as it is written."""
        return constant(operand)

    def elements_in(self, operand: tree.Operand) -> int:
        """No register here is a vector."""
        del operand
        return 1

    def address(self, operand: tree.Operand) -> Numbers:
        """Nothing has an address here."""
        raise Unreadable(str(operand))

    def special(self, name: str) -> Numbers:
        """No launch, no special registers."""
        raise Unreadable(name)

    def within_cta(self, addresses: Numbers) -> Numbers:
        """There are no pairs of CTAs here."""
        return addresses

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
        """Not one of integers."""
        raise Unreadable(f"{name} {direction} {operands[0].type}")

    def fixed_point(self, name: str, value: Numbers, bits: int) -> Numbers:
        """Not one of integers."""
        raise Unreadable(f"{name} {value.type} to i{bits}")

    def approximated(self, name: str, bits: Numbers) -> Numbers:
        """Not one of integers."""
        raise Unreadable(f"{name} {bits.type}")


def _mask(bits: int) -> int:
    return (1 << bits) - 1


def _signed(value: int, bits: int) -> int:
    return value - (value >> bits - 1 << bits)


def _pattern(value: float) -> int:
    return int.from_bytes(struct.pack("<d", float(value)), "little")


def _double(pattern: int) -> float:
    return float(struct.unpack("<d", pattern.to_bytes(8, "little"))[0])


def divided(name: str, a: int, b: int, bits: int) -> int:
    """The quotient toward zero, or what it leaves, of the bits of two numbers; by zero all ones."""
    if b == 0:
        return -1
    if name[0] == "s":
        a, b = _signed(a, bits), _signed(b, bits)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if name.endswith("div") else a - quotient * b


def _looked_up(table: int, x: int, y: int, z: int, bits: int) -> int:
    sides = [(one, ~one & _mask(bits)) for one in (x, y, z)]
    found = 0
    for place in range(8):
        if table >> place & 1:
            found |= sides[0][not place & 4] & sides[1][not place & 2] & sides[2][not place & 1]
    return found


def _digits(code: int, mode: str) -> tuple[int, ...]:
    """Which of eight bytes each of four is, 8 more for its sign (PTX ISA 9.7.9.7)."""
    return tuple(_MODES[mode](code & 3, at) if mode else code >> 4 * at & 15 for at in range(4))


_MODES: Final[dict[str, Callable[[int, int], int]]] = {
    "f4e": lambda n, at: n + at,
    "b4e": lambda n, at: n - at & 7,
    "rc8": lambda n, _: n,
    "ecl": max,
    "ecr": min,
    "rc16": lambda n, at: 2 * (n & 1) + (at & 1),
}


def _permuted(eight: int, digits: tuple[int, ...]) -> int:
    found = 0
    for n, digit in enumerate(digits):
        byte = eight >> 8 * (digit & 7) & 255
        found |= (255 * (byte >> 7) if digit & 8 else byte) << 8 * n
    return found


def _clamped(value: int, bits: int) -> int:
    return max(-(1 << bits - 1), min(value, (1 << bits - 1) - 1))


_OPERATIONS: Final[dict[str, Callable[[int, int, int], int]]] = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "and": lambda a, b, _: a & b,
    "or": lambda a, b, _: a | b,
    "xor": lambda a, b, _: a ^ b,
    "shl": lambda a, b, bits: a << b if b < bits else 0,
    "lshr": lambda a, b, bits: a >> b if b < bits else 0,
    "ashr": lambda a, b, bits: _signed(a, bits) >> min(b, bits),
}
_COMPARISONS: Final[dict[str, Callable[[int, int], bool]]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
FUNCTIONS: Final[dict[str, Callable[[int, int, int], int]]] = {
    "llvm.umin": lambda a, b, _: min(a, b),
    "llvm.umax": lambda a, b, _: max(a, b),
    "llvm.smin": lambda a, b, bits: min(_signed(a, bits), _signed(b, bits)),
    "llvm.smax": lambda a, b, bits: max(_signed(a, bits), _signed(b, bits)),
    "llvm.sadd.sat": lambda a, b, bits: _clamped(_signed(a, bits) + _signed(b, bits), bits),
    "llvm.ssub.sat": lambda a, b, bits: _clamped(_signed(a, bits) - _signed(b, bits), bits),
    "llvm.usub.sat": lambda a, b, _: max(a - b, 0),
    "llvm.abs": lambda a, _, bits: abs(_signed(a, bits)),
    "llvm.ctpop": lambda a, _b, _: a.bit_count(),
    "llvm.ctlz": lambda a, _, bits: bits - a.bit_length(),
    "llvm.bitreverse": lambda a, _, bits: int(f"{a:0{bits}b}"[::-1], 2),
}
