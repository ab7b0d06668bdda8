"""The natural loops of a graph and how they nest.

Loops with different headers share no block, or one is in the other. So all blocks fit in one row in which those of each
loop, with its inner loops, are contiguous: a nest takes space proportional to its blocks, however deep it is.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


class Blocks(AbstractSet[int]):
    """The blocks of a loop, a set that is a part of a row shared by all loops.

    Args:
        row: The blocks of all loops.
        places: The place of each in it.
        start: Where those of this loop begin.
        stop: Where they end.
    """

    __slots__ = ("_places", "_row", "_start", "_stop")

    def __init__(self, row: Sequence[int], places: dict[int, int], start: int, stop: int) -> None:
        self._row = row
        self._places = places
        self._start = start
        self._stop = stop

    def __contains__(self, block: object) -> bool:
        return isinstance(block, int) and self._start <= self._places.get(block, -1) < self._stop

    def __iter__(self) -> Iterator[int]:
        return iter(self._row[self._start : self._stop])

    def __len__(self) -> int:
        return self._stop - self._start

    def __hash__(self) -> int:
        return self._hash()

    @classmethod
    def _from_iterable(cls, it: Iterable[int]) -> frozenset[int]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return frozenset(it)


@dataclass(frozen=True, slots=True)
class Loop:
    """Blocks that can run repeatedly, entered only at the header.

    Attributes:
        header: The block that every round starts with.
        blocks: All its blocks, the header and those of inner loops among them.
        own: Those of its blocks that are in no inner loop.
        latches: The blocks that lead back to the header.
        depth: 1 for a loop that is in no other.
        outer: The innermost loop that it is in, by place among the graph's loops; None if it is in no other.
    """

    header: int
    blocks: AbstractSet[int]
    own: tuple[int, ...]
    latches: tuple[int, ...]
    depth: int
    outer: int | None


def natural_loops(
    order: Sequence[int],
    successors: Sequence[Sequence[int]],
    predecessors: Sequence[Sequence[int]],
    dominates: Callable[[int, int], bool],
) -> tuple[Loop, ...]:
    """The loops by the place of their headers in `order`, which is a reverse postorder."""
    place = {number: at for at, number in enumerate(order)}
    latches: dict[int, list[int]] = {}
    for number in order:
        for target in successors[number]:
            if place[target] <= place[number] and dominates(target, number):
                latches.setdefault(target, []).append(number)
    headers = sorted(latches, key=place.__getitem__)  # an outer header comes before an inner one
    own, inner = _members(headers, latches, predecessors, place)
    row, spans = _row(headers, own, inner)
    places = {block: at for at, block in enumerate(row)}
    number_of = {header: number for number, header in enumerate(headers)}
    outer = {one: header for header in headers for one in inner[header]}
    depth: dict[int, int] = {}
    for header in headers:
        depth[header] = depth[outer[header]] + 1 if header in outer else 1
    return tuple(
        Loop(
            header,
            Blocks(row, places, *spans[header]),
            tuple(own[header]),
            tuple(latches[header]),
            depth[header],
            number_of[outer[header]] if header in outer else None,
        )
        for header in headers
    )


def _members(
    headers: Sequence[int], latches: dict[int, list[int]], predecessors: Sequence[Sequence[int]], place: dict[int, int]
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """By header: the blocks that are in no inner loop, and the headers of the loops next to it inside.

    A loop is what leads to a latch without its header. Inner loops are found first: what leads to one leads to its
    header.
    """
    own: dict[int, list[int]] = {}
    inner: dict[int, list[int]] = {}
    outermost: dict[int, int] = {}  # from a block to a header around it, and so on up to the outermost that is found
    for header in reversed(headers):
        own[header], inner[header] = [header], []
        waiting = list(latches[header])
        outermost[header] = header
        while waiting:
            at = _top(waiting.pop(), outermost)
            if at == header:
                continue
            (inner if at in own else own)[header].append(at)
            outermost[at] = header
            waiting += [one for one in predecessors[at] if one in place]
    return own, inner


def _top(block: int, above: dict[int, int]) -> int:
    """The outermost known header around a block, or the block itself; compresses the paths to it."""
    top = block
    while above.get(top, top) != top:
        top = above[top]
    while above.get(block, block) != top and block != top:
        above[block], block = top, above[block]
    return top


def _row(
    headers: Sequence[int], own: dict[int, list[int]], inner: dict[int, list[int]]
) -> tuple[list[int], dict[int, tuple[int, int]]]:
    """All blocks of loops, those of each side by side, and where each loop's begin and end."""
    row: list[int] = []
    start: dict[int, int] = {}
    spans: dict[int, tuple[int, int]] = {}
    nested = {one for several in inner.values() for one in several}
    waiting = [one for one in reversed(headers) if one not in nested]
    while waiting:
        header = waiting[-1]
        if header in start:
            spans[header] = start[header], len(row)
            waiting.pop()
            continue
        start[header] = len(row)
        row += own[header]
        waiting += inner[header]
    return row, spans
