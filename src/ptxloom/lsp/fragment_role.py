"""What a register in the vector of a matrix instruction holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import PtxloomError
from ptxloom.fragments import fragment, fragment_operands
from ptxloom.lsp.meaning import operand_rule
from ptxloom.syntax.tree import Instruction, Name, Vector
from ptxloom.views.fragments.formulas import register_line
from ptxloom.views.fragments.prefaces import evidence

if TYPE_CHECKING:
    from ptxloom.lsp.names import Occurrence

_NAMES: Final = {"registers": "a", "factor": "a"}  # what the left factor of wgmma is called where it is in registers


def fragment_role(occurrence: Occurrence) -> str:
    """What every lane's register holds where a name stands in a matrix instruction; empty elsewhere."""
    instruction, place = occurrence.statement, occurrence.place
    if not isinstance(instruction, Instruction) or place < 0:
        return ""
    rule = operand_rule(instruction, place)
    register = _number_of(instruction, occurrence)
    if rule is None or register < 0:
        return ""
    try:
        operands = fragment_operands(instruction)
        name = _NAMES.get(rule.name, rule.name)
        if name not in operands and (None not in operands or rule.kind != "fragment"):
            return ""
        held = fragment(instruction, name if name in operands else None)
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
