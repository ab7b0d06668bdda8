"""Sections of debug information: data and labels in braces (PTX ISA 11.5.3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.patterns import regex
from ptxloom.syntax.lexer import MOST_PROBLEMS, NAME, Problem
from ptxloom.syntax.node import maker
from ptxloom.syntax.operands import expression
from ptxloom.syntax.recovery import LINE, STRAY
from ptxloom.syntax.tree import Data, Integer, Label, Malformed, Name, Section

if TYPE_CHECKING:
    from ptxloom.source import Source
    from ptxloom.syntax.lexer import Cursor
    from ptxloom.syntax.tree import Operand

_data, _label, _name = maker(Data), maker(Label), maker(Name)
_OUTSIDE: Final = frozenset((".section", ".entry", ".func", ".visible", ".weak", ".extern", ".file", ".version"))
_WHOLE: Final = r"(?:0|[1-9]\d{0,18})"
_DATA: Final = regex(
    r"\s*+(?:"
    rf"\.(b8|b16|b32|b64)[ \t]++(?:({_WHOLE}(?:[ \t]*+,[ \t]*+{_WHOLE})*+)|({NAME}))(?=[ \t]*+(?://[^\n]*+)?+\r?\n\s*+[.}}A-Za-z_$])"
    rf"|({NAME}):"
    r")(?:[ \t]*+//[^\n]*+)?+",
    re.ASCII,
)
"""A line of a section in compilers' form: 1 type, 2 numbers or 3 a label; 4 a label's own line."""


def section(cursor: Cursor, source: Source, start: int) -> Section:
    """`.section name { data and labels }`."""
    name = _named(cursor)
    brace = cursor.behind
    contents: list[Data | Label | Malformed] = []
    while True:
        if cursor.short:
            _ordinary(cursor, source, contents)
        if cursor.here == "}" and STRAY.match(cursor.text, cursor.start) is None:
            cursor.advance()
            break
        if cursor.kind == "end" or cursor.here in _OUTSIDE or len(cursor.problems) >= MOST_PROBLEMS:
            cursor.problems.append(
                Problem("unclosed-brace", f"section `{name}` is not closed", start, brace, "it opens here")
            )
            break
        _content(cursor, source, contents)
    return Section(name, tuple(contents), source=source, start=start, end=cursor.behind)


def _named(cursor: Cursor) -> str:
    """The name, and the brace after it; anything else on their lines is skipped."""
    name, problem = "", None
    if cursor.kind == "dotted":
        name = cursor.advance()
    else:
        problem = cursor.unexpected("a section's name with its dot")
    if cursor.here != "{" and problem is None:
        problem = cursor.unexpected("`{` to open the section")
    lines = 0
    while cursor.here not in {"{", "}", ";", ""} and lines < 2:
        name = cursor.here if cursor.kind == "dotted" and not name else name
        cursor.advance()
        lines += cursor.on_new_line
    if problem is not None and cursor.here == "{":
        cursor.problems.append(problem)
    elif problem is not None:
        raise problem
    cursor.advance()
    return name


def _ordinary(cursor: Cursor, source: Source, contents: list[Data | Label | Malformed]) -> None:
    """Read a run of ordinary lines; numbers that occur again are shared."""
    text, offset, known = cursor.text, cursor.start, dict[str, tuple[int, ...]]()
    while (found := _DATA.match(text, offset)) is not None:
        offset = found.end()
        kind, numbers, name, label = found.groups()
        if numbers is not None:
            values = known.get(numbers)
            if values is None:
                values = known[numbers] = tuple(map(int, numbers.split(",")))
            start = found.start(1) - 1
            contents.append(_data((kind, values, source, start, found.end(2) - start)))
        elif name is not None:
            start, at = found.start(1) - 1, found.start(3)
            contents.append(_data((kind, (_name((name, at)),), source, start, found.end(3) - start)))
        else:
            contents.append(_label((label, source, found.start(4), len(label) + 1)))
    if offset != cursor.start:
        cursor.seek(offset)
        cursor.behind = contents[-1].end


def _content(cursor: Cursor, source: Source, contents: list[Data | Label | Malformed]) -> None:
    """Read one line; a malformed one is kept as text."""
    start = cursor.start
    try:
        contents.append(_line(cursor, source))
    except Problem as problem:
        cursor.problems.append(problem)
        rest = LINE.match(cursor.text, max(problem.start, start))
        end = max(rest.end() if rest else start, start + 1)
        text = cursor.text[start:end].rstrip()
        contents.append(Malformed(text, source=source, start=start, end=start + len(text)))
        cursor.seek(end)


def _line(cursor: Cursor, source: Source) -> Data | Label:
    start = cursor.start
    if cursor.kind == "name":
        name = cursor.advance()
        cursor.expect(":", "after a label of a section")
        return Label(name, source=source, start=start, end=cursor.behind)
    if cursor.kind != "dotted":
        raise cursor.unexpected("a label or data such as `.b8 1`")
    kind = cursor.advance()[1:]
    values = [_plain(expression(cursor))]
    while cursor.accept(","):
        values.append(_plain(expression(cursor)))
    return Data(kind, tuple(values), source=source, start=start, end=cursor.behind)


def _plain(value: Operand) -> int | Operand:
    return value.value if isinstance(value, Integer) and value.radix == 10 and not value.unsigned else value
