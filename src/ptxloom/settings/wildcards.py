"""The wildcards of `.gitignore`, byte by byte as in git, in time that grows with path and pattern.

A pattern becomes one regular expression. `*` never leaves its part of a path, and `**/` skips whole parts: of the
places where the text behind either fits, the first is as good as any other. It is kept (`(?>...)`), no other is tried.
"""

from __future__ import annotations

import re
import string
from typing import Final

from ptxloom.patterns import regex

_TOKEN: Final = re.compile(
    rb"""(?P<folders>(?<![^/])\*\*+/)
    | (?P<some>(?<![^/])\*\*+\\/)
    | (?P<all>(?<![^/])\*\*+\Z)
    | (?P<stars>\*+)
    | (?P<one>\?)
    | (?P<set>\[)
    | \\(?P<escaped>.)
    | (?P<plain>[^\\])
    """,
    re.VERBOSE | re.DOTALL,
)
_FOLDERS: Final = rb"(?:[^/]++/)*+"
_SKIPPED: Final = {"folders": rb"(?:[^/]++/)*?", "some": rb"(?:[^/]++/)+?", "stars": rb"[^/]*?"}
_FIXED: Final = {"all": rb".+", "one": rb"[^/]"}
_SPACES: Final = " \t\n\r"
_CLASSES: Final = {
    name.encode(): frozenset(members.encode())
    for name, members in {
        "alnum": string.ascii_letters + string.digits,
        "alpha": string.ascii_letters,
        "blank": " \t",
        "cntrl": "".join(map(chr, range(32))) + "\x7f",
        "digit": string.digits,
        "graph": string.ascii_letters + string.digits + string.punctuation,
        "lower": string.ascii_lowercase,
        "print": string.ascii_letters + string.digits + string.punctuation + " ",
        "punct": string.punctuation,
        "space": _SPACES,
        "upper": string.ascii_uppercase,
        "xdigit": string.hexdigits,
    }.items()
}
"""The classes that may stand in brackets, as in `[[:alpha:]]`: of ASCII, as git has them."""


def compiled(pattern: bytes, *, anywhere: bool) -> re.Pattern[bytes] | None:
    """The expression that a whole path must fit; None if the pattern fits no path.

    Args:
        pattern: With `/` between its parts, but not at its ends.
        anywhere: Whether folders may come before what is matched.

    Example:
        >>> found = compiled(b"a/**/*b*c", anywhere=False)
        >>> [bool(found.fullmatch(path)) for path in (b"a/bc", b"a/x/y/xbxc", b"a/bc/x")]
        [True, True, False]
    """
    pieces = [_FOLDERS if anywhere else b""]
    in_folders = in_stars = False
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:  # a backslash ends it
            return None
        kind, at = token.lastgroup or "", token.end()
        if kind in _SKIPPED:
            over_folders = kind != "stars"
            pieces.append(b")" * (in_stars + (in_folders and over_folders)) + b"(?>" + _SKIPPED[kind])
            in_stars, in_folders = not over_folders, in_folders or over_folders
        elif kind == "set":
            found = _set(pattern, at)
            if found is None:
                return None
            at = found[1]
            pieces.append(found[0])
        else:
            pieces.append(_FIXED.get(kind) or re.escape(token[kind]))
    return regex(b"".join(pieces) + rb"\Z" + b")" * (in_stars + in_folders), re.DOTALL)


_MEMBER: Final = regex(rb"(?P<low>\\.|[^\\])(?:-(?P<high>\\.|[^\]\\]))?+", re.DOTALL)


def _set(pattern: bytes, at: int) -> tuple[bytes, int] | None:
    """An expression for a set in brackets, which never matches a slash, and its end; None if it is malformed."""
    negated = pattern[at : at + 1] in {b"!", b"^"}
    at = first = at + negated
    members: set[int] = set()
    closing = -1  # the next closing bracket
    while at == first or pattern[at : at + 1] != b"]":
        closing = pattern.find(b"]", at) if closing < at else closing
        if closing < 0:
            return None
        if pattern.startswith(b"[:", at) and closing > at + 2 and pattern[closing - 1 : closing] == b":":
            named = _CLASSES.get(pattern[at + 2 : closing - 1])
            if named is None:
                return None
            members |= named
            at = closing + 1
        elif token := _MEMBER.match(pattern, at):
            low, high = token["low"][-1], (token["high"] or token["low"])[-1]
            members |= {low, *range(low, high + 1)}
            at = token.end()
        else:
            return None
    held = (set(range(256)) - members if negated else members) - {ord("/")}
    return b"[%s]" % b"".join(b"\\x%02x" % byte for byte in sorted(held)) if held else rb"(?!)", at + 1
