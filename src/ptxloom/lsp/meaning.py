"""How an instruction uses its operands, by its form: which it writes, which it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.effects import destinations
from ptxloom.isa import known
from ptxloom.syntax.bind import bind
from ptxloom.syntax.tree import Instruction

if TYPE_CHECKING:
    from ptxloom.isa.spec import OperandRule
    from ptxloom.lsp.names import Occurrence


def operand_rule(instruction: Instruction, place: int) -> OperandRule | None:
    """The ISA data of the operand at a place; None if no form has it."""
    if place < 0 or not known(instruction.opcode):
        return None
    bound = bind(instruction)
    slots = () if bound.form is None else bound.form.operands(len(instruction.operands))
    return bound.form.spec.operands[slots[place].name] if slots and bound.form else None


def writes(occurrence: Occurrence) -> bool:
    """Whether this occurrence of a register is written; registers in addresses are read."""
    instruction, place = occurrence.statement, occurrence.place
    if not isinstance(instruction, Instruction) or place < 0 or occurrence.declares:
        return False
    return any(one.name.start == occurrence.start for one in destinations(instruction))
