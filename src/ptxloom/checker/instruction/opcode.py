"""The rule about opcodes: PTX has an instruction of that name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.diagnostics import Diagnostic, Fix, Severity
from ptxloom.isa.load import instruction_classes
from ptxloom.isa.spelling import near_misses
from ptxloom.syntax.bind import qualifier_span

if TYPE_CHECKING:
    from ptxloom.syntax.tree import Instruction

_MOST_HINTS = 100  # a text with more unknown opcodes than this is not PTX, and near misses cost time


def stranger(instruction: Instruction, hints: dict[str, str]) -> Diagnostic:
    """The finding that PTX has no such opcode.

    Args:
        instruction: The instruction with the opcode.
        hints: The near misses found so far, by opcode; this adds its own.
    """
    opcode, span = instruction.opcode, qualifier_span(instruction, -1)
    if opcode not in hints and len(hints) < _MOST_HINTS:
        hints[opcode] = next(iter(near_misses(opcode, instruction_classes())), "")
    near = hints.get(opcode, "")
    return Diagnostic(
        "unknown-instruction",
        Severity.ERROR,
        f"`{opcode}` is not an instruction of PTX",
        span,
        f"did you mean `{near}`?" if near else "",
        "9.7",
        fix=Fix(f"write `{near}`", span, near) if near else None,
    )
