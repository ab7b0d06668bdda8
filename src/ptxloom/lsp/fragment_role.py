"""The contents of a register in the vector of a matrix instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import PtxloomError
from ptxloom.fragments import fragment, fragment_operands
from ptxloom.lsp.meaning import operand_rule
from ptxloom.syntax.tree import Instruction, Name, Vector
from ptxloom.views.fragments.formulas import register_line
from ptxloom.views.fragments.prefaces import evidence

if TYPE_CHECKING:
    from ptxloom.fragments import Fragment
    from ptxloom.lsp.names import Occurrence

_NAMES: Final = {"registers": "a", "factor": "a"}  # wgmma's left factor in registers


def fragment_role(occurrence: Occurrence) -> str:
    """The contents, in every lane, of a register named in a matrix instruction; empty elsewhere."""
    found = held_in(occurrence)
    return "" if found is None else role(*found)


def role(held: Fragment, register: int) -> str:
    """The contents of a register in every lane."""
    return f"register {register} of {held.registers}: {register_line(held, register)}. {evidence(held)}"


def held_in(occurrence: Occurrence) -> tuple[Fragment, int] | None:
    """The fragment and register number of a name in a matrix instruction; None elsewhere."""
    instruction, place = occurrence.statement, occurrence.place
    if not isinstance(instruction, Instruction) or place < 0:
        return None
    register = _number_of(instruction, occurrence)
    held = _held(instruction, place) if register >= 0 else None
    return (held, register) if held is not None and register < held.registers else None


def _held(instruction: Instruction, place: int) -> Fragment | None:
    """The fragment that an operand holds, or None if it holds no part of a matrix (a descriptor, for example)."""
    rule = operand_rule(instruction, place)
    if rule is None or (rule.kind == "factor" and not isinstance(instruction.operands[place], Vector)):
        return None
    name = _NAMES.get(rule.name, rule.name)
    try:
        operands = fragment_operands(instruction)
        if name in operands:
            return fragment(instruction, name)
        return fragment(instruction) if None in operands and rule.kind == "fragment" else None
    except PtxloomError:  # it has no known map
        return None


def _number_of(instruction: Instruction, occurrence: Occurrence) -> int:
    """The index of a name among its operand's registers; -1 if it is not one of them."""
    match instruction.operands[occurrence.place]:
        case Vector(elements):
            starts = [one.start if isinstance(one, Name) else -1 for one in elements]
            return starts.index(occurrence.start) if occurrence.start in starts else -1
        case Name():
            return 0
        case _:
            return -1
