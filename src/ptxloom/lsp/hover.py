"""What stands at a place of a text, explained as Markdown."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import PtxloomError
from ptxloom.isa import Target, instruction_spec, known, resolve, targets
from ptxloom.isa.special import special_register
from ptxloom.isa.words import SPECIAL_SECTION, directives, special_about
from ptxloom.lsp.instruction_hover import opcode_page, qualifier_page
from ptxloom.lsp.symbol_hover import symbol_page

if TYPE_CHECKING:
    from ptxloom.lsp.document import Document, Part, Word


@dataclass(frozen=True, slots=True)
class Hover:
    """An explanation of `[start, end)`.

    Attributes:
        markdown: What to show.
        start: Where the piece that it explains starts.
        end: Where that ends.
    """

    markdown: str
    start: int
    end: int


def hover(document: Document, offset: int) -> Hover | None:
    """What stands at an offset; None where there is nothing to say."""
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
        return _directive(here)
    if first.startswith("%"):
        return _special(first)
    if known(first):
        return opcode_page(word.words) if word.place == 0 else qualifier_page(word.words, word.place)
    if first[:2] in _FLOATS:
        return _float(first)
    return _target(first)


def _directive(part: Part) -> str:
    words = directives().get(part.text)
    return f"`.{part.text}`: {words.about}\n\nPTX ISA {words.section}" if words else ""


def _special(name: str) -> str:
    register = special_register(name)
    if register is None:
        return ""
    vector = f".v{register.vector} " if register.vector else ""
    about = special_about(name)
    return f"```ptx\n.sreg {vector}.{register.type} {name}\n```\n{about}\n\nPTX ISA {SPECIAL_SECTION}"


_FLOATS: Final = {"0f": "<f", "0F": "<f", "0d": "<d", "0D": "<d"}


def _float(text: str) -> str:
    digits = text[2:]
    kind = _FLOATS[text[:2]]
    if len(digits) != 2 * struct.calcsize(kind):
        return ""
    (number,) = struct.unpack(kind, int(digits, 16).to_bytes(len(digits) // 2, "little"))
    return f"`{text}` is {number!r}"


def _target(name: str) -> str:
    """The page of a target's name."""
    try:
        target = Target.parse(name)
    except PtxloomError:
        return ""
    if target not in targets():
        return f"`{name}` is none of the targets that ptxloom knows"
    only = {"a": "has what only this architecture has", "f": "has what its family has", "": "runs on later ones too"}
    return f"`{name}`: {only[target.suffix]}; needs PTX {target.since} or later\n\nPTX ISA 11.1.2"


def spelled(words: tuple[str, ...]) -> bool:
    """Whether a row of words is an opcode and qualifiers that name a form."""
    return known(words[0]) and resolve(words[0], words[1:]).form is not None


def title(opcode: str) -> str:
    """What an opcode does, in a line."""
    return instruction_spec(opcode).title
