"""Names in text that could not be read: whether they are declared or used there, nobody can say (PTX ISA 4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.syntax.tree import Function, Malformed
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module

_WORD: Final = re.compile(r"(?<![\w$%.])[A-Za-z_$%][\w$]*+", re.ASCII)
_SERIES: Final = re.compile(r"(?:<.*|\d++)\Z", re.ASCII | re.DOTALL)
_ABOUT_NAMES: Final = frozenset(("undeclared-name", "unused-name"))


def without_guesses(module: Module, findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings but those that say of a name that it is not declared, or not used, when unread text holds it."""
    if not module.diagnostics:
        return list(findings)
    words = frozenset(_SERIES.sub("", word) for text in _unread(module) for word in _WORD.findall(text))
    return [one for one in findings if one.rule not in _ABOUT_NAMES or _SERIES.sub("", one.span.text) not in words]


def _unread(module: Module) -> Iterator[str]:
    """The text of directives, which may declare names, and of functions' headers that the parser could not read."""
    faults = [one.span.start for one in module.diagnostics]
    for node in walk(module):
        match node:
            case Malformed(text) if text.startswith("."):
                yield text
            case Function():
                end = node.body.start if node.body else node.end
                if any(node.start <= fault < end for fault in faults):
                    yield module.source.text[node.start : end]
            case _:
                pass
