"""The line of the compiled program that an instruction comes from: `.loc` and `.file` (PTX ISA 11.5)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.syntax.tree import Block, File, Function, Instruction, Loc, LocIntermediate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Statement


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the compiled program; `into` is the line at which it was inlined.

    Attributes:
        file: The file, as named in `.file`.
        line: The line, from 1.
        into: The line at which its code was inlined.
        column: The column, from 1; 0 if unknown. It does not count in comparisons.

    Example:
        >>> line = SourceLine("tile.h", 12, SourceLine("kernel.cu", 40))
        >>> str(line)
        'tile.h:12, inlined at kernel.cu:40'
        >>> str(line.home)
        'kernel.cu:40'
    """

    file: str
    line: int
    into: SourceLine | None = None
    column: int = field(default=0, compare=False)

    @property
    def home(self) -> SourceLine:
        """The innermost line in the file that holds the kernel itself: the line that a reader looks at first."""
        frames: list[SourceLine] = [self]
        while (into := frames[-1].into) is not None:
            frames.append(into)
        return next(frame for frame in frames if frame.file == frames[-1].file)

    @property
    def told(self) -> str:
        """The line of the kernel's own file, followed by the line of another file that was inlined there.

        Example:
            >>> SourceLine("mma.hpp", 91, SourceLine("kernel.cu", 40)).told
            'kernel.cu:40 (mma.hpp:91 inlined there)'
        """
        home = self.home
        inner = "" if self is home else f" ({self.file.rpartition('/')[2]}:{self.line} inlined there)"
        return f"{home}{inner}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f", inlined at {self.into}" if self.into else "")


_BEGIN: Final = "// begin inline asm"
_END: Final = "// end inline asm"
_DEEPEST: Final = 200
"""The most nested inlined calls that are reported."""


class _Place(NamedTuple):
    """A place by the number of its file, and the place at which its code was inlined."""

    file: int
    line: int
    column: int
    into: _Place | None


class Origins:
    """The source line of every place in a module that has one; each `.loc` applies until the next in its function.

    Inline assembly is one statement of the source: a `.loc` between its instructions, which LLVM wrote for the next
    statement, takes effect after it.

    The call site of a `.loc` with inlined code is that of the nearest `.loc` before it in its function:
    the same line may be inlined at many places.
    """

    def __init__(self, module: Module) -> None:
        self._files = {s.index: s.name for s in module.statements if isinstance(s, File)}
        self._written = module.source.written
        self._text = module.source.text
        self._inline = _inline_parts(self._text)
        self._starts: list[int] = []
        self._places: list[_Place | None] = []
        for statement in module.statements:
            if isinstance(statement, Function) and statement.body is not None:
                self._note(statement.start, None)
                self._note_all(one for one in places((statement,)) if isinstance(one, Loc))
                self._note(statement.end, None)

    def _note_all(self, found: Iterable[Loc]) -> None:
        """The lines of one function."""
        nearest: dict[tuple[int, int, int], _Place] = {}
        for loc in found:
            at = loc.inlined_at
            caller = None if at is None else nearest.get(at, _Place(*at, None))
            place = nearest[loc.file, loc.line, loc.column] = _Place(loc.file, loc.line, loc.column, caller)
            self._note(self._holds_from(loc.start), place)

    def _holds_from(self, start: int) -> int:
        """The offset from which a `.loc` applies: after inline assembly, if some of its instructions precede it."""
        part = bisect_right(self._inline, start)
        inside = part % 2 and self._text[self._inline[part - 1] : start].strip()
        return self._inline[part] if inside else start

    def _note(self, start: int, place: _Place | None) -> None:
        self._starts.append(start)
        self._places.append(place)

    def at(self, offset: int) -> SourceLine | None:
        """The source of the PTX at an offset; None if the module does not record it.

        Compilers use line 0 for generated code: inside an inlined function it belongs to the call.
        """
        index = bisect_right(self._starts, offset) - 1
        place = self._places[index] if index >= 0 else None
        chain: list[_Place] = []
        while place is not None and len(chain) < _DEEPEST:
            chain.append(place)
            place = place.into
        line: SourceLine | None = None
        for one in (each for each in reversed(chain) if each.line > 0):
            line = SourceLine(self._name(one.file), one.line, line, one.column)
        return line

    def _name(self, index: int) -> str:
        """The name of a file: that of its text, if the text is known."""
        name = self._files.get(index)
        if name is None:
            return f"file {index}"
        text = None if self._written is None else self._written(name)
        return name if text is None else text.name


def _inline_parts(text: str) -> list[int]:
    """The alternating starts and ends of inline assembly, by the compiler's comments."""
    found: list[int] = []
    at = text.find(_BEGIN)
    while at >= 0:
        end = text.find(_END, at)
        if end < 0:
            break
        found += [at + len(_BEGIN), end]
        at = text.find(_BEGIN, end)
    return found


def places(statements: Iterable[Statement]) -> Iterator[Loc | LocIntermediate]:
    """The directives with a place, inside statements, functions and blocks, in the order of the text."""
    waiting = [iter(statements)]
    while waiting:
        statement = next(waiting[-1], None)
        if type(statement) is Instruction:  # nearly all are
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
