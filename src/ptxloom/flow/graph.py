"""The control-flow graph of a function: its basic blocks and the edges between them."""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import must_be
from ptxloom.display import mimebundle
from ptxloom.flow import blocks
from ptxloom.flow.dominance import immediate_dominators, reachable, reverse_postorder
from ptxloom.flow.loops import Loop, natural_loops
from ptxloom.lazy import cached_property
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import Call, Fault
from ptxloom.source import Span
from ptxloom.syntax.module import A_MODULE, Module
from ptxloom.syntax.tree import Function

if TYPE_CHECKING:
    from collections.abc import Collection

    from ptxloom.syntax.tree import Instruction

_ASSERTION = "__assertfail"  # the driver's own: it ends the kernel, though older compilers do not declare it so

__all__ = ["BasicBlock", "Edge", "EdgeKind", "FlowGraph", "Loop", "flow_graph", "flow_graphs"]


class EdgeKind(StrEnum):
    """Why control goes along an edge."""

    NEXT = "next"  # the next block follows in the text
    JUMP = "jump"  # a branch without a guard
    TAKEN = "taken"  # a branch whose guard holds
    PASSED = "passed"  # the guard of a branch, ret, exit or trap does not hold
    TABLE = "table"  # one of the targets of an indexed branch, or its list of targets if other branches share that


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from one block to another, both by number."""

    source: int
    target: int
    kind: EdgeKind


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """Consecutive instructions; only the last may lead elsewhere.

    Attributes:
        number: Its place among the function's blocks; 0 is where the function starts.
        labels: The labels in front of it.
        instructions: May be empty: a label at the end of a body, or a list of targets.
        successors: The edges that leave it, that of a branch before the one to the next block.
        leaves: How the function may end here: "ret", "exit", "trap", "call" (of a function that never returns), "end"
            (the body's end), or "" if it does not.
    """

    number: int
    labels: tuple[str, ...]
    instructions: tuple[Instruction, ...]
    successors: tuple[Edge, ...]
    leaves: str = ""

    _repr_mimebundle_ = mimebundle

    @property
    def is_fatal(self) -> bool:
        """Whether no lane continues after the end of this block."""
        last = self.last
        if last is None or self.leaves != last.opcode:
            return False
        return any(isinstance(deed, Call) or deed == Fault() for deed in deeds_of(last))

    @property
    def last(self) -> Instruction | None:
        """The instruction that decides where control goes; None in an empty block."""
        return self.instructions[-1] if self.instructions else None

    @property
    def is_table(self) -> bool:
        """Whether it stands for a `.branchtargets` that several branches share: their index decides where it leads."""
        return not self.instructions and any(edge.kind is EdgeKind.TABLE for edge in self.successors)


@dataclass(frozen=True)
class FlowGraph:
    """The blocks of a function in the order of the text.

    A `.branchtargets` that several branches share is a block without instructions, after those of the text: the
    branches lead to it, and it leads to the targets.

    Attributes:
        function: The function.
        blocks: At least one; block 0 is where it starts.
        unresolved: The branches to undefined labels; they have no edge.

    Example:
        >>> from ptxloom.syntax import parse
        >>> m = parse(".entry k() { L: @%p bra L; ret; }")
        >>> g = flow_graph(m.functions["k"])
        >>> [(e.source, str(e.kind), e.target) for e in g.edges]
        [(0, 'taken', 0), (0, 'passed', 1)]
        >>> [sorted(loop.blocks) for loop in g.loops]
        [[0]]
    """

    function: Function
    blocks: tuple[BasicBlock, ...]
    unresolved: tuple[Instruction, ...] = ()

    _repr_mimebundle_ = mimebundle

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge, by the block that it leaves."""
        return tuple(edge for block in self.blocks for edge in block.successors)

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """For each block the blocks that may come next, each once."""
        return tuple(tuple(dict.fromkeys(e.target for e in block.successors)) for block in self.blocks)

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """For each block the blocks that may come before, each once."""
        return _reversed(self.successors)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The reachable blocks in reverse postorder: without loops, every block comes after those before it."""
        return tuple(reverse_postorder(self.successors, 0))

    @cached_property
    def unreachable(self) -> frozenset[int]:
        """The blocks that control cannot reach from the function's start."""
        return frozenset(range(len(self.blocks))) - frozenset(self.order)

    @cached_property
    def dominators(self) -> tuple[int | None, ...]:
        """The immediate dominator of each block; None for block 0 and for unreachable blocks."""
        return tuple(immediate_dominators(self.successors, 0))

    @cached_property
    def postdominators(self) -> tuple[int | None, ...]:
        """The immediate postdominator of each block: where all ways on from it first meet again.

        None if that is only the function's end. A loop that nothing leaves counts as one with an end at its last block.
        """
        end = len(self.blocks)
        ways = [(*after, end) if self.blocks[i].leaves else after for i, after in enumerate(self.successors)]
        ways.append(())
        backwards = [list(before) for before in _reversed(ways)]
        ending = reachable(backwards, end)
        for number in range(end - 1, -1, -1):
            if number not in ending:
                backwards[end].append(number)
                reachable(backwards, number, ending)
        return tuple(None if found == end else found for found in immediate_dominators(backwards, end)[:end])

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The natural loops, by the place of their header; those with the same header are one."""
        return natural_loops(self.order, self.successors, self.predecessors, self.dominates)

    @cached_property
    def irreducible(self) -> tuple[Edge, ...]:
        """The edges that enter a cycle elsewhere than at its header, so that it is not a natural loop."""
        place = {number: at for at, number in enumerate(self.order)}
        return tuple(
            edge
            for number in self.order
            for edge in self.blocks[number].successors
            if place[edge.target] <= place[number] and not self.dominates(edge.target, number)
        )

    def dominates(self, first: int, second: int) -> bool:
        """Whether every path from the start to block `second` goes through block `first`; a block dominates itself.

        Args:
            first: The number of a block.
            second: That of another, or the same.

        Returns:
            Whether it is so.
        """
        if first in self.unreachable or second in self.unreachable:
            return first == second
        enter, leave = self._intervals
        return enter[first] <= enter[second] and leave[second] <= leave[first]

    def block_at(self, offset: int) -> BasicBlock | None:
        """The block with the instruction at an offset of the source; None before the first.

        Args:
            offset: A character of the source, from 0.

        Returns:
            The block, or None.
        """
        starts, numbers = self._starts
        at = bisect_right(starts, offset)
        return self.blocks[numbers[at - 1]] if at else None

    def span(self, number: int) -> Span | None:
        """The span of a block's instructions; None if it has none.

        Args:
            number: The block's number.

        Returns:
            From its first instruction to its last.
        """
        inside = self.blocks[number].instructions
        return Span(self.function.source, inside[0].start, inside[-1].end) if inside else None

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        filled = [block for block in self.blocks if block.instructions]
        return [block.instructions[0].start for block in filled], [block.number for block in filled]

    @cached_property
    def _intervals(self) -> tuple[list[int], list[int]]:
        """When a walk over the dominator tree enters and leaves each block."""
        below: list[list[int]] = [[] for _ in self.blocks]
        for number, parent in enumerate(self.dominators):
            if parent is not None:
                below[parent].append(number)
        enter, leave = [0] * len(below), [0] * len(below)
        waiting, clock = [(0, False)], 0
        while waiting:
            number, done = waiting.pop()
            clock += 1
            if done:
                leave[number] = clock
            else:
                enter[number] = clock
                waiting.append((number, True))
                waiting += [(child, False) for child in below[number]]
        return enter, leave


def flow_graph(function: Function, *, noreturn: Collection[str] = (), marks: bool = True) -> FlowGraph:
    """The control-flow graph of a function; a prototype's has one empty block.

    Args:
        function: As the parser returned it.
        noreturn: The functions that never return to where they are called.
        marks: Whether labels that nothing names, such as those of debug information, start blocks too.

    Returns:
        Blocks, edges, dominators and loops.

    Raises:
        UsageError: `function` is not a `Function`.

    Example:
        >>> from ptxloom.syntax import parse
        >>> k = parse(".entry k() { .reg .pred %p; TOP: @%p bra TOP; ret; }").functions["k"]
        >>> graph = flow_graph(k)
        >>> len(graph.blocks), len(graph.edges), len(graph.loops)
        (2, 2, 1)
    """
    must_be(Function, "function", function, 'a function of a module, such as `module.functions["main"]`')
    cut, unresolved = blocks.cut(function, noreturn, marks=marks)
    made = [
        BasicBlock(
            number,
            tuple(block.labels),
            tuple(block.instructions),
            tuple(Edge(number, target, EdgeKind(kind)) for target, kind in block.ways),
            block.leaves,
        )
        for number, block in enumerate(cut)
    ]
    return FlowGraph(function, tuple(made), tuple(unresolved))


def flow_graphs(module: Module, *, marks: bool = True) -> tuple[FlowGraph, ...]:
    """The graphs of all functions with a body, in the order of the text; calls that never return end a block.

    Args:
        module: As the parser returned it.
        marks: Whether labels that nothing names, such as those of debug information, start blocks too.
    """
    must_be(Module, "module", module, A_MODULE)
    functions = [one for one in module.statements if isinstance(one, Function)]
    noreturn = never_returning(module)
    return tuple(flow_graph(f, noreturn=noreturn, marks=marks) for f in functions if f.body is not None)


def never_returning(module: Module) -> frozenset[str]:
    """The functions of a module that never return to where they are called."""
    functions = [one for one in module.statements if isinstance(one, Function)]
    noreturn = {f.name for f in functions if any(directive.name == "noreturn" for directive in f.directives)}
    return frozenset(noreturn | {f.name for f in functions if f.name == _ASSERTION})


def _reversed(ways: list[tuple[int, ...]] | tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    found: list[list[int]] = [[] for _ in ways]
    for number, targets in enumerate(ways):
        for target in targets:
            found[target].append(number)
    return tuple(map(tuple, found))
