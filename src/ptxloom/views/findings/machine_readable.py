"""Findings for programs: JSON, and the annotations of a GitHub workflow."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.diagnostics import Severity
from ptxloom.views.core.cells import harmless, visible
from ptxloom.views.findings.finding_reports import helps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.source import Span

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"

_NOT_ASCII: Final = re.compile(r"[^\n -~]")
GITHUB_LEVEL: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def to_text(value: Value) -> str:
    """JSON as we print it: indented, keys in the order given, one line feed at the end; nothing steers a terminal."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _NOT_ASCII.sub(_escaped, text) + "\n"


def _escaped(found: re.Match[str]) -> str:
    """A character as JSON can say it, if it is none that may be printed."""
    return found[0] if visible(found[0]) == found[0] else json.dumps(found[0])[1:-1]


def place(span: Span) -> dict[str, Value]:
    """A span as file, lines and columns, all from 1; the end is just after the last character."""
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def finding(diagnostic: Diagnostic) -> dict[str, Value]:
    """One finding as a JSON object; what it lacks is null or empty, never absent."""
    fix = diagnostic.fix
    return {
        "rule": diagnostic.rule,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        **place(diagnostic.span),
        "label": diagnostic.label,
        "section": diagnostic.section,
        "help": diagnostic.help,
        "fix": fix and {"description": fix.description, **place(fix.span), "replacement": fix.replacement},
        "related": [{"message": label.text, **place(label.span)} for label in diagnostic.related],
    }


def as_json(diagnostics: Sequence[Diagnostic]) -> str:
    """Every finding in one JSON array."""
    return to_text([finding(d) for d in diagnostics])


def github(diagnostics: Sequence[Diagnostic]) -> str:
    """One workflow command a finding; GitHub shows them beside the lines of a pull request."""
    return "".join(_annotation(d) for d in diagnostics)


def _annotation(diagnostic: Diagnostic) -> str:
    """`::error file=...,line=...::message` as the workflow commands' reference gives it."""
    span = diagnostic.span
    fields = {
        "title": f"ptxloom ({diagnostic.rule})",
        "file": span.source.name,
        "line": str(span.line),
        "col": str(span.column),
        "endLine": str(span.end_line),
        "endColumn": str(span.end_column),
    }
    properties = ",".join(f"{name}={_escape_property(value)}" for name, value in fields.items())
    text = f"{diagnostic.message}: {diagnostic.label}" if diagnostic.label else diagnostic.message
    text = "\n".join((text, *(f"help: {one}" for one in helps(diagnostic))))
    return f"::{GITHUB_LEVEL[diagnostic.severity]} {properties}::{_escape(text)}\n"


def _escape(text: str) -> str:
    """Percent signs and line ends, as a workflow command wants them; nothing else may steer a terminal."""
    return harmless(text.replace("%", "%25").replace("\r", "%0D")).replace("\n", "%0A")


def _escape_property(text: str) -> str:
    """A property's value: colons and commas too."""
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
