"""The short way through ordinary text: one match a statement, and operands that were read before are not read again.

It knows no grammar of its own. A regular expression cuts a line into guard, spelling and operand texts, and every
operand text that it has not met goes through `operands` (which is the grammar), must be consumed whole, and is kept as
a template; when it comes again, in this text or another, the template is moved to its place. What the expression does
not match, or a template cannot be made of, is left to the parser, one statement at a time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any, Final

from ptxloom.syntax.declarations import declaration
from ptxloom.syntax.lexer import NAME, QUALIFIER, Cursor, Problem
from ptxloom.syntax.node import NOWHERE, ended, moved, raw
from ptxloom.syntax.operands import expression, operand
from ptxloom.syntax.tree import Address, Component, Float, Instruction, Integer, Label, Loc, Name, Predicate, Vector

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from ptxloom.source import Source
    from ptxloom.syntax.node import Node
    from ptxloom.syntax.tree import Declaration, Operand, Statement

    N = TypeVar("N", bound=Node)

_PLAIN: Final = r'[^;{}"/()#\\\r\n]'  # nothing that opens, closes, comments or ends
_BROKEN: Final = rf"{_PLAIN}*+(?:(?<=,)\n{_PLAIN}*+)*+"  # over several lines, each ending in a comma
_OPERANDS: Final = rf"(?!\.){_BROKEN}(?:\{{{_BROKEN}\}}{_BROKEN})*+"
_PLACE: Final = r"[ \t]++(\d{1,9})[ \t]++(\d{1,9})[ \t]++(\d{1,9})"
STATEMENT: Final = re.compile(
    r"[ \t\r\n]*+(?://[^\n]*+[ \t\r\n]*+)*+(?:"
    rf"(?:(@!?{NAME})[ \t]++)?+({NAME}(?:{QUALIFIER})*+)(?:(?:[ \t]++|[ \t\n]++(?=\{{))({_OPERANDS}))?+;"
    rf"|(?!_:)({NAME}):"
    r"|([{}])"
    rf"|(\.(?:reg|param|shared|local)[ \t]*+\.[^;{{}}\"/()#\\\r\n=]*+;)"
    rf"|(\.loc){_PLACE}(?:,[ \t]*+function_name[ \t]++({NAME})(?:\+(\d{{1,9}}))?+,[ \t]*+inlined_at{_PLACE})?+"
    r"(?=[ \t]*+(?://[^\n]*+)?+\n\s*+[^\s,/#\\])"
    r")",
    re.ASCII,
)
"""Groups: 1 guard, 2 spelling, 3 operands; 4 label; 5 brace; 6 declaration;
7 `.loc`, 8-10 place, 11-12 function, 13-15 inlined at."""
_ENTRY: Final = re.compile(r"[ \t\n]*+(?:(\{)[ \t]*+([^{}]++)\}[ \t]*+|((?:[^,{}\[\]]++|\[[^\[\]{}]*+\])++))(,|\Z)")
"""An entry of a list with vectors: 1 a brace and 2 what it holds, or 3 another operand; 4 what ends it."""
_COMMON: Final = re.compile(
    rf"({NAME})|(-?(?:0|[1-9]\d{{0,17}}))|\[ ?({NAME})(?: ?\+ ?(-?(?:0|[1-9]\d{{0,17}})))?+ ?\]", re.ASCII
)
"""The operands that need no template: 1 a name, 2 a decimal integer, 3 and 4 an address and its offset."""
_MOST_FORMS: Final = 100_000
"""So many operand texts are remembered; then remembering starts anew."""


class NotKnown(Exception):  # noqa: N818 - never leaves the reader
    """This operand text has to be read in its place."""


class _Forms(dict[str, Any]):
    """What operand texts stand for: a name for itself, anything else for what makes the node at a place.

    A text that is not there yet is read when it is first asked for.
    """

    def __init__(self, reader: Callable[[Cursor], Operand]) -> None:
        super().__init__()
        self._reader: Final = reader

    def __missing__(self, text: str) -> Any:
        if len(self) >= _MOST_FORMS:
            self.clear()
        form = self[text] = _learned(text, self._reader)
        return form


def _learned(text: str, reader: Callable[[Cursor], Operand]) -> str | Callable[[int], Operand]:
    """What a text stands for.

    Raises:
        NotKnown: The grammar reads nothing in it by itself.
    """
    found = _COMMON.fullmatch(text)
    if found is None:
        return _mover(_template(text, reader), len(text))
    name, number, base, offset = found.groups()
    size = len(text)
    if name is not None:
        return intern(text)
    if number is not None:
        value = int(number)
        return lambda at: raw(Integer, (value, 10, False, at, at + size))
    inside, by, base = found.start(3), int(offset or 0), intern(base)
    zero = offset is not None and not by
    return lambda at: raw(Address, (raw(Name, (base, at + inside)), by, False, (), zero, at, at + size))


def _mover(template: Operand, size: int) -> Callable[[int], Operand]:
    """What makes a template's copy at a place."""
    match template:
        case Float(bits, width, decimal) if template.start == 0 and template.end == size:
            return lambda at: raw(Float, (bits, width, decimal, at, at + size))
        case Component(Name(base), field) if template.start == 0 and template.end == size:
            return lambda at: raw(Component, (raw(Name, (base, at)), field, at, at + size))
        case _:
            return lambda at: moved(template, at, NOWHERE)


class _Spellings(dict[str, tuple[str, tuple[str, ...]]]):
    """Opcode and qualifiers of spellings, cut when they are first asked for."""

    def __missing__(self, text: str) -> tuple[str, tuple[str, ...]]:
        if len(self) >= _MOST_FORMS:
            self.clear()
        opcode, *qualifiers = text.split(".")
        words = self[text] = (intern(opcode), tuple(map(intern, qualifiers)))
        return words


class _Guards(dict[str, tuple[str, bool]]):
    """Register and sense of guards."""

    def __missing__(self, text: str) -> tuple[str, bool]:
        if len(self) >= _MOST_FORMS:
            self.clear()
        guard = self[text] = (intern(text.lstrip("@!")), text[1] == "!")
        return guard


_SPELLINGS: Final = _Spellings()
_GUARDS: Final = _Guards()
_OPERAND_FORMS: Final = _Forms(operand)
_ELEMENT_FORMS: Final = _Forms(expression)


class FastReader:
    """Reads runs of ordinary statements of one source."""

    def __init__(self, source: Source) -> None:
        self._source: Final = source

    def read(self, offset: int, out: list[Statement]) -> tuple[int, str]:
        """Read statements from `offset` on into `out`.

        Returns:
            Where the statement starts that it leaves alone (or blanks before it), and the brace if it is one.
        """
        match, append, new, forms, source = STATEMENT.match, out.append, raw, _OPERAND_FORMS, self._source
        text, spellings, guards = source.text, _SPELLINGS, _GUARDS
        try:
            while (found := match(text, offset)) is not None:
                guard, spelling, listed = found.group(1, 2, 3)
                if spelling is None:
                    if found[5] is not None:
                        return found.start(5), found[5]
                    append(self._marker(found))
                    offset = found.end()
                    continue
                if listed is None:
                    operands = ()
                elif "{" in listed:
                    operands = self._list(listed, found.start(3))
                else:
                    at = found.start(3)
                    gap = ", " if ", " in listed else ","
                    step = len(gap)
                    nodes: list[Operand] = []
                    for part in listed.split(gap):
                        form = forms[part]
                        nodes.append(new(Name, (form, at)) if form.__class__ is str else form(at))
                        at += len(part) + step
                    operands = tuple(nodes)
                start = found.start(2)
                predicate = None
                if guard is not None:
                    start = found.start(1)
                    name, negated = guards[guard]
                    predicate = new(Predicate, (name, negated, start, start + len(guard)))
                opcode, qualifiers = spellings[spelling]
                offset = found.end()
                append(new(Instruction, (predicate, opcode, qualifiers, operands, source, start, offset)))
        except NotKnown:
            pass
        return offset, ""

    def _marker(self, found: re.Match[str]) -> Statement:
        if found[4] is not None:
            return raw(Label, (found[4], self._source, found.start(4), found.end()))
        if found[6] is not None:
            return moved(_declared(found[6]), found.start(6), self._source)
        place = found.group(8, 9, 10)
        inlined = None if found[13] is None else tuple(map(int, found.group(13, 14, 15)))
        function, start = found[11], found.start(7)
        return raw(Loc, (*map(int, place), function, int(found[12] or 0), inlined, self._source, start, found.end()))

    def _list(self, text: str, at: int) -> tuple[Operand, ...]:
        """The operands that `text`, which stands at `at`, lists; there are vectors among them."""
        entries: list[Operand] = []
        offset, more = 0, ","
        while more:
            found = _ENTRY.match(text, offset)
            if found is None:
                raise NotKnown
            brace, inside, other, more = found.groups()
            offset = found.end()
            if brace:
                elements = self._elements(inside.rstrip(), at + found.start(2))
                entries.append(raw(Vector, (elements, at + found.start(1), at + found.end(2) + 1)))
            else:
                form, start = _OPERAND_FORMS[other], at + found.start(3)
                entries.append(raw(Name, (form, start)) if form.__class__ is str else form(start))
        return tuple(entries)

    def _elements(self, text: str, at: int) -> tuple[Operand, ...]:
        new, forms = raw, _ELEMENT_FORMS
        gap = ", " if ", " in text else ","
        step = len(gap)
        found: list[Operand] = []
        for part in text.split(gap):
            form = forms[part]
            found.append(new(Name, (form, at)) if form.__class__ is str else form(at))
            at += len(part) + step
        return tuple(found)


@lru_cache(maxsize=4096)
def _declared(text: str) -> Declaration:
    """The declaration that a text spells, its semicolon included.

    Raises:
        NotKnown: The grammar reads no declaration in it.
    """
    node = _template(text[:-1], lambda cursor: declaration(cursor, NOWHERE, 0, ""))
    return ended(node, len(text))


def _template(text: str, reader: Callable[[Cursor], N]) -> N:
    """What the grammar makes of `text` alone.

    Raises:
        NotKnown: Not all of it, or nothing.
    """
    cursor = Cursor(text)
    cursor.seek(0)
    try:
        node = reader(cursor)
    except Problem:
        raise NotKnown from None
    if cursor.kind != "end":
        raise NotKnown
    return node
