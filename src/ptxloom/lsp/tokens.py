"""Every word of a text and what it is, for colouring by meaning."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.isa import known
from ptxloom.isa.special import special_register
from ptxloom.isa.types import is_type
from ptxloom.lsp.names import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.lsp.document import Document
    from ptxloom.lsp.names import Occurrence


class Colour(StrEnum):
    """The kinds of words, by the protocol's names."""

    COMMENT = "comment"
    STRING = "string"
    NUMBER = "number"
    KEYWORD = "keyword"
    MODIFIER = "modifier"
    TYPE = "type"
    MACRO = "macro"
    VARIABLE = "variable"
    PARAMETER = "parameter"
    FUNCTION = "function"
    LABEL = "label"
    PROPERTY = "property"
    OPERATOR = "operator"


class Trait(StrEnum):
    """What may be said of a word beside its kind, by the protocol's names."""

    DECLARATION = "declaration"
    READONLY = "readonly"
    STATIC = "static"
    DEFAULT_LIBRARY = "defaultLibrary"


class Token(NamedTuple):
    """A word: what it is, and where."""

    start: int
    end: int
    colour: Colour
    traits: tuple[Trait, ...] = ()


_TOKEN: Final = re.compile(
    r"(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*"?)'
    r"|(?P<word>[A-Za-z_$%][\w$]*)(?P<tail>(?:\.[\w$]+(?:::\w+)*)*)"
    r"|(?P<dotted>\.[A-Za-z_]\w*(?:::\w+)*)"
    r"|(?P<number>0[xXbB][0-9A-Fa-f]+U?|0[fFdD][0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?U?)"
    r"|(?P<operator>@!?|\|)",
    re.ASCII,
)
_QUALIFIER: Final = re.compile(r"\.[\w$]+(?:::\w+)*", re.ASCII)

_KINDS: Final = {
    Kind.REGISTER: (Colour.VARIABLE, ()),
    Kind.VARIABLE: (Colour.VARIABLE, (Trait.STATIC,)),
    Kind.PARAMETER: (Colour.PARAMETER, ()),
    Kind.LABEL: (Colour.LABEL, ()),
    Kind.FUNCTION: (Colour.FUNCTION, ()),
    Kind.KERNEL: (Colour.FUNCTION, ()),
}


def tokens(document: Document, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The words between two offsets (of whole lines), in order."""
    stop = len(document.text) if end is None else end
    comment = document.comment_at(start)
    if comment is not None:  # it began further up
        yield Token(start, min(comment[1], stop), Colour.COMMENT)
        start = comment[1]
    named = {one.start: one for one in document.names.between(start, stop)}
    for match in _TOKEN.finditer(document.text, start, stop):
        begin = match.start()
        match match.lastgroup:
            case "tail" | "word":
                yield from _word(match, named.get(begin))
            case "dotted":
                colour = Colour.TYPE if is_type(match[0][1:]) else Colour.MACRO
                yield Token(begin, match.end(), colour)
            case str() as group:
                yield Token(begin, match.end(), Colour(group))
            case None:
                pass


def _word(match: re.Match[str], name: Occurrence | None) -> Iterator[Token]:
    """A word and the dotted ones behind it: an opcode with qualifiers, or a name with a component."""
    begin, end = match.span("word")
    word, tail = match["word"], match["tail"]
    if name is not None:
        colour, traits = _KINDS[name.symbol.kind] if name.symbol is not None else (Colour.VARIABLE, ())
        yield Token(begin, end, colour, (*traits, *((Trait.DECLARATION,) if name.declares else ())))
    elif special_register(word) is not None or word == "WARP_SZ":
        yield Token(begin, end, Colour.VARIABLE, (Trait.READONLY, Trait.DEFAULT_LIBRARY))
    elif tail or known(word):
        yield Token(begin, end, Colour.KEYWORD)
        for part in _QUALIFIER.finditer(match.string, *match.span("tail")):
            yield Token(part.start(), part.end(), Colour.TYPE if is_type(part[0][1:]) else Colour.MODIFIER)
        return
    if tail:
        yield Token(*match.span("tail"), Colour.PROPERTY)


def encode(document: Document, words: Iterator[Token]) -> list[int]:
    """Words as the protocol sends them: five numbers each, relative to the word before; one that spans lines is cut."""
    colours = {colour: at for at, colour in enumerate(Colour)}
    traits = {trait: 1 << at for at, trait in enumerate(Trait)}
    position, lines = document.lines.position, document.lines
    data: list[int] = []
    last_line = last_column = 0
    for token in words:
        mask = sum(traits[trait] for trait in token.traits)
        start = token.start
        while start < token.end:
            line, column = position(start)
            end = min(token.end, lines.end_of(line))
            if end > start:
                data += [
                    line - last_line,
                    column - (last_column if line == last_line else 0),
                    position(end).column - column,
                    colours[token.colour],
                    mask,
                ]
                last_line, last_column = line, column
            start = lines.starts[line + 1] if line + 1 < len(lines.starts) else token.end
    return data
