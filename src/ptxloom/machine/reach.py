"""Which functions a kernel can call, and which of them call themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.symbols import FunctionName
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.machine.program import Program
    from ptxloom.syntax.module import Module


def reachable(module: Module, entry: tree.Function) -> tuple[tree.Function, ...]:
    """The functions an entry can call, in the order of the text, the entry last."""
    bodies = {f.name: f for f in module.functions.values() if f.body is not None and f.kind == "func"}
    for statement in module.statements:
        if isinstance(statement, tree.Alias) and statement.target in bodies:
            bodies[statement.name] = bodies[statement.target]
    if not bodies:
        return (entry,)
    reached = set[str]()
    waiting: list[tree.Node] = [entry]
    for statement in module.statements:  # tables of function addresses
        if isinstance(statement, tree.Declaration):
            waiting.extend(d.initializer for d in statement.declarators if d.initializer is not None)
    while waiting:
        for name in _names(waiting.pop()):
            if name in bodies and name not in reached:
                reached.add(name)
                waiting.append(bodies[name])
    wanted = {bodies[name].name for name in reached}
    return (*(f for f in bodies.values() if f.name in wanted and bodies.get(f.name) is f), entry)


def _names(node: tree.Node) -> Iterator[str]:
    for inner in walk(node):
        if isinstance(inner, tree.Name):
            yield inner.text


def mark_recursion(program: Program) -> None:
    """Mark the functions that can be entered again before they return; indirect calls reach any function."""
    calls: Mapping[int, set[int]] = {f.number: set() for f in program.functions}
    for op in program.ops:
        if op.opcode != "call":
            continue
        found = {s.number for name in _names(op.node) if isinstance(s := op.scope.find(name), FunctionName)}
        if not found:
            found = {f.number for f in program.functions if not f.is_entry}
        calls[op.function.number].update(found)
    for function in program.functions:
        seen = set[int]()
        waiting = list(calls[function.number])
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                waiting.extend(calls[number])
        function.recursive = function.number in seen
