"""Orders and dominators of a graph whose nodes are numbers, in near-linear time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.solver import reached

if TYPE_CHECKING:
    from collections.abc import Sequence

    Ways = Sequence[Sequence[int]]


def reachable(ways: Ways, root: int, found: set[int] | None = None) -> set[int]:
    """The nodes reachable from `root`, including itself; with `found`, they are added to it."""
    known = set[int]() if found is None else found
    known.update(reached((root,), lambda at: [one for one in ways[at] if one not in known]))
    return known


def reverse_postorder(ways: Ways, root: int) -> list[int]:
    """The reachable nodes, each before its successors, as far as cycles allow."""
    seen = {root}
    left: list[int] = []
    path = [(root, iter(ways[root]))]
    while path:
        node, rest = path[-1]
        target = next((one for one in rest if one not in seen), None)
        if target is None:
            left.append(node)
            path.pop()
        else:
            seen.add(target)
            path.append((target, iter(ways[target])))
    return left[::-1]


def immediate_dominators(ways: Ways, root: int) -> list[int | None]:
    """The immediate dominator of each node; None for the root and for nodes that it does not reach.

    The method of Lengauer and Tarjan (1979) in its simple form: O(m log n).
    """
    numbers, parents = _depth_first(ways, root)
    place = {node: at for at, node in enumerate(numbers)}
    before: list[list[int]] = [[] for _ in numbers]
    for at, node in enumerate(numbers):
        for target in ways[node]:
            before[place[target]].append(at)
    forest = _Forest(len(numbers))
    waiting: list[list[int]] = [[] for _ in numbers]  # the nodes whose semidominator this is
    found = [0] * len(numbers)
    for at in range(len(numbers) - 1, 0, -1):
        forest.semi[at] = min(forest.semi[forest.least(one)] for one in before[at])
        waiting[forest.semi[at]].append(at)
        forest.parent[at] = parents[at]
        for one in waiting[parents[at]]:
            least = forest.least(one)
            found[one] = least if forest.semi[least] < forest.semi[one] else parents[at]
        waiting[parents[at]].clear()
    result: list[int | None] = [None] * len(ways)
    for at in range(1, len(numbers)):
        if found[at] != forest.semi[at]:
            found[at] = found[found[at]]
        result[numbers[at]] = numbers[found[at]]
    return result


def _depth_first(ways: Ways, root: int) -> tuple[list[int], list[int]]:
    """The nodes in the order of a depth-first walk, and the place in it of each one's parent."""
    place = {root: 0}
    numbers, parents = [root], [0]
    path = [(0, iter(ways[root]))]
    while path:
        at, rest = path[-1]
        target = next((one for one in rest if one not in place), None)
        if target is None:
            path.pop()
            continue
        place[target] = len(numbers)
        numbers.append(target)
        parents.append(at)
        path.append((place[target], iter(ways[target])))
    return numbers, parents


class _Forest:
    """Trees that grow together, their paths compressed; `semi` starts as each node itself."""

    def __init__(self, size: int) -> None:
        self.parent: list[int | None] = [None] * size
        self.semi = list(range(size))
        self._label = list(range(size))

    def least(self, node: int) -> int:
        """The node with the least semidominator on the path from `node` up to, but excluding, its tree's root."""
        path: list[int] = []
        at = node
        while (above := self.parent[at]) is not None and self.parent[above] is not None:
            path.append(at)
            at = above
        for one in reversed(path):
            above = self.parent[one]
            if above is None:
                continue
            if self.semi[self._label[above]] < self.semi[self._label[one]]:
                self._label[one] = self._label[above]
            self.parent[one] = self.parent[above]
        return self._label[node]
