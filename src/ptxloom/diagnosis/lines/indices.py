"""Where the index in an address is computed, if that is not the line of the instruction that uses it.

`const half *b = B + batch * stride;` on one line and `b[i]` on another: the second adds only a constant to the address,
so the error comes from the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.effects import destinations
from ptxloom.diagnosis.lines.addresses import bases_behind, made_alone, made_of
from ptxloom.flow import flow_graph
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.readings.computed import adds, multiplies_operands, resizes, scales
from ptxloom.syntax import tree
from ptxloom.syntax.places import home_line

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op, Program


def index_of(op: Op, program: Program) -> Op:
    """The instruction that computes a wrong address's index; `op` itself, if its own line does.

    Compilers hoist invariant code out of loops and drop its line, so only instructions in the loop of the access count.

    Args:
        op: A load, a store or a copy.
        program: Its program.
    """
    here = _line(op, program)
    if here is None or not any(isinstance(operand, tree.Address) for operand in op.operands):
        return op
    inside = _loop_of(op)
    all_makers = made_of(op, program)
    makers = [maker for maker in all_makers if maker.node.start in inside and _is_index(maker, program)]
    if any(_line(maker, program) == here for maker in makers):
        return op
    alone = set(made_alone(op, program))
    found = [maker for maker in makers if maker in alone and (at := _line(maker, program)) and at[0] == here[0]]
    return next((maker for maker in found if _first_of_line(maker, program) in all_makers), op)


def _first_of_line(op: Op, program: Program) -> Op:
    """The first earlier instruction with the same line: those between may have lost theirs."""
    first = op
    while first.site and _line(before := program.ops[first.site - 1], program) == _line(op, program):
        first = before
    return first


def _loop_of(op: Op) -> frozenset[int]:
    """The offsets of the instructions in the innermost loop around an instruction, or in the whole function."""
    graph = flow_graph(op.function.node)
    own = next((b.number for b in graph.blocks if any(node.start == op.node.start for node in b.instructions)), None)
    around = [loop for loop in graph.loops if own in loop.blocks]
    inner = max(around, key=lambda loop: loop.depth, default=None)
    blocks = [b for b in graph.blocks if inner is None or b.number in inner.blocks]
    return frozenset(node.start for block in blocks for node in block.instructions)


def _is_index(maker: Op, program: Program) -> bool:
    """Whether an instruction computes part of an index, and is not a move, a conversion, an element size or a pointer.

    Loop counters do not count either.
    """
    node = maker.node
    if resizes(node) or not (adds(node) or scales(node) or multiplies_operands(node)):
        return False
    if maker.has("wide") and isinstance(maker.operands[-1], tree.Integer):
        return False
    written = {name.text for name, _ in destinations(node)}
    if any(read.text in written for _, read in names_read(maker)):
        return False
    return not bases_behind(maker, program)


def _line(op: Op, program: Program) -> tuple[str, int] | None:
    """The line of the user's own file; None if the compiler has not noted one."""
    return home_line(program.module, op.node.start)
