"""The comparison by which an instruction is reached, or is not."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from ptxloom.binding.effects import destinations
from ptxloom.flow import flow_graph
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.readings.computed import divides
from ptxloom.readings.terms import words
from ptxloom.solver import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.flow.graph import FlowGraph
    from ptxloom.machine.program.model import Op, Program

_SHIFTS: Final = frozenset({"lshr", "ashr"})  # words of rows
_OF_THREADS: Final = ("%tid.", "%ctaid.", "%laneid")
_MOST: Final = 40  # registers that are looked at


def guard_of(op: Op, program: Program) -> Op | None:
    """The nearest branch that decides whether an instruction is executed; None if it always is."""
    return next(guards_of(op, program), None)


def guards_of(op: Op, program: Program) -> Iterator[Op]:
    """The branches that decide whether an instruction is executed, the nearest first."""
    own = [one for one in program.ops if one.function is op.function]
    if op.node.predicate is not None:
        test = _writer(op.node.predicate.name, own, op.site)
        if test is not None:
            yield test
    graph = flow_graph(op.function.node)
    place = {node.start: block.number for block in graph.blocks for node in block.instructions}
    by_start = {one.node.start: one for one in own}
    at = place.get(op.node.start)
    above = graph.dominators[at] if at is not None else None
    while above is not None:
        block = graph.blocks[above]
        branch = by_start.get(block.last.start) if block.last is not None else None
        if branch is not None and branch.node.predicate is not None and not _always(at, above, graph):
            yield _writer(branch.node.predicate.name, own, branch.site) or branch
        above = graph.dominators[above] if graph.dominators[above] != above else None


def rounded_down(test: Op, program: Program) -> Op | None:
    """The division that rounds a kernel argument down before the comparison; or None."""
    behind = _makers([name.text for _, name in names_read(test)], test, program)
    for op in behind:
        if divides(op.node) or words(op.node) & _SHIFTS:
            made = _makers([name.text for _, name in names_read(op)], op, program)
            if made and not any(special in one.text for one in made for special in _OF_THREADS):
                return op
    return None


def _makers(names: list[str], test: Op, program: Program) -> list[Op]:
    """The instructions that compute some registers, the nearest first."""
    own = [one for one in program.ops if one.function is test.function]

    def made_by(name: str) -> list[Op]:
        return [op for op in own if any(name == out.text for out, _ in destinations(op.node))]

    behind = nearest(names, lambda name: [read.text for op in made_by(name) for _, read in names_read(op)])
    return list(dict.fromkeys(op for name in islice(behind, _MOST) for op in made_by(name)))


def _always(block: int | None, above: int, graph: FlowGraph) -> bool:
    """Whether every path from a block above reaches a block."""
    after: int | None = above
    while after is not None:
        if after == block:
            return True
        ahead = graph.postdominators[after]
        after = ahead if ahead != after else None
    return False


def _writer(name: str, ops: list[Op], before: int) -> Op | None:
    """The last instruction before a site that writes a register."""
    return next(
        (op for op in reversed(ops) if op.site < before and any(name == out.text for out, _ in destinations(op.node))),
        None,
    )
