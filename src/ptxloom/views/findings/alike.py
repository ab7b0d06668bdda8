"""Equal findings at several places, reported once: the first in full, the lines of the others below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.diagnostics import Diagnostic

_MOST_RUNS: Final = 12
"""Runs of lines that are listed; who wants all of them has a format with a line for each finding."""


class Alike(NamedTuple):
    """A finding, and equal ones elsewhere in its text.

    Attributes:
        first: The first of them.
        others: The rest, in the order of the text.
    """

    first: Diagnostic
    others: tuple[Diagnostic, ...]


def folded(findings: Iterable[Diagnostic]) -> tuple[Alike, ...]:
    """Group equal findings, in the order of the first of each; those with a second place stay alone."""
    groups: dict[object, list[Diagnostic]] = {}
    for number, one in enumerate(findings):
        fix = one.fix.description if one.fix is not None else ""
        says = (id(one.span.source), one.rule, one.severity, one.message, one.label, one.section, one.help, fix)
        groups.setdefault(number if one.related else says, []).append(one)
    return tuple(Alike(first, tuple(others)) for first, *others in groups.values())


def elsewhere(others: Sequence[Diagnostic]) -> str:
    """Where the others stand.

    Example:
        >>> from ptxloom.syntax import parse
        >>> from ptxloom.checker import check
        >>> wrong = "ldmatrix.sync.m8n8.x1.b16 {a}, [b];"
        >>> text = f".version 9.0 .target sm_90 .entry k() {{ .reg .b32 a, b; {wrong} {wrong}" + f"{chr(10)}{wrong}" * 3
        >>> elsewhere(folded(check(parse(text + " ret; }")))[0].others)
        'and 4 more: lines 1-4'
    """
    runs = _runs(sorted({one.span.line for one in others}))
    shown = ", ".join(f"{low}" if low == high else f"{low}-{high}" for low, high in runs[:_MOST_RUNS])
    more = ", ..." if len(runs) > _MOST_RUNS else ""
    return f"and {len(others)} more: line{'s' * (runs[0] != runs[-1] or runs[0][0] != runs[0][1])} {shown}{more}"


def _runs(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring lines as (first, last)."""
    runs: list[tuple[int, int]] = []
    for line in lines:
        if runs and runs[-1][1] == line - 1:
            runs[-1] = (runs[-1][0], line)
        else:
            runs.append((line, line))
    return runs
