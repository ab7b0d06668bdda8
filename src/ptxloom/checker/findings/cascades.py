"""Drops findings that unread text may explain: it may declare or use names (PTX ISA 4)."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from ptxloom.syntax.tree import Function, Malformed
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module

_WORD: Final = re.compile(r"(?<![\w$%.])[A-Za-z_$%][\w$]*+", re.ASCII)
_SERIES: Final = re.compile(r"(?:<.*|(?<!\d)\d++)\Z", re.ASCII | re.DOTALL)
_ABOUT_NAMES: Final = frozenset(("undeclared-name", "unused-name"))
_HEAD: Final = (".version", ".target", ".address_size")
_ABOUT_HEADS: Final = frozenset(("missing-directive", "misplaced-directive"))


def without_guesses(module: Module, findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings, without those that unread text may explain.

    These report that a name is not declared or not used, or that a directive of the head is missing.
    """
    if not module.diagnostics:
        return list(findings)
    unread = tuple(_unread(module))
    words = frozenset(_SERIES.sub("", word) for text in unread for word in _WORD.findall(text))
    silent = _ABOUT_HEADS if any(text.startswith(_HEAD) for text in unread) else frozenset[str]()
    return [one for one in findings if one.rule not in silent and _of_name(one) not in words]


def _of_name(finding: Diagnostic) -> str:
    """The name that a finding is about, without its number in a series; empty if it is about something else."""
    return _SERIES.sub("", finding.span.text) if finding.rule in _ABOUT_NAMES else ""


def _unread(module: Module) -> Iterator[str]:
    """The text of directives, which may declare names, and of functions' headers that the parser could not read."""
    faults = sorted(one.span.start for one in module.diagnostics)
    for node in walk(module):
        match node:
            case Malformed(text) if text.startswith("."):
                yield text
            case Function():
                end = node.body.start if node.body else node.end
                if bisect_left(faults, node.start) < bisect_left(faults, end):
                    yield module.source.text[node.start : end]
            case _:
                pass
