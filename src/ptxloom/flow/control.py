"""Which branches decide whether a block runs, and where the paths that diverge at a branch meet again."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.flow.dominance import immediate_dominators, reachable, reverse_postorder
from ptxloom.lazy import cached_property
from ptxloom.solver import nearest, reached

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ptxloom.flow.graph import FlowGraph

_STEPS: Final = 256
"""Limit on visited blocks for all branches together, and branches for all blocks, per block; rarely reached."""


@dataclass(frozen=True, slots=True)
class Join:
    """A block where diverged lanes reconverge.

    Attributes:
        block: The block.
        sides: The predecessors that lanes come from, and the side of each: lanes from different sides had diverged.
    """

    block: int
    sides: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Parting:
    """The consequences of a divergent branch.

    Attributes:
        joins: Where diverged paths meet.
        loops: The loops (by place in `FlowGraph.loops`) that some lanes leave and others do not.
    """

    joins: tuple[Join, ...]
    loops: tuple[int, ...]


class Control:
    """The control dependences of a graph, computed on demand."""

    def __init__(self, graph: FlowGraph) -> None:
        self.graph = graph
        self.ways = self._ways()
        self._closures: dict[int, tuple[int, ...]] = {}
        self._partings: dict[int, Parting | None] = {}
        self._steps = self._further = _STEPS * (self.end + 1)  # that are left: after branches, and up from blocks

    @property
    def is_deep(self) -> bool:
        """Whether the search for branches above some block was cut short, because there are too many in all."""
        return self._further <= 0

    @property
    def end(self) -> int:
        """The number that stands for the function's end."""
        return len(self.graph.blocks)

    def forks(self, block: int) -> bool:
        """Whether control may go more than one way after a block."""
        return len(self.ways[block]) > 1

    def above(self, block: int) -> tuple[int, ...]:
        """The branches that decide whether lanes reach a block, the nearest first."""
        found = self._closures.get(block)
        if found is None:
            found = self._closures[block] = tuple(nearest(self._direct[block], self._further_up))
        return found

    def with_above(self, blocks: Iterable[int]) -> Iterator[int]:
        """Some blocks and the branches above them, each once; a block comes before its branches, the nearest first."""
        order: dict[int, None] = {}

        def new(block: int) -> list[int]:
            return [one for one in self._further_up(block) if one not in order]

        for block in blocks:
            if block not in order:
                order.update(dict.fromkeys(nearest([block], new)))
        return iter(order)

    def directly_above(self, block: int) -> list[int]:
        """The branches on which a block is directly control-dependent."""
        return self._direct[block]

    def _further_up(self, block: int) -> list[int]:
        """The branches on which a block is directly control-dependent; empty once the budget is spent."""
        if self.is_deep:
            return []
        self._further -= len(self._direct[block])
        return self._direct[block]

    def parting(self, branch: int) -> Parting | None:
        """Where the paths that leave a branch meet, and which loops they leave.

        Args:
            branch: The block that ends with the branch.

        Returns:
            The parting; None if earlier calls have used up the budget of steps.
        """
        if branch not in self._partings:
            self._partings[branch] = self._part(branch) if self._steps > 0 else None
        return self._partings[branch]

    def loops_around(self, block: int) -> Iterator[int]:
        """The loops that hold a block, by place in `FlowGraph.loops`, the innermost first."""
        at = self._innermost.get(block)
        while at is not None:
            yield at
            at = self.graph.loops[at].outer

    def _ways(self) -> list[tuple[int, ...]]:
        """Where control goes from each block, the function's end included; without what ends in a trap only."""
        blocks, end = self.graph.blocks, len(self.graph.blocks)
        ways = [
            (*after, end) if blocks[at].leaves and not blocks[at].is_fatal else after
            for at, after in enumerate(self.graph.successors)
        ]
        if all(ways):
            return ways
        return _without_traps(ways, self.graph.predecessors)

    @cached_property
    def postdominators(self) -> list[int]:
        """The immediate postdominator of each block; the end's number is its own."""
        backwards: list[list[int]] = [[] for _ in range(self.end + 1)]
        for at, after in enumerate(self.ways):
            for one in after:
                backwards[one].append(at)
        ending = reachable(backwards, self.end)
        for at in range(self.end - 1, -1, -1):
            if at not in ending:
                backwards[self.end].append(at)
                reachable(backwards, at, ending)
        return [self.end if one is None else one for one in immediate_dominators(backwards, self.end)]

    @cached_property
    def _direct(self) -> list[list[int]]:
        """For each block the branches that it depends on at once, unless they become too many."""
        found: list[list[int]] = [[] for _ in range(self.end + 1)]
        after = self.postdominators
        for at, ways in enumerate(self.ways):
            if len(ways) > 1 and at not in self.graph.unreachable:
                for one in ways:
                    runner = one
                    while runner not in (after[at], self.end) and not self.is_deep:
                        self._further -= 1
                        if found[runner][-1:] != [at]:
                            found[runner].append(at)
                        runner = after[runner]
        return found

    @cached_property
    def _innermost(self) -> dict[int, int]:
        """By block the innermost loop that holds it."""
        return {block: number for number, loop in enumerate(self.graph.loops) for block in loop.own}

    def leaving(self, loop: int) -> list[int]:
        """The branches that decide when a loop is left, including those in it that run only sometimes."""
        blocks = self.graph.loops[loop].blocks
        self._further -= len(blocks)
        if self.is_deep:
            return []
        forks = (block for block in blocks if self.forks(block))
        exits = [block for block in forks if any(one not in blocks for one in self.ways[block])]
        return [one for one in self.with_above(exits) if one in blocks]

    @cached_property
    def place(self) -> dict[int, int]:
        """Where each reachable block stands in reverse postorder; the end is last."""
        return {block: at for at, block in enumerate((*self.graph.order, self.end))}

    def _part(self, branch: int) -> Parting | None:
        """Propagate a label along each path; where two labels meet, diverged paths join.

        This follows the order of `place`; otherwise labels that are about to change would be propagated as well. The
        result depends on the order, so `solve` cannot be used.
        """
        labels = {one: one for one in self.ways[branch]}
        joins: set[int] = set()
        waiting: list[tuple[int, int]] = []
        for one in labels:
            heappush(waiting, (self.place[one], one))
        meeting = self.postdominators[branch]
        while waiting:
            _, at = heappop(waiting)
            self._steps -= 1
            if at in (branch, meeting, self.end):
                continue
            for one in self.ways[at]:
                if one not in labels:
                    labels[one] = labels[at]
                elif labels[one] != labels[at] and one not in joins:
                    labels[one] = one
                    joins.add(one)
                else:
                    continue
                heappush(waiting, (self.place[one], one))
        joins.discard(self.end)
        met = tuple(Join(one, tuple(self._sides(branch, one, meeting, labels))) for one in joins)
        self._steps -= sum(len(self.graph.predecessors[one]) for one in joins)
        left = tuple(self._left(branch, labels))
        return Parting(met, left) if self._steps > 0 else None

    def _sides(self, branch: int, join: int, meeting: int, labels: dict[int, int]) -> Iterator[tuple[int, int]]:
        for one in self.graph.predecessors[join]:
            if one == branch:
                yield one, join
            elif one in labels and one != meeting and join in self.ways[one]:
                yield one, labels[one]

    def _left(self, branch: int, labels: dict[int, int]) -> list[int]:
        """The loops around a branch that lanes on some of its paths leave while others iterate again."""
        found: list[int] = []
        for number in self.loops_around(branch):
            loop = self.graph.loops[number]
            self._steps -= len(loop.blocks)
            if self._steps <= 0:
                break
            if loop.header not in labels:
                continue
            onward = labels[loop.header]
            for at in loop.blocks:
                if at != branch and at not in labels:
                    continue
                out = [one for one in self.ways[at] if one not in loop.blocks and one in labels]
                if any((one if at == branch else labels[at]) != onward or labels[one] != onward for one in out):
                    found.append(number)
                    break
        return found


def _without_traps(ways: list[tuple[int, ...]], predecessors: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Ways without those into blocks from which all end in a trap: that lead neither to the end nor round a loop."""
    count = len(ways)  # the number of the end, too
    place = {at: place for place, at in enumerate(reverse_postorder([*ways, (), range(count)], count + 1))}
    lasting = (at for at, after in enumerate(ways) if any(one == count or place[one] <= place[at] for one in after))
    kept = {count, *reached(lasting, predecessors.__getitem__)}
    return [tuple(one for one in after if one in kept) for after in ways]
