"""Which values the lanes of a warp share, and which branches part them (PTX ISA 9.7.13.1, 9.7.14: `.aligned`).

A value is looked at only when it is asked for, and then what it follows from. Lanes that part at a branch are taken to
come together again where all its ways do: at its immediate postdominator. Nothing is run, and nothing is known of what
memory holds, so that a value comes out as shared, as differing because of something that differs for certain
(`%tid.x`), or as unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.binding.effects import destinations
from ptxloom.flow import bits
from ptxloom.flow.bits import Bits, Level, fixed, shared, various
from ptxloom.flow.control import Control
from ptxloom.flow.differences import Differences
from ptxloom.flow.launch import Launch
from ptxloom.flow.registers import Merge, Nothing, Registers, Write
from ptxloom.flow.transfer import Op, result
from ptxloom.syntax.tree import Address, Arguments, Binary, Component, Integer, Name, Pair, Unary, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.flow.control import Join
    from ptxloom.flow.graph import FlowGraph
    from ptxloom.syntax.tree import Instruction, Operand

_PATIENCE: Final = 10
"""How often a value may change before only its coarse outline is kept."""


@dataclass(frozen=True, slots=True)
class Outlived:
    """A value made inside loops and looked at outside them: lanes may have left with different ones."""

    origin: Origin
    loops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """What decides where control goes at a block's end."""

    block: int


Origin: TypeAlias = "Write | Merge | Nothing"
_Node: TypeAlias = "Write | Merge | Nothing | Outlived | Condition"


@dataclass(frozen=True, slots=True)
class Cause:
    """Where lanes begin to differ.

    Attributes:
        instruction: It reads or makes the first value that differs.
        source: The special register that it reads; empty if the instruction itself makes the difference.
    """

    instruction: Instruction
    source: str = ""


class Uniformity:
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
        self.graph = graph
        self.control = Control(graph)
        self._registers = Registers(graph)
        self._launch = Launch(graph.function)
        entry = graph.function.kind == "entry"
        names = frozenset(one.name for param in graph.function.params for one in param.declarators)
        self._kernel_params = names if entry else frozenset[str]()
        self._given = frozenset[str]() if entry else names
        self._facts: dict[_Node, Bits] = {}
        self._users: dict[_Node, dict[_Node, None]] = {}
        self._asked: set[_Node] = set()
        self._changes: dict[_Node, int] = {}
        self._waiting: dict[_Node, None] = {}
        self._joins: dict[int, dict[int, tuple[Join, Level]]] = {}  # block -> branch -> what it does there
        self._left: dict[int, Level] = {}
        self._at_join: dict[int, list[_Node]] = {}
        self._at_exit: dict[int, list[_Node]] = {}
        self._looking: _Node | None = None

    def register(self, block: int, position: int, name: str) -> Bits:
        """What is known of a register just before an instruction, given by its place in a block."""
        instruction = self.graph.blocks[block].instructions[position]
        node = self._node(block, position, self._registers.key(instruction, name))
        return self._unwritten(name) if isinstance(node, str) else self._settled(node)

    def guard(self, block: int, position: int) -> Bits:
        """What is known of whether an instruction's guard lets it run: of 1 bit, always 1 if it has no guard."""
        predicate = self.graph.blocks[block].instructions[position].predicate
        if predicate is None:
            return fixed(1)
        held = bits.cut(self.register(block, position, predicate.name), 1)
        return bits.inverted(held, 1) if predicate.negated else held

    def branch(self, block: int) -> Bits:
        """What is known of where control goes after a block."""
        return self._settled(Condition(block)) if self.control.forks(block) else fixed(0)

    def partings(self, block: int) -> tuple[int, ...]:
        """The blocks at whose end lanes part for certain, which decides who comes by this block; the nearest first."""
        above = self.control.above(block)
        for one in above:
            self._ask(Condition(one))
        self._settle()
        differing = [one for one in above if self._facts[Condition(one)].level is Level.DIVERGENT]
        return tuple(one for one in differing if not self._keeps_together(one))

    def _keeps_together(self, block: int) -> bool:
        """Whether a branch compares two integers that differ by the same in all lanes, if it has not parted them.

        Then all lanes go the same way, unless a sum overflows in some: they do not part for certain.
        """
        inside = self.graph.blocks[block].instructions
        predicate = inside[-1].predicate
        if predicate is None:
            return False
        key = self._registers.key(inside[-1], predicate.name)
        node = self._node(block, len(inside) - 1, key)
        if not isinstance(node, Write):
            return False
        compared = self.graph.blocks[node.block].instructions[node.position]
        plain = compared.opcode == "setp" and compared.predicate is None and len(compared.operands) == 3
        if not plain or compared.qualifiers[-1][:1] not in "sub":
            return False
        return Differences(self, block).keeps_apart(node, *compared.operands[1:])

    def cause(self, block: int, position: int, name: str) -> Cause | None:
        """Where the values of a register begin to differ between lanes; None if they are not known to."""
        instruction = self.graph.blocks[block].instructions[position]
        node = self._node(block, position, self._registers.key(instruction, name))
        if isinstance(node, str):
            return None
        self._settled(node)
        return self._first_cause(node)

    # --- the fixed point ---

    def _settled(self, node: _Node) -> Bits:
        self._ask(node)
        self._settle()
        return self._facts.get(node, shared(64))

    def _ask(self, node: _Node) -> None:
        if node not in self._asked:
            self._asked.add(node)
            self._waiting[node] = None

    def _settle(self) -> None:
        while self._waiting:
            node, _ = self._waiting.popitem()
            self._looking = node
            fresh = self._evaluate(node)
            self._looking = None
            if fresh is None:
                continue
            before = self._facts.get(node)
            if before is not None:
                fresh = self._widened(node, before, bits.either(before, fresh))
            if fresh != before:
                self._facts[node] = fresh
                self._waiting.update(self._users.get(node, {}))
                if isinstance(node, Condition) and fresh.varies:
                    self._part(node.block, fresh.level)
        for node in self._asked - self._facts.keys():
            self._facts[node] = shared(64)

    def _widened(self, node: _Node, before: Bits, fact: Bits) -> Bits:
        """What stops changing soon: a node that changes often keeps only what is below the lowest bit that does."""
        changes = self._changes[node] = self._changes.get(node, 0) + 1
        return fact if changes < _PATIENCE else bits.widened(before, fact)

    def _part(self, block: int, level: Level) -> None:
        """Lanes part after a block: what meets again later may differ."""
        parting = self.control.parting(block)
        for join in parting.joins:
            self._joins.setdefault(join.block, {})[block] = join, level
            self._waiting.update(dict.fromkeys(self._at_join.get(join.block, ())))
        for loop in parting.loops:
            self._left[loop] = max(level, self._left.get(loop, Level.UNIFORM))
            self._waiting.update(dict.fromkeys(self._at_exit.get(loop, ())))

    def _known(self, node: _Node) -> Bits | None:
        """What is known so far of something that the node at hand follows from; any change is told to that one."""
        if self._looking is not None:
            self._users.setdefault(node, {})[self._looking] = None
        self._ask(node)
        return self._facts.get(node)

    # --- one node ---

    def _evaluate(self, node: _Node) -> Bits | None:
        match node:
            case Nothing():
                return various(64, Level.UNKNOWN)
            case Condition(block):
                return self._condition(block)
            case Outlived(origin, loops):
                return self._outlived(node, origin, loops)
            case Merge():
                return self._merge(node)
            case Write():
                return self._write(node)

    def _condition(self, block: int) -> Bits | None:
        inside = self.graph.blocks[block].instructions
        position, last = len(inside) - 1, inside[-1]
        if last.opcode == "brx":
            return self._operand(last, block, position, last.operands[0], 32)
        if last.predicate is None:
            return fixed(0)
        return self._operand(last, block, position, Name(last.predicate.name, start=0), 1)

    def _outlived(self, node: Outlived, origin: Origin, loops: tuple[int, ...]) -> Bits | None:
        inner = self._known(origin)
        level = Level.UNIFORM
        for loop in loops:
            self._at_exit.setdefault(loop, []).append(node)
            self._ask_exits(loop)
            level = max(level, self._left.get(loop, Level.UNIFORM))
        if inner is None or level is Level.UNIFORM:
            return inner
        return bits.made(inner.zeros, inner.ones, bits.FULL & ~(inner.zeros | inner.ones), max(level, inner.level))

    def _ask_exits(self, loop: int) -> None:
        """Look at the branches that decide when a loop is left."""
        blocks = self.graph.loops[loop].blocks
        for block in blocks:
            if self.control.forks(block) and any(one not in blocks for one in self.control.ways[block]):
                self._ask(Condition(block))
                for one in self.control.above(block):
                    if one in blocks:
                        self._ask(Condition(one))

    def _merge(self, node: Merge) -> Bits | None:
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
        if not facts:
            return None
        found = reduce(bits.either, facts.values())
        for join, level in self._joins.get(node.block, {}).values():
            sides = dict(one for one in join.sides if one[0] in facts)
            if len(set(sides.values())) > 1 and len({origins[one] for one in sides}) > 1:
                found = bits.either(found, reduce(partial(bits.mixed, level=level), (facts[one] for one in sides)))
        return found

    def _ask_choices(self, block: int, before: list[int]) -> None:
        """Look at the branches that decide from where control comes to a block."""
        top = self.graph.dominators[block]
        for one in before:
            for branch in (one, *self.control.above(one)):
                if self.control.forks(branch) and (top is None or self.graph.dominates(top, branch)):
                    self._ask(Condition(branch))

    def _write(self, node: Write) -> Bits | None:
        instruction = self.graph.blocks[node.block].instructions[node.position]
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

        fresh = result(Op(instruction, node.place, read, self._kernel_params, is_symbol))
        if missing:
            return None
        return fresh if instruction.predicate is None else self._kept(node, instruction, fresh)

    def _kept(self, node: Write, instruction: Instruction, fresh: Bits) -> Bits | None:
        """A write under a guard leaves the value that was there before in the lanes whose guard does not hold."""
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
                special = self._launch.special(text, field)
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
        return self._unwritten(text) if isinstance(node, str) else self._known(node)

    def _unwritten(self, name: str) -> Bits:
        """What a name stands for that no instruction writes."""
        if name in self._given:
            return various(64, Level.UNKNOWN)
        return fixed(32) if name == "WARP_SZ" else self._launch.special(name, "") or shared(64)

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

    def _node(self, block: int, position: int, key: str) -> _Node | str:
        """What a name stands for just before an instruction; the name itself if no instruction writes it."""
        if not self._registers.written(key):
            return key
        return self._seen_from(self._registers.origin(block, position, key), block)

    def _seen_from(self, origin: Origin, block: int) -> Origin | Outlived:
        """A value as it is seen in a block, perhaps outside the loops that it was made in."""
        if isinstance(origin, Nothing) or origin.block == block:
            return origin
        inside = self.control.loops_around(origin.block)
        if not inside:
            return origin
        around = self.control.loops_around(block)
        loops = tuple(one for one in inside if one not in around)
        return Outlived(origin, loops) if loops else origin

    # --- causes ---

    def _first_cause(self, node: _Node) -> Cause | None:
        """Follow what differs for certain back to where it begins, the shortest way."""
        waiting, seen = [node], {node}
        for one in waiting:
            if self._facts.get(one, shared(64)).level is not Level.DIVERGENT:
                continue
            found, further = self._step_back(one)
            if found is not None:
                return found
            new = [each for each in further if each not in seen]
            seen.update(new)
            waiting += new
        return None

    def _step_back(self, node: _Node) -> tuple[Cause | None, list[_Node]]:
        """The cause, if it is here; else what the node follows from."""
        behind = [one for one, users in self._users.items() if node in users]
        if isinstance(node, Write):
            instruction = self.graph.blocks[node.block].instructions[node.position]
            if not any(self._facts.get(one, shared(64)).level is Level.DIVERGENT for one in behind):
                return Cause(instruction, self._special_in(instruction)), []
        if isinstance(node, Merge):
            behind += [Condition(one) for one in self._parting_at(node.block)]
        if isinstance(node, Outlived):
            behind += [
                Condition(block)
                for loop in node.loops
                for block in self.graph.loops[loop].blocks
                if loop in (self.control.parting(block).loops if Condition(block) in self._facts else ())
            ]
        return None, behind

    def _parting_at(self, block: int) -> Iterator[int]:
        for node in tuple(self._facts):
            if isinstance(node, Condition) and node.block in self._joins.get(block, {}):
                yield node.block

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
        return self.graph.blocks[node.block].instructions[node.position]

    def operand(self, node: Write, name: str) -> _Node | None:
        """What a name stands for at an instruction; None if no instruction writes it."""
        found = self._node(node.block, node.position, self._registers.key(self.instruction(node), name))
        return None if isinstance(found, str) else found

    def is_shared(self, node: _Node) -> bool:
        """Whether all lanes have the same value."""
        return self._settled(node).uniform

    def incoming(self, node: Merge, aside: int) -> list[_Node]:
        """The values that meet; none if lanes that part at another branch than `aside` choose among them."""
        self._settled(node)  # which looks at the branches that decide
        origins: dict[int, _Node] = {
            one: self._seen_from(self._registers.at_end(one, node.name), one)
            for one in self.graph.predecessors[node.block]
            if one not in self.graph.unreachable
        }
        for branch, (join, _) in self._joins.get(node.block, {}).items():
            if branch != aside and len({origins[block] for block, _ in join.sides if block in origins}) > 1:
                return []
        return list(origins.values())
