"""The memory consistency model of PTX (ISA 8.4 to 8.9) as a graph: which accesses of one execution race.

Causality order is base causality order, and what observation order adds to it (8.9.5): a write that a read has seen
comes before whatever the read precedes.

It knows no clocks. Every operation is a node; program order, barriers and what release patterns hand to acquire
patterns are edges, found from the values that reads have seen. Fences `.sc` that could come in one order only are
joined, too: two whose scopes hold each other, where something behind the first has been seen before the second.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Thread: TypeAlias = tuple[int, int, int]  # cluster, CTA of the grid, thread of the CTA
SCOPES: Final = ("cta", "cluster", "gpu", "sys")
RELEASES: Final = frozenset({"release", "acq_rel", "sc"})
ACQUIRES: Final = frozenset({"acquire", "acq_rel", "sc"})


def holds(scope: str, one: Thread, other: Thread) -> bool:
    """Whether a scope, of an operation by one thread, holds another thread."""
    return {"cta": one[:2] == other[:2], "cluster": one[0] == other[0]}.get(scope, True)


@dataclass(frozen=True)
class Node:
    """One operation of one thread; a memory operation has a place, and is strong if it has a scope."""

    step: int
    who: Thread
    sem: str = ""  # relaxed, acquire, release, acq_rel, sc
    scope: str = ""
    place: str = ""
    at: range = range(0)
    reads: bool = False
    writes: bool = False
    proxy: str = "generic"
    fences: str = ""  # "async" for a fence between the proxies

    @property
    def is_fence(self) -> bool:
        """A memory fence."""
        return bool(self.sem) and not self.place


def are_morally_strong(one: Node, other: Node) -> bool:
    """PTX ISA 8.7, of operations of two threads."""
    if not (one.scope and other.scope and one.proxy == other.proxy):
        return False
    if not (holds(one.scope, one.who, other.who) and holds(other.scope, other.who, one.who)):
        return False
    return one.is_fence or other.is_fence or (one.place, one.at) == (other.place, other.at)


@dataclass
class Execution:
    """What threads have done, in any order between threads, and what each read has seen.

    Attributes:
        nodes: All operations; those of one thread in program order.
        seen: For each reading node, by its number, the nodes whose writes it has seen.
    """

    nodes: list[Node] = field(default_factory=list[Node])
    edges: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    seen: dict[int, set[int]] = field(default_factory=dict[int, set[int]])
    _last: dict[Thread, int] = field(default_factory=dict[Thread, int])
    _below: list[int] = field(default_factory=list[int])
    _observed: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def add(self, node: Node, *, ordered: bool = True) -> int:
        """Another operation: the next of its thread, unless an asynchronous one, which is only behind the last."""
        number = len(self.nodes)
        self.nodes.append(node)
        if node.who in self._last:
            self.edges.add((self._last[node.who], number))
        if ordered:
            self._last[node.who] = number
        return number

    def meet(self, step: int, threads: Iterable[Thread], *, relaxed: bool = False) -> None:
        """A barrier; a relaxed one orders what lies before a fence that holds the cluster (8.8: a release pattern)."""
        arrivals = {who: self.add(Node(step, who)) for who in threads}
        waits = {who: self.add(Node(step, who)) for who in arrivals}
        for who, arrival in arrivals.items():
            sources = {arrival}
            if relaxed:
                sources = {n for n in self._of(who, lambda n: n.is_fence and n.sem in RELEASES) if n < arrival}
                sources = {n for n in sources if self.nodes[n].scope != "cta"}
            self.edges |= {(source, wait) for source in sources for wait in waits.values()}

    def comes_before(self, one: int, other: int) -> bool:
        """Whether one node precedes another in base causality order; call `close` first."""
        return bool(self._below[one] >> other & 1)

    def close(self) -> None:
        """Find all that synchronizes, and what it makes of causality order."""
        observed = self._observed = self._observation_order()
        self._synchronize(observed)
        fences = [n for n, node in enumerate(self.nodes) if node.is_fence and node.sem == "sc"]
        more = True
        while more:
            self._below = self._closure()
            more = False
            for one, other in permutations(fences, 2):
                if self.comes_before(one, other) or not are_morally_strong(self.nodes[one], self.nodes[other]):
                    continue
                if any(self._is_behind(one, w) and self._is_behind(r, other) for w, r in observed):
                    self.edges.add((one, other))
                    more = True

    def races(self, are_equal: Callable[[Node, Node], bool]) -> dict[tuple[int, int, str], bool]:
        """Steps that are in a data race, and where; weak stores of equal values do not race.

        Whether they have to be found: not if a write has overtaken the first.
        """
        found: dict[tuple[int, int, str], bool] = {}
        places: dict[str, list[int]] = defaultdict(list)
        for number, node in enumerate(self.nodes):
            if node.place:
                places[node.place].append(number)
        for place, numbers in places.items():
            for i, j in combinations(numbers, 2):
                one, other = self.nodes[i], self.nodes[j]
                if one.who == other.who and one.proxy == other.proxy == "generic":
                    continue
                if not (one.writes or other.writes) or not set(one.at) & set(other.at):
                    continue
                if are_morally_strong(one, other) or self._are_ordered(i, j) or self._are_ordered(j, i):
                    continue
                if one.writes and other.writes and not (one.scope or other.scope) and are_equal(one, other):
                    continue
                race = (min(one.step, other.step), max(one.step, other.step), place)
                overtaken = self.is_overtaken(i, j) or self.is_overtaken(j, i)
                found[race] = found.get(race, False) or not overtaken
        return found

    def is_overtaken(self, one: int, other: int) -> bool:
        """Whether a write between two accesses is ordered with both, so that the first need not be named.

        Causality order is not transitive: of two stores of a thread only the last may have been seen.
        """
        return any(
            node.writes and self._are_ordered(one, number) and self._are_ordered(number, other)
            for number, node in enumerate(self.nodes)
            if node.place == self.nodes[one].place
        )

    def _are_ordered(self, one: int, other: int) -> bool:
        """Causality order: by itself, or as a read has seen the first of the two, and precedes the second."""
        return self._is_preserved(one, other) or any(
            write == one and self._is_preserved(read, other) for write, read in self._observed
        )

    def _is_preserved(self, one: int, other: int) -> bool:
        """Base causality order, which between proxies needs a fence; the end of an asynchronous operation is one."""
        if not self.comes_before(one, other):
            return False
        if self.nodes[one].proxy == self.nodes[other].proxy or self.nodes[one].proxy == "async":
            return True
        fences = (n for n, node in enumerate(self.nodes) if node.fences == "async")
        return any(self.comes_before(one, n) and self.comes_before(n, other) for n in fences)

    def _is_behind(self, one: int, other: int) -> bool:
        return one == other or self.comes_before(one, other)

    def _of(self, who: Thread, wanted: Callable[[Node], bool]) -> list[int]:
        return [n for n, node in enumerate(self.nodes) if node.who == who and wanted(node)]

    def _observation_order(self) -> set[tuple[int, int]]:
        """Writes, and the reads that have seen them, at once or through atomic operations between them."""
        pairs = {
            (source, number)
            for number, sources in self.seen.items()
            for source in sources
            if are_morally_strong(self.nodes[source], self.nodes[number])
            or self._is_own(self.nodes[source], self.nodes[number])
        }
        more = True
        while more:
            new = {(w, r) for w, z in pairs for y, r in pairs if z == y and self.nodes[z].writes} - pairs
            pairs |= new
            more = bool(new)
        return pairs

    @staticmethod
    def _is_own(one: Node, other: Node) -> bool:
        """Morally strong, too: related in program order, and overlapping completely."""
        return one.who == other.who and (one.place, one.at) == (other.place, other.at)

    def _synchronize(self, observed: set[tuple[int, int]]) -> None:
        """Release patterns synchronize with acquire patterns (8.8, 8.9.4).

        One pattern is left out, as racecheck does not know it: a relaxed read, then an acquire operation on the same
        place that sees something else.
        """
        for write, read in observed:
            place = self.nodes[write].place
            firsts = [n for n in self._patterns(write, RELEASES, place) if n <= write]
            lasts = [
                n for n in self._patterns(read, ACQUIRES, place) if n == read or (n > read and self.nodes[n].is_fence)
            ]
            for first in firsts:
                for last in lasts:
                    if are_morally_strong(self.nodes[first], self.nodes[last]):
                        self.edges.add((first, last))

    def _patterns(self, number: int, sems: frozenset[str], place: str) -> list[int]:
        """The fences of a node's thread, and its operations on a place, of some semantics."""
        return self._of(self.nodes[number].who, lambda n: n.sem in sems and (n.is_fence or n.place == place))

    def _closure(self) -> list[int]:
        """For each node the set of those behind it, as bits."""
        below = [0] * len(self.nodes)
        for one, other in self.edges:
            below[one] |= 1 << other
        more = True
        while more:
            more = False
            for number, bits in enumerate(below):
                wider = bits
                left = bits
                while left:
                    low = left & -left
                    wider |= below[low.bit_length() - 1]
                    left ^= low
                if wider != bits:
                    below[number] = wider
                    more = True
        return below
