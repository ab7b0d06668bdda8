"""What an operand without registers comes to: a number, or a place in a variable."""

from __future__ import annotations

from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant, wrapped


def simplified(operand: tree.Operand) -> tree.Integer | tree.Float | tuple[str, int] | None:
    """What an expression comes to: a literal, or the name of a variable and the bytes added to its address."""
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
