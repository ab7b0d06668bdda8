"""The width of a text in terminal cells, and the safe form of characters that must not reach a terminal."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_UNUSUAL: Final = re.compile(r"[^\n -~]")
_BESIDE_TABS: Final = re.compile(r"[^\n\t -~]")
_BESIDE_PAINT: Final = re.compile(r"(\x1b\[[\d;]*m)|[^\n\t -~]")
TAB_STOP: Final = 4
ELLIPSIS: Final = "…"


def visible(character: str) -> str:
    """The character, or a harmless picture of it if it steers a terminal (escape, bell, direction overrides)."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    match unicodedata.category(character):
        case "Cc" | "Cf" | "Cs" | "Zl" | "Zp":
            return "�"
        case _:
            return character


def harmless(text: str) -> str:
    """`text` with every character that could steer a terminal made visible; line feeds stay."""
    return _UNUSUAL.sub(lambda match: visible(match[0]), text)


def printed(text: str) -> str:
    """The same for what a program printed: its tabs stay, too."""
    return _BESIDE_TABS.sub(lambda match: visible(match[0]), text)


def page(text: str, *, painted: bool) -> str:
    """The same for a whole result on its way out; what a style has painted stays so."""
    if not painted:
        return printed(text)
    return _BESIDE_PAINT.sub(lambda match: match[1] or visible(match[0]), text)


def cells(character: str) -> int:
    """The cells one visible character takes: 2 for wide ones, 0 for marks that combine."""
    if character.isascii():
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def width(text: str) -> int:
    """The cells a visible text takes."""
    return len(text) if text.isascii() else sum(map(cells, text))


def lay_out(text: str) -> tuple[str, tuple[int, ...]]:
    r"""A text as a terminal shows it, and the cell at which each character starts (one more for the end).

    Example:
        >>> lay_out("a\tb")
        ('a   b', (0, 1, 4, 5))
    """
    shown: list[str] = []
    starts = [0]
    at = 0
    for character in text:
        picture = " " * (TAB_STOP - at % TAB_STOP) if character == "\t" else visible(character)
        shown.append(picture)
        at += width(picture)
        starts.append(at)
    return "".join(shown), tuple(starts)


def elide(text: str, limit: int) -> str:
    """`text` made visible and cut to `limit` characters, an ellipsis where it was cut."""
    return harmless(text) if len(text) <= limit else harmless(text[: limit - 1]) + ELLIPSIS
