"""Facts about the values of a function, computed on demand."""

from __future__ import annotations

from functools import partial, reduce
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from ptxloom.binding.effects import destinations
from ptxloom.flow.control import Control
from ptxloom.flow.launch import LaunchShape
from ptxloom.flow.nodes import BranchCondition, FlowNode, Outlived
from ptxloom.flow.registers import Merge, Nothing, RegisterWrites, Write
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import Branch
from ptxloom.readings import bits
from ptxloom.readings.bits import Bits, Level, fixed, shared, various
from ptxloom.readings.known_results import Query, result
from ptxloom.solver import OnDemand
from ptxloom.syntax.tree import Address, Arguments, Binary, Component, Integer, Name, Pair, Unary, Vector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.flow.control import Join
    from ptxloom.flow.graph import FlowGraph
    from ptxloom.flow.nodes import Origin
    from ptxloom.syntax.tree import Instruction, Operand

_PATIENCE: Final = 10
"""How often a value may change before only its coarse outline is kept."""
_NESTED: Final = 64
"""How many nested loops are distinguished where a value leaves them."""


class FlowFacts(OnDemand[FlowNode, Bits]):
    """The facts of each value: `bits.either` joins those of each time that it is evaluated."""

    def __init__(self, graph: FlowGraph) -> None:
        super().__init__(shared(64))
        self.graph = graph
        self.control = Control(graph)
        self._registers = RegisterWrites(graph)
        self._launch = LaunchShape(graph.function)
        entry = graph.function.kind == "entry"
        names = frozenset(one.name for param in graph.function.params for one in param.declarators)
        self._kernel_params = names if entry else frozenset[str]()
        self._given = frozenset[str]() if entry else names
        self._changes: dict[FlowNode, int] = {}
        self._joins: dict[int, dict[int, tuple[Join, Level]]] = {}  # block -> branch -> what it does there
        self._left: dict[int, Level] = {}
        self._leaving: dict[int, set[int]] = {}  # loop -> the branches at which some lanes leave it
        self._at_join: dict[int, list[FlowNode]] = {}
        self._at_exit: dict[int, list[FlowNode]] = {}
        self._exits_asked: set[int] = set()  # loops
        self._choices_asked: set[int] = set()  # blocks
        self._parts_anywhere = False  # whether lanes part at too many branches to find where ways meet

    def _is_late(self, node: FlowNode) -> bool:
        return isinstance(node, (Merge, BranchCondition)) and node in self._changes and self._is_meeting(node)

    def _is_meeting(self, node: FlowNode) -> bool:
        """Whether values from different paths meet at a node."""
        return isinstance(node, Merge) or (isinstance(node, BranchCondition) and self.graph.blocks[node.block].is_table)

    def _joined(self, node: FlowNode, before: Bits, fresh: Bits) -> Bits:
        """Widen a node that changes often: it keeps only the bits below the lowest one that changes."""
        fact = bits.either(before, fresh)
        changes = self._changes[node] = self._changes.get(node, 0) + 1
        return fact if changes < _PATIENCE else bits.widened(before, fact)

    def _risen(self, node: FlowNode, fact: Bits) -> None:
        if isinstance(node, BranchCondition) and fact.varies:
            self._part(node.block, fact.level)

    def _part(self, block: int, level: Level) -> None:
        """Lanes diverge after a block: values that meet later may differ."""
        parting = self.control.parting(block)
        if parting is None:
            self._part_anywhere()
            return
        for join in parting.joins:
            self._joins.setdefault(join.block, {})[block] = join, level
            for node in self._at_join.get(join.block, ()):
                self._look_again(node)
        for loop in parting.loops:
            self._leaving.setdefault(loop, set()).add(block)
            self._left[loop] = max(level, self._left.get(loop, Level.UNIFORM))
            for node in self._at_exit.get(loop, ()):
                self._look_again(node)

    def _part_anywhere(self) -> None:
        """Lanes diverge in very many places: assume nothing about values that meet or leave a loop."""
        if not self._parts_anywhere:
            self._parts_anywhere = True
            for nodes in (*self._at_join.values(), *self._at_exit.values()):
                for node in nodes:
                    self._look_again(node)

    # --- one node ---

    def _evaluate(self, node: FlowNode) -> Bits | None:
        match node:
            case Nothing():
                return various(64, Level.UNKNOWN)
            case BranchCondition(block):
                return self._condition(block)
            case Outlived(origin, loops):
                return self._outlived(node, origin, loops)
            case Merge():
                return self._merge(node)
            case Write():
                return self._write(node)

    def _condition(self, block: int) -> Bits | None:
        if self.graph.blocks[block].is_table:
            return self._shared_index(block)
        inside = self.graph.blocks[block].instructions
        position, last = len(inside) - 1, inside[-1]
        goes_by = (
            [self._index(block)[1]] if Branch(listed=True) in deeds_of(last) and not self._leads_to_table(block) else []
        )
        if last.predicate is not None:
            goes_by.append(self._operand(last, block, position, Name(last.predicate.name, start=0), 1))
        known = [one for one in goes_by if one is not None]
        if len(known) < len(goes_by):
            return None
        return bits.opaque(32, *known) if len(known) > 1 else known[0] if known else fixed(0)

    def _leads_to_table(self, block: int) -> bool:
        """Whether a branch uses a shared list, which is a block of its own."""
        return self.graph.blocks[self.graph.successors[block][0]].is_table

    def _index(self, block: int) -> tuple[FlowNode | Operand | str, Bits | None]:
        """The source of the index of the branch at a block's end, and its facts."""
        inside = self.graph.blocks[block].instructions
        position, last = len(inside) - 1, inside[-1]
        index = last.operands[0]
        key = self._registers.key(last, index.text) if isinstance(index, Name) else None
        origin = index if key is None else self._node(block, position, key)
        return origin, self._operand(last, block, position, index, 32)

    def _shared_index(self, table: int) -> Bits | None:
        """The facts of the index by which lanes leave a list of targets, for all branches to it."""
        before = [one for one in self.graph.predecessors[table] if one not in self.graph.unreachable]
        node = BranchCondition(table)
        if node not in self._changes:
            self._changes[node] = 0
            self._at_join.setdefault(table, []).append(node)
            self._ask_choices(table, before)
        found = {one: self._index(one) for one in before}
        facts = {one: fact for one, (_, fact) in found.items() if fact is not None}
        return self._met(table, facts, {one: origin for one, (origin, _) in found.items()})

    def _outlived(self, node: Outlived, origin: Origin, loops: tuple[int, ...]) -> Bits | None:
        inner = self._known(origin)
        level = Level.UNKNOWN if self._parts_anywhere else Level.UNIFORM
        new = node not in self._changes
        self._changes.setdefault(node, 0)
        for loop in loops:
            if new:
                self._at_exit.setdefault(loop, []).append(node)
            if loop not in self._exits_asked:
                self._exits_asked.add(loop)
                self._ask_exits(loop)
            level = max(level, self._left.get(loop, Level.UNIFORM))
        if inner is None or level is Level.UNIFORM:
            return inner
        return bits.made(inner.zeros, inner.ones, bits.FULL & ~(inner.zeros | inner.ones), max(level, inner.level))

    def _ask_exits(self, loop: int) -> None:
        """Evaluate the branches that decide when a loop is left."""
        for one in self.control.leaving(loop):
            self._ask(BranchCondition(one))
        if self.control.is_deep:
            self._part_anywhere()

    def _merge(self, node: Merge) -> Bits | None:
        if self._registers.is_deep:
            return various(64, Level.UNKNOWN)
        before = [one for one in self.graph.predecessors[node.block] if one not in self.graph.unreachable]
        if node not in self._changes:
            self._changes[node] = 0
            self._at_join.setdefault(node.block, []).append(node)
            self._ask_choices(node.block, before)
        origins = {one: self._seen_from(self._registers.at_end(one, node.name), one) for one in before}
        facts = {
            one: fact
            for one, origin in origins.items()
            if not isinstance(origin, Nothing) and (fact := self._known(origin)) is not None
        }
        return self._met(node.block, facts, origins)

    def _met(self, block: int, facts: Mapping[int, Bits], origins: Mapping[int, object]) -> Bits | None:
        """The facts about a value where paths meet, from each predecessor."""
        if not facts:
            return None
        found = reduce(bits.either, facts.values())
        if self._parts_anywhere and len({origins[one] for one in facts}) > 1:
            return reduce(partial(bits.mixed, level=Level.UNKNOWN), facts.values())
        for join, level in self._joins.get(block, {}).values():
            sides = dict(one for one in join.sides if one[0] in facts)
            if len(set(sides.values())) > 1 and len({origins[one] for one in sides}) > 1:
                found = bits.either(found, reduce(partial(bits.mixed, level=level), (facts[one] for one in sides)))
        return found

    def _ask_choices(self, block: int, before: list[int]) -> None:
        """Evaluate the branches that decide which predecessor control comes from."""
        if block in self._choices_asked:
            return
        self._choices_asked.add(block)
        top = self.graph.dominators[block]
        for branch in self.control.with_above(before):
            if self.control.forks(branch) and (top is None or self.graph.dominates(top, branch)):
                self._ask(BranchCondition(branch))
        if self.control.is_deep:
            self._part_anywhere()

    def _write(self, node: Write) -> Bits | None:
        instruction = self._registers.instruction(node)
        if not node.whole:
            return various(64, Level.UNKNOWN)
        missing = False

        def read(operand: Operand, width: int) -> Bits:
            nonlocal missing
            fact = self._operand(instruction, node.block, node.position, operand, width)
            if fact is None:
                missing = True
                return fixed(0)
            return fact

        def is_symbol(name: str) -> bool:
            return not self._registers.written(self._registers.key(instruction, name))

        fresh = result(Query(instruction, node.place, read, self._kernel_params, is_symbol))
        if missing:
            return None
        return fresh if instruction.predicate is None else self._kept(node, instruction, fresh)

    def _kept(self, node: Write, instruction: Instruction, fresh: Bits) -> Bits | None:
        """A guarded write keeps the earlier value in the lanes whose guard is false."""
        predicate = instruction.predicate
        if predicate is None:
            return fresh
        guard = self._operand(instruction, node.block, node.position, Name(predicate.name, start=0), 1)
        name, _ = destinations(instruction)[node.place]
        key = self._registers.key(instruction, name.text)
        before = self._seen_from(self._registers.origin(node.block, node.position, key), node.block)
        if isinstance(before, Nothing):
            return fresh
        old = self._known(before)
        if guard is None or old is None:
            return fresh if old is None else None
        return bits.mixed(fresh, old, guard.level)

    # --- operands ---

    def _operand(  # noqa: PLR0911 - one return a kind of operand
        self, instruction: Instruction, block: int, position: int, operand: Operand, width: int
    ) -> Bits | None:
        match operand:
            case Integer(value):
                return fixed(value, width)
            case Name(text):
                return self._name(instruction, block, position, text)
            case Component(Name(text), field):
                hidden = self._registers.declares(instruction, text)
                special = None if hidden else self._launch.special(text, field)
                return special or various(64, Level.UNKNOWN)
            case Unary("!", inner):
                found = self._operand(instruction, block, position, inner, 1)
                return None if found is None else bits.inverted(bits.cut(found, 1), 1)
            case Address():
                return self._address(instruction, block, position, operand)
            case Vector(elements) | Arguments(elements):
                return self._together(instruction, block, position, elements)
            case Unary(_, inner):
                return self._together(instruction, block, position, (inner,))
            case Binary(_, left, right):
                return self._together(instruction, block, position, (left, right))
            case Pair(first, second):
                return self._together(instruction, block, position, (first, second))
            case _:
                return shared(64)

    def _name(self, instruction: Instruction, block: int, position: int, text: str) -> Bits | None:
        node = self._node(block, position, self._registers.key(instruction, text))
        return self._unwritten(instruction, text) if isinstance(node, str) else self._known(node)

    def _unwritten(self, instruction: Instruction, name: str) -> Bits:
        """The meaning of a name that no instruction writes."""
        if name in self._given:
            return various(64, Level.UNKNOWN)
        if name == "WARP_SZ":
            return fixed(32)
        special = self._launch.special(name, "")
        return shared(64) if special is None or self._registers.declares(instruction, name) else special

    def _address(self, instruction: Instruction, block: int, position: int, address: Address) -> Bits | None:
        offset, extra = -address.offset if address.minus else address.offset, address.extra
        found = self._operand(instruction, block, position, address.base, 64)
        if found is None:
            return None
        whole = bits.total(found, fixed(offset), 64) if offset else found
        if not extra:
            return whole
        rest = self._together(instruction, block, position, extra)
        return None if rest is None else bits.opaque(64, whole, rest)

    def _together(self, instruction: Instruction, block: int, position: int, parts: tuple[Operand, ...]) -> Bits | None:
        found = [self._operand(instruction, block, position, one, 64) for one in parts]
        known = [one for one in found if one is not None]
        return bits.opaque(64, *known) if len(known) == len(found) else None

    def _node(self, block: int, position: int, key: str) -> FlowNode | str:
        """The meaning of a name just before an instruction; the name itself if no instruction writes it."""
        if not self._registers.written(key):
            return key
        return self._seen_from(self._registers.origin(block, position, key), block)

    def _seen_from(self, origin: Origin, block: int) -> Origin | Outlived:
        """A value as seen from a block, perhaps outside the loops in which it was computed."""
        if isinstance(origin, Nothing) or origin.block == block:
            return origin
        left = takewhile(lambda one: block not in self.graph.loops[one].blocks, self.control.loops_around(origin.block))
        loops = tuple(islice(left, _NESTED))
        if len(loops) == _NESTED:
            self._part_anywhere()
        return Outlived(origin, loops) if loops else origin
