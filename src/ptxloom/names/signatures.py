"""Kernels as CUDA C++ defines them: their names, lines and parameters, read from the text by its brackets.

What a macro expands to is not seen, and neither are kernels in it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TOKEN: Final = regex(
    r"""(?P<skip> //[^\n]*+ | /\*(?:[^*]|\*(?!/))*+\*/ | "(?:[^"\\\n]|\\.)*+" | '(?:[^'\\\n]|\\.)*+'
      | ^[^\S\n]*+\#(?:[^\n\\]|\\\n|\\.)*+ )
    | (?P<token> [A-Za-z_]\w*+ | :: | \.\.\. | [-+*/%=<>(){}\[\],;&|!?.:~^] | \d[\w.]*+ )
    | \n | [^\S\n]++ | .""",
    re.VERBOSE | re.MULTILINE,
)
_ATTRIBUTES: Final = frozenset(
    ("__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__", "__attribute__", "alignas", "__align__")
)
_QUALIFIERS: Final = frozenset(
    ("const", "volatile", "restrict", "__restrict__", "__restrict", "__grid_constant__", "register", "mutable")
)
_OF_TYPES: Final = frozenset(
    ("void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto", "wchar_t")
)
_ELABORATED: Final = frozenset(("struct", "class", "union", "enum", "typename"))
_OPENING: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_MOST_TOKENS: Final = 4096
"""Tokens of the head of one kernel."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel's definition.

    Attributes:
        name: As it is written, without namespaces.
        first: The line of `__global__`, from 1.
        last: The line on which its body begins.
        parameters: Their names, in order; empty strings for unnamed ones.
    """

    name: str
    first: int
    last: int
    parameters: tuple[str, ...]


@lru_cache(maxsize=8)
def signatures(text: str) -> tuple[Signature, ...]:
    """The kernels that a text defines, in order.

    Example:
        >>> signatures("template <int N> __global__ void __launch_bounds__(128) k(const float *a, int n = 3) { }")
        (Signature(name='k', first=1, last=1, parameters=('a', 'n')),)
    """
    if "__global__" not in text:
        return ()
    tokens = tuple(_tokens(text))
    starts = [at for at, (word, _) in enumerate(tokens) if word == "__global__"]
    found = (_signature(tokens[at : at + _MOST_TOKENS]) for at in starts)
    return tuple(one for one in found if one is not None)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """The words of a text, without comments, literals and directives, and the lines on which they stand."""
    line, before = 1, 0
    for found in _TOKEN.finditer(text):
        if found["token"] is None:
            continue
        line += text.count("\n", before, found.start())
        before = found.start()
        yield found["token"], line


def _signature(tokens: Sequence[tuple[str, int]]) -> Signature | None:
    """The kernel that begins at `__global__`; None if it is only declared, or not understood."""
    words = [word for word, _ in tokens]
    at = 1
    while at + 1 < len(words) and words[at] not in {";", "{", "}", "__global__"}:
        if words[at + 1] == "(" and words[at] not in _ATTRIBUTES and (words[at].isidentifier()):
            end = _closing(words, at + 1)
            if end is None or words[end + 1 : end + 2] != ["{"]:
                return None
            parameters = tuple(map(_name, _divided(words[at + 2 : end])))
            return Signature(words[at], tokens[0][1], tokens[end + 1][1], parameters)
        at = (_closing(words, at) or len(words)) + 1 if words[at] in "([" else at + 1
    return None


def _closing(words: Sequence[str], start: int) -> int | None:
    """The place of the bracket that closes the one at `start`; comparisons do not stand in heads of kernels."""
    waiting: list[str] = []
    for at in range(start, len(words)):
        word = words[at]
        if word in _OPENING:
            waiting.append(_OPENING[word])
        elif waiting and word == waiting[-1]:
            waiting.pop()
            if not waiting:
                return at
        elif word in {")", "]", "}", ";"}:
            return None
    return None


def _divided(words: Sequence[str]) -> list[list[str]]:
    """The parameters between a kernel's parentheses."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word in _OPENING) - (word in _OPENING.values())
        if word == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [] if parts in ([[]], [["void"]]) else parts


def _name(words: Sequence[str]) -> str:
    """The name in the declaration of a parameter; empty if it is unnamed."""
    declared = list(words[: words.index("=")] if "=" in words else words)
    for at, word in enumerate(declared[:-2]):
        if word == "(" and declared[at + 1] in {"*", "&"}:  # `void (*f)(int)`, `float (&tile)[32]`
            inside = declared[at + 1 : _closing(declared, at)]
            return next((one for one in inside if one.isidentifier()), "")
    while declared and declared[-1] == "]":
        start = len(declared) - 1 - declared[::-1].index("[")
        declared = declared[:start]
    if len(declared) < 2 or not declared[-1].isidentifier() or declared[-1] in _OF_TYPES | _QUALIFIERS:
        return ""
    types = [word for word in declared[:-1] if word not in _QUALIFIERS]
    return "" if not types or types[-1] == "::" or types[-1] in _ELABORATED else declared[-1]
