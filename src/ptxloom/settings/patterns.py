"""Patterns of files as `.gitignore` has them (gitignore(5)); settings speak of files in the same way."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANY_FOLDERS: Final = "(?:.+/)?"


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line: what it matches, whether folders only, and whether it takes back what lines above it say."""

    path: re.Pattern[str]
    folders_only: bool
    taken_back: bool


@dataclass(frozen=True, slots=True)
class Patterns:
    """The lines of a file of patterns; paths are relative to the folder that they speak of.

    Example:
        >>> some = Patterns.of(["*.ptx", "!kept.ptx", "build/"])
        >>> some.says("a/k.ptx"), some.says("a/kept.ptx"), some.says("k.cu"), some.says("build", folder=True)
        (True, False, None, True)
        >>> some.cover("build/a/k.cu")
        True
    """

    _lines: tuple[_Pattern, ...] = ()

    @classmethod
    def of(cls, lines: Iterable[str]) -> Patterns:
        """The patterns that lines stand for; empty ones and comments are none."""
        return cls(tuple(found for line in lines if (found := _pattern(line)) is not None))

    def says(self, path: str, *, folder: bool = False) -> bool | None:
        """What the last line that matches a path says of it.

        Args:
            path: With `/` between its parts.
            folder: Whether it is one.

        Returns:
            Whether it is left out; None if no line matches.
        """
        for line in reversed(self._lines):
            if (folder or not line.folders_only) and line.path.fullmatch(path):
                return not line.taken_back
        return None

    def cover(self, path: str) -> bool:
        """Whether a file, or a folder that it lies in, is matched."""
        parts = path.split("/")
        folders = ("/".join(parts[:length]) for length in range(1, len(parts)))
        return any(self.says(one, folder=True) for one in folders) or bool(self.says(path))


def _pattern(line: str) -> _Pattern | None:
    """One line; None if it is empty or a comment."""
    text = line.rstrip("\r\n")
    while text.endswith(" ") and not _escaped(text, len(text) - 1):
        text = text[:-1]
    if not text or text.startswith("#"):
        return None
    taken_back = text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    anchored = "/" in text
    expression = _expression(text.removeprefix("/"))
    if expression is None:
        return None
    return _Pattern(re.compile(("" if anchored else _ANY_FOLDERS) + expression, re.DOTALL), folders_only, taken_back)


def _escaped(text: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before a character."""
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _expression(text: str) -> str | None:
    """A pattern as a regular expression; None if it can match nothing, as one that ends within a bracket."""
    out, at = "", 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        out += _translated(token, text)
        at = token.end()
    return out


_TOKEN: Final = re.compile(
    r"""(?P<folders>(?<![^/])\*\*+/)
    | (?P<all>(?<![^/])\*\*+\Z)
    | (?P<stars>\*+)
    | (?P<one>\?)
    | \[(?P<not>[!^]?)(?P<set>\]?(?:[^\]\\]|\\.)*)\]
    | \\(?P<escaped>.)
    | (?P<plain>[^\[\\])
    """,
    re.VERBOSE | re.DOTALL,
)
_FIXED: Final = {"folders": _ANY_FOLDERS, "all": ".+", "stars": "[^/]*", "one": "[^/]"}


def _translated(token: re.Match[str], text: str) -> str:
    """One token as a regular expression."""
    kind = token.lastgroup or ""
    if kind == "set":
        return _set(token["set"], negated=bool(token["not"]))
    if kind == "stars" and token.end() == len(text):
        return "[^/]*+"
    return _FIXED.get(kind) or re.escape(token[kind])


_MEMBER: Final = re.compile(r"(?P<low>\\.|.)(?:-(?P<high>\\.|.))?", re.DOTALL)


def _set(members: str, *, negated: bool) -> str:
    """A set of characters, with ranges; never a slash. Of a range that ends before it begins, its begin is a member."""
    inside = ""
    for member in _MEMBER.finditer(members):
        low, high = member["low"][-1], (member["high"] or "")[-1:]
        inside += re.escape(low)
        inside += f"-{re.escape(high)}" if high >= low else ""
    return f"(?!/)[{'^' * negated}{inside}]"
