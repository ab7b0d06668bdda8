"""What a register in the vector of a matrix instruction holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import PtxloomError
from ptxloom.fragments import fragment
from ptxloom.lsp.meaning import operand_rule
from ptxloom.syntax.tree import Instruction, Name, Vector
from ptxloom.views.fragments.formulas import register_line
from ptxloom.views.fragments.maps import evidence

if TYPE_CHECKING:
    from ptxloom.lsp.names import Occurrence

_OPCODES: Final = frozenset(("ldmatrix", "stmatrix", "movmatrix", "mma"))


def fragment_role(occurrence: Occurrence) -> str:
    """What every lane's register holds where a name stands in a matrix instruction; empty elsewhere."""
    instruction, place = occurrence.statement, occurrence.place
    if not isinstance(instruction, Instruction) or instruction.opcode not in _OPCODES or place < 0:
        return ""
    rule = operand_rule(instruction, place)
    register = _number_of(instruction, occurrence)
    if rule is None or register < 0:
        return ""
    try:
        held = fragment(instruction, rule.name if rule.name in set("abcd") else None)
    except PtxloomError:  # no map of it is known
        return ""
    if register >= held.registers:
        return ""
    return f"register {register} of {held.registers}: {register_line(held, register)}. {evidence(held)}"


def _number_of(instruction: Instruction, occurrence: Occurrence) -> int:
    """Which register of its operand a name is; -1 if it is not one of them."""
    match instruction.operands[occurrence.place]:
        case Vector(elements):
            starts = [one.start if isinstance(one, Name) else -1 for one in elements]
            return starts.index(occurrence.start) if occurrence.start in starts else -1
        case Name():
            return 0
        case _:
            return -1
