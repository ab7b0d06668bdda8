"""The names of a text: declarations, scopes, and every use (PTX ISA 4, 5)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding import names
from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.syntax.tree import Alias, Declaration, Declarator, Function, Label, Statement


class NameKind(StrEnum):
    """The kind of a named thing."""

    REGISTER = "register"
    VARIABLE = "variable"
    PARAMETER = "parameter"
    LABEL = "label"
    FUNCTION = "function"
    KERNEL = "kernel"


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A declared name.

    Attributes:
        name: The declared name; for a series (`%r<8>`) the stem.
        kind: Its kind.
        start: The offset of the name in its declaration.
        node: The declarator, label, function or alias.
        declaration: The declaration that contains the declarator.
        scope: Where it is visible.
        count: The number of names in a series; None if it is not a series.
    """

    name: str
    kind: NameKind
    start: int
    node: Declarator | Label | Function | Alias
    declaration: Declaration | None
    scope: Region = field(repr=False)
    count: int | None = None

    @property
    def end(self) -> int:
        """The end of the name in its declaration."""
        return self.start + len(self.name)


class Occurrence(NamedTuple):
    """An occurrence of a name.

    Attributes:
        start: Its start.
        name: The name as written.
        symbol: The symbol it refers to; None if it is not declared.
        statement: The statement that contains it.
        place: The index of the instruction's operand that contains it; -1 elsewhere: a guard, a label, a declaration.
        declares: Whether the name is declared here.
    """

    start: int
    name: str
    symbol: Declared | None
    statement: Statement
    place: int = -1
    declares: bool = False

    @property
    def end(self) -> int:
        """The end of the name."""
        return self.start + len(self.name)

    @property
    def stem_end(self) -> int:
        """The end of the declared part of the name: the whole name, or the stem of a series."""
        return self.end if self.symbol is None else self.start + len(self.symbol.name)


class Region:
    """A range of text with names of its own: a module, a function with its parameters, a block.

    Attributes:
        declared: The symbols of its names and labels, and of those around it.
    """

    __slots__ = ("declared", "end", "inner", "outer", "start")

    def __init__(self, start: int, end: int, outer: Region | None) -> None:
        self.start: Final = start
        self.end: Final = end
        self.outer: Final = outer
        self.inner: Final[list[Region]] = []
        self.declared: Final[names.Scope[Declared, Declared]] = names.Scope(None if outer is None else outer.declared)
        if outer is not None:
            outer.inner.append(self)

    def around(self) -> Iterator[Region]:
        """The scope and those around it, the innermost first."""
        scope: Region | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def find(self, name: str, *, label: bool = False) -> Declared | None:
        """The symbol of a name by the declarations so far; with `label`, labels only."""
        return (None if label else self.declared.find(name)) or self.declared.label(name)

    def at(self, offset: int) -> Region:
        """The innermost scope around an offset."""
        scope = self
        while True:
            place = bisect_right(scope.inner, offset, key=lambda one: one.start) - 1
            if place < 0 or scope.inner[place].end <= offset:
                return scope
            scope = scope.inner[place]


class Names:
    """Every occurrence of a name in a text, in order, and the scopes.

    Attributes:
        module: The outermost scope.
        occurrences: In the order of the text.
    """

    def __init__(self, module: Region, occurrences: list[Occurrence]) -> None:
        self.module: Final = module
        self.occurrences: Final = sorted(occurrences, key=lambda one: one.start)
        self._starts: Final = [one.start for one in self.occurrences]
        self._of: dict[Declared, list[Occurrence]] = {}

    def at(self, offset: int) -> Occurrence | None:
        """The name that contains an offset, or ends there."""
        for place in (bisect_right(self._starts, offset) - 1, bisect_right(self._starts, offset - 1) - 1):
            if place >= 0 and offset <= self.occurrences[place].end:
                return self.occurrences[place]
        return None

    def between(self, start: int, end: int) -> list[Occurrence]:
        """The occurrences that start in a range of text."""
        return self.occurrences[bisect_right(self._starts, start - 1) : bisect_right(self._starts, end - 1)]

    def of(self, symbol: Declared) -> list[Occurrence]:
        """The occurrences of a symbol, declarations included."""
        if not self._of:
            for one in self.occurrences:
                if one.symbol is not None:
                    self._of.setdefault(one.symbol, []).append(one)
        return self._of.get(symbol, [])

    def alike(self, occurrence: Occurrence) -> list[Occurrence]:
        """The occurrences of the same name: a member of a series and its declaration; for that, all members."""
        if occurrence.symbol is None:
            return [one for one in self.occurrences if one.symbol is None and one.name == occurrence.name]
        places = self.of(occurrence.symbol)
        if occurrence.symbol.count is None or occurrence.declares:
            return places
        stem = occurrence.symbol.name
        index = names.index_of(occurrence.name, stem)
        return [one for one in places if one.declares or names.index_of(one.name, stem) == index]

    def visible(self, offset: int) -> Iterator[Declared]:
        """The symbols that can be named at an offset, the innermost first."""
        seen: set[str] = set()
        for scope in self.module.at(offset).declared.around():
            series = (one.thing for one in scope.series.values())
            for symbol in (*scope.labels.values(), *scope.names.values(), *series):
                if symbol.name not in seen:
                    seen.add(symbol.name)
                    yield symbol
