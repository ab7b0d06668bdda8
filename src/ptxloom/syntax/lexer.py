"""Text to tokens, one at a time (PTX ISA 4.1 to 4.5)."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.patterns import regex
from ptxloom.syntax.recovery import CERTAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK: Final = r"/\*(?:[^*]++|\*(?!/))*+\*/"
_MARKER: Final = r'\#[ \t]++\d++[ \t]++"[^"\n]*+"[^\n]*+'  # a line marker of the C preprocessor: # 12 "file.cu"
_BLANK: Final = rf"[ \t\r\n\f\v]++|//[^\n]*+|\\\r?\n|{_MARKER}"
_COMMENT: Final = regex(rf"\"[^\"\n]*+\"|(//[^\n]*+|{_BLOCK}|{_MARKER})|(/\*)")
_LINE_COMMENT: Final = re.compile(rf"\"[^\"\n]*+\"|(//[^\n]*+|{_MARKER})")
NAME: Final = r"(?:[A-Za-z][A-Za-z0-9_$]*+|[_$%][A-Za-z0-9_$]++|_)"
QUALIFIER: Final = (
    r"\.(?:[A-Za-z_$]|(?!\d++(?:[eE][+-]?\d++)?(?![A-Za-z0-9_$]))\d)[A-Za-z0-9_$]*+(?:::[A-Za-z0-9_]++)*+"
    r"(?:(?<=\.sp::[124]):\d++)?"
)
"""A dot and a word; a word may start with a digit, but a number such as `.5` is not one. `.sp::2:4` is one, too."""
_FLOAT: Final = r"(?:\d++\.\d*+|\.\d++)(?:[eE][+-]?\d++)?|\d++[eE][+-]?\d++"
_TOKEN: Final = (
    rf"(?:({NAME})"
    rf"|({QUALIFIER})"
    rf"|(0[fF][0-9a-fA-F]{{8}}(?![\w$])|0[dD][0-9a-fA-F]{{16}}(?![\w$])|0[xX][0-9a-fA-F]++U?|0[bB][01]++U?|{_FLOAT}|\d++U?)"
    r'|("(?:[^"\\\n]++|\\[^\n])*+")'
    r"|(&&|\|\||==|!=|<=|>=|<<|>>|.)"
    r"|())"
)
_ORDINARY: Final = regex(rf"(?:{_BLANK}|{_BLOCK})*+{_TOKEN}", re.ASCII | re.DOTALL)
_UNCLOSED: Final = regex(rf"(?:{_BLANK})*+{_TOKEN}", re.ASCII | re.DOTALL)
"""The tokens after an unclosed comment: searching for its end repeatedly would take quadratic time."""
MOST_PROBLEMS: Final = 10_000
"""The number of problems after which parsing stops."""
KINDS: Final = ("", "name", "dotted", "number", "string", "punctuation", "end")


class Problem(Exception):  # noqa: N818 - never leaves the parser: it carries a future diagnostic
    """Why the current statement cannot be parsed, and where."""

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
    """The current token, and how to advance.

    Attributes:
        text: The whole text.
        short: Whether fast paths for ordinary text may be used; the result is the same.
        kind: The kind of the current token, one of `KINDS`.
        here: Its text.
        start: Its start.
        end: Its end.
        behind: The end of the token before it.
        tokens: The pattern that separates tokens.
        problems: Problems in parts of statements that are kept anyway.
    """

    text: str
    short: bool = False
    kind: str = ""
    here: str = ""
    start: int = 0
    end: int = 0
    behind: int = 0
    tokens: re.Pattern[str] = _ORDINARY
    problems: list[Problem] = field(default_factory=list["Problem"])

    @property
    def comments(self) -> bool:
        """Whether every comment so far was closed."""
        return self.tokens is _ORDINARY

    def seek(self, offset: int) -> None:
        """Go to the first token at or after `offset`."""
        self.end = offset
        self.advance()
        self.behind = offset

    def advance(self) -> str:
        """Go to the next token; returns the text of the previous one."""
        past = self.here
        self.behind = self.end
        match = self.tokens.match(self.text, self.end)
        if match is None or (group := match.lastindex) is None:
            message = "some token always matches, be it the end"
            raise AssertionError(message)
        self.kind = KINDS[group]
        self.here = match[group]
        self.start, self.end = match.span(group)
        return past

    @property
    def on_new_line(self) -> bool:
        """Whether a line ends between the previous token and the current one."""
        return self.text.find("\n", self.behind, self.start) >= 0

    def accept(self, token: str) -> bool:
        """Skip the current token if it is `token`."""
        if self.here == token and self.kind != "string":
            self.advance()
            return True
        return False

    def expect(self, token: str, where: str) -> None:
        """Skip `token`, which must be the current one."""
        if not self.accept(token):
            raise self.unexpected(f"`{token}` {where}")

    def name(self, what: str) -> str:
        """Skip a name and return it; a word that certainly starts a statement is not one."""
        if self.at_statement:
            raise self.unexpected(what)
        return self.word(what)

    def word(self, what: str) -> str:
        """Skip a name and return it."""
        if self.kind != "name":
            raise self.unexpected(what)
        return self.advance()

    def string(self, what: str) -> str:
        """Skip a string and return the text between its quotes."""
        if self.kind != "string":
            raise self.unexpected(what)
        return self.advance()[1:-1]

    def number(self, what: str) -> int:
        """Skip a plain integer and return it."""
        if self.kind != "number" or _PLAIN.fullmatch(self.here) is None:
            raise self.unexpected(what)
        digits = self.advance()
        return int(digits, 0 if digits[1:2] in {"x", "X", "b", "B"} else 10)

    @property
    def at_statement(self) -> bool:
        """Whether the current token certainly starts a statement, on a line of its own."""
        return self.on_new_line and CERTAIN.match(self.text, self.start) is not None

    def incomplete(self, wanted: str) -> Problem:
        """The problem that the line before the current token ends without `wanted`."""
        message, label = f"the line ends where {wanted} should come", f"expected {wanted} after this"
        return Problem("incomplete-statement", message, max(self.behind - 1, 0), self.behind, label)

    def unexpected(self, wanted: str) -> Problem:
        """The problem that the current token is not `wanted`."""
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
        if self.comments and self.text.startswith("/*", self.start):
            self.tokens = _UNCLOSED
            place = (self.start, self.end + 1)
            return Problem("unterminated-comment", "a comment is not closed", *place, "it starts here")
        if self.at_statement:
            return self.incomplete(wanted)
        shown = self.here if self.here.isprintable() else repr(self.here)[1:-1]
        return Problem(
            "unexpected-token",
            f"found `{shown}` where {wanted} should come",
            self.start,
            self.end,
            f"expected {wanted}",
        )


def comments(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of every comment and line marker, in order, without unclosed ones."""
    kind, at = _COMMENT, 0
    while (found := kind.search(text, at)) is not None:
        at = found.end()
        if found[1] is not None:
            yield found.span(1)
        elif found[0] == "/*":  # no later one is closed: searching for their ends would take quadratic time
            kind = _LINE_COMMENT


_PLAIN: Final = re.compile(r"\d{1,19}|0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}")
