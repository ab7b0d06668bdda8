"""The kind and value of an operand without registers: a number, or a place in a variable (PTX ISA 4.5)."""

from __future__ import annotations

from typing import Final

from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant, wrapped

WHOLE: Final = "integer"
WRONG: Final = "wrong"
_COMPARISONS: Final = frozenset(("<", ">", "<=", ">=", "==", "!="))


def simplified(operand: tree.Operand) -> tree.Integer | tree.Float | tuple[str, int] | None:
    """The value of an expression: a literal, or the name of a variable and the bytes added to its address."""
    number = constant(operand)
    if number is not None:
        return tree.Integer(number)
    match operand:
        case tree.Binary(operator="+" | "-" as sign, left=tree.Name(text=name), right=right):
            by = constant(right)
            return None if by is None else (name, wrapped(by if sign == "+" else -by))
        case tree.Address(base=tree.Name(text=name), offset=offset, minus=minus):
            return name, wrapped(-offset if minus else offset)
        case tree.Unary(operator="-", operand=tree.Float() as literal):
            return tree.Float(literal.bits ^ 1 << literal.width - 1, literal.width, literal.decimal)
        case _:
            return None


def sort_of(operand: tree.Operand) -> str:
    """The type of an expression of literals: an integer, "f32", "f64", or an error; empty if it is not one."""
    match operand:
        case tree.Integer() | tree.Name("WARP_SZ"):
            return WHOLE
        case tree.Float(_, width):
            return f"f{width}"
        case tree.Unary(sign, inner):
            worth = sort_of(inner)
            return worth if worth in {"", WHOLE} or (sign in "+-" and not _is_bits(inner)) else WRONG
        case tree.Binary(sign, left, right):
            bits = _is_bits(left) or _is_bits(right)
            return WRONG if bits else _joined(sign, sort_of(left), sort_of(right), zero=constant(right) == 0)
        case tree.Cast() | tree.Ternary():
            worths = [sort_of(part) for part in _parts(operand)]
            return (WHOLE if set(worths) == {WHOLE} else WRONG) if all(worths) else ""
        case _:
            return ""


def _parts(operand: tree.Cast | tree.Ternary) -> tuple[tree.Operand, ...]:
    if isinstance(operand, tree.Cast):
        return (operand.operand,)
    return operand.condition, operand.then, operand.otherwise


def _is_bits(operand: tree.Operand) -> bool:
    """Whether an operand is a floating-point number written as its bits, which is not part of an expression."""
    return isinstance(operand, tree.Float) and not operand.decimal


def _joined(sign: str, left: str, right: str, *, zero: bool) -> str:
    """What two parts of an expression make."""
    if not left or not right:
        return ""
    if left == right == WHOLE:
        return WRONG if zero and sign in {"/", "%"} else WHOLE
    if WHOLE in (left, right) or WRONG in (left, right):
        return WRONG
    return WHOLE if sign in _COMPARISONS else left if sign in {"+", "-", "*", "/"} else WRONG
