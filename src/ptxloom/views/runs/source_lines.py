"""Lines of the program that was compiled, beside what was made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.syntax.places import origins_in
from ptxloom.syntax.visitor import instructions
from ptxloom.views.core.cells import elide, harmless
from ptxloom.views.core.style import PLAIN, Ink, Style

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.syntax import Module
    from ptxloom.syntax.origins import SourceLine
    from ptxloom.syntax.tree import Function

    SourceOf: TypeAlias = Callable[[SourceLine], str | None]

_LINE_LIMIT: Final = 120  # characters of a line that are shown


def no_source(line: SourceLine) -> str | None:
    """The text was not asked for."""
    del line
    return None


def source_lines(origin: SourceLine | None, sources: SourceOf, style: Style = PLAIN) -> list[str]:
    """The text of a line, and of those that it was inlined at; those whose text is not known are left out."""
    found: list[str] = []
    while origin is not None:
        text = sources(origin)
        if text is not None:
            place = f"{origin.file}:{origin.line}"
            found.append(style.paint(f"  {harmless(place)} | {elide(text, _LINE_LIMIT)}", Ink.CYAN))
        origin = origin.into
    return found


def above_lines(module: Module, function: Function, sources: SourceOf) -> dict[int, list[str]]:
    """By the number of a PTX line, the lines that it was compiled from, where these are others than before it."""
    origins = origins_in(module)
    found: dict[int, list[str]] = {}
    last: SourceLine | None = None
    for instruction in instructions(function):
        origin = origins.at(instruction.start)
        if origin != last and origin is not None:
            found.setdefault(instruction.span.line, []).extend(source_lines(origin, sources))
        last = origin
    return found
