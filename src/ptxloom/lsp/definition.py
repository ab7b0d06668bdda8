"""Go to definition: a register that is read leads to its writers, any other name to its declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.effects import destinations
from ptxloom.flow.graph import flow_graph, never_returning
from ptxloom.flow.registers import RegisterWrites
from ptxloom.lsp.meaning import operand_rule, writes
from ptxloom.lsp.names import NameKind
from ptxloom.syntax.tree import Function, Instruction

if TYPE_CHECKING:
    from ptxloom.lsp.document import Document
    from ptxloom.lsp.names import Occurrence


def declarations(document: Document, offset: int) -> list[Occurrence]:
    """The declarations of the name at an offset, including the prototypes of a function."""
    found = document.names.at(offset)
    return [] if found is None else [one for one in document.names.alike(found) if one.declares]


def definitions(document: Document, offset: int) -> list[Occurrence]:
    """The writes of the register read at an offset; without any, or for other names, the declaration."""
    found = document.names.at(offset)
    return (_writers(document, found) if found is not None else []) or declarations(document, offset)


def _writers(document: Document, read: Occurrence) -> list[Occurrence]:
    """The writes that may reach a read, on any path; empty if nothing is read."""
    instruction = read.statement
    if read.symbol is None or read.symbol.kind is not NameKind.REGISTER or not isinstance(instruction, Instruction):
        return []
    function = _around(document, read.start)
    if function is None or not _reads(read, instruction):
        return []
    starts = _starts_of_writes(document, function, instruction, read.name)
    return [one for one in document.names.alike(read) if one.start in starts]


def _reads(occurrence: Occurrence, instruction: Instruction) -> bool:
    """Whether this occurrence of a register is read; some accumulators are read and written."""
    rule = operand_rule(instruction, occurrence.place)
    return not writes(occurrence) or (rule is not None and rule.updated)


def _around(document: Document, offset: int) -> Function | None:
    """The function around an offset."""
    functions = (one for one in document.module.statements if isinstance(one, Function))
    return next((one for one in functions if one.start <= offset < one.end), None)


def _starts_of_writes(document: Document, function: Function, instruction: Instruction, name: str) -> set[int]:
    """The offsets of the writes of a register that may reach an instruction."""
    graph = flow_graph(function, noreturn=never_returning(document.module))
    block = graph.block_at(instruction.start)
    if block is None:
        return set()
    position = next(at for at, one in enumerate(block.instructions) if one is instruction)
    registers = RegisterWrites(graph)
    seen = registers.reaching(block.number, position, registers.key(instruction, name))
    return {destinations(registers.instruction(one))[one.place].name.start for one in seen}
