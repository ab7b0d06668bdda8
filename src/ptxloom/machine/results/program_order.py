"""Which of two unordered accesses a programmer meant to come first, from the control flow between barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.flow import flow_graph
from ptxloom.meaning.effects import Reach
from ptxloom.readings.effects import branches, meets
from ptxloom.solver import nearest
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.flow import FlowGraph
    from ptxloom.machine.program.model import Op
    from ptxloom.syntax.tree import Instruction


class Sequence:
    """Finds barrier-free paths between instructions; makes graphs on demand."""

    def __init__(self) -> None:
        self._graphs: dict[int, FlowGraph] = {}

    def comes_first(self, one: Op, other: Op, reach: Reach) -> bool:
        """Whether a thread can get from `one` to `other` without a barrier between, but not the other way round.

        So a read precedes the write of a loop's next iteration, although it is below it in the text.

        Args:
            one: An access.
            other: Another one.
            reach: The distance of the threads that make them: a barrier must span it.
        """
        if one.function is not other.function or one.site == other.site:
            return False
        graph = self._graph(one)
        there, back = _leads(graph, one, other, reach), _leads(graph, other, one, reach)
        return there and not back

    def polls(self, one: Op) -> bool:
        """Whether a load is polled until it has another value: it guards a path back to itself."""
        graph = self._graph(one)
        start = graph.block_at(one.node.start)
        if start is None or not one.operands or not _leads(graph, one, one, Reach.GRID):
            return False
        tainted = _names(one.operands[:1])
        for instruction in graph.blocks[start.number].instructions:
            if instruction.start > one.node.start:
                guard = instruction.predicate
                if branches(instruction):
                    return guard is not None and guard.name in tainted
                if instruction.operands and tainted & _names(instruction.operands[1:]):
                    tainted |= _names(instruction.operands[:1])
        return False

    def _graph(self, op: Op) -> FlowGraph:
        graph = self._graphs.get(op.function.number)
        if graph is None:
            graph = self._graphs[op.function.number] = flow_graph(op.function.node)
        return graph


def _names(operands: tuple[tree.Operand, ...]) -> set[str]:
    return {node.text for operand in operands for node in walk(operand) if isinstance(node, tree.Name)}


def _leads(graph: FlowGraph, one: Op, other: Op, reach: Reach) -> bool:
    """Whether a barrier-free path leads from the end of an instruction to another one."""
    start = graph.block_at(one.node.start)
    if start is None:
        return False

    def rest(block: int, after: int = 0) -> Iterator[Instruction]:
        return (one for one in graph.blocks[block].instructions if one.start >= after)

    def comes_by(inside: Iterator[Instruction]) -> bool:
        first = next((one for one in inside if one.start == other.node.start or meets(one) >= reach), None)
        return first is not None and first.start == other.node.start

    def ways(block: int, after: int = 0) -> tuple[int, ...]:
        return () if any(meets(each) >= reach for each in rest(block, after)) else graph.successors[block]

    first = start.number, one.node.start + 1
    return comes_by(rest(*first)) or any(comes_by(rest(each)) for each in nearest(ways(*first), ways))
