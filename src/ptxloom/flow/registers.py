"""Where registers are written and which write a read sees: static single assignment, computed name by name."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.binding.effects import destinations
from ptxloom.binding.names import Scope, has_needless_zeros
from ptxloom.dataclass import dataclass
from ptxloom.lazy import cached_property
from ptxloom.solver import reached
from ptxloom.syntax.tree import Block, Declaration, Instruction

if TYPE_CHECKING:
    from ptxloom.flow.graph import FlowGraph
    from ptxloom.syntax.tree import Function


@dataclass(frozen=True, slots=True)
class Write:
    """An instruction that writes a register.

    Attributes:
        block: The block that it is in.
        position: Its place among the block's instructions.
        place: Which of its destinations the register is.
        whole: False if only a part of the register is written, so that nothing is known of the rest.
    """

    block: int
    position: int
    place: int
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Merge:
    """A register at the start of a block where different writes of it meet."""

    block: int
    name: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """A register that nothing has written."""


Origin: TypeAlias = "Write | Merge | Nothing"
NOTHING: Final = Nothing()
_MEETINGS: Final = 256
"""Limit on the total size of all dominance frontiers, per block; few functions reach it."""


class RegisterWrites:
    """The writes of all registers of a function, and which one a read sees.

    The braces that declare a name distinguish it: registers of one name in different braces are different, and
    `%r01` is the `%r1` of a series.
    """

    def __init__(self, graph: FlowGraph) -> None:
        self.graph = graph
        self._names = _Names(graph.function)
        self._writes_of: dict[str, dict[int, list[Write]]] = {}
        self._merges: dict[str, frozenset[int]] = {}
        self._starts: dict[tuple[int, str], Origin] = {}

    def key(self, instruction: Instruction, name: str) -> str:
        """A name that only one register of the function has."""
        return self._names.key(instruction, name)

    def declares(self, instruction: Instruction, name: str) -> bool:
        """Whether the function's body declares a name, which then hides a special register."""
        return self._names.declares(instruction, name)

    def origin(self, block: int, position: int, key: str) -> Origin:
        """The value that a read sees just before an instruction; `position` may be the length of the block."""
        if key not in self._index:
            return NOTHING
        here = self._writes(key).get(block)
        if here:
            at = bisect_left(here, position, key=lambda one: one.position)
            if at:
                return here[at - 1]
        return self._at_start(block, key)

    def at_end(self, block: int, key: str) -> Origin:
        """The value of a register at the end of a block."""
        return self.origin(block, len(self.graph.blocks[block].instructions), key)

    def reaching(self, block: int, position: int, key: str) -> tuple[Write, ...]:
        """Every write that a read just before an instruction may see, in the order of the text.

        Older writes also count if a write is guarded or partial. `origin` ignores paths without a write; here every
        path that leads to the read counts.
        """
        writes, found = self._writes(key), list[Write]()
        dead = frozenset[int]() if block in self.graph.unreachable else self.graph.unreachable

        def before(at: int, end: int) -> list[int]:
            """Note the writes above a place in a block; the blocks before it, unless one of these replaces all."""
            for one in reversed([each for each in writes.get(at, ()) if each.position < end]):
                found.append(one)
                if self._replaces(one):
                    return []
            return [each for each in self.graph.predecessors[at] if each not in dead]

        reached(before(block, position), lambda at: before(at, len(self.graph.blocks[at].instructions)))
        return tuple(sorted(set(found), key=lambda one: (one.block, one.position, one.place)))

    def instruction(self, write: Write) -> Instruction:
        """The instruction of a write."""
        return self.graph.blocks[write.block].instructions[write.position]

    def written(self, key: str) -> bool:
        """Whether any instruction writes a register."""
        return key in self._index

    def _writes(self, key: str) -> dict[int, list[Write]]:
        """The writes of a register by block, in the order of the text."""
        found = self._writes_of.get(key)
        if found is None:
            found = self._writes_of[key] = {}
            for number, position in self._index.get(key, ()):
                instruction = self.graph.blocks[number].instructions[position]
                for place, (name, whole) in enumerate(destinations(instruction)):
                    if self.key(instruction, name.text) == key:
                        found.setdefault(number, []).append(Write(number, position, place, whole))
        return found

    @cached_property
    def _index(self) -> dict[str, list[tuple[int, int]]]:
        """The writes of every register, by block and place in it."""
        found: dict[str, list[tuple[int, int]]] = {}
        for number, block in enumerate(self.graph.blocks):
            for position, instruction in enumerate(block.instructions):
                for name, _ in destinations(instruction):
                    found.setdefault(self.key(instruction, name.text), []).append((number, position))
        return found

    def _at_start(self, block: int, key: str) -> Origin:
        """Go up the dominators to the block that writes the register, or where writes of it meet."""
        merges, path = self._meetings(key), list[int]()
        writes = self._writes(key)
        at, found = block, None
        while found is None:
            found = self._starts.get((at, key))
            if found is not None:
                break
            path.append(at)
            above = self.graph.dominators[at]
            if at in merges:
                found = Merge(at, key)
            elif above is None:
                found = NOTHING
            elif above in writes:
                found = writes[above][-1]
            else:
                at = above
        for one in path:
            self._starts[one, key] = found
        return found

    def _meetings(self, key: str) -> frozenset[int]:
        """The blocks where different writes of a register meet: the iterated dominance frontier of them.

        Where loops nest so deep that these are too many, every block that several others come before.
        """
        if self.is_deep:
            return self._joins
        found = self._merges.get(key)
        if found is None:
            writes = self._writes(key)
            several = len(writes) > 1 or self._starts_over(writes)
            first = {one for block in writes for one in self._frontiers[block]} if several else ()
            found = self._merges[key] = frozenset(reached(first, self._frontiers.__getitem__))
        return found

    def _starts_over(self, writes: dict[int, list[Write]]) -> bool:
        """Whether a register that one block alone writes may be written under a guard, so that older values count."""
        return not all(self._replaces(one) for block in writes.values() for one in block)

    def _replaces(self, write: Write) -> bool:
        """Whether a write replaces the older value completely."""
        return write.whole and self.instruction(write).predicate is None

    @cached_property
    def _joins(self) -> frozenset[int]:
        """The blocks with several predecessors."""
        return frozenset(number for number in self.graph.order if len(self._before(number)) > (number != 0))

    def _before(self, number: int) -> list[int]:
        """The predecessors of a block."""
        return [one for one in self.graph.predecessors[number] if one not in self.graph.unreachable]

    @property
    def is_deep(self) -> bool:
        """Whether loops nest so deep that merged values are not followed."""
        return not self._frontiers

    @cached_property
    def _frontiers(self) -> list[set[int]]:
        """The dominance frontier of each block; empty if together they have too many blocks."""
        found: list[set[int]] = [set() for _ in self.graph.blocks]
        left = _MEETINGS * len(found)
        above = self.graph.dominators
        for number in self._joins:
            for one in self._before(number):
                runner: int | None = one
                while runner is not None and runner != above[number] and number not in found[runner]:
                    found[runner].add(number)
                    left -= 1
                    if left < 0:
                        return []
                    runner = above[runner]
        return found


class _Names:
    """Names that only one register of a function has."""

    def __init__(self, function: Function) -> None:
        self._top = Scope[None, None]()
        self._inside: dict[int, Scope[None, None]] = {}  # the braces around it, except for the function's own
        self._numbers: dict[Scope[None, None], int] = {}
        self._keys = defaultdict[Scope[None, None], dict[str, str]](dict)
        if function.body is not None:
            self._read(function.body)

    def key(self, instruction: Instruction, name: str) -> str:
        """A name that no other register has, however it is spelled."""
        scope = self._inside.get(id(instruction), self._top)
        known = self._keys[scope]
        found = known.get(name)
        if found is None:
            plain = scope is self._top and not has_needless_zeros(name)
            found = known[name] = name if plain else self._key(scope, name)
        return found

    def declares(self, instruction: Instruction, name: str) -> bool:
        """Whether braces around an instruction declare a name."""
        return self._inside.get(id(instruction), self._top).place(name) is not None

    def _key(self, scope: Scope[None, None], name: str) -> str:
        place = scope.place(name)
        if place is None:
            return name
        braces, spelled = place
        if braces is self._top:
            return spelled
        return f"{spelled}@{self._numbers.setdefault(braces, len(self._numbers))}"

    def _read(self, body: Block) -> None:
        waiting = [(iter(body.statements), self._top)]
        while waiting:
            statements, scope = waiting.pop()
            for one in statements:
                match one:
                    case Instruction() if scope is not self._top:
                        self._inside[id(one)] = scope
                    case Declaration(declarators=declarators):
                        for each in declarators:
                            scope = scope.behind(each.name, each.count)
                            scope.declare(each.name, None, each.count)
                    case Block(inner):
                        waiting += [(statements, scope), (iter(inner), Scope(scope))]
                        break
                    case _:
                        pass
