"""The loop that runs over k, and the branch that ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.flow import flow_graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.program.model import Op, Program


def branch_of(product: Op, copies: Sequence[Op], program: Program) -> Op | None:
    """The branch that leads back in the innermost loop that holds a product and what it loads; None without one.

    Args:
        product: The instruction that multiplies.
        copies: What brings its operands from global memory.
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
    ends = {last.start for latch in chosen.latches if (last := graph.blocks[latch].last) is not None}
    return next((op for op in program.ops if op.node.start in ends and op.opcode == "bra"), None)
