"""Applies the fixes of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ptxloom.diagnostics import Diagnostic, Fix

_ROUNDS: Final = 20
"""The limit of rounds: one repair can reveal another, and two that undo each other would never end."""


class Repaired(NamedTuple):
    """A text after its repair.

    Attributes:
        text: The text.
        fixes: How many fixes were made.
        left: The findings that remain.
    """

    text: str
    fixes: int
    left: Sequence[Diagnostic]


def fixes_of(findings: Iterable[Diagnostic], *, unsafe: bool = False) -> list[Fix]:
    """The fixes that can be made at the same time, none overlapping an earlier one.

    Args:
        findings: What was found in one text.
        unsafe: Guesses count, too.

    Returns:
        The fixes, in the order of the findings.
    """
    made: list[Fix] = []
    for finding in findings:
        fix = finding.fix
        if fix is None or not (unsafe or fix.is_safe):
            continue
        if all(fix.span.start > one.span.end or fix.span.end < one.span.start for one in made):
            made.append(fix)
    return made


def repaired(text: str, judge: Callable[[str], Sequence[Diagnostic]], *, unsafe: bool = False) -> Repaired:
    """Make every fix, and those that earlier fixes reveal, until no fix is left.

    Args:
        text: A module's text.
        judge: Finds what is wrong with a text.
        unsafe: Also make fixes that are guesses.

    Returns:
        The text and the remaining findings.
    """
    found = judge(text)
    made, seen = 0, {text}
    for _ in range(_ROUNDS):
        fixes = fixes_of(found, unsafe=unsafe)
        changed = _applied(text, fixes)
        if changed in seen:
            break
        seen.add(changed)
        text, found, made = changed, judge(changed), made + len(fixes)
    return Repaired(text, made, found)


def _applied(text: str, fixes: Iterable[Fix]) -> str:
    windows = "\r\n" in text
    for fix in sorted(fixes, key=lambda one: one.span.start, reverse=True):
        new = fix.replacement.replace("\n", "\r\n") if windows else fix.replacement
        text = text[: fix.span.start] + new + text[fix.span.end :]
    return text
