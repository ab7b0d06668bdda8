"""The place to show first: the line of the compiled program if the PTX records it, otherwise the PTX itself.

This is decided only here: every report, for people and for programs, uses `place_of`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ptxloom.dataclass import dataclass
from ptxloom.source import Source, Span, title
from ptxloom.syntax.origins import Origins
from ptxloom.syntax.parser import parse_source

if TYPE_CHECKING:
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.origins import SourceLine


@dataclass(frozen=True, slots=True)
class Place:
    """A place that a report names, by lines and columns from 1, the end exclusive.

    Attributes:
        file: The file's name.
        line: Its first line.
        column: Its first column; 0 if only the line is known.
        end_line: Its last line.
        end_column: The column just after it; 0 if only the line is known.
        span: Its span in its text; None if the text is not known.
        ptx: The PTX compiled from it; None if the place is in the PTX itself.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    span: Span | None
    ptx: Span | None

    def __str__(self) -> str:
        return f"{title(self.file)}:{self.line}" + (f":{self.column}" if self.column else "")


def place_of(span: Span) -> Place:
    """The place of a span of PTX: the line of the kernel's own file that it was compiled from, if known.

    Args:
        span: The span in the PTX.

    Example:
        >>> source = Source('.file 1 "k.cu" .visible .entry k() { .loc 1 58 3 ret; }', "k.ptx")
        >>> place = place_of(Span(source, 45, 48))
        >>> str(place), str(place.ptx)
        ('k.cu:58:3', 'k.ptx:1:46')
    """
    origins = _origins_of(span.source)
    return place_at(span, None if origins is None else origins.at(span.start))


def place_at(span: Span, origin: SourceLine | None) -> Place:
    """The place of a span of PTX by its known line in the compiled program; None means no line."""
    home = None if origin is None else origin.home
    if home is None:
        return Place(span.source.name, span.line, span.column, span.end_line, span.end_column, span, None)
    written = None if span.source.written is None else span.source.written(home.file)
    exact = None if written is None else _on_line(written, home)
    if exact is not None:
        column, end = exact.column, exact.end_column
        return Place(exact.source.name, exact.line, column, exact.line, end, exact, span)
    return Place(home.file, home.line, home.column, home.line, home.column + 1 if home.column else 0, None, span)


def origins_in(module: Module) -> Origins:
    """The source lines of a module, computed once."""
    found = _KNOWN.get(module.source)
    if found is None:
        found = _KNOWN[module.source] = Origins(module)
    return found


def home_line(module: Module, offset: int) -> tuple[str, int] | None:
    """The kernel's own file and the line that the PTX at an offset comes from; None if not recorded."""
    found = origins_in(module).at(offset)
    return None if found is None else (found.home.file, found.home.line)


_KNOWN: WeakKeyDictionary[Source, Origins] = WeakKeyDictionary()


def _origins_of(source: Source) -> Origins | None:
    found = _KNOWN.get(source)
    return origins_in(parse_source(source)) if found is None and ".loc" in source.text else found


def _on_line(written: Source, line: SourceLine) -> Span | None:
    """The part of a line that a line table refers to: the text from its column; None if there is no such line.

    Columns of compilers count bytes or characters, from 0 or 1: a column beyond the line means its first word.
    """
    if line.line > len(written.line_starts):
        return None
    text = written.line(line.line)
    end = len(text.split("//", 1)[0].rstrip().rstrip(";{")) if "://" not in text else len(text.rstrip())
    first = len(text) - len(text.lstrip())
    column = line.column - 1 if first < line.column <= end else first
    start = written.line_starts[line.line - 1]
    return Span(written, start + min(column, len(text)), start + max(end, min(column + 1, len(text))))
