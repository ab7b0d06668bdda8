"""Which values the lanes of a warp share, and which branches make them diverge (PTX ISA 9.7.13.1, 9.7.14: `.aligned`).

Values are computed on demand, with the values that they depend on. Lanes that diverge at a branch are assumed to
reconverge at its immediate postdominator. Nothing is run, and the contents of memory are unknown, so a value is shared,
differs because of something that certainly differs (`%tid.x`), or is unknown.

This is the notion of uniformity: of a warp, along every way. `machine/analysis/uniform_values` needs less, and needs it
fast: registers that hold one value for a whole CTA wherever they are read. What is uniform there is uniform here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.flow.differences import Differences
from ptxloom.flow.facts import FlowFacts
from ptxloom.flow.nodes import BranchCondition, FlowNode, Outlived
from ptxloom.flow.registers import Merge, Write
from ptxloom.readings import bits
from ptxloom.readings.bits import Bits, Level, fixed, shared
from ptxloom.readings.computed import compares_integers
from ptxloom.solver import nearest, reached
from ptxloom.syntax.tree import Component, Name

if TYPE_CHECKING:
    from ptxloom.flow.graph import FlowGraph
    from ptxloom.syntax.tree import Instruction


@dataclass(frozen=True, slots=True)
class DivergenceSource:
    """Where lanes begin to differ.

    Attributes:
        instruction: The instruction that reads or computes the first differing value.
        source: The special register that it reads; empty if the instruction itself causes the difference.
    """

    instruction: Instruction
    source: str = ""


class Uniformity(FlowFacts):
    """What the lanes of a warp share in one function.

    Example:
        >>> from ptxloom.syntax import parse
        >>> from ptxloom.flow import flow_graph
        >>> m = parse(".entry k() { .reg .b32 %r<3>; mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; ret; }")
        >>> lanes = Uniformity(flow_graph(m.functions["k"]))
        >>> lanes.register(0, 2, "%r0").level.name, lanes.register(0, 2, "%r1").level.name
        ('DIVERGENT', 'UNIFORM')
    """

    def __init__(self, graph: FlowGraph) -> None:
        super().__init__(graph)
        self._above_asked: set[int] = set()
        self._certain: dict[int, bool] = {}
        self._nearest: dict[int, int | None] = {}

    def register(self, block: int, position: int, name: str) -> Bits:
        """The facts about a register just before an instruction, given by its place in a block."""
        instruction = self.graph.blocks[block].instructions[position]
        node = self._node(block, position, self._registers.key(instruction, name))
        return self._unwritten(instruction, name) if isinstance(node, str) else self._settled(node)

    def guard(self, block: int, position: int) -> Bits:
        """The facts about an instruction's guard: 1 bit, always 1 without a guard."""
        predicate = self.graph.blocks[block].instructions[position].predicate
        if predicate is None:
            return fixed(1)
        held = bits.cut(self.register(block, position, predicate.name), 1)
        return bits.inverted(held, 1) if predicate.negated else held

    def branch(self, block: int) -> Bits:
        """The facts about control flow after a block."""
        return self._settled(BranchCondition(block)) if self.control.forks(block) else fixed(0)

    def parting(self, block: int) -> int | None:
        """The nearest block at whose end lanes certainly diverge, and which decides who reaches this block."""
        self._ask_above(block)
        self._settle()
        passed: dict[int, None] = {}
        while block not in self._nearest and block not in passed:
            passed[block] = None
            direct = self.control.directly_above(block)
            if len(direct) != 1 or self._parts(direct[0]):
                above = direct if len(direct) == 1 else self.control.above(block)
                self._nearest[block] = next((one for one in above if self._parts(one)), None)
                break
            block = direct[0]  # which alone decides, and keeps its lanes together: what parts them is above it
        found = self._nearest.get(block)
        self._nearest |= dict.fromkeys(passed, found)
        return found

    def _ask_above(self, block: int) -> None:
        """Evaluate the branches that decide who reaches a block."""

        def asked(at: int) -> list[int]:
            new = [one for one in self.control.directly_above(at) if one not in self._above_asked]
            self._above_asked.update(new)
            for one in new:
                self._ask(BranchCondition(one))
            return new

        reached([block], asked)

    def _parts(self, branch: int) -> bool:
        """Whether lanes certainly diverge at a branch."""
        if branch not in self._certain:
            differs = self._facts[BranchCondition(branch)].level is Level.DIVERGENT
            self._certain[branch] = differs and not self._keeps_together(branch)
        return self._certain[branch]

    def _keeps_together(self, block: int) -> bool:
        """Whether a branch compares two integers with the same difference in all lanes, unless it has split them.

        Then all lanes take the same path, unless a sum overflows in some: it is not certain that they diverge.
        """
        inside = self.graph.blocks[block].instructions
        predicate = inside[-1].predicate if inside else None
        if predicate is None:
            return False
        key = self._registers.key(inside[-1], predicate.name)
        node = self._node(block, len(inside) - 1, key)
        if not isinstance(node, Write):
            return False
        compared = self.graph.blocks[node.block].instructions[node.position]
        if compared.predicate is not None or not compares_integers(compared):
            return False
        return Differences(self, block).keeps_apart(node, *compared.operands[1:])

    def chooser(self, block: int) -> int:
        """The block whose last instruction makes lanes diverge after a block; for a list of targets, one before it."""
        if not self.graph.blocks[block].is_table:
            return block
        before = [one for one in self.graph.predecessors[block] if one not in self.graph.unreachable]
        facts = {one: self._index(one)[1] for one in before}
        return next((one for one, fact in facts.items() if fact and fact.level is Level.DIVERGENT), before[0])

    def cause(self, block: int, position: int, name: str) -> DivergenceSource | None:
        """Where the values of a register begin to differ between lanes; None if they are not known to."""
        instruction = self.graph.blocks[block].instructions[position]
        node = self._node(block, position, self._registers.key(instruction, name))
        if isinstance(node, str):
            return None
        self._settled(node)
        return self._first_cause(node)

    def branch_cause(self, block: int) -> DivergenceSource | None:
        """Where the condition at a block's end begins to differ between lanes; None if it is not known to."""
        self._settled(BranchCondition(block))
        return self._first_cause(BranchCondition(block))

    # --- causes ---

    def _first_cause(self, node: FlowNode) -> DivergenceSource | None:
        """Follow a certain difference back to its origin, by the shortest path."""
        ways = nearest([node], lambda one: self._behind(one) if self._differs(one) else ())
        first = next((one for one in ways if isinstance(one, Write) and self._begins_to_differ(one)), None)
        if first is None:
            return None
        instruction = self.instruction(first)
        return DivergenceSource(instruction, self._special_in(instruction))

    def _differs(self, node: FlowNode) -> bool:
        """Whether lanes certainly have different values."""
        return self._facts.get(node, shared(64)).level is Level.DIVERGENT

    def _begins_to_differ(self, node: Write) -> bool:
        """Whether lanes have different values though nothing differs that they are made of."""
        return self._differs(node) and not any(map(self._differs, self._sources.get(node, ())))

    def _behind(self, node: FlowNode) -> list[FlowNode]:
        """What a node follows from."""
        behind: list[FlowNode] = sorted(self._sources.get(node, ()), key=self._use_numbers.__getitem__)
        if isinstance(node, (Merge, BranchCondition)) and self._is_meeting(node):
            behind += [BranchCondition(one) for one in self._parting_at(node.block)]
        if isinstance(node, Outlived):
            behind += [BranchCondition(block) for loop in node.loops for block in sorted(self._leaving.get(loop, ()))]
        return behind

    def _parting_at(self, block: int) -> list[int]:
        """The branches at which the lanes that meet at a block diverged."""
        return sorted(self._joins.get(block, ()), key=lambda one: self._numbers[BranchCondition(one)])

    def _special_in(self, instruction: Instruction) -> str:
        for operand in instruction.operands[1:]:
            match operand:
                case Component(Name(text), field) if (found := self._launch.special(text, field)) and found.varies:
                    return f"{text}.{field}"
                case Name(text) if (found := self._launch.special(text, "")) and found.varies:
                    return text
                case _:
                    pass
        return ""

    # --- what `Differences` asks ---

    def instruction(self, node: Write) -> Instruction:
        """The instruction that writes a value."""
        return self._registers.instruction(node)

    def operand(self, node: Write, name: str) -> FlowNode | None:
        """The meaning of a name at an instruction; None if no instruction writes it."""
        found = self._node(node.block, node.position, self._registers.key(self.instruction(node), name))
        return None if isinstance(found, str) else found

    def is_shared(self, node: FlowNode) -> bool:
        """Whether all lanes have the same value."""
        return self._settled(node).uniform

    def incoming(self, node: Merge, aside: int) -> list[FlowNode]:
        """The values that meet; empty if lanes that part at another branch than `aside` choose among them."""
        self._settled(node)  # which looks at the branches that decide
        if self._parts_anywhere:
            return []
        origins: dict[int, FlowNode] = {
            one: self._seen_from(self._registers.at_end(one, node.name), one)
            for one in self.graph.predecessors[node.block]
            if one not in self.graph.unreachable
        }
        for branch, (join, _) in self._joins.get(node.block, {}).items():
            if branch != aside and len({origins[block] for block, _ in join.sides if block in origins}) > 1:
                return []
        return list(origins.values())
