"""Ends the loops of a variant kernel: each thread counts iterations, and exits beyond a limit that a trial chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.flow import flow_graph

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.program.model import Op

MOST: Final = "%ptxloom_most"  # turns of a thread
_TURN: Final = "%ptxloom_turn"
_OVER: Final = "%ptxloom_over"

HEAD: Final = (f".reg .b32 {_TURN}, {MOST};", f".reg .pred {_OVER};", f"mov.b32 {_TURN}, 0;")
COUNT: Final = (
    f"add.u32 {_TURN}, {_TURN}, 1;",
    f"setp.gt.u32 {_OVER}, {_TURN}, {MOST};",
    f"@{_OVER} trap;",
)


def turning(ops: Iterable[Op]) -> dict[int, Op]:
    """The instructions that each turn of a loop begins with, by their sites."""
    starts: dict[int, frozenset[int]] = {}
    found: dict[int, Op] = {}
    for op in ops:
        function = op.function
        if function.number not in starts:
            graph = flow_graph(function.node)
            heads = (graph.blocks[loop.header].instructions for loop in graph.loops)
            starts[function.number] = frozenset(head[0].start for head in heads if head)
        if op.node.start in starts[function.number]:
            found[op.site] = op
    return found
