"""The loop over k: its increment and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptxloom.binding.effects import destinations
from ptxloom.diagnosis.lines.addresses import writers_of
from ptxloom.flow import flow_graph
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.results.provenance import ProvenanceRecord


class Ends(NamedTuple):
    """The control of a loop.

    Attributes:
        test: The comparison that continues it.
        step: The instruction that increments the compared value; the comparison itself, if that is unknown.
    """

    test: Op
    step: Op


def ends_of(product: Op, copies: Sequence[Op], program: Program) -> Ends | None:
    """The control of the innermost loop around a product and its loads; None without one.

    Args:
        product: The instruction that multiplies.
        copies: The loads of its operands from global memory.
        program: Theirs.
    """
    graph = flow_graph(product.function.node)
    place = {node.start: block.number for block in graph.blocks for node in block.instructions}
    own = place.get(product.node.start)
    loaded = {place[op.node.start] for op in copies if op.node.start in place}
    around = sorted((loop for loop in graph.loops if own in loop.blocks), key=lambda loop: -loop.depth)
    chosen = next((loop for loop in around if loaded & loop.blocks), around[0] if around else None)
    if chosen is None:
        return None
    inside = [op for op in program.ops if place.get(op.node.start) in chosen.blocks and op.function is product.function]
    latches = {last.start for latch in chosen.latches if (last := graph.blocks[latch].last) is not None}
    leaving = {
        last.start
        for block in chosen.blocks
        if any(after not in chosen.blocks for after in graph.successors[block])
        and (last := graph.blocks[block].last) is not None
    }
    steered = [op for op in inside if op.node.predicate is not None and op.node.start in latches | leaving]
    branch = next((op for op in steered if op.node.start in latches), steered[-1] if steered else None)
    if branch is None or branch.node.predicate is None:
        return None
    test = _writer(branch.node.predicate.name, inside) or branch
    steps = [found for _, name in names_read(test) if (found := _writer(name.text, inside)) and found is not test]
    return Ends(test, steps[0] if steps else test)


def compares_with(test: Op, number: int, record: ProvenanceRecord) -> bool:
    """Whether a comparison is with a number that the kernel receives as an argument, or that is written in the text."""
    if any(isinstance(operand, tree.Integer) and operand.value == number for operand in test.operands):
        return True
    given = {one.name: one for one in record.program.parameters}
    for _, read in names_read(test):
        for maker in writers_of(test, read.text, record.program):
            names = (name for operand in maker.operands if isinstance(operand, tree.Address) for name in walk(operand))
            for name in names if maker.has("param") else ():
                one = given.get(name.text) if isinstance(name, tree.Name) else None
                if one is not None and record.raw.parameters[one.offset :][: one.size] == number.to_bytes(
                    one.size, "little"
                ):
                    return True
    return False


def _writer(name: str, ops: Sequence[Op]) -> Op | None:
    """The last of some instructions that writes a register."""
    return next((op for op in reversed(ops) if any(name == out.text for out, _ in destinations(op.node))), None)
