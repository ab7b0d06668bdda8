"""The natural loops of a graph and how they nest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxloom.flow.solver import reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Loop:
    """Blocks that can be run again and again, entered only at the header.

    Attributes:
        header: The block that every round starts with.
        blocks: All its blocks, the header and those of inner loops among them.
        latches: The blocks that lead back to the header.
        depth: 1 for a loop that is in no other.
    """

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]
    depth: int


def natural_loops(
    order: Sequence[int],
    successors: Sequence[Sequence[int]],
    predecessors: Sequence[Sequence[int]],
    dominates: Callable[[int, int], bool],
) -> Iterator[Loop]:
    """The loops by the place of their headers in `order`, which is a reverse postorder."""
    place = {number: at for at, number in enumerate(order)}
    latches: dict[int, list[int]] = {}
    for number in order:
        for target in successors[number]:
            if place[target] <= place[number] and dominates(target, number):
                latches.setdefault(target, []).append(number)
    inside = {header: _body(header, back, predecessors, place) for header, back in latches.items()}
    depth = dict.fromkeys(order, 0)
    for header in sorted(inside, key=place.__getitem__):  # an outer header comes before an inner one
        for number in inside[header]:
            depth[number] += 1
        yield Loop(header, inside[header], tuple(latches[header]), depth[header])


def _body(
    header: int, latches: Sequence[int], predecessors: Sequence[Sequence[int]], place: dict[int, int]
) -> frozenset[int]:
    """What leads to a latch without the header."""

    def before(number: int) -> Sequence[int]:
        return () if number == header else [one for one in predecessors[number] if one in place]

    return frozenset(reached((header, *latches), before))
