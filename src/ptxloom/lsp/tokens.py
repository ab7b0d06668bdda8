"""Every word of a text and its kind, for semantic colouring."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.isa import known
from ptxloom.isa.special import special_register
from ptxloom.isa.types import is_type
from ptxloom.lsp.names import NameKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    """Modifiers of a word besides its kind, by the protocol's names."""

    DECLARATION = "declaration"
    READONLY = "readonly"
    STATIC = "static"
    DEFAULT_LIBRARY = "defaultLibrary"


class Token(NamedTuple):
    """A word: its kind and its place."""

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
_MOST_KEPT: Final = 4096
_QUALIFIER: Final = re.compile(r"\.[\w$]+(?:::\w+)*", re.ASCII)

_GROUPS: Final = {
    "comment": Colour.COMMENT,
    "string": Colour.STRING,
    "number": Colour.NUMBER,
    "operator": Colour.OPERATOR,
}
_KINDS: Final[dict[NameKind, tuple[Colour, tuple[Trait, ...]]]] = {
    NameKind.REGISTER: (Colour.VARIABLE, ()),
    NameKind.VARIABLE: (Colour.VARIABLE, (Trait.STATIC,)),
    NameKind.PARAMETER: (Colour.PARAMETER, ()),
    NameKind.LABEL: (Colour.LABEL, ()),
    NameKind.FUNCTION: (Colour.FUNCTION, ()),
    NameKind.KERNEL: (Colour.FUNCTION, ()),
}


def tokens(document: Document, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The words between two offsets (of whole lines), in order."""
    stop = len(document.text) if end is None else end
    comment = document.comment_at(start)
    if comment is not None:  # it started above
        yield Token(start, min(comment[1], stop), Colour.COMMENT)
        start = comment[1]
    named = {one.start: one for one in document.names.between(start, stop)}
    for match in _TOKEN.finditer(document.text, start, stop):
        begin = match.start()
        match match.lastgroup:
            case "tail" | "word":
                yield from _word(match, named.get(begin))
            case "dotted":
                yield Token(begin, match.end(), Colour.TYPE if is_type(match[0][1:]) else Colour.MACRO)
            case str() as group:
                yield Token(begin, match.end(), _GROUPS[group])
            case None:
                pass


def _word(match: re.Match[str], name: Occurrence | None) -> Iterator[Token]:
    """A word and the dotted ones after it: an opcode with qualifiers, or a name with a component."""
    begin, end = match.span("word")
    tail = match["tail"]
    if name is not None:
        colour, traits = _KINDS[name.symbol.kind] if name.symbol is not None else (Colour.VARIABLE, ())
        yield Token(begin, end, colour, (*traits, Trait.DECLARATION) if name.declares else traits)
    elif _is_given(match["word"]):
        yield Token(begin, end, Colour.VARIABLE, (Trait.READONLY, Trait.DEFAULT_LIBRARY))
    elif tail or known(match["word"]):
        yield Token(begin, end, Colour.KEYWORD)
        for first, last, colour in _qualifiers(tail):
            yield Token(end + first, end + last, colour)
        return
    if tail:
        yield Token(*match.span("tail"), Colour.PROPERTY)


@lru_cache(maxsize=_MOST_KEPT)
def _is_given(word: str) -> bool:
    """Whether PTX itself declares a word."""
    return special_register(word) is not None or word == "WARP_SZ"


@lru_cache(maxsize=_MOST_KEPT)
def _qualifiers(tail: str) -> tuple[tuple[int, int, Colour], ...]:
    """The place and kind of each word after an opcode."""
    found = _QUALIFIER.finditer(tail)
    return tuple((*one.span(), Colour.TYPE if is_type(one[0][1:]) else Colour.MODIFIER) for one in found)


def encode(document: Document, words: Iterable[Token]) -> list[int]:
    """Encode words for the protocol: five numbers each, relative to the previous word; split at line ends."""
    position, lines, plain = document.lines.position, document.lines, document.text.isascii()
    starts = lines.starts
    data: list[int] = []
    line = last_line = last_column = 0
    for start, stop, colour, traits in words:
        if not data:
            line = position(start).line
        while start < stop:
            while line + 1 < len(starts) and starts[line + 1] <= start:
                line += 1
            end = min(stop, lines.end_of(line))
            if end > start:
                column = start - starts[line] if plain else position(start).column
                length = end - start if plain else position(end).column - column
                ahead = column - last_column if line == last_line else column
                data += (line - last_line, ahead, length, _NUMBERS[colour], _mask(traits))
                last_line, last_column = line, column
            start = starts[line + 1] if line + 1 < len(starts) else stop  # noqa: PLW2901 - the rest of the word
    return data


_NUMBERS: Final = {colour: at for at, colour in enumerate(Colour)}


@lru_cache(maxsize=64)
def _mask(traits: tuple[Trait, ...]) -> int:
    """Traits as bits."""
    bits = {trait: 1 << at for at, trait in enumerate(Trait)}
    return sum(bits[trait] for trait in traits)
