"""Cutting a function's body into basic blocks, every branch resolved to the block that its label names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ptxloom.binding.call_graph import called
from ptxloom.binding.names import Scope
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
    from collections.abc import Collection, Sequence

    from ptxloom.syntax.tree import Function, Statement

ENDING: Final = frozenset(("ret", "exit", "trap"))
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


def cut(function: Function, noreturn: Collection[str], *, marks: bool) -> tuple[list[OpenBlock], list[Instruction]]:
    """The blocks of a function's body, and the branches whose target is not found."""
    cutter = _Cutter(noreturn, None if marks else _mentioned(function))
    if function.body is not None:
        cutter.read(function.body.statements)
        cutter.trim()
    unresolved = [
        piece.instructions[-1] for number, piece in enumerate(cutter.pieces) if not cutter.connect(number, piece)
    ]
    return cutter.pieces, unresolved


def _mentioned(function: Function) -> set[str]:
    """Every name that an operand or a table of branches is: any other label only marks a place."""
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
        """Drop the empty piece behind an instruction that control never passes."""
        last = self.pieces[-1]
        if len(self.pieces) > 1 and not last.instructions and not any(map(self._leads, last.labels)):
            before = self.pieces[-2].instructions[-1]
            if before.predicate is None:
                self.pieces.pop()

    def _instruction(self, node: Instruction, scope: _Scope) -> None:
        piece = self.pieces[-1]
        piece.instructions.append(node)
        piece.scope = scope
        if node.opcode in {"bra", "brx"} or node.opcode in ENDING or self._never_returns(node):
            self.pieces.append(OpenBlock())

    def _label(self, name: str, scope: _Scope, following: Statement | None) -> int:
        """Note a label; how many statements it takes with it: the directive that it names, if any."""
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
        """Find where a piece leads; whether all its targets were found."""
        last = piece.instructions[-1] if piece.instructions else None
        found = True
        goes_on: Kind | None = "next"
        if last is not None and piece.scope is not None:
            goes_on = "passed" if last.predicate is not None else None
            if last.opcode in {"bra", "brx"}:
                found = self._branch(last, piece, piece.scope)
            elif last.opcode in ENDING:
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

    @staticmethod
    def _branch(node: Instruction, piece: OpenBlock, scope: _Scope) -> bool:
        """Add the ways of a branch; whether all its targets were found."""
        match node.opcode, node.operands:
            case "bra", (Name(text), *_):
                kind: Kind = "jump" if node.predicate is None else "taken"
                names: tuple[str, ...] = (text,)
            case "brx", (_, Name(text), *_) if isinstance(table := scope.label(text), BranchTargets):
                kind, names = "table", tuple(one.text for one in table.names)
            case _:
                return False
        targets = [target if isinstance(target := scope.label(name), int) else None for name in names]
        for target in dict.fromkeys(targets):
            if target is not None:
                piece.ways.append((target, kind))
        return None not in targets
