"""Cutting a function's body into basic blocks, every branch resolved to the block that its label names."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from ptxloom.binding.call_graph import called
from ptxloom.binding.names import Scope
from ptxloom.dataclass import dataclass
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import Branch
from ptxloom.readings.effects import branches, turns
from ptxloom.syntax.tree import (
    Block,
    BranchTargets,
    CallPrototype,
    CallTargets,
    Instruction,
    Label,
    Name,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ptxloom.syntax.tree import Function, Statement

Kind: TypeAlias = Literal["next", "jump", "taken", "passed", "table"]


@dataclass(slots=True)
class OpenBlock:
    """A block under construction; `ways` are (block, kind of edge)."""

    labels: list[str] = field(default_factory=list[str])
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    scope: _Scope | None = None  # of its last instruction
    ways: list[tuple[int, Kind]] = field(default_factory=list[tuple[int, "Kind"]])
    leaves: str = ""


_Scope: TypeAlias = "Scope[None, int | BranchTargets]"  # a label stands for a block, or for a list of labels


@dataclass(slots=True)
class _Table:
    """A list of labels: the blocks that they start, whether all were found, and the branches that use it."""

    name: str
    targets: tuple[int, ...]
    is_whole: bool
    branches: list[int] = field(default_factory=list[int])


def cut(function: Function, noreturn: Collection[str], *, marks: bool) -> tuple[list[OpenBlock], list[Instruction]]:
    """The blocks of a function's body, and the branches whose target is not found.

    A list of labels that several branches use is a block of its own, after those of the text: each edge to a label of
    the list exists once, however many branches share it.
    """
    cutter = _Cutter(noreturn, None if marks else _mentioned(function))
    if function.body is not None:
        cutter.read(function.body.statements)
        cutter.trim()
    cutter.find_tables()
    unresolved = [
        piece.instructions[-1] for number, piece in enumerate(cutter.pieces) if not cutter.connect(number, piece)
    ]
    return [*cutter.pieces, *cutter.shared_tables()], unresolved


def _mentioned(function: Function) -> set[str]:
    """Every name that an operand or a branch table mentions: any other label only marks a place."""
    found: set[str] = set()
    waiting = [function.body] if function.body is not None else []
    while waiting:
        for statement in waiting.pop().statements:
            match statement:
                case Instruction():
                    found.update(one.text for one in statement.operands if isinstance(one, Name))
                case BranchTargets(names):
                    found.update(one.text for one in names)
                case Block():
                    waiting.append(statement)
                case _:
                    pass
    return found


class _Cutter:
    def __init__(self, noreturn: Collection[str], mentioned: Collection[str] | None) -> None:
        self.pieces: list[OpenBlock] = [OpenBlock()]
        self._noreturn = noreturn
        self._mentioned = mentioned
        self._tables: dict[int, _Table] = {}  # by the identity of the directive

    def read(self, statements: Sequence[Statement]) -> None:
        """Cut statements and all scopes among them into pieces."""
        waiting: list[tuple[_Scope, Sequence[Statement], int]] = [(Scope(), statements, 0)]
        while waiting:
            scope, inside, at = waiting.pop()
            while at < len(inside):
                statement = inside[at]
                at += 1
                match statement:
                    case Instruction():
                        self._instruction(statement, scope)
                    case Label(name):
                        at += self._label(name, scope, inside[at] if at < len(inside) else None)
                    case Block(inner):
                        waiting += [(scope, inside, at), (Scope(scope), inner, 0)]
                        break
                    case _:
                        pass

    def trim(self) -> None:
        """Drop the empty piece after an instruction that control never passes."""
        last = self.pieces[-1]
        if len(self.pieces) > 1 and not last.instructions and not any(map(self._leads, last.labels)):
            before = self.pieces[-2].instructions[-1]
            if before.predicate is None:
                self.pieces.pop()

    def _instruction(self, node: Instruction, scope: _Scope) -> None:
        piece = self.pieces[-1]
        piece.instructions.append(node)
        piece.scope = scope
        if turns(node) or self._never_returns(node):
            self.pieces.append(OpenBlock())

    def _label(self, name: str, scope: _Scope, following: Statement | None) -> int:
        """Record a label; returns 1 if it names the directive that follows, else 0."""
        match following:
            case BranchTargets():
                scope.labels.setdefault(name, following)
                return 1
            case CallTargets() | CallPrototype():
                return 1
            case _:
                if self.pieces[-1].instructions:
                    if not self._leads(name):
                        return 0
                    self.pieces.append(OpenBlock())
                self.pieces[-1].labels.append(name)
                scope.labels.setdefault(name, len(self.pieces) - 1)
                return 0

    def _leads(self, label: str) -> bool:
        """Whether a label starts a block."""
        return self._mentioned is None or label in self._mentioned

    def _never_returns(self, node: Instruction) -> bool:
        return bool(self._noreturn) and called(node) in self._noreturn

    def connect(self, number: int, piece: OpenBlock) -> bool:
        """Find where a piece leads; returns whether all its targets were found."""
        last = piece.instructions[-1] if piece.instructions else None
        found = True
        goes_on: Kind | None = "next"
        if last is not None and piece.scope is not None:
            goes_on = "passed" if last.predicate is not None else None
            if branches(last):
                found = self._branch(last, piece, piece.scope)
            elif turns(last):
                piece.leaves = last.opcode
            elif self._never_returns(last):
                piece.leaves = "call"
            else:
                goes_on = "next"
        if goes_on is None:
            return found
        if number + 1 < len(self.pieces):
            piece.ways.append((number + 1, goes_on))
        else:
            piece.leaves = piece.leaves or "end"
        return found

    def _branch(self, node: Instruction, piece: OpenBlock, scope: _Scope) -> bool:
        """Add the edges of a branch; returns whether all its targets were found."""
        match node.operands:
            case (Name(text), *_) if Branch() in deeds_of(node):
                target = scope.label(text)
                if not isinstance(target, int):
                    return False
                piece.ways.append((target, "jump" if node.predicate is None else "taken"))
                return True
            case _:
                table = self._table_of(node, scope)
                if table is None:
                    return False
                if len(table.branches) == 1:
                    piece.ways.extend((target, "table") for target in table.targets)
                return table.is_whole

    def find_tables(self) -> None:
        """Find the lists of labels, and the branches that use each."""
        for number, piece in enumerate(self.pieces):
            last = piece.instructions[-1] if piece.instructions else None
            if last is not None and piece.scope is not None and (table := self._table_of(last, piece.scope)):
                table.branches.append(number)

    def shared_tables(self) -> Iterator[OpenBlock]:
        """The blocks of lists that several branches share."""
        number = len(self.pieces)
        for table in self._tables.values():
            if len(table.branches) > 1 and table.targets:
                for branch in table.branches:
                    self.pieces[branch].ways.insert(0, (number, "table"))
                yield OpenBlock([table.name], ways=[(target, "table") for target in table.targets])
                number += 1

    def _table_of(self, node: Instruction, scope: _Scope) -> _Table | None:
        """The list that a branch uses. Its labels are those visible at the list."""
        match node.operands:
            case (_, Name(text), *_) if (
                Branch(listed=True) in deeds_of(node) and (seen := scope.labelled(text)) is not None
            ):
                around, directive = seen
            case _:
                return None
        if not isinstance(directive, BranchTargets):
            return None
        table = self._tables.get(id(directive))
        if table is None:
            found = [around.label(one.text) for one in directive.names]
            blocks = tuple(dict.fromkeys(one for one in found if isinstance(one, int)))
            is_whole = all(isinstance(one, int) for one in found)
            table = self._tables[id(directive)] = _Table(text, blocks, is_whole)
        return table
