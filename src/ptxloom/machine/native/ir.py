"""LLVM IR as text: typed values and the emitter that names them. All vectors have 32 lanes unless stated."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptxloom.isa.limits import LANES
from ptxloom.meaning.vectors import count, element, integer_like, like, suffix, vector, width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "Emitter",
    "Value",
    "constant_vector",
    "count",
    "element",
    "integer_like",
    "like",
    "suffix",
    "vector",
    "width",
]


class Value(NamedTuple):
    """An SSA value or constant: its LLVM type and its text."""

    type: str
    text: str

    def __str__(self) -> str:
        return f"{self.type} {self.text}"

    @property
    def element(self) -> str:
        """The type of one element."""
        return element(self.type)

    @property
    def bits(self) -> int:
        """The width of one element."""
        return width(self.element)


def constant_vector(scalar: str, elements: Iterable[object]) -> Value:
    """A vector constant."""
    texts = [f"{scalar} {e}" for e in elements]
    return Value(vector(scalar, len(texts)), f"<{', '.join(texts)}>")


class Emitter:
    """Collects the instructions of one function, names results, and records its declarations.

    Attributes:
        width: The lanes of the operands: 32, or 1 while the value of one lane represents all.
    """

    def __init__(self, stem: str = "t") -> None:
        self.width = LANES
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        self._stem = stem  # how names of values begin
        self._count = 0

    def fresh(self, stem: str = "") -> str:
        """A name that no other value or label of the function has."""
        self._count += 1
        return f"{stem or self._stem}{self._count}"

    def emit(self, type_: str, code: str) -> Value:
        """Add an instruction with a result of `type_`."""
        self._count += 1
        name = f"%{self._stem}{self._count}"
        self.lines.append(f"{name} = {code}")
        return Value(type_, name)

    def do(self, code: str) -> None:
        """Add an instruction without a result."""
        self.lines.append(code)

    def label(self, name: str) -> None:
        """Start an LLVM basic block (the one before must have ended)."""
        self.lines.append(f"{name}:")

    # -- constants

    def constant(self, type_: str, value: object) -> Value:
        """A scalar constant, or a vector with it in every element (floats in LLVM's spelling)."""
        lanes = count(type_)
        if not lanes:
            return Value(type_, str(value))
        if value in {0, "0.0"}:
            return Value(type_, "zeroinitializer")
        return Value(type_, f"splat ({element(type_)} {value})")

    def splat(self, value: Value, lanes: int = 0) -> Value:
        """A vector with a scalar in every lane."""
        lanes = lanes or self.width
        type_ = vector(value.type, lanes)
        one = self.emit(type_, f"insertelement {type_} poison, {value}, i64 0")
        return self.emit(type_, f"shufflevector {one}, {type_} poison, <{lanes} x i32> zeroinitializer")

    # -- instructions

    def apply(self, name: str, *operands: Value) -> Value:
        """An instruction whose result has its operands' type: add, fsub, and, shl, ..."""
        texts = ", ".join(o.text for o in operands)
        return self.emit(operands[0].type, f"{name} {operands[0].type} {texts}")

    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        """`icmp` or `fcmp`, by the operands' type; returns i1 elements."""
        kind = "icmp" if left.element[0] == "i" or left.element == "ptr" else "fcmp"
        return self.emit(like(left.type, "i1"), f"{kind} {predicate} {left}, {right.text}")

    def select(self, condition: Value, then: Value, otherwise: Value) -> Value:
        """Element by element: `then` where the condition holds."""
        return self.emit(then.type, f"select {condition}, {then}, {otherwise}")

    def convert(self, name: str, value: Value, scalar: str) -> Value:
        """A conversion instruction to elements of type `scalar` (sext, zext, trunc, sitofp, fptrunc, ...)."""
        type_ = like(value.type, scalar)
        return value if type_ == value.type else self.emit(type_, f"{name} {value} to {type_}")

    def bitcast(self, value: Value, type_: str) -> Value:
        """The same bits as another type (whole type, not element)."""
        return value if type_ == value.type else self.emit(type_, f"bitcast {value} to {type_}")

    def resize(self, value: Value, bits: int, signed: bool = False) -> Value:
        """An integer truncated, zero- or sign-extended to `bits`."""
        name = "trunc" if bits < value.bits else "sext" if signed else "zext"
        return self.convert(name, value, f"i{bits}")

    def load(self, type_: str, place: Value, align: int = 1) -> Value:
        """Read memory."""
        return self.emit(type_, f"load {type_}, {place}, align {align}")

    def store(self, value: Value, place: Value, align: int = 1) -> None:
        """Write memory."""
        self.do(f"store {value}, {place}, align {align}")

    def offset(self, place: Value, byte_offset: int | Value) -> Value:
        """A pointer advanced by `byte_offset` bytes."""
        if byte_offset == 0:
            return place
        by = byte_offset if isinstance(byte_offset, Value) else Value("i64", str(byte_offset))
        return self.emit("ptr", f"getelementptr i8, {place}, {by}")

    def extract(self, value: Value, index: int) -> Value:
        """One element."""
        return self.emit(value.element, f"extractelement {value}, i64 {index}")

    def shuffle(self, first: Value, indices: Sequence[int], second: Value | None = None) -> Value:
        """Elements of two vectors in a fixed order."""
        other = second or Value(first.type, "poison")
        order = constant_vector("i32", indices)
        return self.emit(vector(first.element, len(indices)), f"shufflevector {first}, {other}, {order}")

    def intrinsic(self, name: str, *operands: Value, result: str | None = None, overload: str | None = None) -> Value:
        """Call an LLVM intrinsic, `llvm.fma` and the like; the overload is the first operand's type unless given."""
        over = operands[0].type if overload is None else overload
        full = f"{name}.{suffix(over)}" if over else name
        return self.call(full, *operands, result=operands[0].type if result is None else result)

    def call(self, name: str, *operands: Value, result: str = "void") -> Value:
        """Call a function by its symbol, declared with these operand types."""
        if name not in self.declarations:
            self.declarations[name] = f"declare {result} @{name}({', '.join(o.type for o in operands)})"
        code = f"call {result} @{name}({', '.join(map(str, operands))})"
        if result == "void":
            self.do(code)
            return Value("void", "")
        return self.emit(result, code)
