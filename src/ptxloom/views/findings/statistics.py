"""The number of findings of each rule."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, SEVERITY_INK, Style
from ptxloom.views.core.tables import Cell, Table, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnostics import Diagnostic, Severity


def table(diagnostics: Sequence[Diagnostic], style: Style = PLAIN) -> str:
    """A row for each rule, the most frequent first, with how many of its findings `--fix` mends."""
    if not diagnostics:
        return ""
    rows = tuple(
        (
            Cell(f"{count:>5}"),
            Cell(str(severity), ink=SEVERITY_INK[severity]),
            Cell(rule),
            Cell(_repairs(safe, guesses)),
        )
        for rule, severity, count, safe, guesses in _counts(diagnostics)
    )
    return "\n".join((*text_table(Table(("count", "severity", "rule", "repairs"), rows), style), ""))


def as_json(diagnostics: Sequence[Diagnostic]) -> str:
    """The same as an array of objects."""
    names = ("rule", "severity", "count", "safe_fixes", "unsafe_fixes")
    return to_text([dict(zip(names, counted, strict=True)) for counted in _counts(diagnostics)])


def _repairs(safe: int, guesses: int) -> str:
    parts = [f"{safe} by --fix"] if safe else []
    return ", ".join([*parts, f"{guesses} guess{'es' * (guesses != 1)}"] if guesses else parts)


def _counts(diagnostics: Sequence[Diagnostic]) -> list[tuple[str, Severity, int, int, int]]:
    """Of each rule and severity: how many findings, safe fixes and unsafe ones."""
    every = Counter((d.rule, d.severity) for d in diagnostics)
    safe = Counter((d.rule, d.severity) for d in diagnostics if d.fix is not None and d.fix.is_safe)
    guesses = Counter((d.rule, d.severity) for d in diagnostics if d.fix is not None and not d.fix.is_safe)
    ordered = sorted(every, key=lambda key: (-every[key], key))
    return [(*key, every[key], safe[key], guesses[key]) for key in ordered]
