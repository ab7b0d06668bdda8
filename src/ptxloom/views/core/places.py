"""Places as every report shows them: first the program that was compiled, behind it the PTX."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.views.core.json_text import place
from ptxloom.views.core.snippet import Mark, snippet
from ptxloom.views.core.style import PLAIN, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.source import Span
    from ptxloom.syntax.places import Place
    from ptxloom.views.core.json_text import Value


def place_of(span: Span) -> Place:
    """Where a reader looks first."""
    from ptxloom.syntax.places import place_of as found  # noqa: PLC0415 - findings that are kept need no parser

    return found(span)


def is_inside(found: Place) -> bool:
    """Whether the PTX behind a place is not a file, but was made of the place's file and is kept nowhere."""
    return found.ptx is not None and found.ptx.source.name == f"{found.file}:ptx"


def source_place(span: Span) -> dict[str, Value]:
    """Where a reader looks first, by lines and columns, and under `ptx` the PTX behind it; null if it is the place."""
    found = place_of(span)
    return {
        "file": found.file,
        "line": found.line,
        "column": max(found.column, 1),
        "end_line": found.end_line,
        "end_column": max(found.end_column, 1),
        "ptx": None if found.ptx is None else place(found.ptx),
    }


def placed_snippet(marks: Sequence[Mark], style: Style = PLAIN) -> tuple[list[str], int]:
    """Marks in PTX as a snippet: first the lines that they were compiled from, where these are known, then the PTX.

    Returns:
        The lines, and how wide its numbers of lines are.
    """
    places = [(mark, place_of(mark.span)) for mark in marks]
    shown = [
        replace(mark, span=found.span) for mark, found in places if found.ptx is not None and found.span is not None
    ]
    behind = [
        replace(mark, text="") if found.ptx is not None and found.span is not None else mark for mark, found in places
    ]
    every = [*shown, *behind]
    _, first = places[0]
    head = str(first) if first.ptx is not None and first.span is None else ""
    return snippet(every, style, head), len(str(max(mark.span.line for mark in every)))
