"""Facts over a graph: the worklist solver, and how far ways lead. No other module has a worklist of its own for that.

A problem is a lattice (`join`), a transfer (`step`) and a direction, decided by the next nodes of `step`. Values may
only rise, and only a bounded number of times: then there is one least solution, whatever the order. Where only the
nodes count, `reached` and `nearest` find them. `OnDemand` finds the facts of some nodes, and of those that they follow
from, which are known only once a node is evaluated.

`tests/unit/test_one_solver.py` finds loops that look alike, and says of each what else it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

Node = TypeVar("Node", bound="Hashable")
Value = TypeVar("Value")


def solve(
    starts: Mapping[Node, Value],
    step: Callable[[Node, Value], Iterable[tuple[Node, Value]]],
    join: Callable[[Value, Value], Value],
) -> dict[Node, Value]:
    """The facts at each reachable node.

    Args:
        starts: The initial facts of some nodes; the last of them is looked at first.
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


def nearest(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """The same nodes, the nearest first: breadth first. What follows a node is looked up once the next one is taken.

    So who has seen enough may stop.

    Example:
        >>> from itertools import islice
        >>> list(islice(nearest([1], lambda one: (2 * one, 3 * one)), 6))
        [1, 2, 3, 4, 6, 9]
    """
    found = dict.fromkeys(starts)
    waiting = deque(found)
    while waiting:
        node = waiting.popleft()
        yield node
        for target in following(node):
            if target not in found:
                found[target] = None
                waiting.append(target)


class OnDemand(ABC, Generic[Node, Value]):
    """Facts as far as they are asked for; a node is evaluated again when a fact that it follows from has risen.

    What has been found is kept: later questions begin with it.
    """

    def __init__(self, unfounded: Value) -> None:
        self._unfounded = unfounded  # the fact of a node that follows from nothing but itself
        self._facts: dict[Node, Value] = {}
        self._users: dict[Node, dict[Node, None]] = {}
        self._sources: dict[Node, dict[Node, None]] = {}  # the same the other way round
        self._numbers: dict[Node, int] = {}  # when something was first known of a node, and when it was first used
        self._use_numbers: dict[Node, int] = {}
        self._asked: set[Node] = set()
        self._open: set[Node] = set()  # of these, the nodes without facts yet
        self._waiting: dict[Node, None] = {}
        self._late = OrderedDict[Node, None]()
        self._looking: Node | None = None

    @abstractmethod
    def _evaluate(self, node: Node) -> Value | None:
        """The fact of a node by those that are known so far (`_known`); None if too few are."""

    @abstractmethod
    def _joined(self, node: Node, before: Value, fresh: Value) -> Value:
        """A node's fact so far, and that of its last evaluation, as one."""

    @abstractmethod
    def _is_late(self, node: Node) -> bool:
        """Whether a node waits until nothing else does, because much may come to it."""

    @abstractmethod
    def _risen(self, node: Node, fact: Value) -> None:
        """What else follows when a node's fact has risen."""

    def _settled(self, node: Node) -> Value:
        """The fact of a node."""
        self._ask(node)
        self._settle()
        return self._facts.get(node, self._unfounded)

    def _ask(self, node: Node) -> None:
        """Evaluate a node, the next time that facts settle, unless it has been asked for before."""
        if node not in self._asked:
            self._asked.add(node)
            self._open.add(node)
            self._look_again(node)

    def _known(self, node: Node) -> Value | None:
        """What is known so far of something that the node at hand follows from; any change is passed on to that one."""
        if self._looking is not None:
            self._users.setdefault(node, {})[self._looking] = None
            self._sources.setdefault(self._looking, {})[node] = None
            self._use_numbers.setdefault(node, len(self._use_numbers))
        self._ask(node)
        return self._facts.get(node)

    def _look_again(self, node: Node) -> None:
        (self._late if self._is_late(node) else self._waiting)[node] = None

    def _settle(self) -> None:
        while self._waiting or self._late:
            node, _ = self._waiting.popitem() if self._waiting else self._late.popitem(last=False)
            self._looking = node
            fresh = self._evaluate(node)
            self._looking = None
            if fresh is None:
                continue
            before = self._facts.get(node)
            if before is not None:
                fresh = self._joined(node, before, fresh)
            if fresh != before:
                self._facts[node] = fresh
                self._numbers.setdefault(node, len(self._numbers))
                self._open.discard(node)
                for user in self._users.get(node, {}):
                    self._look_again(user)
                self._risen(node, fresh)
        for node in self._open:
            self._facts[node] = self._unfounded
            self._numbers.setdefault(node, len(self._numbers))
        self._open.clear()
