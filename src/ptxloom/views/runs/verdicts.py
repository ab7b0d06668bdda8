"""Verdicts on kernels: for people, a line a finding; for programs, JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxloom.views.core.cells import harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_CASES = 4


def full(verdicts: Sequence[dict[str, Any]], style: Style = PLAIN) -> str:
    """Each kernel, what is reported of it, and in which cases.

    Args:
        verdicts: As `Verdict.as_data` has them.
        style: Of the text.
    """
    return "\n".join("\n".join(_one(said, style)) + "\n" for said in verdicts)


def concise(verdicts: Sequence[dict[str, Any]]) -> str:
    """A line a kernel."""
    return "".join(f"{harmless(one['kernel']['file'])}: {_word(one)}\n" for one in verdicts)


def as_json(verdicts: Sequence[dict[str, Any]]) -> str:
    """The verdict, or a list of several."""
    return to_text(verdicts[0] if len(verdicts) == 1 else list(verdicts))


def _word(said: dict[str, Any]) -> str:
    return "passed" if said["passed"] else f"refused: {', '.join(said['hacks']) or 'no case was tried'}"


def _one(said: dict[str, Any], style: Style) -> list[str]:
    word, _, rest = _word(said).partition(":")
    painted = style.paint(word, Ink.GREEN if said["passed"] else Ink.RED)
    right = sum(one["right"] for one in said["cases"])
    counted = f"{right:,} of {len(said['cases']):,} cases right"
    lines = [f"{harmless(said['kernel']['file'])}: {painted}{f':{rest}' if rest else ''} ({counted})"]
    for one in said["findings"]:
        lines.append(f"  {one['hack']}: {harmless(one['sentence'])}")
        if one["cases"]:
            more = len(one["cases"]) - _MOST_CASES
            named = "; ".join(one["cases"][:_MOST_CASES])
            lines.append(f"    {harmless(named)}{f'; and {more:,} more' if more > 0 else ''}")
    lines += [f"  not judged: {harmless(one)}" for one in said["not_judged"]]
    lines.append(f"  digest {said['digest']}")
    return lines
