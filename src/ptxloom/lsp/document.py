"""One version of a text that an editor has open: everything about it is computed once, on first use."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from ptxloom.checker import check
from ptxloom.dataclass import dataclass
from ptxloom.lazy import cached_property
from ptxloom.lsp.indexing import index
from ptxloom.lsp.positions import Encoding, Lines
from ptxloom.lsp.settings import Settings
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.lsp.names import Names
    from ptxloom.syntax import Module

_WORD: Final = re.compile(
    r"[A-Za-z_$%][\w$]*(?:\.[\w$]*(?:::\w+)*)*|\.[A-Za-z_]\w*|0[fFdDxXbB][0-9A-Fa-f]+U?", re.ASCII
)
_PART: Final = re.compile(r"(?<=\.)[\w$]*(?:::\w+)*|\A[^.]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class WordPart:
    """A piece of a dotted word, between two dots, and its place."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Its end."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Word:
    """A dotted word: an opcode with its qualifiers, a register with a component, a directive.

    Attributes:
        parts: The pieces between the dots; the first is empty if the word starts with a dot.
        place: The index of the piece at the cursor.
    """

    parts: tuple[WordPart, ...]
    place: int

    @property
    def here(self) -> WordPart:
        """The part at the cursor."""
        return self.parts[self.place]

    @property
    def words(self) -> tuple[str, ...]:
        """The texts of the parts."""
        return tuple(part.text for part in self.parts)


class Document:
    """One version of a text.

    Attributes:
        name: Its name in findings: the path or the URI.
        text: The text.
        version: The client's number for it.
    """

    def __init__(
        self,
        text: str,
        name: str = "<string>",
        *,
        version: int = 0,
        encoding: Encoding = Encoding.UTF16,
        settings: Settings | None = None,
    ) -> None:
        self.text: Final = text
        self.name: Final = name
        self.version: Final = version
        self.encoding: Final = encoding
        self.settings: Final = settings or Settings()

    @cached_property
    def lines(self) -> Lines:
        """Its lines, as the client counts them."""
        return Lines(self.text, self.encoding)

    @cached_property
    def module(self) -> Module:
        """Its tree."""
        return parse(self.text, self.name)

    @cached_property
    def names(self) -> Names:
        """What its names mean."""
        return index(self.module)

    @cached_property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Its findings, in the order of the text."""
        settings = self.settings
        found = check(
            self.module,
            target=settings.target,
            ptx_version=settings.ptx_version,
            hints=settings.selection.hears_hints,
        )
        return settings.selection.of_interest(found)

    def word_at(self, offset: int) -> Word | None:
        """The dotted word that contains an offset or ends there; None in comments, strings and between words."""
        line = self.lines.position(offset).line
        start, end = self.lines.starts[line], self.lines.end_of(line)
        for match in _WORD.finditer(self.text, start, end):
            if match.start() <= offset <= match.end():
                return None if self.comment_at(offset) else _word(match[0], match.start(), offset)
        return None

    def comment_at(self, offset: int) -> tuple[int, int] | None:
        """The comment around an offset, including the end of a `//` comment."""
        comments = self.module.comments
        place = bisect_right(comments, offset, key=lambda one: one[0]) - 1
        if place < 0:
            return None
        start, end = comments[place]
        inside = start < offset < end or (offset == end and not self.text.startswith("/*", start))
        return (start, end) if inside else None


def _word(text: str, start: int, offset: int) -> Word:
    parts = [WordPart(match[0], start + match.start()) for match in _PART.finditer(text)]
    if text.startswith("."):
        parts.insert(0, WordPart("", start))
    first = 0 if parts[0].text else 1
    place = max((at for at, part in enumerate(parts) if part.start <= offset), default=0)
    place = max(place, first)
    return Word(tuple(parts), place)
