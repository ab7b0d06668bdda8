"""Serialises the findings of one text, for the disk cache and between processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from ptxloom.diagnostics import Diagnostic, Fix, Label, Severity
from ptxloom.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.source import Source


def packed(findings: Iterable[Diagnostic]) -> bytes:
    r"""Pack findings about one text; the bytes do not include the text.

    Example:
        >>> from ptxloom.syntax import parse
        >>> from ptxloom.checker import check
        >>> module = parse(".version 9.0\n.target sm_90\n.entry k() { ldmatrix.sync.m8n8.x1.b16 {a}, [b]; }")
        >>> unpacked(packed(check(module)), module.source) == check(module)
        True
    """
    return json.dumps([_row(one) for one in findings], separators=(",", ":")).encode()


def unpacked(data: bytes, source: Source) -> tuple[Diagnostic, ...]:
    """Unpack findings about a text."""
    return tuple(_finding(row, source) for row in cast("list[list[Any]]", json.loads(data)))


def _row(one: Diagnostic) -> list[object]:
    fix = one.fix and [one.fix.description, _ends(one.fix.span), one.fix.replacement, one.fix.is_safe]
    related = [[_ends(label.span), label.text] for label in one.related]
    words = [one.rule, str(one.severity), one.message, one.label, one.section, one.help]
    return [*words, _ends(one.span), fix, related]


def _ends(span: Span) -> list[int]:
    return [span.start, span.end]


def _finding(row: list[Any], source: Source) -> Diagnostic:
    rule, severity, message, label, section, help_, ends, fix, related = row
    return Diagnostic(
        rule,
        Severity(severity),
        message,
        Span(source, *ends),
        label,
        section,
        help_,
        fix and Fix(fix[0], Span(source, *fix[1]), *fix[2:]),
        tuple(Label(Span(source, *where), text) for where, text in related),
    )
