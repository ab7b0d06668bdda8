"""Merge equal findings into one: those of several operands of an instruction, those of all names of a lost series."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import Label
from ptxloom.syntax.tree import Function

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module

_ALIKE: Final = frozenset(("operand-type", "element-width"))
_DIGITS: Final = "0123456789"
_LONGEST_INDEX: Final = 9  # digits
_A_SERIES: Final = 8  # names of one stem, from which on the series is what is missing


def merged(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings; those about the types of registers that differ only in the register's name are reported once."""
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


def of_series(module: Module, findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The findings; those about undeclared names of one series in a function are reported at the first of them."""
    lost: dict[tuple[int, str], list[Diagnostic]] = {}
    starts = [one.start for one in module.statements if isinstance(one, Function)]
    for finding in findings:
        name = finding.span.text if finding.rule == "undeclared-name" and not finding.related else ""
        stem = name.rstrip(_DIGITS)
        if stem != name and len(name) - len(stem) < _LONGEST_INDEX:
            lost.setdefault((bisect_right(starts, finding.span.start), stem), []).append(finding)
    told: dict[int, tuple[Diagnostic, ...]] = {}
    for (_, stem), group in lost.items():
        if len({one.span.text for one in group}) >= _A_SERIES:
            told |= {id(one): () for one in group}
            told[id(group[0])] = (_series(stem, group),)
    return tuple(one for finding in findings for one in told.get(id(finding), (finding,))) if told else findings


def _series(stem: str, group: list[Diagnostic]) -> Diagnostic:
    """The one finding that a series is not declared."""
    names = {one.span.text for one in group}
    size = max(int(name[len(stem) :]) for name in names) + 1
    label = f"nor are {len(names) - 1} more names that begin with `{stem}`, in {len(group)} places"
    return replace(
        group[0], label=label, help=f"declare them at once: `.reg` with a type and `{stem}<{size}>`", fix=None
    )
