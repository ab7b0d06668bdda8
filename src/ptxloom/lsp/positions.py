"""Offsets and the positions of the Language Server Protocol: lines from 0, columns in the client's code units."""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import StrEnum
from typing import Final, NamedTuple

from ptxloom.lazy import cached_property

_LINE_END: Final = re.compile(r"\r\n|\n|\r")


class Encoding(StrEnum):
    """The unit in which a client counts columns."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


class Position(NamedTuple):
    """A place between two characters, as a client counts."""

    line: int
    column: int


class Lines:
    r"""The lines of a text, ended by a line feed, a carriage return or both, as in the protocol.

    Example:
        >>> lines = Lines("// 𝄞 clef\nret;")
        >>> lines.position(5), lines.offset(Position(1, 3))
        (Position(line=0, column=6), 13)
    """

    def __init__(self, text: str, encoding: Encoding = Encoding.UTF16) -> None:
        self.text: Final = text
        self.encoding: Final = encoding
        self._plain: Final = text.isascii() or encoding is Encoding.UTF32

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The offset at which each line starts."""
        if "\r" not in self.text:
            starts, at = [0], self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            return tuple(starts)
        return (0, *(match.end() for match in _LINE_END.finditer(self.text)))

    def position(self, offset: int) -> Position:
        """The position of an offset."""
        line = bisect_right(self.starts, offset) - 1
        start = self.starts[line]
        return Position(line, offset - start if self._plain else units(self.text[start:offset], self.encoding))

    def offset(self, position: Position) -> int:
        """The offset of a position; one beyond a line's or the text's end means the end."""
        line, column = position
        if line >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.end_of(line)
        if self._plain:
            return min(start + max(column, 0), end)
        return start + characters(self.text[start:end], column, self.encoding)

    def end_of(self, line: int) -> int:
        """The offset at which the text of a line ends, before what ends the line."""
        if line + 1 >= len(self.starts):
            return len(self.text)
        end = self.starts[line + 1] - 1
        return end - (self.text[end] == "\n" and end > self.starts[line] and self.text[end - 1] == "\r")


def units(text: str, encoding: Encoding) -> int:
    """The number of code units in a piece of text."""
    match encoding:
        case Encoding.UTF8:
            return len(text.encode("utf-8", "surrogatepass"))
        case Encoding.UTF16:
            return len(text.encode("utf-16-le", "surrogatepass")) // 2
        case Encoding.UTF32:
            return len(text)


def characters(line: str, column: int, encoding: Encoding) -> int:
    """The number of characters of a line before a column; beyond the line's end all, a split one included."""
    if line.isascii() or encoding is Encoding.UTF32:
        return min(max(column, 0), len(line))
    for at, letter in enumerate(line):
        if column <= 0:
            return at
        column -= units(letter, encoding)
    return len(line)
