"""Where a statement starts, and where reading goes on after one that could not be read."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORDS: Final = r"[a-z]\w*+(?:\.[\w:]++)++"  # an opcode with qualifiers
_NAME: Final = r"(?:[A-Za-z_]|[$%](?=[\w$]))[\w$]*+"
_MARKED: Final = rf"\.[a-z]\w*+|@|{_NAME}[ \t]*+:(?!:)"
_SCOPE: Final = r"\{(?![^{};\"]*+\}(?:\s|//[^\n]*+)*+[,;])"  # a brace that opens no list of operands
_START: Final = (
    rf"(?:{_MARKED}|{_SCOPE}|\}}|{_WORDS}[ \t]*+[A-Za-z_$%\[{{(\d!;-]|(?:ret|exit|trap|brkpt|call|bra)\b[^,()\n]*+;)"
)
STATEMENT: Final = re.compile(_START, re.ASCII)
"""What the first token of a line, and what follows it, look like if a statement starts here."""

CERTAIN: Final = re.compile(rf"\.[a-z]\w*+[ \t]++|@|{_NAME}:(?!:)|{_WORDS}[ \t]++[A-Za-z_$%\[{{(]", re.ASCII)
"""The same where an operand should come: only what no operand can look like."""

LINE: Final = re.compile(r"[^\n}]*+")
"""The rest of a line, up to a brace that closes."""


@lru_cache(maxsize=2)
def _next(comments: bool) -> re.Pattern[str]:
    block = r"|/\*(?:[^*]++|\*(?!/))*+\*/" if comments else ""
    return re.compile(
        rf'//[^\n]*+{block}|"[^"\n]*+"|\{{[^{{}};\n]*+\}}|(;|\}}[ \t]*+;)|([{{}}])|\n[ \t]*+(?={_START})()', re.ASCII
    )


def resume(text: str, offset: int, *, comments: bool = True) -> int:
    """The offset at which the statement after the one that goes wrong at `offset` starts.

    Without `comments`, `/*` is no comment: one was not closed, and looking for its end again and again takes for ever.
    """
    for match in _next(comments).finditer(text, offset):
        if match[2] is not None:
            return match.start()
        if match.lastindex:
            return match.end()
    return len(text)
