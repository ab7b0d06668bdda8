"""Which registers may be read before they are written: only these count as unwritten when a CTA starts.

A register that is written on every path to each of its reads needs no marks; nearly all registers in compilers' code
are like that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from ptxloom.binding.effects import destinations, mentions
from ptxloom.dataclass import dataclass
from ptxloom.machine.program.mentions import destination
from ptxloom.machine.program.symbols import BranchTable, Register
from ptxloom.readings.effects import branches, turns
from ptxloom.solver import solve
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.machine.program.model import BasicBlock, FunctionPlan, Op, Program
    from ptxloom.machine.program.symbols import Key, Scope


_ALIGNMENT: Final = 64


@dataclass(frozen=True, slots=True)
class Unsure:
    """The registers that may be read before they are written.

    Attributes:
        names: By the place of each one's poison.
        bytes: The size of their poison, after that of all registers.
    """

    names: Mapping[int, str]
    bytes: int


_FOUND: Final[WeakKeyDictionary[Program, Unsure]] = WeakKeyDictionary()


def key_of(scope: Scope, name: str) -> Key | None:
    """The register that a name refers to; None if it is not one that can be watched."""
    place = scope.place(name)
    found = None if place is None else place[0].names.get(place[1])
    return place if isinstance(found, Register) and found.vector == 1 else None


def names_read(op: Op) -> Iterator[tuple[int, tree.Name]]:
    """The registers that an instruction reads: each name with its number among all register names, in text order."""
    number = 0
    if op.node.predicate is not None:
        yield number, tree.Name(op.node.predicate.name)
        number += 1
    for name, is_read in mentions(op.node):
        if isinstance(op.scope.find(name.text), Register):
            if is_read:
                yield number, name
            number += 1


def names_written(op: Op) -> tuple[str, ...]:
    """The registers that an instruction writes completely."""
    return tuple(name.text for name, whole in destinations(op.node) if whole)


def unsure_registers(program: Program) -> Unsure:
    """The registers that may be read before they are written; found once for a program."""
    found = _FOUND.get(program)
    if found is None:
        found = _FOUND[program] = _find(program)
    return found


def _find(program: Program) -> Unsure:
    """Assign each of them its own place for poison: other registers may have used its shared place before."""
    found = dict.fromkeys(key for function in program.functions for key in _Function(program, function).unsure())
    names: dict[int, str] = {}
    at = program.register_bytes
    for scope, name in found:
        register = scope.names[name]
        assert isinstance(register, Register)
        scope.names[name] = replace(register, apart=at)
        names[at] = name
        at += -(-register.bytes // _ALIGNMENT) * _ALIGNMENT
    return Unsure(names, at - program.register_bytes)


class _Function:
    """One function: its registers as bits of an integer."""

    def __init__(self, program: Program, function: FunctionPlan) -> None:
        self.blocks = {b.number: b for b in program.blocks if b.function is function}
        self.bits: dict[Key, int] = {}
        self.facts: dict[int, tuple[int, int]] = {}  # by site: bits read, bits written
        for block in self.blocks.values():
            for op in block.ops:
                self._note(op)
        self.first = function.first

    def _note(self, op: Op) -> None:
        reads = self._mask(op, (name.text for _, name in names_read(op)))
        writes = self._mask(op, names_written(op))
        self.facts[op.site] = (reads, writes)

    def _mask(self, op: Op, names: Iterator[str] | tuple[str, ...]) -> int:
        mask = 0
        for name in names:
            key = key_of(op.scope, name)
            if key is not None:
                mask |= 1 << self.bits.setdefault(key, len(self.bits))
        return mask

    def unsure(self) -> Iterator[Key]:
        """The registers that may be unwritten where they are read."""
        everything = (1 << len(self.bits)) - 1
        starts: dict[int | BranchTable, int] = {self.first: everything}
        missing = 0
        for place, before in solve(starts, self._step, lambda one, other: one | other).items():
            if not isinstance(place, BranchTable):
                missing |= self._through(self.blocks[place], before)[1]
        for key, bit in self.bits.items():
            if missing >> bit & 1:
                yield key

    def _step(self, place: int | BranchTable, before: int) -> Iterator[tuple[int | BranchTable, int]]:
        """The successors of a place, and the registers that may be unwritten there."""
        if isinstance(place, BranchTable):
            after, following = before, iter(place.blocks)
        else:
            block = self.blocks[place]
            after, following = self._through(block, before)[0], self._following(block)
        return ((to, after) for to in following if isinstance(to, BranchTable) or to in self.blocks)

    def _through(self, block: BasicBlock, unwritten: int) -> tuple[int, int]:
        """The registers that may be unwritten at the end of a block, and those that it reads unwritten."""
        missing = 0
        for op in block.ops:
            reads, writes = self.facts[op.site]
            missing |= reads & unwritten
            if op.node.predicate is None:
                unwritten &= ~writes
        return unwritten, missing

    def _following(self, block: BasicBlock) -> Iterator[int | BranchTable]:
        """The successors of a block: a list of labels is one place, however many branches use it."""
        op = block.ops[-1] if block.ops else None
        if op is not None:
            if branches(op.node) and (target := destination(op)) is not None:
                yield target if isinstance(target, BranchTable) else target.block
            if op.node.predicate is None and turns(op.node):
                return
        yield block.number + 1
