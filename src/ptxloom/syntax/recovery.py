"""Recognises starts of statements, and where to resume after one that could not be parsed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ptxloom.patterns import regex

_WORDS: Final = r"[a-z]\w*+(?:\.[\w:]++)++"  # an opcode with qualifiers
_NAME: Final = r"(?:[A-Za-z_]|[$%](?=[\w$]))[\w$]*+"
_MARKED: Final = rf"\.[a-z]\w*+|@|{_NAME}[ \t]*+:(?!:)"
_SCOPE: Final = r"\{(?![^{};\"]*+\}(?:\s|//[^\n]*+)*+[,;])"  # a brace that opens no list of operands
_START: Final = (
    rf"(?:{_MARKED}|{_SCOPE}|\}}|{_WORDS}[ \t]*+[A-Za-z_$%\[{{(\d!;-]|(?:ret|exit|trap|brkpt|call|bra)\b[^,();\n]*+;)"
)
STATEMENT: Final = regex(_START, re.ASCII)
"""The first token of a line and the next one, if a statement starts here."""

_TYPE: Final = r"\.(?:pred|(?:[busf]|bf|tf)\d)|\.\w++\."  # follows an opcode, if a brace were not in between
_AFTER: Final = rf"(?=[ \t]*+(?:\r?\n|//|/\*|\Z|(?!{_TYPE}){_START}))"
_OUTSIDE: Final = r"(?![ \t]*+\.(?:entry|func|visible|extern|weak|version)\b)"
SCOPE: Final = regex(_SCOPE)
"""A brace that opens a scope, and not a list of operands on its own."""

CLOSING: Final = regex(rf"\}}{_AFTER}", re.ASCII)
"""A brace that ends a scope: the line ends after it, or a statement starts."""

CERTAIN: Final = regex(rf"\.[a-z]\w*+[ \t]++|@|{_NAME}:(?!:)|{_WORDS}[ \t]++[A-Za-z_$%\[{{(]", re.ASCII)
"""The same where an operand is expected: only tokens that no operand has."""

BODY: Final = regex(
    rf"(?=\{{{_AFTER}|;(?!\s*+(?:\.param\b|\))){_AFTER})"
    r"|\n(?=[ \t]*+(?:\}|@(?![ \t]*+\.)|\.(?:entry|func|visible|extern|weak|reg)\b))",
    re.ASCII,
)
"""Where to resume in a function with a malformed header: its body, its semicolon, or a token of no header."""

BLANK: Final = re.compile(r"[ \t]*+")
FUNCTION: Final = re.compile(r"\.(?:entry|func|visible|extern|weak)\b")
"""The start of a function, anywhere in a line."""

UNNAMED: Final = re.compile(r"\.debug_\w++\s*+\{", re.ASCII)
"""A section without its keyword."""

LOST: Final = re.compile(r"[A-Z_$]|[a-z\d_]++[A-Z$]", re.ASCII)
"""A word that cannot be an opcode: a label without its colon."""

_MORE: Final = r"(?:\s++|//[^\n]*+)*+(?:\.b(?:8|16|32|64)\b|[\d,])"
STRAY: Final = regex(rf"\}}(?={_MORE})", re.ASCII)
"""A brace in a section that does not close it: data follows."""

LINE: Final = regex(rf"(?:[^\n}}]++|\}}(?={_MORE}))*+", re.ASCII)
"""The rest of a section's line, up to the brace that closes the section."""


@lru_cache(maxsize=2)
def _next(comments: bool) -> re.Pattern[str]:
    block = r"|/\*(?:[^*]++|\*(?!/))*+\*/" if comments else ""
    return regex(
        rf'//[^\n]*+{block}|"[^"\n]*+"|\{{[^{{}};\n]*+\}}'
        rf"|((?:\}}[ \t]*+)?+;{_AFTER})|(\{{{_OUTSIDE}{_AFTER})|(\}}{_AFTER})"
        rf"|(\{{)|(\}})|\n[ \t]*+(?={_START})()" + (r"|(/\*)" if comments else ""),
        re.ASCII,
    )


def resume(text: str, start: int, problem: int, *, comments: bool = True) -> int:
    """The start of the statement after the one that starts at `start` and has a problem at `problem`.

    A semicolon or a brace counts only if the line ends after it or a statement starts there, and a closing brace
    only if the statement has not opened it.

    Without `comments`, `/*` is not a comment: one was not closed, and searching for its end repeatedly takes long.
    """
    depth = text.count("{", start, problem) - text.count("}", start, problem)
    kind, at = _next(comments), problem
    while (match := kind.search(text, at)) is not None:
        at = match.end()
        match match.lastindex:
            case None:
                pass
            case 2:
                return match.start()
            case 3 if depth <= 0:
                return match.start()
            case 3 | 5:
                depth -= 1
            case 4:
                depth += 1
            case 7:  # an unclosed comment: no later one is closed either
                kind = _next(comments=False)
            case _:
                return match.end()
    return len(text)
