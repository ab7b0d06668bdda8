"""Which lanes of an execution a trace records: an expression over registers and places, evaluated for each lane."""

from __future__ import annotations

import ast
import operator
import re
import struct
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LEGAL: Final = (
    "an expression over the instruction's registers and %tid, %ctaid, %laneid, warp, execution and address, such as "
    "'%r5 > 100 and %tid.x < 8' or 'f32(%r1) != 0'"
)
Number: TypeAlias = "int | float | bool"
Names: TypeAlias = "Mapping[str, Number]"
Asked: TypeAlias = "Callable[[Names], Number]"

_LONGEST: Final = 500  # characters
_MOST_SHIFT: Final = 127
_NUMBER: Final = r"(0[xX][0-9a-fA-F]+|(?:\d[\d.]*|\.\d+)(?:[eE][-+]?\d+)?)"
_NAME: Final = r"(%?[A-Za-z_$][\w$]*(?:\.[xyzw]\b)?)"
_WORD: Final = re.compile(rf"{_NUMBER}|!\s*{_NAME}|{_NAME}|(&&|\|\||!(?!=))")
_SIGNS: Final = {"&&": " and ", "||": " or ", "!": " not "}
_KEPT: Final = frozenset(("and", "or", "not"))
_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.BitAnd: lambda a, b: a & b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b,
    ast.LShift: lambda value, by: value << _bits(by),
    ast.RShift: lambda value, by: value >> _bits(by),
}
_COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.USub: lambda a: -a,
    ast.UAdd: lambda a: a,
    ast.Invert: lambda a: ~a,
    ast.Not: lambda a: not a,
}
_READ_AS: Final = {"f16": "<e", "f32": "<f", "f64": "<d"}


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression that can be evaluated for a lane.

    Attributes:
        text: The source text.
        names: The names that it uses, registers with their percent sign.
    """

    text: str
    names: frozenset[str]
    _asked: Asked

    def holds(self, names: Names) -> bool:
        """Whether a lane satisfies the condition; false if the expression has no value there.

        Args:
            names: The values of `names` in the lane.
        """
        try:
            return bool(self._asked(names))
        except (ArithmeticError, TypeError, ValueError):  # divided by 0, an operation on bits asked of a float
            return False


def condition(text: str) -> Condition:
    """Read an expression: comparisons, `and`, `or`, `not`, sums, bits, and `s32(...)`, `f16(...)` to read bits anew.

    Raises:
        UsageError: It is not an expression.

    Example:
        >>> one = condition("%r5 > 100 && !%p1")
        >>> sorted(one.names), one.holds({"%r5": 101, "%p1": False})
        (['%p1', '%r5'], True)
        >>> condition("f32(%r1) == 1.0").holds({"%r1": 0x3F800000})
        True
    """
    found: dict[str, str] = {}

    def replaced(word: re.Match[str]) -> str:
        number, negated, name, sign = word.groups()
        plain = negated or name
        if number or not plain:
            return number or _SIGNS[sign]
        if plain in _KEPT or _is_cast(plain):
            return f" {plain} "
        short = found.setdefault(plain, f"_{len(found)}")
        return f" (not {short}) " if negated else f" {short} "

    try:
        if len(text) > _LONGEST:
            raise UsageError("when", f"{text[:40]}...", f"an expression of at most {_LONGEST} characters")
        tree = ast.parse(_WORD.sub(replaced, text).strip(), mode="eval")
        asked = _Reader({short: name for name, short in found.items()}).read(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError("when", text, LEGAL) from None
    return Condition(text, frozenset(found), asked)


def _is_cast(name: str) -> bool:
    return name in _READ_AS or bool(re.fullmatch(r"[su](8|16|32|64)", name))


class _Reader:
    """From Python's tree to a function of a lane's names; what is not an expression of ours is refused."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def read(self, node: ast.expr) -> Asked:  # noqa: PLR0911 - one arm a kind of node
        """A part of the expression.

        Raises:
            ValueError: It is something else.
        """
        match node:
            case ast.Name(id=short) if short in self.names:
                name = self.names[short]
                return lambda lane: lane[name]
            case ast.Constant(value=int() | float() as value):
                return lambda _: value
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return self._of(_UNARY[type(op)], operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return self._of(_BINARY[type(op)], left, right)
            case ast.BoolOp(op=ast.And(), values=values):
                parts = [*map(self.read, values)]
                return lambda lane: all(part(lane) for part in parts)
            case ast.BoolOp(values=values):
                parts = [*map(self.read, values)]
                return lambda lane: any(part(lane) for part in parts)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                return self._of(_COMPARISONS[type(op)], left, right)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if _is_cast(name):
                return self._of(partial(_read_as, name), argument)
            case _:
                raise ValueError

    def _of(self, function: Callable[..., Number], *operands: ast.expr) -> Asked:
        parts = [*map(self.read, operands)]
        return lambda lane: function(*(part(lane) for part in parts))


def _bits(by: int) -> int:
    """A shift distance in the range of registers.

    Raises:
        ValueError: It is farther.
    """
    if not 0 <= by <= _MOST_SHIFT:
        raise ValueError
    return by


def _read_as(name: str, bits: Number) -> Number:
    """Bits of a register as a number of a type, its low ones if it is wider."""
    size = int(name[1:])
    low = int(bits) & ((1 << size) - 1)
    if name in _READ_AS:
        return float(struct.unpack(_READ_AS[name], low.to_bytes(size // 8, "little"))[0])
    return low - (1 << size) if name[0] == "s" and low >> (size - 1) else low
