"""A client's edits: each replaces a range of the text that the previous one produced."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.lsp.positions import Encoding, Position, characters

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n?|\n)")


class ClientEdit(NamedTuple):
    """An edit of a client: `text` replaces the range from `start` to `end`."""

    start: Position
    end: Position
    text: str


def edited(text: str, changes: Iterable[ClientEdit], encoding: Encoding = Encoding.UTF16) -> str:
    r"""Apply a client's edits one after the other; the cost of each is proportional to the lines that it touches.

    Example:
        >>> first, second = Position(0, 3), Position(1, 0)
        >>> edited("ret;\nret;\n", [ClientEdit(second, Position(1, 3), "exit"), ClientEdit(first, second, "")])
        'retexit;\n'
    """
    lines = _lines(text)
    for change in changes:
        _change(lines, change, encoding)
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """The lines of a text with their line ends; the last has none."""
    if "\r" not in text:
        lines = [f"{line}\n" for line in text.split("\n")]
        lines[-1] = lines[-1][:-1]
        return lines
    lines = _LINE.findall(text)
    return [*lines, text[sum(map(len, lines)) :]]


def _change(lines: list[str], change: ClientEdit, encoding: Encoding) -> None:
    """Apply one edit, and divide the affected text into lines again."""
    first, start = _place(lines, change.start, encoding)
    last, end = max(_place(lines, change.end, encoding), (first, start))
    text = lines[first][:start] + change.text + lines[last][end:]
    if first > 0 and text.startswith("\n") and lines[first - 1].endswith("\r"):  # together they are one line end
        first -= 1
        text = lines[first] + text
    made = _lines(text)
    if last + 1 < len(lines):
        made.pop()  # a line that others follow ends with its line end
    lines[first : last + 1] = made


def _place(lines: list[str], position: Position, encoding: Encoding) -> tuple[int, int]:
    """The line of a position, and its index in that line; a position beyond the text means the end."""
    if position.line >= len(lines):
        return len(lines) - 1, len(lines[-1])
    line = lines[position.line].rstrip("\r\n")
    return position.line, characters(line, position.column, encoding)
