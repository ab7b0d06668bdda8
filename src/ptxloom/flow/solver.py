"""The worklist solver: the facts at each node of a graph, joined over all incoming edges.

A problem is a lattice (`join`), a transfer (`step`) and a direction, decided by the next nodes of `step`. Values may
only rise, and only a bounded number of times: then there is one least solution, whatever the order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

Node = TypeVar("Node", bound="Hashable")
Value = TypeVar("Value")


def solve(
    starts: Mapping[Node, Value],
    step: Callable[[Node, Value], Iterable[tuple[Node, Value]]],
    join: Callable[[Value, Value], Value],
) -> dict[Node, Value]:
    """The facts at each reachable node.

    Args:
        starts: The initial facts of some nodes.
        step: From a node and its facts: the next nodes, and the facts for each.
        join: Joins two values at a node.

    Example:
        >>> ways = {"a": "bc", "b": "d", "c": "d", "d": "b"}
        >>> found = solve({"a": {"a"}}, lambda at, seen: [(to, seen | {to}) for to in ways[at]], set.union)
        >>> sorted(found["d"])
        ['a', 'b', 'c', 'd']
    """
    held = dict(starts)
    waiting = dict.fromkeys(held)
    while waiting:
        node, _ = waiting.popitem()
        for target, value in step(node, held[node]):
            if target not in held:
                held[target] = value
            elif (joined := join(held[target], value)) != held[target]:
                held[target] = joined
            else:
                continue
            waiting[target] = None
    return held


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> dict[Node, None]:
    """The nodes that ways from some lead to, these among them, each once in the order in which they are found.

    Example:
        >>> list(reached("a", {"a": "bc", "b": "d", "c": "", "d": "a"}.__getitem__))
        ['a', 'b', 'c', 'd']
    """
    found = dict.fromkeys(starts)
    waiting = list(found)
    while waiting:
        for target in following(waiting.pop()):
            if target not in found:
                found[target] = None
                waiting.append(target)
    return found
