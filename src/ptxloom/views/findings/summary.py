"""Findings as a few lines of Markdown: what a pull request's page shows of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import Severity
from ptxloom.views.core.cells import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnostics import Diagnostic

_MOST: Final = 50
"""Rows of a table; the log has all."""
_MARKS: Final = {Severity.ERROR: "\N{CROSS MARK}", Severity.WARNING: "\N{WARNING SIGN}"}


def summary(head: str, found: Sequence[Diagnostic], remark: str) -> str:
    """A head, a sentence and a table.

    Args:
        head: What was done.
        found: What came of it.
        remark: The same in a sentence, as on standard error.
    """
    lines = [f"### {cell(head)}", "", cell(remark[:1].upper() + remark[1:]) or "Nothing was found."]
    if found:
        lines += ["", "| | where | what | rule |", "|---|---|---|---|", *map(_row, found[:_MOST])]
    if len(found) > _MOST:
        lines += ["", f"... and {len(found) - _MOST:,} more; the log has all."]
    return "\n".join(lines) + "\n\n"


def _row(found: Diagnostic) -> str:
    span = found.span
    mark = f"{_MARKS.get(found.severity, '')} {found.severity}".strip()
    return f"| {mark} | `{cell(span.source.title)}:{span.line}` | {cell(found.message)} | {cell(found.rule)} |"


def cell(text: str) -> str:
    """A text that stays in its cell, and is not markup except for code in backticks."""
    return harmless(text).replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")
