"""Notes about possible slips, reported only if selected: unused names, dead code, a missing `ret`."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from ptxloom.checker.findings.report import name_span, word_span
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Diagnostic, Fix, Label, Severity
from ptxloom.readings.effects import stops, turns
from ptxloom.source import Span
from ptxloom.syntax.tree import (
    Alias,
    Block,
    BranchTargets,
    CallTargets,
    Declaration,
    Function,
    Instruction,
    Name,
    Section,
)
from ptxloom.syntax.tree import Label as Mark
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.flow import BasicBlock, FlowGraph
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Statement


def hints(module: Module, graphs: Sequence[FlowGraph]) -> Iterator[Diagnostic]:
    """The notes about a module; empty if a part of it could not be parsed and may hold what seems missing."""
    if any(one.severity is Severity.ERROR for one in module.diagnostics):
        return
    yield from _unused(module)
    for graph in graphs:
        if not graph.unresolved:
            yield from _dead(graph)
            yield from _falls_off(graph)


def _note(rule: str, message: str, span: Span, section: str) -> Diagnostic:
    return Diagnostic(rule, Severity.NOTE, message, span, section=section)


@dataclass(slots=True)
class _Braces:
    """The names that a pair of braces declares, and those that are used in it and not declared further inside."""

    declared: dict[str, Span] = field(default_factory=dict[str, Span])
    used: set[str] = field(default_factory=set[str])

    def unused(self) -> Iterator[tuple[str, Span]]:
        """What is declared and not used."""
        return (one for one in self.declared.items() if one[0] not in self.used)


def _unused(module: Module) -> Iterator[Diagnostic]:
    """Notes about names that are declared singly, for this module alone, and never used."""
    debug = _of_debuggers(module)
    for name, span in _never_mentioned(module):
        if name not in debug:
            yield _note("unused-name", f"`{name}` is declared and never used in this module", span, "5")


def _never_mentioned(module: Module) -> Iterator[tuple[str, Span]]:
    """The names that no statement mentions; sections of debug information are not looked at."""
    top = _Braces()
    for statement in module.statements:
        if isinstance(statement, Function):
            if statement.body is not None:
                inner = _Braces()
                yield from _inside(statement.body.statements, inner)
                top.used |= inner.used - inner.declared.keys()
            if statement.kind == "func" and not statement.linkage and statement.body is not None:
                top.declared[statement.name] = word_span(statement, statement.name)
        elif isinstance(statement, Alias):
            top.used |= {statement.name, statement.target}
        else:
            _mention(statement, top)
            if isinstance(statement, Declaration) and not statement.linkage:
                top.declared |= {one.name: name_span(statement, one) for one in statement.declarators}
    yield from top.unused()


def _of_debuggers(module: Module) -> set[str]:
    """The names that sections of debug information mention."""
    sections = (one for one in module.statements if isinstance(one, Section))
    return {name.text for one in sections for name in walk(one) if isinstance(name, Name)}


def _inside(statements: tuple[Statement, ...], braces: _Braces) -> Iterator[tuple[str, Span]]:
    """The unused names of braces and those inside them, without recursion."""
    waiting: list[tuple[tuple[Statement, ...], int, _Braces]] = [(statements, 0, braces)]
    while waiting:
        inside, at, here = waiting.pop()
        if at == len(inside):
            yield from here.unused()
            if waiting:
                waiting[-1][2].used |= here.used - here.declared.keys()
            continue
        waiting.append((inside, at + 1, here))
        one = inside[at]
        if isinstance(one, Block):
            waiting.append((one.statements, 0, _Braces()))
            continue
        _mention(one, here)
        if isinstance(one, Mark):
            if not one.name.startswith("$"):
                here.declared.setdefault(one.name, word_span(one, one.name))
        elif isinstance(one, Declaration):
            here.declared |= {each.name: name_span(one, each) for each in one.declarators if each.count is None}


def _mention(statement: Statement, braces: _Braces) -> None:
    """Note the names that a statement uses."""
    if type(statement) is Instruction:
        if statement.predicate is not None:
            braces.used.add(statement.predicate.name)
        for operand in statement.operands:
            if type(operand) is Name:
                braces.used.add(operand.text)
            else:
                braces.used.update(one.text for one in walk(operand) if type(one) is Name)
    elif isinstance(statement, (Declaration, BranchTargets, CallTargets)):
        braces.used.update(one.text for one in walk(statement) if isinstance(one, Name))


def _dead(graph: FlowGraph) -> Iterator[Diagnostic]:
    """One note for each unreachable stretch of code."""
    stretch: list[BasicBlock] = []
    for block in graph.blocks:
        if block.number in graph.unreachable:
            stretch.append(block)
        else:
            yield from _stretch(graph, stretch)
            stretch = []
    yield from _stretch(graph, stretch)


def _stretch(graph: FlowGraph, stretch: list[BasicBlock]) -> Iterator[Diagnostic]:
    """The note about unreachable blocks, if they do anything."""
    inside = [one for block in stretch for one in block.instructions]
    if all(turns(one) or stops(one) for one in inside):
        return
    span = Span(graph.function.source, inside[0].start, inside[-1].end)
    before = graph.blocks[stretch[0].number - 1].last
    why = () if before is None else (Label(before.span, "control does not continue past this, and nothing leads back"),)
    yield replace(_note("unreachable-code", "control never gets here", span, "9.7.12"), related=why)


def _falls_off(graph: FlowGraph) -> Iterator[Diagnostic]:
    """A body whose end is reached without `ret` or `exit`: ptxas adds a `ret`, the manual does not define it."""
    body = graph.function.body
    if body is None:
        return
    if any(block.leaves == "end" and block.number not in graph.unreachable for block in graph.blocks):
        end = Span(graph.function.source, body.end - 1, body.end)
        message = f"`{graph.function.name}` can reach its end without `ret` or `exit`"
        yield replace(_note("missing-return", message, end, "9.7.12"), fix=_return(end))


def _return(end: Span) -> Fix:
    """A `ret` in front of the brace that ends a body, on a line of its own if the brace has one."""
    source = end.source
    line = source.line_starts[end.line - 1]
    if source.text[line : end.start].strip():
        return Fix("add `ret;`", Span(source, end.start, end.start), "ret; ", is_safe=True)
    return Fix("add `ret;`", Span(source, line, line), "    ret;\n", is_safe=True)
