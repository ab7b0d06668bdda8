"""The stretches of text that loops repeat: from the target of a backward branch to the branch."""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import TYPE_CHECKING

from ptxloom.machine.program.mentions import destination

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ptxloom.machine.program.model import BasicBlock, Program


def repeated_stretches(blocks: Sequence[BasicBlock]) -> tuple[tuple[int, int], ...]:
    """The first and last sites of repeated stretches, in order; inner loops are part of the outermost."""
    return _apart(_loops(blocks))


def unrepeated_blocks(program: Program) -> tuple[BasicBlock, ...]:
    """The blocks of a kernel itself, in order, that no loop of its own repeats."""
    stretches = repeated_stretches(program.blocks)
    own = (block for block in program.blocks if block.function.is_entry and block.ops)
    return tuple(block for block in own if not _is_in(stretches, block))


def depths(program: Program) -> dict[int, int]:
    """By block number, the number of loops that repeat it; all back edges to one block are one loop."""
    loops: dict[int, int] = {}
    for block in program.blocks:
        target = destination(block.ops[-1]) if block.ops else None
        if target is not None:
            for first in (number for number in target.blocks if number <= block.number):
                loops[first] = max(block.number, loops.get(first, 0))
    return {b.number: sum(first <= b.number <= last for first, last in loops.items()) for b in program.blocks}


def _is_in(stretches: Sequence[tuple[int, int]], block: BasicBlock) -> bool:
    """Whether a block overlaps any of some disjoint, sorted stretches."""
    at = bisect_left(stretches, block.ops[0].site, key=itemgetter(1))
    return at < len(stretches) and stretches[at][0] <= block.ops[-1].site


def _loops(blocks: Sequence[BasicBlock]) -> Iterator[tuple[int, int]]:
    """The stretches of sites that a backward branch repeats, including the last op of the branch's block."""
    firsts = _first_sites(blocks)
    for block in blocks:
        for op in block.ops[-1:]:
            target = destination(op)
            if target is not None and target.blocks and target.first <= block.number:
                yield firsts[target.first], op.site


def _apart(stretches: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Merge overlapping stretches."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)


def _first_sites(blocks: Sequence[BasicBlock]) -> Mapping[int, int]:
    """The site at which each block starts (an empty one: where the next starts)."""
    firsts: dict[int, int] = {}
    following = 0
    for block in reversed(blocks):
        if block.ops:
            following = block.ops[0].site
        firsts[block.number] = following
    return firsts
