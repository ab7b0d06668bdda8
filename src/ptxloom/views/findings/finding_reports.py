"""Findings for people: the full form with carets, and one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.source import title
from ptxloom.views.core.cells import elide, harmless
from ptxloom.views.core.places import place_of, placed_snippet
from ptxloom.views.core.snippet import Mark
from ptxloom.views.core.style import PLAIN, SEVERITY_INK, Ink, Style
from ptxloom.views.findings.alike import elsewhere, folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnostics import Diagnostic, Fix
    from ptxloom.source import Span

WORD_LIMIT: Final = 100  # characters of repaired text that a help line shows


def full(diagnostics: Sequence[Diagnostic], style: Style = PLAIN) -> str:
    """Every finding with its place, carets, reason and repair; equal ones are listed with the first."""
    return "".join(_finding(one.first, style, one.others) + "\n" for one in folded(diagnostics))


def concise(diagnostics: Sequence[Diagnostic]) -> str:
    """One line a finding, `file:line:col: severity: message [rule]`; equal ones, as an unrolled loop makes, once."""
    return "".join(f"{one}\n" for one in dict.fromkeys(map(line, diagnostics)))


def line(diagnostic: Diagnostic) -> str:
    """One finding in a line, `file:line:col: severity: message [rule]`."""
    found = f"{_at(diagnostic.span)}: {diagnostic.severity}: {diagnostic.message} [{diagnostic.rule}]"
    return harmless(found).replace("\n", " ")


def _at(span: Span) -> str:
    found = place_of(span)
    return f"{title(found.file)}:{found.line}:{max(found.column, 1)}"


def _finding(diagnostic: Diagnostic, style: Style, others: Sequence[Diagnostic] = ()) -> str:
    """One finding in full, ending in a line feed, and the places of equal ones."""
    ink = SEVERITY_INK[diagnostic.severity]
    head = style.paint(f"{diagnostic.severity}[{diagnostic.rule}]", ink)
    marks = [Mark(diagnostic.span, diagnostic.label, ink)]
    marks += [Mark(label.span, label.text, Ink.BLUE, main=False) for label in diagnostic.related]
    shown, gutter = placed_snippet(marks, style)
    lines = [f"{head}: {style.paint(harmless(diagnostic.message), Ink.BOLD)}", *shown]
    notes = [f"note: PTX ISA {diagnostic.section}"] if diagnostic.section else []
    notes += [elsewhere(others)] if others else []
    lines += [f"{'':{gutter}} {style.paint('=', Ink.BLUE)} {note}" for note in notes]
    lines += [f"{style.paint('help', Ink.CYAN)}: {harmless(text)}" for text in helps(diagnostic)]
    return "\n".join(lines) + "\n"


def helps(diagnostic: Diagnostic) -> list[str]:
    """The remedies for a finding, one sentence each."""
    found = [diagnostic.help] if diagnostic.help else []
    return [*found, repair(diagnostic.fix)] if diagnostic.fix is not None else found


def repair(fix: Fix) -> str:
    """A fix as a sentence: what to do, and the word it makes.

    Example:
        >>> from ptxloom.diagnostics import Fix
        >>> from ptxloom.source import Source, Span
        >>> text = "stmatrix.m16n8.x4.b8 [a], {r};"
        >>> repair(Fix("add the qualifier", Span(Source(text), 17, 17), ".trans"))
        'add the qualifier: `stmatrix.m16n8.x4.trans.b8`'
    """
    word = _word_around(fix)
    said = not word or f"`{word}`" in fix.description
    return fix.description if said else f"{fix.description}: `{elide(word, WORD_LIMIT)}`"


def _word_around(fix: Fix) -> str:
    """The replacement together with what touches it, up to white space, commas and semicolons."""
    text, start, end = fix.span.source.text, fix.span.start, fix.span.end
    stop = " \t\r\n,;"
    while start > 0 and text[start - 1] not in stop and fix.span.start - start < WORD_LIMIT:
        start -= 1
    while end < len(text) and text[end] not in stop and end - fix.span.end < WORD_LIMIT:
        end += 1
    return " ".join(f"{text[start : fix.span.start]}{fix.replacement}{text[fix.span.end : end]}".split())
