"""Remarks as every view of descriptors prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.views.core.style import PLAIN, Ink, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.descriptors import Remark
    from ptxloom.views.core.json_text import Value


def lines(remarks: Sequence[Remark], style: Style = PLAIN) -> list[str]:
    """A line for each remark, and one for what to do."""
    found: list[str] = []
    for remark in remarks:
        head = style.paint("wrong", Ink.RED) if remark.wrong else style.paint("note", Ink.CYAN)
        found.append(f"{head}[{remark.name}]: {remark.text}")
        if remark.advice:
            found.append(f"  help: {remark.advice}")
    return found


def records(remarks: Sequence[Remark]) -> list[Value]:
    """The same for programs."""
    return [{"name": r.name, "wrong": r.wrong, "text": r.text, "advice": r.advice} for r in remarks]
