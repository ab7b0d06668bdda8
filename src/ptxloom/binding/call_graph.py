"""What a call names, what a kernel can call, and what runs before a function returns (PTX ISA 7.1, 9.7.12.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ptxloom.dataclass import dataclass
from ptxloom.solver import reached
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from ptxloom.syntax.module import Module

Node = TypeVar("Node")


@dataclass(frozen=True, slots=True)
class Call:
    """The operands of a call, by what they are.

    Attributes:
        results: What it returns.
        callee: The function, or the register that holds its address.
        passed: Its arguments.
        targets: Of a call through a register the list of its candidates, or their prototype.
        listed: Whether there is a list of what is passed, perhaps an empty one.
    """

    results: tuple[tree.Operand, ...]
    callee: tree.Operand
    passed: tuple[tree.Operand, ...] = ()
    targets: tree.Operand | None = None
    listed: bool = False


def call_of(instruction: tree.Instruction) -> Call | None:
    """What a call names; None if it is not a call, or names no function.

    Example:
        >>> from ptxloom.syntax import parse
        >>> found = call_of(parse("call (r), f, (a, b);").statements[0])
        >>> found.callee.text, [one.text for one in found.passed]
        ('f', ['a', 'b'])
    """
    if instruction.opcode != "call":
        return None
    results: tuple[tree.Operand, ...] = ()
    operands = instruction.operands
    if operands and isinstance(operands[0], tree.Arguments):
        results, operands = operands[0].elements, operands[1:]
    if not operands:
        return None
    callee, rest = operands[0], operands[1:]
    if rest and isinstance(rest[0], tree.Arguments):
        return Call(results, callee, rest[0].elements, rest[1] if len(rest) > 1 else None, listed=True)
    return Call(results, callee, (), rest[0] if rest else None)


def called(instruction: tree.Instruction) -> str:
    """The name that a call goes to, a function's or a register's; empty if it is not a call."""
    found = call_of(instruction)
    return found.callee.text if found is not None and isinstance(found.callee, tree.Name) else ""


def reachable(module: Module, entry: tree.Function) -> tuple[tree.Function, ...]:
    """The functions an entry can call, in the order of the text, the entry last."""
    bodies = {f.name: f for f in module.functions.values() if f.body is not None and f.kind == "func"}
    for statement in module.statements:
        if isinstance(statement, tree.Alias) and statement.target in bodies:
            bodies[statement.name] = bodies[statement.target]
    if not bodies:
        return (entry,)
    declared = (d for one in module.statements if isinstance(one, tree.Declaration) for d in one.declarators)
    tables = (one.initializer for one in declared if one.initializer is not None)  # of functions' addresses

    def named(node: tree.Node) -> list[str]:
        return [name for name in names_in(node) if name in bodies]

    named_first = [name for node in (entry, *tables) for name in named(node)]
    wanted = {bodies[name].name for name in reached(named_first, lambda name: named(bodies[name]))}
    return (*(f for f in bodies.values() if f.name in wanted and bodies.get(f.name) is f), entry)


def names_in(node: tree.Node) -> Iterator[str]:
    """Every name in a part of a tree."""
    for inner in walk(node):
        if isinstance(inner, tree.Name):
            yield inner.text


def reached_from(calls: Mapping[Node, AbstractSet[Node]]) -> Mapping[Node, frozenset[Node]]:
    """Which functions run before a function returns, itself included.

    Args:
        calls: The functions that each function calls.

    Example:
        >>> sorted(reached_from({0: {1}, 1: {2}, 2: {1}})[0])
        [0, 1, 2]
    """
    return {function: frozenset(reached((function,), calls.__getitem__)) for function in calls}
