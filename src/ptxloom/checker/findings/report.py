"""How rules about more than one instruction report their findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.diagnostics import Diagnostic, Fix, Label, Severity
from ptxloom.source import Span

if TYPE_CHECKING:
    from ptxloom.syntax.tree import Declaration, Declarator, Statement


def error(
    rule: str,
    message: str,
    span: Span,
    section: str,
    *,
    label: str = "",
    fix: Fix | None = None,
    first: Span | None = None,
    said: str = "first declared here",
) -> Diagnostic:
    """A finding that makes the module illegal; `first` is the place that it contradicts."""
    related = (Label(first, said),) if first is not None else ()
    return Diagnostic(rule, Severity.ERROR, message, span, label, section, "", fix, related)


def name_span(declaration: Declaration, declarator: Declarator) -> Span:
    """The span of a declared name."""
    return Span(declaration.source, declarator.start, declarator.start + len(declarator.name))


def word_span(statement: Statement, word: str, start: int | None = None) -> Span:
    """The span of a word in a statement; the whole statement if its text does not contain the word."""
    text = statement.source.text
    begin = statement.start if start is None else start
    at = text.find(word, begin, statement.end)
    while at >= 0 and not _alone(text, at, at + len(word)):
        at = text.find(word, at + 1, statement.end)
    return statement.span if at < 0 else Span(statement.source, at, at + len(word))


def _alone(text: str, start: int, end: int) -> bool:
    """Whether a word is not part of a longer one."""
    return not (_inside(text[start - 1 : start]) or _inside(text[end : end + 1]))


def _inside(character: str) -> bool:
    return bool(character) and (character.isalnum() or character in "_$%")
