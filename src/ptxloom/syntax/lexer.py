"""Text to tokens, one at a time (PTX ISA 4.1 to 4.5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, cast

_COMMENT: Final = r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/"
_MARKER: Final = r"\#[ \t]++\d[^\n]*+"  # a line marker of the C preprocessor: # 12 "file.cu"
SKIP: Final = rf"(?:[ \t\r\n\f\v]++|{_COMMENT}|\\\r?\n|{_MARKER})*+"
COMMENT: Final = re.compile(rf'"[^"\n]*+"|({_COMMENT}|{_MARKER}|/\*)')
NAME: Final = r"(?:[A-Za-z][A-Za-z0-9_$]*+|[_$%][A-Za-z0-9_$]++|_)"
QUALIFIER: Final = (
    r"\.(?:[A-Za-z_$]|(?!\d++(?:[eE][+-]?\d++)?(?![A-Za-z0-9_$]))\d)[A-Za-z0-9_$]*+(?:::[A-Za-z0-9_]++)*+"
)
"""A dot and a word; a word may start with a digit, but a number such as `.5` is none."""
_FLOAT: Final = r"(?:\d++\.\d*+|\.\d++)(?:[eE][+-]?\d++)?|\d++[eE][+-]?\d++"
_TOKEN: Final = re.compile(
    rf"{SKIP}(?:"
    rf"({NAME})"
    rf"|({QUALIFIER})"
    rf"|(0[fF][0-9a-fA-F]{{8}}(?![\w$])|0[dD][0-9a-fA-F]{{16}}(?![\w$])|0[xX][0-9a-fA-F]++U?|0[bB][01]++U?|{_FLOAT}|\d++U?)"
    r'|("(?:[^"\\\n]++|\\[^\n])*+")'
    r"|(&&|\|\||==|!=|<=|>=|<<|>>|.)"
    r"|())",
    re.ASCII | re.DOTALL,
)
KINDS: Final = ("", "name", "dotted", "number", "string", "punctuation", "end")


class Problem(Exception):  # noqa: N818 - never leaves the parser: it carries what becomes a diagnostic
    """Why the statement at hand cannot be read, and where."""

    def __init__(  # noqa: PLR0917 - a record built at a dozen places
        self, rule: str, message: str, start: int, end: int, label: str = "", remedy: str = ""
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.start = start
        self.end = end
        self.label = label
        self.remedy = remedy


@dataclass(slots=True)
class Cursor:
    """The token at hand and the way to the next one.

    Attributes:
        text: The whole text.
        short: Whether short ways through ordinary text may be taken; the result is the same.
        kind: The kind of the token at hand, one of `KINDS`.
        here: Its text.
        start: Where it starts.
        end: Where it ends.
        behind: Where the token before it ended.
    """

    text: str
    short: bool = False
    kind: str = ""
    here: str = ""
    start: int = 0
    end: int = 0
    behind: int = 0

    def seek(self, offset: int) -> None:
        """Go to the first token at or after `offset`."""
        self.end = offset
        self.advance()
        self.behind = offset

    def advance(self) -> str:
        """Go to the next token and give the text of the one that was at hand."""
        past = self.here
        self.behind = self.end
        match = cast("re.Match[str]", _TOKEN.match(self.text, self.end))  # it matches anything, even the end
        group = cast("int", match.lastindex)
        self.kind = KINDS[group]
        self.here = match[group]
        self.start, self.end = match.span(group)
        return past

    @property
    def on_new_line(self) -> bool:
        """Whether a line ends between the token before and the token at hand."""
        return self.text.find("\n", self.behind, self.start) >= 0

    def accept(self, token: str) -> bool:
        """Go past the token at hand if it is `token`."""
        if self.here == token and self.kind != "string":
            self.advance()
            return True
        return False

    def expect(self, token: str, where: str) -> None:
        """Go past `token`, which must come here."""
        if not self.accept(token):
            raise self.unexpected(f"`{token}` {where}")

    def name(self, what: str) -> str:
        """Go past a name and give it."""
        if self.kind != "name":
            raise self.unexpected(what)
        return self.advance()

    def number(self, what: str) -> int:
        """Go past a plain integer and give it."""
        if self.kind != "number" or (match := _PLAIN.fullmatch(self.here)) is None:
            raise self.unexpected(what)
        self.advance()
        return (
            int(match[1], 0) if match[1][:1] == "0" and match[1][1:2] in "xXbB" and len(match[1]) > 1 else int(match[1])
        )

    def unexpected(self, wanted: str) -> Problem:
        """The problem that something else than `wanted` comes here."""
        if self.kind == "end":
            return Problem(
                "unexpected-end",
                f"the text ends where {wanted} should come",
                self.behind,
                self.behind,
                "the text ends here",
            )
        if self.here == '"':
            return Problem("unterminated-string", "a string is not closed", self.start, self.end, "it starts here")
        if self.text.startswith("/*", self.start):
            return Problem(
                "unterminated-comment", "a comment is not closed", self.start, self.end + 1, "it starts here"
            )
        shown = self.here if self.here.isprintable() else repr(self.here)[1:-1]
        return Problem(
            "unexpected-token",
            f"found `{shown}` where {wanted} should come",
            self.start,
            self.end,
            f"expected {wanted}",
        )


_PLAIN: Final = re.compile(r"(\d++|0[xX][0-9a-fA-F]++|0[bB][01]++)U?")
