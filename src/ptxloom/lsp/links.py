"""Links from `.file` and `.loc` to the compiled source, if its files exist (PTX ISA 11.5)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.files.sources import source_file
from ptxloom.syntax.origins import places
from ptxloom.syntax.tree import File, Loc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ptxloom.lsp.document import Document
    from ptxloom.syntax.tree import LocIntermediate

MOST_FILES: Final = 1000
"""The most files that are looked up."""


@dataclass(frozen=True, slots=True)
class Link:
    """The target of `[start, end)` of a text.

    Attributes:
        start: The start of the linked text.
        end: Its end.
        file: The file that it names.
        line: The line, from 1; 0 if no line is named.
        column: The column, from 1; 0 if no column is named.
    """

    start: int
    end: int
    file: Path
    line: int = 0
    column: int = 0

    @property
    def target(self) -> str:
        """The URI, with the place in the form that editors read."""
        place = f"#L{self.line}" + (f",{self.column}" if self.column else "") if self.line else ""
        return self.file.as_uri() + place


def links(document: Document, folders: Iterable[Path]) -> Iterator[Link]:
    """The links of a document to files below some folders: first those of `.file`, then those of `.loc`."""
    roots = tuple(folders)
    found: dict[int, Path] = {}
    named = (one for one in document.module.statements if isinstance(one, File))
    for one in islice(named, MOST_FILES):
        path = source_file(one.name, roots)
        if path is not None:
            found[one.index] = path
            start, end = document.text.index('"', one.start), document.text.rindex('"', one.start, one.end) + 1
            yield Link(start, end, path)
    for one in places(document.module.statements) if found else ():
        for start, end, (file, line, column) in _named(document.text, one):
            if file in found:
                yield Link(start, end, found[file], line, column)


def _named(text: str, directive: Loc | LocIntermediate) -> Iterator[tuple[int, int, tuple[int, int, int]]]:
    """The places that a directive names, with their ranges in the text: its own, and that of the inlined call."""
    start, end = directive.start, directive.end
    inlined = directive.inlined_at if isinstance(directive, Loc) else None
    own = end if inlined is None else text.index(",", start, end)
    yield start, own, (directive.file, directive.line, directive.column)
    if inlined is not None:
        yield text.rindex("inlined_at", own, end), end, inlined
