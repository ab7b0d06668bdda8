"""Explains a place of a text in Markdown."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa import known
from ptxloom.isa.pages.word_page import word_page
from ptxloom.lsp.instruction_hover import opcode_page, qualifier_page
from ptxloom.lsp.symbol_hover import symbol_page

if TYPE_CHECKING:
    from ptxloom.lsp.document import Document, Word


@dataclass(frozen=True, slots=True)
class Hover:
    """An explanation of `[start, end)`.

    Attributes:
        markdown: The text to show.
        start: The start of the explained text.
        end: Its end.
    """

    markdown: str
    start: int
    end: int


def hover(document: Document, offset: int) -> Hover | None:
    """The hover text at an offset, if any."""
    name = document.names.at(offset)
    if name is not None and name.symbol is not None:
        return Hover(symbol_page(document, name), name.start, name.end)
    word = document.word_at(offset)
    if word is None:
        return None
    page = _page(word)
    return Hover(page, word.here.start - (word.place > 0), word.here.end) if page else None


def _page(word: Word) -> str:
    first, here = word.parts[0].text, word.here
    if not first:
        return word_page(f".{here.text}")
    if first.startswith("%"):
        return word_page(first)
    if known(first):
        return opcode_page(word.words) if word.place == 0 else qualifier_page(word.words, word.place)
    if first[:2] in _FLOATS:
        return _float(first)
    return word_page(first)


_FLOATS: Final = {"0f": "<f", "0F": "<f", "0d": "<d", "0D": "<d"}


def _float(text: str) -> str:
    digits = text[2:]
    kind = _FLOATS[text[:2]]
    if len(digits) != 2 * struct.calcsize(kind):
        return ""
    (number,) = struct.unpack(kind, int(digits, 16).to_bytes(len(digits) // 2, "little"))
    return f"`{text}` is {number!r}"
