"""Rules about where branches go: to a label of the function that is visible here (PTX ISA 9.7.12, 11.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.core.suggestions import near_label
from ptxloom.checker.findings.report import error
from ptxloom.syntax.tree import BranchTargets, CallPrototype, CallTargets, Name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.scope import VisibleNames
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.tree import Instruction, Statement

_SECTION = "9.7.12"


def branch(instruction: Instruction, scope: VisibleNames) -> Iterator[Diagnostic]:
    """The findings about the label of a `bra` or the table of a `brx.idx`, if it is one at all."""
    place = 0 if instruction.opcode == "bra" else 1
    operand = instruction.operands[place] if len(instruction.operands) > place else None
    label = scope.label(operand.text) if isinstance(operand, Name) else None
    if not isinstance(operand, Name) or label is None:
        return
    after, span = label.statement, operand.span_in(instruction.source)
    if place == 0 and _is_directive(after):
        message = f"`bra` goes to an instruction, and `{operand.text}` names a directive"
        yield error("operand-kind", message, span, _SECTION, label="`brx.idx` takes a list of labels")
    elif place == 1 and not isinstance(after, BranchTargets):
        message = f"`brx.idx` takes a `.branchtargets`, and `{operand.text}` names none"
        yield error("operand-kind", message, span, _SECTION)
    elif place == 1 and after is not None and after.start > instruction.start:
        message = f"the list `{operand.text}` must come before the `brx.idx` that uses it"
        yield error("operand-kind", message, span, _SECTION)


def _is_directive(statement: Statement | None) -> bool:
    return isinstance(statement, (BranchTargets, CallTargets, CallPrototype))


def targets(table: BranchTargets, scope: VisibleNames) -> Iterator[Diagnostic]:
    """The findings about the labels that a `.branchtargets` lists."""
    for name in table.names:
        label = scope.label(name.text)
        if label is not None and _is_directive(label.statement):
            message = f"a branch goes to an instruction, and `{name.text}` names a directive"
            yield error("operand-kind", message, name.span_in(table.source), "11.3")
        elif label is None:
            span = name.span_in(table.source)
            advice, fix = near_label(name.text, span, scope.labels())
            message = f"`{name.text}` names no label of this function"
            yield error("undeclared-name", message, span, "11.3", label=advice, fix=fix)
