"""Signatures of instructions: the rules about operands judge equal ones only once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.checker.core.classify import see, see_name
from ptxloom.isa.load import instruction_spec
from ptxloom.isa.matrix import MOVES
from ptxloom.syntax.tree import Address, Component, Float, Integer, Name, Pair, Vector

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ptxloom.checker.core.scope import VisibleNames
    from ptxloom.syntax.tree import Instruction, Operand

_UNLIKE: Final = frozenset(("call", *MOVES))


def signature(instruction: Instruction, scope: VisibleNames) -> Hashable:
    """What the rules about operands see of an instruction: of two with equal signatures, both are legal or neither.

    A name is represented by its kind, a constant by its type and, unless the data limits it, the bits that it needs, an
    address without its offset, and everything else as written. Calls have no signature, which would have to include the
    parameters of the callee and the declarations of the arguments; nor do matrix moves, because their rules look at
    alignments.
    """
    if instruction.opcode in _UNLIKE:
        return None
    names, limited = scope.known, instruction_spec(instruction.opcode).limited
    parts: list[Hashable] = [instruction.opcode, instruction.qualifiers]
    for operand in instruction.operands:
        if isinstance(operand, Name):
            text = operand.text
            parts.append(names.get(text) or see_name(text, scope))
        else:
            parts.append(_key(operand, instruction, scope, limited))
    return tuple(parts)


def _key(operand: Operand, instruction: Instruction, scope: VisibleNames, limited: bool) -> Hashable:  # noqa: PLR0911 - one return a kind of operand
    match operand:
        case Name(text):
            return see_name(text, scope)
        case Integer(value) if not limited:
            return value < 0, (~value if value < 0 else value).bit_length()
        case Float() if not limited:
            return see(operand, scope)
        case Vector(elements):
            return "{", *(_key(element, instruction, scope, limited) for element in elements)
        case Address(base, offset, minus, extra, zero):
            before = instruction.source.text[operand.start : base.start]  # a bracket, and perhaps a parenthesis
            inner = tuple(_key(each, instruction, scope, limited) for each in extra) if extra else ()
            return before, _key(base, instruction, scope, limited), offset != 0, minus, zero, inner
        case Pair(first, second):
            return "|", _key(first, instruction, scope, limited), _key(second, instruction, scope, limited)
        case Component(_, field):
            return field, see(operand, scope)
        case _:
            return operand, see(operand, scope)
