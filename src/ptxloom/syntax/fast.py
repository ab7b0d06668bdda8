"""The fast path for ordinary text: one match per statement, and operands that occur again are not parsed again.

It knows no grammar of its own. A regular expression cuts a line into guard, spelling and operand texts, and every
new operand text goes through `operands` (the grammar), which must consume all of it, and is kept as
a template; when it occurs again, in this text or another, the template is moved to its place. Text that the expression
does not match, or that cannot become a template, is left to the parser, one statement at a time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any, Final

from ptxloom.patterns import regex
from ptxloom.syntax.declarations import declaration
from ptxloom.syntax.lexer import NAME, QUALIFIER, Cursor, Problem
from ptxloom.syntax.node import NOWHERE, ended, maker, moved
from ptxloom.syntax.operands import expression, operand
from ptxloom.syntax.tree import Address, Component, Float, Instruction, Integer, Label, Loc, Name, Predicate, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from ptxloom.source import Source
    from ptxloom.syntax.node import Node
    from ptxloom.syntax.tree import Declaration, Operand, Statement

    N = TypeVar("N", bound=Node)

_PLAIN: Final = r'[^;{}"/()#\\\r\n]'  # nothing that opens, closes, comments or ends
_BROKEN: Final = rf"{_PLAIN}*+(?:(?<=,)\n{_PLAIN}*+)*+"  # over several lines, each ending in a comma
_OPERANDS: Final = rf"(?!\.){_BROKEN}(?:\{{{_BROKEN}\}}{_BROKEN})*+"
_PLACE: Final = r"[ \t]++(\d{1,9})[ \t]++(\d{1,9})[ \t]++(\d{1,9})"
STATEMENT: Final = regex(
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
_ENTRY: Final = regex(r"[ \t\n]*+(?:(\{)[ \t]*+([^{}]++)\}[ \t]*+|((?:[^,{}\[\]]++|\[[^\[\]{}]*+\])++))(,|\Z)")
"""An entry of a list with vectors: 1 a brace and 2 its contents, or 3 another operand; 4 its end."""
_UNUSUAL: Final = re.compile(r'[;{}"/()#\\\r\n]|\A\s*+\.|\A\Z')
"""Characters of operands that cannot be parsed alone: they may contain a comment, or a qualifier."""
_COMMON: Final = regex(
    rf"({NAME})|(-?(?:0|[1-9]\d{{0,17}}))|\[ ?({NAME})(?: ?\+ ?(-?(?:0|[1-9]\d{{0,17}})))?+ ?\]", re.ASCII
)
"""The operands that need no template: 1 a name, 2 a decimal integer, 3 and 4 an address and its offset."""
_address, _component, _float, _integer = maker(Address), maker(Component), maker(Float), maker(Integer)
_instruction, _label, _loc = maker(Instruction), maker(Label), maker(Loc)
_name, _predicate, _vector = maker(Name), maker(Predicate), maker(Vector)
_CHUNK: Final = 1 << 16
"""The amount of text to split into lines at a time."""
_MOST_FORMS: Final = 100_000
"""The most cached operand texts; then the cache is cleared."""
_LONGEST_KEPT: Final = 256
"""Longer texts are not cached: they rarely occur again, and the cache must stay small."""


class NotKnown(Exception):  # noqa: N818 - never leaves the reader
    """This operand text must be parsed in place."""


_Forms = dict[str, Any]
"""Cached operand texts: a name maps to itself, any other to a function that makes the node at a place."""


def _learned(text: str, reader: Callable[[Cursor], Operand], forms: _Forms) -> Any:
    """Parse a new operand text, and cache it.

    Raises:
        NotKnown: The grammar cannot parse it alone.
    """
    if len(forms) >= _MOST_FORMS:
        forms.clear()
    form = _form(text, reader)
    if len(text) <= _LONGEST_KEPT:
        forms[text] = form
    return form


def _form(text: str, reader: Callable[[Cursor], Operand]) -> str | Callable[[int], Operand]:
    found = _COMMON.fullmatch(text)
    size = len(text)
    if found is None:
        if _UNUSUAL.search(text) is not None:
            raise NotKnown
        return _mover(_template(text, reader), size)
    name, number, base, offset = found.groups()
    if name is not None:
        return intern(text)
    if number is not None:
        value = int(number)
        return lambda at: _integer((value, 10, False, at, size))
    inside, by, base = found.start(3), int(offset or 0), intern(base)
    zero = offset is not None and not by
    return lambda at: _address((_name((base, at + inside)), by, False, (), zero, at, size))


def _mover(template: Operand, size: int) -> Callable[[int], Operand]:
    """A function that copies a template to a place."""
    match template:
        case Float(bits, width, decimal) if template.start == 0 and template.end == size:
            return lambda at: _float((bits, width, decimal, at, size))
        case Component(Name(base), field) if template.start == 0 and template.end == size:
            return lambda at: _component((_name((base, at)), field, at, size))
        case _:
            return lambda at: moved(template, at, NOWHERE)


def _cut(text: str) -> tuple[str, tuple[str, ...]]:
    """Opcode and qualifiers of a new spelling."""
    if len(_SPELLINGS) >= _MOST_FORMS:
        _SPELLINGS.clear()
    opcode, *qualifiers = text.split(".")
    words = (intern(opcode), tuple(map(intern, qualifiers)))
    if len(text) <= _LONGEST_KEPT:
        _SPELLINGS[text] = words
    return words


@lru_cache(maxsize=4096)
def _guarded(text: str) -> tuple[str, bool]:
    """Register and sense of a guard."""
    return intern(text.lstrip("@!")), text[1] == "!"


_SPELLINGS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {}
_OPERANDS_READ: Final[_Forms] = {}
_ELEMENTS_READ: Final[_Forms] = {}


class FastReader:
    """Reads runs of ordinary statements of one source."""

    def __init__(self, source: Source) -> None:
        self._source: Final = source
        self._lines: Iterator[str] = iter(())  # whole lines split off already, and
        self._at = 0  # the start of the next of them, and
        self._cut = 0  # that of the one after the last

    def read(self, offset: int, out: list[Statement]) -> tuple[int, str]:
        """Read statements from `offset` on into `out`.

        Returns:
            The start of the first statement that it leaves (or of blanks before it), and the brace if it is one.
        """
        text, append = self._source.text, out.append
        try:
            while True:
                if self._at == offset or self._seek(offset):
                    offset = self._plain(append)
                found = STATEMENT.match(text, offset)
                if found is None:
                    break
                if found[5] is not None:
                    return found.start(5), found[5]
                append(self._special(found))
                offset = found.end()
        except NotKnown:
            pass
        return offset, ""

    def _seek(self, offset: int) -> bool:
        """Make the line that starts at `offset`, or the one after a line that ends there, the next one.

        Returns:
            Whether a line starts there; False in the middle of a line.
        """
        text = self._source.text
        if text[offset : offset + 1] == "\n":
            offset += 1
        elif offset and text[offset - 1] != "\n":
            return False
        if self._at <= offset < self._cut:
            at = self._at
            while at < offset:
                at += len(next(self._lines)) + 1
            self._at = at
        else:
            lines = text[offset : offset + _CHUNK].split("\n")
            rest = lines.pop()
            self._lines = iter(lines)
            self._at = offset
            self._cut = min(offset + _CHUNK, len(text)) - len(rest)
        return True

    def _plain(self, append: Callable[[Statement], None]) -> int:
        """Read lines that hold one statement each.

        Returns:
            The start of the first other line, or of blanks before it.
        """
        name, forms, known, source, instruction = _name, _OPERANDS_READ, _SPELLINGS, self._source, _instruction
        stop = self._at - 1
        start = stop + 1
        try:
            for line in self._lines:
                start = stop + 1
                stop = start + len(line)
                plain = line.lstrip(" \t")
                size = len(plain)
                spelling, _, listed = plain[:-1].partition(" ")
                words = known.get(spelling)
                if words is None or plain[-1] != ";":
                    if not size or plain[:2] == "//":
                        continue
                    found = STATEMENT.match(source.text, stop - size)
                    if found is None or found.end() != stop or found[5] is not None:
                        break
                    append(self._special(found))
                    continue
                listed = listed.lstrip(" \t")
                operands: tuple[Operand, ...]
                if not listed:
                    operands = ()
                elif "{" in listed:
                    operands = self._list(listed, stop - 1 - len(listed))
                else:
                    at = stop - 1 - len(listed)
                    gap = ", " if ", " in listed else ","
                    step = len(gap)
                    nodes: list[Operand] = []
                    for part in listed.split(gap):
                        form = forms.get(part) or _learned(part, operand, forms)
                        nodes.append(name((form, at)) if type(form) is str else form(at))
                        at += len(part) + step
                    operands = tuple(nodes)
                opcode, qualifiers = words
                append(instruction((None, opcode, qualifiers, operands, source, stop - size, size)))
            else:
                start = stop + 1
        except NotKnown:
            pass
        self._at = stop + 1
        return start

    def _special(self, found: re.Match[str]) -> Statement:
        """The statement that the expression matched, which is not a brace."""
        return self._marker(found) if found[2] is None else self._instruction(found)

    def _instruction(self, found: re.Match[str]) -> Instruction:
        guard, spelling, listed = found.group(1, 2, 3)
        operands = () if listed is None else self._list(listed, found.start(3))
        start = found.start(2)
        predicate = None
        if guard is not None:
            start = found.start(1)
            predicate = _predicate((*_guarded(guard), start, len(guard)))
        words = _SPELLINGS.get(spelling) or _cut(spelling)
        return _instruction((predicate, *words, operands, self._source, start, found.end() - start))

    def _marker(self, found: re.Match[str]) -> Statement:
        if found[4] is not None:
            return _label((found[4], self._source, found.start(4), len(found[4]) + 1))
        if found[6] is not None:
            return moved(_declared(found[6]), found.start(6), self._source)
        place = found.group(8, 9, 10)
        inlined = None if found[13] is None else tuple(map(int, found.group(13, 14, 15)))
        function, start = found[11], found.start(7)
        size = found.end() - start
        return _loc((*map(int, place), function, int(found[12] or 0), inlined, self._source, start, size))

    def _list(self, text: str, at: int) -> tuple[Operand, ...]:
        """The operands listed in `text`, which starts at `at`."""
        entries: list[Operand] = []
        offset, more, forms = 0, ",", _OPERANDS_READ
        while more:
            found = _ENTRY.match(text, offset)
            if found is None:
                raise NotKnown
            brace, inside, other, more = found.groups()
            offset = found.end()
            if brace:
                elements = self._elements(inside.rstrip(), at + found.start(2))
                start = found.start(1)
                entries.append(_vector((elements, at + start, found.end(2) + 1 - start)))
            else:
                form, start = forms.get(other) or _learned(other, operand, forms), at + found.start(3)
                entries.append(_name((form, start)) if type(form) is str else form(start))
        return tuple(entries)

    def _elements(self, text: str, at: int) -> tuple[Operand, ...]:
        name, forms = _name, _ELEMENTS_READ
        gap = ", " if ", " in text else ","
        step = len(gap)
        found: list[Operand] = []
        for part in text.split(gap):
            form = forms.get(part) or _learned(part, expression, forms)
            found.append(name((form, at)) if type(form) is str else form(at))
            at += len(part) + step
        return tuple(found)


@lru_cache(maxsize=4096)
def _declared(text: str) -> Declaration:
    """The declaration in a text, its semicolon included.

    Raises:
        NotKnown: The grammar does not accept it as a declaration.
    """
    node = _template(text[:-1], lambda cursor: declaration(cursor, NOWHERE, 0, ""))
    return ended(node, len(text))


def _template(text: str, reader: Callable[[Cursor], N]) -> N:
    """Parse `text` alone.

    Raises:
        NotKnown: The grammar does not accept all of it.
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
