"""Places as in every report: first the source program, then the PTX."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.records import Natural, Positive, Record
from ptxloom.views.core.snippet import Mark, snippet
from ptxloom.views.core.style import PLAIN, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.source import Span
    from ptxloom.syntax.places import Place


class PtxPlace(Record):
    """Where something stands in PTX: lines and columns from 1; the end is just after the last character."""

    file: str
    line: Positive
    column: Positive
    end_line: Positive
    end_column: Positive


class SourcePlace(PtxPlace):
    """Where a reader looks first, and under `ptx` the PTX behind it; null if it is the place."""

    ptx: PtxPlace | None


class SourceLineRecord(Record):
    """A line of the program that was compiled."""

    file: str
    line: Natural


def place_of(span: Span) -> Place:
    """Where a reader looks first."""
    from ptxloom.syntax.places import place_of as found  # noqa: PLC0415 - findings that are kept need no parser

    return found(span)


def is_inside(found: Place) -> bool:
    """Whether the PTX of a place was compiled from the place's file and is not stored in a file."""
    return found.ptx is not None and found.ptx.source.name == f"{found.file}:ptx"


def ptx_place(span: Span) -> PtxPlace:
    """A span as it is recorded."""
    return PtxPlace(
        file=span.source.name,
        line=span.line,
        column=span.column,
        end_line=span.end_line,
        end_column=span.end_column,
    )


def source_place(span: Span) -> SourcePlace:
    """The place of a span as it is recorded."""
    found = place_of(span)
    return SourcePlace(
        file=found.file,
        line=found.line,
        column=max(found.column, 1),
        end_line=found.end_line,
        end_column=max(found.end_column, 1),
        ptx=None if found.ptx is None else ptx_place(found.ptx),
    )


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
