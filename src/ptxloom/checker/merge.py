"""Findings of one instruction that say the same of several operands become one: the mistake is in its type."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import Label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.diagnostics import Diagnostic

_ALIKE: Final = frozenset(("operand-type", "element-width"))


def merged(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings, those about the types of registers that differ only in the register's name told once."""
    first: dict[tuple[str, ...], int] = {}
    told: list[Diagnostic] = []
    for finding in findings:
        what = finding.message.replace(f"`{finding.span.text}`", "").replace(" writes ", " takes ")
        key = (finding.rule, str(finding.severity), what)
        if finding.rule in _ALIKE and key in first:
            before = told[first[key]]
            told[first[key]] = replace(before, related=(*before.related, Label(finding.span, "and here")))
        else:
            first.setdefault(key, len(told))
            told.append(finding)
    return tuple(told)
