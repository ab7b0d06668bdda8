"""The function that a user means: by its mangled name, by its C++ name or a part of that, or by a pattern."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from ptxloom.names.demangling import demangled, learn, parameters_start

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST: Final = 12
"""Candidates that a sentence names."""
_SUFFIX: Final = re.compile(r"(?<=\d)(u|ul|ull|l|ll)\b")
_PREFIX: Final = re.compile(r"^(__global__|static|inline|void|const)\s+")
_BETWEEN: Final = re.compile(r"(?<=\w)\s+(?=\w)")
_BLANK: Final = re.compile(r"\s+")


def named(wanted: str, names: Sequence[str]) -> tuple[str, ...]:
    """The functions that a word may mean.

    An exact name comes first: mangled, then demangled with the types of its parameters, then without these, without its
    namespaces, and without its template arguments. Otherwise the word is a pattern over mangled and demangled names.

    Args:
        wanted: The user's word.
        names: The functions, by their names in PTX.

    Returns:
        Those that fit equally well; empty if no kernel does.

    Example:
        >>> names = ("_Z5scaleILi2EEvPff", "_Z5scaleILi3EEvPff", "plain")
        >>> named("scale<3>", names), named("plain", names), len(named("scale", names)), len(named("*scale*", names))
        (('_Z5scaleILi3EEvPff',), ('plain',), 2, 2)
    """
    if wanted in names:
        return (wanted,)
    learn(names)
    word = _plain(wanted)
    levels: list[dict[str, str]] = []
    for name in names:
        for level, spelling in enumerate(_spellings(name)):
            if level == len(levels):
                levels.append({})
            levels[level][name] = spelling
    for spelled in levels:
        if found := tuple(name for name in names if spelled.get(name) == word):
            return found
    return matching(wanted, names)


def matching(pattern: str, names: Sequence[str]) -> tuple[str, ...]:
    """The functions whose mangled or demangled name matches a pattern with `*` and `?`."""
    return tuple(n for n in names if fnmatchcase(n, pattern) or fnmatchcase(demangled(n), pattern))


def short(name: str) -> str:
    """A function's C++ name without the types of its parameters."""
    whole = demangled(name)
    return whole if whole == name else whole[: parameters_start(whole)]


def listed(names: Sequence[str]) -> str:
    """Functions, as a user may name them."""
    learn(names)
    rest = len(names) - _MOST
    return ", ".join(map(demangled, names[:_MOST])) + (f" and {rest} more" if rest > 0 else "")


def _spellings(name: str) -> tuple[str, ...]:
    """A function's names, the whole one first, each compared with others of its kind."""
    whole = demangled(name)
    if whole == name:
        return ()
    without = short(name)
    bare = _outside_brackets(without)
    return tuple(map(_plain, (whole, without, _last(without), bare, _last(bare))))


def _last(name: str) -> str:
    """A name without its namespaces."""
    depth, start = 0, 0
    for at, character in enumerate(name):
        depth += (character in "<(") - (character in ">)")
        if depth == 0 and name[at - 1 : at + 1] == "::":
            start = at + 1
    return name[start:]


def _outside_brackets(name: str) -> str:
    """A name without template arguments."""
    depth, kept = 0, list[str]()
    for character in name:
        depth += character == "<"
        if depth == 0:
            kept.append(character)
        depth -= character == ">"
    return "".join(kept)


def _plain(text: str) -> str:
    """A name as it is compared: blanks and suffixes of numbers mean nothing."""
    before = ""
    while before != text:
        before, text = text, _PREFIX.sub("", text.strip())
    return _SUFFIX.sub("", _BLANK.sub("", _BETWEEN.sub("\0", text))).replace("\0", " ")
