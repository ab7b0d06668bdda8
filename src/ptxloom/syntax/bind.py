"""Finds an instruction's ISA form: named qualifiers and named operands, in any written order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.isa.form import Form, Qualifiers
from ptxloom.isa.resolution.forms import Resolution, resolve
from ptxloom.isa.resolution.mismatch import problems
from ptxloom.isa.vectors import looks
from ptxloom.source import Span
from ptxloom.syntax.tree import Address, Pair, Vector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.isa.resolution.problem import Problem
    from ptxloom.isa.spec import Feature
    from ptxloom.syntax.tree import Instruction, Operand


@dataclass(frozen=True, slots=True)
class Bound:
    """An instruction with its ISA form.

    Attributes:
        instruction: The instruction.
        resolution: The form of its qualifiers, and deviations that ptxas accepts.
    """

    instruction: Instruction
    resolution: Resolution

    @property
    def form(self) -> Form | None:
        """The form, or None if no form has the qualifiers; then `problems` explains why."""
        resolution = self.resolution
        return _meant(resolution, looks_of(self.instruction)) if resolution.others else resolution.form

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Why no form fits; empty if one does."""
        return problems(self.instruction.opcode, self.instruction.qualifiers)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that the form uses with the operands written; empty if no form fits."""
        form = self.form
        return () if form is None else tuple(each for each in form.features if self._has(each.operand))

    def _has(self, operand: str) -> bool:
        """Whether an operand is written, or the form has no optional operand of that name."""
        if not operand or self.form is None:
            return True
        slots = self.form.operands(len(self.instruction.operands))
        for slot, written in zip(slots, self.instruction.operands, strict=False):
            if slot.partner == operand:
                return isinstance(written, Pair)
            if operand in slot.spare and isinstance(written, Address):
                return operand in slot.inside(len(written.extra))
        return not slots or any(operand in slot.names for slot in slots)

    @property
    def qualifiers(self) -> Qualifiers:
        """The qualifiers by the manual's names; empty if no form fits.

        Example:
            >>> from ptxloom.syntax import parse
            >>> [it] = parse("ldmatrix.sync.aligned.x4.m8n8.b16 {a,b,c,d}, [e];").statements
            >>> bind(it).qualifiers.shape
            'm8n8'
        """
        return Qualifiers({}) if self.form is None else self.form.qualifiers

    @property
    def operands(self) -> Mapping[str, Operand]:
        """The operands by the manual's names; empty if no form fits or their number does not."""
        slots = () if self.form is None else self.form.operands(len(self.instruction.operands))
        names = (slot.name for slot in slots)
        return dict(zip(names, self.instruction.operands, strict=True)) if slots else {}

    def qualifier_span(self, place: int) -> Span:
        """The span of the qualifier at `place`, with its dot; -1 is the opcode."""
        return qualifier_span(self.instruction, place)


def looks_of(instruction: Instruction) -> str:
    """The syntax of an instruction's operands, a character each, as `isa.vectors.looks` for a form."""
    return "".join(map(_look, instruction.operands))


def form_by_looks(opcode: str, qualifiers: tuple[str, ...], seen: str) -> Form | None:
    """The form that matches the operands' syntax; None if no form has the qualifiers.

    Raises:
        UnsupportedForm: The data does not describe the opcode.
    """
    return _meant(resolve(opcode, qualifiers, len(seen)), seen)


def _meant(resolution: Resolution, seen: str) -> Form | None:
    """Of several forms with one spelling, the one whose operands match."""
    form, others = resolution.form, resolution.others
    if form is None or not others:
        return form
    return max((form, *others), key=lambda each: _likeness(looks(each, len(seen)), seen))


def _look(operand: Operand) -> str:
    """The syntax of an operand, as a character."""
    match operand:
        case Address():
            return "["
        case Vector():
            return "{"
        case Pair(first, _):
            return _look(first)
        case _:
            return "."


def _likeness(expected: str, written: str) -> int:
    """The number of operands with the expected syntax."""
    return sum(one == other for one, other in zip(expected, written, strict=False))


def bind(instruction: Instruction) -> Bound:
    """Bind an instruction to the ISA data.

    Raises:
        UnsupportedForm: The data does not describe the opcode; `isa.known(opcode)` tests that.
    """
    return Bound(instruction, resolve(instruction.opcode, instruction.qualifiers, len(instruction.operands)))


def qualifier_span(instruction: Instruction, place: int) -> Span:
    """The span of the qualifier at `place` of an instruction, with its dot; -1 is the opcode.

    The span of the whole statement for an instruction that was not parsed.
    """
    text = instruction.source.text
    guard = instruction.predicate
    start = text.find(instruction.opcode, instruction.start if guard is None else guard.end, instruction.end)
    end = start + len(instruction.opcode)
    for qualifier in instruction.qualifiers[: place + 1]:
        if start >= 0:
            start = text.find(f".{qualifier}", end, instruction.end)
            end = start + len(qualifier) + 1
    return instruction.span if start < 0 else Span(instruction.source, start, end)
