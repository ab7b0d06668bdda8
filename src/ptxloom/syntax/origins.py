"""Which line of the program that was compiled an instruction comes from: `.loc` and `.file` (PTX ISA 11.5)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxloom.syntax.tree import Block, File, Function, Loc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Statement


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the program that was compiled; `into` is where it was inlined.

    Example:
        >>> str(SourceLine("tile.h", 12, SourceLine("kernel.cu", 40)))
        'tile.h:12, inlined at kernel.cu:40'
    """

    file: str
    line: int
    into: SourceLine | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f", inlined at {self.into}" if self.into else "")


class Origins:
    """The source line of every place in a module that has one; each `.loc` holds until the next of its function."""

    def __init__(self, module: Module) -> None:
        self._files = {s.index: s.name for s in module.statements if isinstance(s, File)}
        self._starts: list[int] = []
        self._locs: list[Loc | None] = []
        self._inlined: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        for statement in module.statements:
            if isinstance(statement, Function) and statement.body is not None:
                self._note(statement.start, None)
                for loc in locs(statement.body.statements):
                    self._note(loc.start, loc)
                self._note(statement.end, None)

    def _note(self, start: int, loc: Loc | None) -> None:
        self._starts.append(start)
        self._locs.append(loc)
        if loc is not None and loc.inlined_at is not None:
            self._inlined[loc.file, loc.line, loc.column] = loc.inlined_at

    def at(self, offset: int) -> SourceLine | None:
        """Where the PTX at an offset comes from; None if the module does not say."""
        index = bisect_right(self._starts, offset) - 1
        loc = self._locs[index] if index >= 0 else None
        if loc is None:
            return None
        chain = [(loc.file, loc.line, loc.column)]
        into = loc.inlined_at
        while into is not None and into not in chain:
            chain.append(into)
            into = self._inlined.get(into)
        line: SourceLine | None = None
        for file, number, _ in reversed(chain):
            line = SourceLine(self._files.get(file, f"file {file}"), number, line)
        return line


def locs(statements: Iterable[Statement]) -> Iterator[Loc]:
    """The `.loc` directives among statements and their blocks, in the order of the text; without recursion."""
    waiting = [iter(statements)]
    while waiting:
        statement = next(waiting[-1], None)
        match statement:
            case None:
                waiting.pop()
            case Block():
                waiting.append(iter(statement.statements))
            case Loc():
                yield statement
            case _:
                pass
