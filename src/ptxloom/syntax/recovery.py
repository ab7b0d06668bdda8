"""Where reading goes on after a statement that could not be read."""

from __future__ import annotations

import re
from typing import Final

_START: Final = (
    r"(?:\.[a-z]\w*+|@|[{}]|[A-Za-z_$%][\w$]*+[ \t]*+:(?!:)"
    r"|[a-z]\w*+(?:\.[\w:]++)++[ \t]*+[A-Za-z_$%\[{(\d!;-]|(?:ret|exit|trap|brkpt|call|bra)\b[^,()\n]*+;)"
)
STATEMENT: Final = re.compile(_START, re.ASCII)
"""What the first token of a line, and what follows it, look like if a statement starts here."""

_NEXT: Final = re.compile(
    rf'//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/|"[^"\n]*+"|\{{[^{{}};\n]*+\}}|(;)|([{{}}])|\n[ \t]*+(?={_START})()',
    re.ASCII,
)


def resume(text: str, offset: int) -> int:
    """The offset at which the statement after the one that goes wrong at `offset` starts."""
    for match in _NEXT.finditer(text, offset):
        if match[1] is not None:
            return match.end()
        if match[2] is not None:
            return match.start()
        if match[3] is not None:
            return match.end()
    return len(text)
