"""Which line of the program that was compiled an instruction comes from: `.loc` and `.file` (PTX ISA 11.5)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxloom.syntax.tree import Block, File, Function, Instruction, Loc, LocIntermediate

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
    """The source line of every place in a module that has one; each `.loc` holds until the next of its function.

    The place at which a `.loc` says that its code was inlined is that of the nearest `.loc` before it in its function:
    the same line may be inlined at many places.
    """

    def __init__(self, module: Module) -> None:
        self._files = {s.index: s.name for s in module.statements if isinstance(s, File)}
        self._starts: list[int] = []
        self._locs: list[Loc | None] = []
        self._callers: dict[int, Loc] = {}  # by the start of a `.loc`, the one that it was inlined at
        for statement in module.statements:
            if isinstance(statement, Function) and statement.body is not None:
                self._note(statement.start, None)
                self._note_all(one for one in places((statement,)) if isinstance(one, Loc))
                self._note(statement.end, None)

    def _note_all(self, found: Iterable[Loc]) -> None:
        """The lines of one function."""
        nearest: dict[tuple[int, int, int], Loc] = {}
        for loc in found:
            self._note(loc.start, loc)
            caller = nearest.get(loc.inlined_at) if loc.inlined_at is not None else None
            if caller is not None:
                self._callers[loc.start] = caller
            nearest[loc.file, loc.line, loc.column] = loc

    def _note(self, start: int, loc: Loc | None) -> None:
        self._starts.append(start)
        self._locs.append(loc)

    def at(self, offset: int) -> SourceLine | None:
        """Where the PTX at an offset comes from; None if the module does not say."""
        index = bisect_right(self._starts, offset) - 1
        loc = self._locs[index] if index >= 0 else None
        chain: list[tuple[int, int]] = []
        while loc is not None:
            chain.append((loc.file, loc.line))
            caller = self._callers.get(loc.start)
            if caller is None and loc.inlined_at is not None:
                chain.append(loc.inlined_at[:2])
            loc = caller
        line: SourceLine | None = None
        for file, number in reversed(chain):
            line = SourceLine(self._files.get(file, f"file {file}"), number, line)
        return line


def places(statements: Iterable[Statement]) -> Iterator[Loc | LocIntermediate]:
    """The directives that name a place, among statements, functions and blocks, in the order of the text."""
    waiting = [iter(statements)]
    while waiting:
        statement = next(waiting[-1], None)
        if type(statement) is Instruction:  # as nearly all are
            continue
        match statement:
            case None:
                waiting.pop()
            case Block(inner) | Function(body=Block(inner)):
                waiting.append(iter(inner))
            case Loc() | LocIntermediate():
                yield statement
            case _:
                pass
