"""Remarks as every view of descriptors prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.records import Record, taken
from ptxloom.views.core.style import PLAIN, Ink, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.descriptors import Remark


def lines(remarks: Sequence[Remark], style: Style = PLAIN) -> list[str]:
    """A line for each remark, and one for what to do."""
    found: list[str] = []
    for remark in remarks:
        head = style.paint("wrong", Ink.RED) if remark.wrong else style.paint("note", Ink.CYAN)
        found.append(f"{head}[{remark.name}]: {remark.text}")
        if remark.advice:
            found.append(f"  help: {remark.advice}")
    return found


class RemarkRecord(Record, define="remark"):
    """Something about a descriptor, a map or a copy."""

    name: str
    wrong: bool
    text: str
    advice: str


def records(remarks: Sequence[Remark]) -> tuple[RemarkRecord, ...]:
    """The same for programs."""
    return tuple(taken(RemarkRecord, one) for one in remarks)
