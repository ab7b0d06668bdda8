"""Integer constant expressions (PTX ISA 4.5.5), as ptxas 13.5 evaluates them.

All values have 64 bits, signed or unsigned. Beyond the manual: `&`, `|`, `^`, `+`, `-`, `*` and `/` are unsigned if one
operand is; `%` is always unsigned; a choice has the type of the chosen operand; a shift uses the low six bits of its
count; overflow wraps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.isa.limits import LANES
from ptxloom.syntax.tree import Binary, Cast, Integer, Name, Ternary, Unary

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.syntax.tree import Operand

_MASK: Final = (1 << 64) - 1
_TOP: Final = 1 << 63
_COUNT: Final = 63  # a shift's count: its low six bits


class Constant(NamedTuple):
    """A constant: its bits, and whether they are `.u64` (else `.s64`)."""

    bits: int
    unsigned: bool = False

    @property
    def value(self) -> int:
        """Its number in its type."""
        return self.bits - (self.bits >> 63 << 64) * (not self.unsigned)


def constant(node: Operand) -> int | None:
    """The value of an integer constant expression; None if it is not one, or divides by zero.

    Example:
        >>> from ptxloom.syntax import parse
        >>> (statement,) = parse("mov.b64 a, {8 >> 1, 1 << 65, 7 % -3, -1 < 1U, 3 / 0};").statements
        >>> [constant(operand) for operand in statement.operands[1].elements]
        [4, 2, 7, 0, None]
    """
    if isinstance(node, Integer) and -_TOP <= node.value < _TOP and not node.unsigned:
        return node.value
    found = _typed(node)
    return None if found is None else found.value


def overflows(digits: str, radix: int) -> bool:
    """Whether ptxas refuses a literal: it does if a digit is appended to a number that already has 64 bits."""
    bits = 0
    for digit in digits:
        if bits & _TOP:
            return True
        bits = bits * radix + int(digit, radix) & _MASK
    return False


def wrapped(number: int) -> int:
    """A sum wrapped to 64 bits, signed, as for addresses and their offsets."""
    return Constant(number & _MASK).value


def _typed(node: Operand) -> Constant | None:  # noqa: PLR0911 - one case a node
    match node:
        case Integer(value, _, unsigned):
            return Constant(value & _MASK, unsigned or abs(value) >= _TOP)
        case Name("WARP_SZ"):
            return Constant(LANES)
        case Unary(sign, inner):
            return _signed(sign, _typed(inner))
        case Cast(kind, inner):
            found = _typed(inner)
            return None if found is None else Constant(found.bits, kind == "u64")
        case Ternary(condition, then, otherwise):
            return _chosen(_typed(condition), _typed(then), _typed(otherwise))
        case Binary(sign, left, right):
            first, second = _typed(left), _typed(right)
            return None if first is None or second is None else _joined(sign, first, second)
        case _:
            return None


def _chosen(condition: Constant | None, first: Constant | None, second: Constant | None) -> Constant | None:
    """One of two; the other one must have a value, too."""
    if condition is None or first is None or second is None:
        return None
    return first if condition.bits else second


def _signed(sign: str, operand: Constant | None) -> Constant | None:
    if operand is None:
        return None
    match sign:
        case "-":
            return Constant(-operand.bits & _MASK, operand.unsigned)
        case "~":
            return Constant(~operand.bits & _MASK, unsigned=True)
        case "!":
            return Constant(int(not operand.bits))
        case _:
            return operand


def _joined(sign: str, first: Constant, second: Constant) -> Constant | None:
    unsigned = first.unsigned or second.unsigned
    left, right = ((one.bits if unsigned else one.value) for one in (first, second))
    if sign in _COMPARED:
        return Constant(int(_COMPARED[sign](left, right)))
    if sign in _COMBINED:
        return Constant(_COMBINED[sign](left, right) & _MASK, unsigned)
    match sign:
        case "<<":
            return Constant(first.bits << (second.bits & _COUNT) & _MASK, first.unsigned)
        case ">>":
            return Constant(first.value >> (second.bits & _COUNT) & _MASK, first.unsigned)
        case "/" | "%" if second.bits:
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return Constant(quotient & _MASK, unsigned) if sign == "/" else Constant(first.bits % second.bits, True)
        case _:
            return None


_COMPARED: Final[dict[str, Callable[[int, int], bool]]] = {
    "<": int.__lt__,
    ">": int.__gt__,
    "<=": int.__le__,
    ">=": int.__ge__,
    "==": int.__eq__,
    "!=": int.__ne__,
    "&&": lambda left, right: left != 0 and right != 0,
    "||": lambda left, right: left != 0 or right != 0,
}
_COMBINED: Final[dict[str, Callable[[int, int], int]]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
}
