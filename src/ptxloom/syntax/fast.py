"""The short way through ordinary text: one match a statement, and operands that were read before are not read again.

It knows no grammar of its own. A regular expression cuts a line into guard, spelling and operand texts, and every
operand text that it has not met goes through `operands` (which is the grammar), must be consumed whole, and is kept as
a template; when it comes again, the template is moved to its place. What the expression does not match, or a template
cannot be made of, is left to the parser, one statement at a time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.syntax.declarations import declaration
from ptxloom.syntax.lexer import NAME, QUALIFIER, Cursor, Problem
from ptxloom.syntax.node import moved, raw
from ptxloom.syntax.operands import expression, operand
from ptxloom.syntax.tree import Address, Float, Instruction, Integer, Label, Loc, Name, Predicate, Vector

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from ptxloom.source import Source
    from ptxloom.syntax.node import Node
    from ptxloom.syntax.tree import Declaration, Operand, Statement

    N = TypeVar("N", bound=Node)

_PLAIN: Final = r'[^;{}"/()#\\\r\n]'  # nothing that opens, closes, comments or ends
_OPERANDS: Final = rf"(?!\.){_PLAIN}*+(?:\{{{_PLAIN}*+\}}{_PLAIN}*+)*+"
_PLACE: Final = r"[ \t]++(\d{1,9})[ \t]++(\d{1,9})[ \t]++(\d{1,9})"
STATEMENT: Final = re.compile(
    r"[ \t\r\n]*+(?://[^\n]*+[ \t\r\n]*+)*+(?:"
    rf"(?:(@!?{NAME})[ \t]++)?+({NAME}(?:{QUALIFIER})*+)(?:[ \t]++({_OPERANDS}))?+;"
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
_ENTRY: Final = re.compile(r"[ \t]*+(?:(\{)[ \t]*+([^{}]++)\}[ \t]*+|((?:[^,{}\[\]]++|\[[^\[\]{}]*+\])++))(,|\Z)")
"""An entry of a list with vectors: 1 a brace and 2 what it holds, or 3 another operand; 4 what ends it."""
_COMMON: Final = re.compile(
    rf"({NAME})|(-?(?:0|[1-9]\d{{0,17}}))|\[ ?({NAME})(?: ?\+ ?(-?(?:0|[1-9]\d{{0,17}})))?+ ?\]", re.ASCII
)
"""The operands that need no template: 1 a name, 2 a decimal integer, 3 and 4 an address and its offset."""
_MOST_TEMPLATES: Final = 20_000


class NotKnown(Exception):  # noqa: N818 - never leaves the reader
    """This operand text has to be read in its place."""


class FastReader:
    """Reads runs of ordinary statements of one source."""

    def __init__(self, source: Source) -> None:
        self._source: Final = source
        self._spellings: Final[dict[str, tuple[str, tuple[str, ...]]]] = {}
        self._guards: Final[dict[str, tuple[str, bool]]] = {}
        self._forms: Final[dict[str, str | int]] = {}  # a name stands for itself, digits for their value
        self._operands: Final[dict[str, Operand]] = {}
        self._elements: Final[dict[str, Operand]] = {}
        self._declarations: Final[dict[str, Declaration]] = {}

    def read(self, offset: int, out: list[Statement]) -> tuple[int, str]:  # noqa: C901 - the hot loop, in one piece
        """Read statements from `offset` on into `out`.

        Returns:
            Where the statement starts that it leaves alone (or blanks before it), and the brace if it is one.
        """
        match, append, new, known, source = STATEMENT.match, out.append, raw, self._forms.get, self._source
        text, spellings = source.text, self._spellings.get
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
                    nodes: list[Operand] = []
                    for part in listed.split(gap):
                        form = known(part)
                        if form is None:
                            nodes.append(self._one(part, at, self._operands, operand))
                        elif form.__class__ is str:
                            nodes.append(new(Name, (form, at)))
                        else:
                            nodes.append(new(Integer, (form, 10, False, at, at + len(part))))
                        at += len(part) + len(gap)
                    operands = tuple(nodes)
                start = found.start(2)
                predicate = None
                if guard is not None:
                    start = found.start(1)
                    predicate = self._guard(guard, start)
                opcode, qualifiers = spellings(spelling) or self._split(spelling)
                offset = found.end()
                append(new(Instruction, (predicate, opcode, qualifiers, operands, source, start, offset)))
        except NotKnown:
            pass
        return offset, ""

    def _marker(self, found: re.Match[str]) -> Statement:
        if found[4] is not None:
            return raw(Label, (found[4], self._source, found.start(4), found.end()))
        if found[6] is not None:
            return self._declaration(found[6], found.start(6))
        place = found.group(8, 9, 10)
        inlined = None if found[13] is None else tuple(map(int, found.group(13, 14, 15)))
        function, start = found[11], found.start(7)
        return raw(Loc, (*map(int, place), function, int(found[12] or 0), inlined, self._source, start, found.end()))

    def _guard(self, text: str, start: int) -> Predicate:
        known = self._guards.get(text)
        if known is None:
            known = self._guards[text] = (text.lstrip("@!"), text[1] == "!")
        return raw(Predicate, (known[0], known[1], start, start + len(text)))

    def _split(self, spelling: str) -> tuple[str, tuple[str, ...]]:
        opcode, *qualifiers = spelling.split(".")
        self._spellings[spelling] = words = (opcode, tuple(qualifiers))
        return words

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
                elements = self._elements_of(inside.rstrip(), at + found.start(2))
                entries.append(raw(Vector, (elements, at + found.start(1), at + found.end(2) + 1)))
            else:
                entries.append(self._one(other, at + found.start(3), self._operands, operand))
        return tuple(entries)

    def _elements_of(self, text: str, at: int) -> tuple[Operand, ...]:
        known, new = self._forms.get, raw
        gap = ", " if ", " in text else ","
        step = len(gap)
        found: list[Operand] = []
        for part in text.split(gap):
            form = known(part)
            if form.__class__ is str:
                found.append(new(Name, (form, at)))
            else:
                found.append(self._one(part, at, self._elements, expression))
            at += len(part) + step
        return tuple(found)

    def _one(self, text: str, at: int, known: dict[str, Operand], reader: Callable[[Cursor], Operand]) -> Operand:
        """The operand that `text`, which stands at `at`, spells."""
        if text[:1] == "%" and text.isascii() and text[1:].isalnum():  # a register: no need to look closer
            self._forms[text] = text
            return raw(Name, (text, at))
        found = _COMMON.fullmatch(text)
        if found is None:
            template = known.get(text)
            if template is None:
                if len(known) >= _MOST_TEMPLATES:
                    known.clear()
                template = known[text] = _template(text, reader)
            if isinstance(template, Float):
                place = (template.start + at, template.end + at)
                return raw(Float, (template.bits, template.width, template.decimal, *place))
            return moved(template, at, self._source)
        name, number, base, offset = found.groups()
        if base is not None:
            inner = raw(Name, (self._forms.setdefault(base, base), at + found.start(3)))
            by = int(offset or 0)
            return raw(Address, (inner, by, False, (), not by and offset is not None, at, at + len(text)))
        if name is not None:
            self._forms[text] = text
            return raw(Name, (text, at))
        value = self._forms[text] = int(number)
        return raw(Integer, (value, 10, False, at, at + len(text)))

    def _declaration(self, text: str, at: int) -> Declaration:
        """The declaration that `text`, which stands at `at`, spells."""
        template = self._declarations.get(text)
        if template is None:
            template = self._declarations[text] = _template(text[:-1], self._declared)
        return moved(template, at, self._source)

    def _declared(self, cursor: Cursor) -> Declaration:
        node = declaration(cursor, self._source, 0, "")
        return node.replace(end=cursor.end + 1)


def _template(text: str, reader: Callable[[Cursor], N]) -> N:
    """What the grammar makes of `text` alone."""
    cursor = Cursor(text)
    cursor.seek(0)
    try:
        node = reader(cursor)
    except Problem:
        raise NotKnown from None
    if cursor.kind != "end":
        raise NotKnown
    return node
