"""The causes of a hazard: the instructions that decide which memory is accessed, and when.

Where a tool finds something, it is the judge: a change mends a kernel if tools no longer find anything, and the
result is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.binding.effects import destinations
from ptxloom.diagnosis.lines.guards import guards_of
from ptxloom.flow import flow_graph
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.machine.launch.options import DEFAULT_CHECKS
from ptxloom.readings.effects import stores, updates_memory
from ptxloom.solver import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ptxloom.diagnosis.suspects.changes import Change
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.results.hazard import Hazard

_MOST: Final = 120  # instructions behind a hazard
_LEAST: Final = 0.5  # the score of the farthest
_OF_ORDER: Final = frozenset({"racecheck", "synccheck"})
_SPACES: Final = ("shared", "global", "local")


def watched(hazards: Iterable[Hazard], *, unwritten: bool) -> tuple[str, ...]:
    """The tools that watch trials: those that cost nothing, and those that found something.

    Args:
        hazards: What they found.
        unwritten: Whether arrays were passed that the kernel must write first.
    """
    more = {
        f"{one.tool}:global" if one.space == "global" and (unwritten or one.tool == "racecheck") else one.tool
        for one in hazards
        if one.tool not in DEFAULT_CHECKS
    }
    return (*DEFAULT_CHECKS, *sorted(more))


class Concern:
    """The instructions behind hazards.

    Attributes:
        ops: The instructions that the tools name.
        scores: How near each instruction behind them is, 0 to 1, by its site.
        is_order: Whether what is missing is an order, or a barrier that all threads reach.

    Args:
        hazards: What the tools found.
        program: The kernel's program.
    """

    def __init__(self, hazards: Iterable[Hazard], program: Program) -> None:
        hazards = list(hazards)
        self.ops = _sides(hazards, program)
        self.is_order = any(one.tool in _OF_ORDER for one in hazards)
        self.scores: Mapping[int, float] = _scores(hazards, self.ops, program)

    def score(self, change: Change) -> float:
        """How near the instructions of a change are to the accesses, 0 to 1; a barrier may be anywhere."""
        return max(self.scores.get(op.site, _LEAST) for op, _ in change.rewrites)


def _sides(hazards: Iterable[Hazard], program: Program) -> list[Op]:
    """The instructions that the tools name, on either side."""
    at = {op.node.start: op for op in program.ops if op.node.source is program.module.source}
    parties = [party for one in hazards if not one.kernel for party in (one.party, one.other) if party is not None]
    return list(dict.fromkeys(at[one.span.start] for one in parties if one.span.start in at))


def _scores(hazards: Iterable[Hazard], sides: list[Op], program: Program) -> dict[int, float]:
    own = [*sides, *(_writers(sides, program) if any(one.tool == "initcheck" for one in hazards) else ())]
    writers: dict[tuple[int, str], list[Op]] = {}
    for op in program.ops:
        for name in _written(op):
            writers.setdefault((op.function.number, name), []).append(op)

    def made_of(op: Op) -> list[Op]:
        read = [maker for _, name in names_read(op) for maker in writers.get((op.function.number, name.text), ())]
        return read if op not in starts else [*starts[op], *read]

    starts = {op: [*guards_of(op, program), *_ends_of_loops(op, program)] for op in own}
    found: dict[int, float] = {}
    for op in nearest(own, made_of):
        if len(found) >= _MOST:
            break
        found[op.site] = max(_LEAST, 1 - len(found) / _MOST)
    return found


def _written(op: Op) -> Iterator[str]:
    return (name.text for name, _ in destinations(op.node))


def _writers(sides: list[Op], program: Program) -> list[Op]:
    """The stores into the memory that was read before it was written."""
    spaces = [space for space in _SPACES if any(op.has(space) for op in sides)] or ["shared"]
    return [op for op in program.ops if (stores(op.node) or updates_memory(op.node)) and op.has(*spaces)]


def _ends_of_loops(op: Op, program: Program) -> Iterator[Op]:
    """The branches that end the loops around an instruction."""
    graph = flow_graph(op.function.node)
    at = graph.block_at(op.node.start)
    by_start = {one.node.start: one for one in program.ops if one.function is op.function}
    for loop in graph.loops if at is not None else ():
        if at is not None and at.number in loop.blocks:
            for block in loop.blocks:
                last = graph.blocks[block].last
                if last is not None and last.predicate is not None and last.start in by_start:
                    yield by_start[last.start]
