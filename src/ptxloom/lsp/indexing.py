"""Resolves the names of a module in one walk in the order of the text, labels first in each block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ptxloom.isa.special import special_register
from ptxloom.lsp.names import Declared, NameKind, Names, Occurrence, Region
from ptxloom.syntax.node import Node, fields_of
from ptxloom.syntax.tree import (
    Alias,
    Block,
    BranchTargets,
    CallTargets,
    Data,
    Declaration,
    Function,
    Instruction,
    Label,
    Loc,
    Name,
    Section,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Declarator, Statement

_NO_NAMES: Final = frozenset(("_", "WARP_SZ"))


def index(module: Module) -> Names:
    """The names of a module."""
    reader = _Indexer(module)
    reader.read()
    return Names(reader.scope, reader.found)


class _Indexer:
    """The walk: blocks are kept on an explicit stack, as they may be deeply nested."""

    def __init__(self, module: Module) -> None:
        self.module: Final = module
        self.text: Final = module.source.text
        self.scope = Region(0, len(self.text) + 1, None)
        self.found: list[Occurrence] = []
        self.unknown: list[tuple[int, Region]] = []  # occurrences to resolve again at the end
        self.everything: dict[str, Declared] = {}  # by name: debugging sections refer to names inside functions
        self.defined: dict[Declared, Declared] = {}  # the symbol of a prototype -> that of the definition

    def read(self) -> None:
        """Index the whole module."""
        top = self.scope
        self._hoist(self.module.statements)
        waiting: list[tuple[Iterator[Statement], Region]] = [(iter(self.module.statements), top)]
        while waiting:
            statements, self.scope = waiting[-1]
            statement = next(statements, None)
            match statement:
                case None:
                    waiting.pop()
                case Block(inner):
                    waiting.append(self._enter(statement, inner))
                case Function():
                    waiting.append(self._function(statement))
                case _:
                    self._statement(statement)
        self.scope = top
        self._again()

    def _enter(self, node: Statement, inner: tuple[Statement, ...]) -> tuple[Iterator[Statement], Region]:
        """Open a scope and declare its labels, as a branch may precede its label."""
        self.scope = Region(node.start, node.end, self.scope)
        self._hoist(inner)
        return iter(inner), self.scope

    def _hoist(self, statements: Iterable[Statement | Data]) -> None:
        for one in statements:
            if type(one) is Label:
                self._label(one)
            elif type(one) is Section:
                self._hoist(one.contents)

    def _label(self, label: Label) -> None:
        symbol = Declared(label.name, NameKind.LABEL, label.start, label, None, self.scope)
        self.scope.declared.labels.setdefault(label.name, symbol)
        self.everything.setdefault(label.name, symbol)

    def _function(self, function: Function) -> tuple[Iterator[Statement], Region]:
        """Declare a function, open its scope, declare its parameters."""
        start = self._place(function.name, function.start, function.end, after=f".{function.kind}")
        kind = NameKind.KERNEL if function.kind == "entry" else NameKind.FUNCTION
        symbol = self.scope.declared.names.get(function.name)
        if symbol is None or not (isinstance(symbol.node, Function) and symbol.node.body is not None):
            symbol = self._replaced(symbol, Declared(function.name, kind, start, function, None, self.scope))
        if start >= 0:
            self.found.append(Occurrence(start, function.name, symbol, function, declares=True))
        body = function.body.statements if function.body is not None else ()
        entered = self._enter(function, body)
        for declaration in (*function.returns, *function.params):
            self._declare(declaration, NameKind.PARAMETER)
        return entered

    def _replaced(self, old: Declared | None, new: Declared) -> Declared:
        """Replace a prototype with its definition: references to it move to the definition."""
        self.scope.declared.declare(new.name, new)
        if old is not None:
            self.defined[old] = new
        return new

    def _statement(self, statement: Statement | Data) -> None:
        match statement:
            case Instruction():
                self._instruction(statement)
            case Declaration():
                self._declare(statement, NameKind.REGISTER if statement.space == "reg" else NameKind.VARIABLE)
            case Label(name):
                self._name(statement.start, name, statement, declares=True)
            case _:
                self._directive(statement)

    def _directive(self, statement: Statement | Data) -> None:
        match statement:
            case BranchTargets(names) | CallTargets(names):
                for one in names:
                    self._name(one.start, one.text, statement)
            case Alias(name, target):
                self._alias(statement, name, target)
            case Section(_, contents):
                for one in contents:
                    self._statement(one)
            case Data(_, values):
                for value in values:
                    if isinstance(value, Node):
                        self._operand(value, cast("Statement", statement), -1)
            case Loc(function_name=str() as name):
                self._name(self._place(name, statement.start, statement.end), name, statement)
            case _:
                pass

    def _instruction(self, instruction: Instruction) -> None:
        guard = instruction.predicate
        if guard is not None:
            self._name(guard.end - len(guard.name), guard.name, instruction)
        for place, operand in enumerate(instruction.operands):
            if type(operand) is Name:
                self._name(operand.start, operand.text, instruction, place)
            else:
                self._operand(operand, instruction, place)

    def _operand(self, node: Node, statement: Statement, place: int) -> None:
        """The names in an operand, at any depth."""
        waiting = [node]
        while waiting:
            at = waiting.pop()
            if type(at) is Name:
                self._name(at.start, at.text, statement, place)
                continue
            for value in fields_of(at):
                if isinstance(value, Node):
                    waiting.append(value)
                elif isinstance(value, tuple):
                    waiting += [one for one in cast("tuple[object, ...]", value) if isinstance(one, Node)]

    def _declare(self, declaration: Declaration, kind: NameKind) -> None:
        for declarator in declaration.declarators:
            symbol = self._symbol(declaration, declarator, kind)
            self.found.append(Occurrence(declarator.start, declarator.name, symbol, declaration, declares=True))
            if declarator.initializer is not None:
                self._operand(declarator.initializer, declaration, -1)

    def _symbol(self, declaration: Declaration, declarator: Declarator, kind: NameKind) -> Declared:
        declared, name, count = self.scope.declared, declarator.name, declarator.count
        if count is None and name in declared.names:  # declared twice: for the linker, or by mistake
            return declared.names[name]
        if count is not None and name in declared.series:
            return declared.series[name].thing
        symbol = Declared(name, kind, declarator.start, declarator, declaration, self.scope, count)
        declared.declare(name, symbol, count)
        self.everything.setdefault(name, symbol)
        return symbol

    def _alias(self, alias: Alias, name: str, target: str) -> None:
        start = self._place(name, alias.start, alias.end)
        symbol = self.scope.declared.names.get(name)
        if symbol is None:
            symbol = self._replaced(None, Declared(name, NameKind.FUNCTION, start, alias, None, self.scope))
        if start >= 0:
            self.found.append(Occurrence(start, name, symbol, alias, declares=True))
            self._name(self._place(target, start + len(name), alias.end), target, alias)

    def _name(self, start: int, name: str, statement: Statement, place: int = -1, *, declares: bool = False) -> None:
        if start < 0 or name in _NO_NAMES or name[0] == ".":
            return
        symbol = self.scope.find(name, label=_names_label(statement, place))
        if symbol is None:
            if name[0] == "%" and special_register(name) is not None:
                return
            self.unknown.append((len(self.found), self.scope))
        self.found.append(Occurrence(start, name, symbol, statement, place, declares))

    def _again(self) -> None:
        """Resolve names that were used before their declaration."""
        for place, scope in self.unknown:
            one = self.found[place]
            symbol = scope.find(one.name, label=_names_label(one.statement, one.place))
            if symbol is None and isinstance(one.statement, Data):
                symbol = self.everything.get(one.name)
            self.found[place] = one._replace(symbol=symbol)
        if self.defined:
            self.found = [self._settled(one) for one in self.found]

    def _settled(self, occurrence: Occurrence) -> Occurrence:
        """The occurrence, with the definition instead of a prototype."""
        symbol = occurrence.symbol
        while symbol in self.defined:
            symbol = self.defined[symbol]
        return occurrence if symbol is occurrence.symbol else occurrence._replace(symbol=symbol)

    def _place(self, name: str, start: int, end: int, after: str = "") -> int:
        """The offset of a name as a whole word in a range of text, after `after`; -1 if it is not there."""
        at = max(self.text.find(after, start, end), start) + len(after)
        while name and (at := self.text.find(name, at, end)) >= 0:
            before, behind = self.text[at - 1 : at], self.text[at + len(name) : at + len(name) + 1]
            if not _wordlike(before) and not _wordlike(behind):
                return at
            at += len(name)
        return -1


def _names_label(statement: Statement, place: int) -> bool:
    """Whether the operand there names a label or branches to one."""
    match statement:
        case Label() | BranchTargets():
            return True
        case Instruction(opcode="bra"):
            return place == 0
        case Instruction(opcode="brx"):
            return place == 1
        case _:
            return False


def _wordlike(letter: str) -> bool:
    return letter.isalnum() or letter in {"_", "$", "%"}
