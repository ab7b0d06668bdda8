"""Inlay hints: the parts of matrices that registers hold, and a profile's counts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ptxloom.isa import instruction_spec, known
from ptxloom.lsp.conflicts import conflicts
from ptxloom.lsp.fragment_role import held_in, role
from ptxloom.lsp.hints import Hint
from ptxloom.syntax.tree import Instruction
from ptxloom.views.fragments.formulas import register_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.lsp.document import Document


def hints(document: Document, start: int, end: int) -> Iterator[Hint]:
    """The hints in a range of text, if the settings enable them."""
    if not document.settings.inlay_hints:
        return
    words: dict[tuple[str, str, int], tuple[str, str]] = {}  # a program repeats the same instructions
    for one in document.names.between(start, end):
        if isinstance(one.statement, Instruction) and _has_matrices(one.statement.opcode):
            found = held_in(one)
            if found is None:
                continue
            held, register = found
            key = held.spelling, held.operand, register
            if key not in words:
                words[key] = register_part(held, register), role(held, register)
            yield Hint(one.end, *words[key])
    yield from conflicts(document, start, end)


@cache
def _has_matrices(opcode: str) -> bool:
    """Whether some operand of an opcode may hold a part of a matrix."""
    rules = instruction_spec(opcode).operands.values() if known(opcode) else ()
    return any(rule.kind in {"fragment", "factor"} for rule in rules)
