"""The comparison by which an instruction is reached, or is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.effects import destinations
from ptxloom.flow import flow_graph

if TYPE_CHECKING:
    from ptxloom.flow.graph import FlowGraph
    from ptxloom.machine.program.model import Op, Program


def guard_of(op: Op, program: Program) -> Op | None:
    """What decides whether an instruction is executed: the nearest branch above it; None if nothing does."""
    own = [one for one in program.ops if one.function is op.function]
    if op.node.predicate is not None:
        return _writer(op.node.predicate.name, own, op.site)
    graph = flow_graph(op.function.node)
    place = {node.start: block.number for block in graph.blocks for node in block.instructions}
    by_start = {one.node.start: one for one in own}
    at = place.get(op.node.start)
    above = graph.dominators[at] if at is not None else None
    while above is not None:
        last = graph.blocks[above].last
        branch = by_start.get(last.start) if last is not None else None
        if branch is not None and branch.node.predicate is not None and not _always(at, above, graph):
            return _writer(branch.node.predicate.name, own, branch.site) or branch
        above = graph.dominators[above] if graph.dominators[above] != above else None
    return None


def _always(block: int | None, above: int, graph: FlowGraph) -> bool:
    """Whether a block is reached from one above it whichever way control goes there."""
    after: int | None = above
    while after is not None:
        if after == block:
            return True
        ahead = graph.postdominators[after]
        after = ahead if ahead != after else None
    return False


def _writer(name: str, ops: list[Op], before: int) -> Op | None:
    """The last instruction ahead of a site that writes a register."""
    return next(
        (op for op in reversed(ops) if op.site < before and any(name == out.text for out, _ in destinations(op.node))),
        None,
    )
