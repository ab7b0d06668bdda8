"""Every instruction of the corpus binds to a form of the ISA data that takes its operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from corpus_files import CorpusFile, corpus_files
from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.isa import known
from ptxloom.syntax import instructions, parse
from ptxloom.syntax.bind import bind
from sweeps import part_and_whole

if TYPE_CHECKING:
    from ptxloom.syntax.tree import Instruction

FEWEST_SPELLINGS = 500


def problem(instruction: Instruction) -> str:
    """What is wrong with an instruction; empty if it has a form that takes that number of operands."""
    form, count = bind(instruction).form, len(instruction.operands)
    if form is None:
        return f"{instruction}: no form"
    return "" if count in form.counts else f"{instruction}: {count} operands, not {form.counts}"


@pytest.mark.parametrize("every", part_and_whole(4, 1))
def test_every_instruction_has_a_form(every: int) -> None:
    spellings = {
        (each.opcode, each.qualifiers, len(each.operands)): each
        for file in corpus_files()[::every]
        for each in instructions(parse(file.read()))
    }
    assert [opcode for opcode, _, _ in spellings if not known(opcode)] == []
    assert [said for each in spellings.values() if (said := problem(each))] == []
    assert len(spellings) > FEWEST_SPELLINGS


@pytest.mark.sample(every=21)
@pytest.mark.parametrize("file", corpus_files(), ids=lambda file: file.name)
def test_no_false_errors(file: CorpusFile) -> None:
    said = [finding for finding in check(parse(file.read())) if finding.severity is Severity.ERROR]
    assert said == []
