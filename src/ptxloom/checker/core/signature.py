"""What makes two instructions alike for the rules about operands, so that one of them is judged for both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.core.classify import see, see_name
from ptxloom.syntax.tree import Address, Component, Float, Integer, Name, Pair, Vector

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ptxloom.checker.core.scope import Scope
    from ptxloom.syntax.tree import Instruction, Operand

_LARGE = 1 << 10
_COARSE = 16


def signature(instruction: Instruction, scope: Scope) -> Hashable:
    """What an instruction is for the rules about operands: two with equal signatures are both sound, or both not.

    A call has none: the callee's parameters and the declarations of what is passed would have to be in it.
    """
    if instruction.opcode == "call":
        return None
    names = scope.known
    parts: list[Hashable] = [instruction.opcode, instruction.qualifiers]
    for operand in instruction.operands:
        if isinstance(operand, Name):
            text = operand.text
            parts.append(names.get(text) or see_name(text, scope))
        else:
            parts.append(_key(operand, scope))
    return tuple(parts)


def _key(operand: Operand, scope: Scope) -> Hashable:  # noqa: PLR0911 - one return a kind of operand
    match operand:
        case Name(text):
            return see_name(text, scope)
        case Integer(value):
            return value if -_LARGE <= value <= _LARGE else (value.bit_length(), value < 0, value % _COARSE)
        case Vector(elements):
            return tuple(_key(element, scope) for element in elements)
        case Address(base, _, minus, extra):
            inner = tuple(_key(each, scope) for each in extra) if extra else ()
            return "[", _key(base, scope), minus, base.start - operand.start, inner
        case Pair(first, second):
            return "|", _key(first, scope), _key(second, scope)
        case Float() | Component():
            return see(operand, scope)
        case _:
            return operand, see(operand, scope)
