"""Integer constant expressions (PTX ISA 4.5)."""

from __future__ import annotations

from ptxloom.machine.ir import LANES
from ptxloom.syntax import tree


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
        case tree.Cast(operand=inner):
            return evaluate(inner)
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
        case "<<":
            return first << second
        case ">>":
            return first >> second
        case "/" | "%" if second:
            quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
            return quotient if operator == "/" else first - second * quotient
        case _:
            return None
