"""The one worklist: what holds at each node of a graph, joined from all that comes to it.

A problem is a lattice (`join`), a transfer (`step`) and a direction, which is what `step` takes for the nodes that come
next. Values may only rise, and only a bounded number of times: then there is one least answer, whatever the order.
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
    """What holds at each node that anything comes to.

    Args:
        starts: What holds at some nodes to begin with.
        step: From a node and what holds there: the nodes that come next, and what comes to each.
        join: Of two values that come to a node.

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
