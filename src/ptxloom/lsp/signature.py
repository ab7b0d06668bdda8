"""The operands of the instruction that is being written, and the current one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.core.expected_operand import wanted
from ptxloom.dataclass import dataclass
from ptxloom.lsp.expected import expected
from ptxloom.lsp.unfinished import unfinished

if TYPE_CHECKING:
    from ptxloom.lsp.document import Document


@dataclass(frozen=True, slots=True)
class OperandHelp:
    """One operand.

    Attributes:
        start: The start of its name in the label.
        end: Its end.
        about: Its description.
    """

    start: int
    end: int
    about: str


@dataclass(frozen=True, slots=True)
class InstructionHelp:
    """An instruction with its operands.

    Attributes:
        label: The instruction in the spelling of its form, with the operands' names.
        parameters: The operands in order.
        active: The index of the one that is being written.
        about: A description of the instruction.
    """

    label: str
    parameters: tuple[OperandHelp, ...]
    active: int
    about: str


def signature(document: Document, offset: int) -> InstructionHelp | None:
    """The instruction whose operands are being written at an offset; None elsewhere.

    Example:
        >>> from ptxloom.lsp.document import Document
        >>> text = "add.s32 %r1, "
        >>> it = signature(Document(text), len(text))
        >>> it.label, it.active, it.parameters[1].about
        ('add.s32 d, a, b', 1, 'a `.s32` register or a constant: the first operand')
    """
    here = expected(unfinished(document, offset) or "")
    if here is None or here.wanted is None:
        return None
    form, label = here.form, f"{here.form.spelling} "
    parameters: list[OperandHelp] = []
    for slot in form.operands(form.counts[-1]):
        label += ", " * bool(parameters) + "[" * slot.bracketed
        want = wanted(form, form.spec.operands[slot.name])
        parameters.append(OperandHelp(len(label), len(label) + len(slot.name), f"{want.phrase}: {want.about}"))
        label += slot.name + (f"|{slot.partner}" if slot.partner else "")
        label += "".join(f", {name}" for name in slot.extra) + "]" * slot.bracketed
    return InstructionHelp(label, tuple(parameters), here.place, form.spec.title)
