"""Which functions a kernel can call, and which run before another returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


def reached_from(calls: Mapping[int, set[int]]) -> Mapping[int, frozenset[int]]:
    """Which functions run before a function returns, itself included.

    Args:
        calls: Whom each function calls.

    Example:
        >>> sorted(reached_from({0: {1}, 1: {2}, 2: {1}})[0])
        [0, 1, 2]
    """
    reached: dict[int, frozenset[int]] = {}
    for function in calls:
        seen = set[int]()
        waiting = [function]
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                waiting.extend(calls[number])
        reached[function] = frozenset(seen)
    return reached
