"""Texts and places in them: the only code that knows lines and columns."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Source", "Span"]

_PICTURES: Final = {code: chr(0x2400 + code) for code in range(0x20)} | dict.fromkeys(
    [0x7F, *range(0x80, 0xA0), 0x2028, 0x2029], "\N{REPLACEMENT CHARACTER}"
)


def title(name: object) -> str:
    r"""The name of a file as a sentence or a line of a report holds it: what breaks lines is shown as a picture.

    Every message and every view calls files by their titles: a file may have been named by anybody.

    Example:
        >>> title("k.ptx\n0 errors")
        'k.ptx␊0 errors'
    """
    return str(name).translate(_PICTURES)


class Source:
    r"""A named text, addressed by offset; lines and columns are worked out on demand.

    Lines end at a line feed, as ptxas counts them. Lines and columns start at 1; columns count characters.

    Attributes:
        text: The text.
        name: What messages call it.
        written: From the name of a file that `.file` states to the text that this was compiled from; None where that
            text is unknown.

    Example:
        >>> Source("mov.b32 a, b;\nret;", "k.ptx").location(14)
        (2, 1)
    """

    def __init__(
        self, text: str, name: str = "<string>", written: Callable[[str], Source | None] | None = None
    ) -> None:
        self.text: Final = text
        self.name: Final = name
        self.written: Final = None if written is None else _Found(written)

    @property
    def title(self) -> str:
        """Its name, on one line."""
        return title(self.name)

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset at which each line starts."""
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return tuple(starts)

    def location(self, offset: int) -> tuple[int, int]:
        """The (line, column) of an offset, both from 1.

        Args:
            offset: From 0 to the length of the text.

        Returns:
            As editors count them.
        """
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of line `number` (from 1), without its end.

        Args:
            number: From 1.

        Returns:
            Without what ends it.
        """
        start = self.line_starts[number - 1]
        end = self.line_starts[number] - 1 if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


class _Found:
    """Texts by the names that they are asked for, each looked for once; by the names that they have, too."""

    def __init__(self, find: Callable[[str], Source | None]) -> None:
        self._find = find
        self._texts: dict[str, Source | None] = {}

    def __call__(self, name: str) -> Source | None:
        if name not in self._texts:
            text = self._texts[name] = self._find(name)
            if text is not None:
                self._texts.setdefault(text.name, text)
        return self._texts[name]


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters `[start, end)` in a source; it can quote itself.

    Attributes:
        source: The text.
        start: The offset of the first character.
        end: The offset just after the last.

    Example:
        >>> span = Span(Source("mov.u32 a, 1; ret;", "x.ptx"), 14, 17)
        >>> print(span)
        x.ptx:1:15
        >>> span.text, span.line, span.column
        ('ret', 1, 15)
    """

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text of the source here."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line on which the span starts, from 1."""
        return self.source.location(self.start)[0]

    @property
    def column(self) -> int:
        """The column at which the span starts, from 1."""
        return self.source.location(self.start)[1]

    @property
    def end_line(self) -> int:
        """The line on which the span ends, from 1."""
        return self.source.location(self.end)[0]

    @property
    def end_column(self) -> int:
        """The column just after the span's last character, from 1."""
        return self.source.location(self.end)[1]

    def __str__(self) -> str:
        line, column = self.source.location(self.start)
        return f"{self.source.title}:{line}:{column}"
