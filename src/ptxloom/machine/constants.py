"""Integer constant expressions (PTX ISA 4.5)."""

from __future__ import annotations

from typing import Final

from ptxloom.machine.ir import LANES
from ptxloom.syntax import tree

_BITS: Final = 64  # of every integer constant


def evaluate(operand: tree.Operand) -> int | None:  # noqa: PLR0911 - one case a node
    """The value of an integer constant expression (PTX ISA 4.5); None if it is none."""
    match operand:
        case tree.Integer(value=value):
            return value
        case tree.Name(text="WARP_SZ"):
            return LANES
        case tree.Unary(operator=operator, operand=inner):
            number = evaluate(inner)
            return None if number is None else {"-": -number, "~": ~number, "!": int(number == 0)}.get(operator, number)
        case tree.Binary(operator=operator, left=left, right=right):
            first, second = evaluate(left), evaluate(right)
            return None if first is None or second is None else _combine(operator, first, second)
        case tree.Cast(type=type_, operand=inner):
            number = evaluate(inner)
            if number is None or not -(1 << _BITS - 1) <= number < 1 << _BITS:
                return number
            return number % (1 << _BITS) - (1 << _BITS) * (type_ == "s64" and number % (1 << _BITS) >> _BITS - 1)
        case tree.Ternary(condition=condition, then=then, otherwise=otherwise):
            number = evaluate(condition)
            return None if number is None else evaluate(then if number else otherwise)
        case _:
            return None


def _combine(operator: str, first: int, second: int) -> int | None:
    match operator:
        case "+" | "-" | "*" | "&" | "|" | "^":
            return {
                "+": first + second,
                "-": first - second,
                "*": first * second,
                "&": first & second,
                "|": first | second,
                "^": first ^ second,
            }[operator]
        case "<" | ">" | "<=" | ">=" | "==" | "!=" | "&&" | "||":
            return int(
                {
                    "<": first < second,
                    ">": first > second,
                    "<=": first <= second,
                    ">=": first >= second,
                    "==": first == second,
                    "!=": first != second,
                    "&&": first != 0 and second != 0,
                    "||": first != 0 or second != 0,
                }[operator]
            )
        case "<<":
            return first << second if 0 <= second < _BITS else 0
        case ">>":
            return first >> max(second, 0)
        case "/" | "%" if second:
            quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
            return quotient if operator == "/" else first - second * quotient
        case _:
            return None


def simplified(operand: tree.Operand) -> tree.Integer | tree.Float | tuple[str, int] | None:
    """What an expression comes to: a literal, or the name of a variable and the bytes added to its address."""
    match operand:
        case tree.Binary(operator="+" | "-" as sign, left=tree.Name(text=name), right=tree.Integer(value=by)):
            return name, by if sign == "+" else -by
        case tree.Address(base=tree.Name(text=name), offset=offset, minus=minus):
            return name, -offset if minus else offset
        case tree.Unary(operator="-", operand=tree.Float() as literal):
            return tree.Float(literal.bits ^ 1 << literal.width - 1, literal.width, literal.decimal)
        case _:
            number = evaluate(operand)
            return None if number is None else tree.Integer(number)
