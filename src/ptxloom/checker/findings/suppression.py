"""Comments that silence findings: `// ptxloom: ignore[rule, rule]`, on the line or alone on the line before it."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ptxloom.checker.pages import rules
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Diagnostic, Fix, Severity
from ptxloom.isa.spelling import near_misses
from ptxloom.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ptxloom.source import Source
    from ptxloom.syntax.module import Module

_MARK: Final = "ptxloom:"
_IGNORE: Final = re.compile(r"ptxloom:\s*ignore\b(?:\s*\[([^\]\n]*)\])?")
_RULE: Final = re.compile(r"[^\s,]+")
_EVERY: Final = ""
"""What an ignore without brackets means: every rule."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """One rule named in a comment.

    Attributes:
        rule: Its id; empty for all of them.
        line: The line on which its findings are not reported.
        span: Where it is named.
        removal: What to delete when it is not needed.
    """

    rule: str
    line: int
    span: Span
    removal: Span


def heed(module: Module, findings: Iterable[Diagnostic], untold: Iterable[Diagnostic] = ()) -> tuple[Diagnostic, ...]:
    """The findings that no comment silences, and a note for each comment that silences nothing.

    Args:
        module: The module with the comments.
        findings: All that was found in it.
        untold: Findings of rules that were not selected: a comment that would silence one is not useless. Called only
            if needed.
    """
    if _MARK not in module.source.text:
        return tuple(findings)
    ignores = tuple(_ignores(module))
    by_line: dict[int, list[int]] = {}
    for at, ignore in enumerate(ignores):
        by_line.setdefault(ignore.line, []).append(at)
    used: set[int] = set()
    told: list[Diagnostic] = []
    for finding in findings:
        silent = _silencing(ignores, by_line, finding)
        used |= silent
        if not silent:
            told.append(finding)
    for finding in untold:
        used |= _silencing(ignores, by_line, finding)
    return (*told, *(_unused(one) for at, one in enumerate(ignores) if at not in used))


def _silencing(ignores: tuple[Ignore, ...], by_line: Mapping[int, list[int]], finding: Diagnostic) -> set[int]:
    """The places of the comments that silence a finding."""
    lines = range(finding.span.line, finding.span.end_line + 1)
    near = (at for line in lines for at in by_line.get(line, ()))
    return {at for at in near if ignores[at].rule in {_EVERY, finding.rule}}


def _ignores(module: Module) -> Iterator[Ignore]:
    """Every rule that a comment of the module names."""
    source, text = module.source, module.source.text
    speaking = _speaking_lines(module)
    for start, end in module.comments:
        match = _IGNORE.search(text, start, end)
        if match is None:
            continue
        line = _line_meant(source, start, speaking)
        whole = Span(source, start, end)
        names = list(_RULE.finditer(text, *match.span(1))) if match[1] is not None else []
        if match[1] is None:
            yield Ignore(_EVERY, line, Span(source, *match.span()), whole)
        for at, name in enumerate(names):
            span = Span(source, *name.span())
            yield Ignore(name[0], line, span, whole if len(names) == 1 else _with_comma(span, at, names))


def _speaking_lines(module: Module) -> list[int]:
    """The lines with code, in order."""
    source = module.source
    silent = {source.location(first)[0] for first, _ in module.comments}
    lines = ((line, source.line(line).strip()) for line in range(1, len(source.line_starts) + 1))
    return [line for line, words in lines if words and not (line in silent and words.startswith(("//", "/*")))]


def _line_meant(source: Source, start: int, speaking: list[int]) -> int:
    """The line that a comment is about: its own, or, if it is alone there, the next line with code."""
    line = source.location(start)[0]
    if source.text[source.line_starts[line - 1] : start].strip():
        return line
    at = bisect_left(speaking, line)
    return speaking[at] if at < len(speaking) else line


def _with_comma(span: Span, at: int, names: list[re.Match[str]]) -> Span:
    """A name of several, together with the comma that goes with it."""
    if at + 1 < len(names):
        return Span(span.source, span.start, names[at + 1].start())
    return Span(span.source, names[at - 1].end(), span.end)


def _unused(ignore: Ignore) -> Diagnostic:
    """The note that a comment silences nothing."""
    if ignore.rule and ignore.rule not in rules():
        near = _near(ignore.rule)
        message = f"there is no rule `{ignore.rule}` to ignore"
        fix = Fix(f"write `{near[0]}`", ignore.span, near[0]) if near else _removal(ignore)
        label = f"did you mean `{near[0]}`?" if near else ""
        return Diagnostic("unused-ignore", Severity.NOTE, message, ignore.span, label, fix=fix)
    what = f"`{ignore.rule}` is not found" if ignore.rule else "nothing is found"
    message = f"{what} on line {ignore.line}: there is nothing to ignore"
    return Diagnostic("unused-ignore", Severity.NOTE, message, ignore.span, fix=_removal(ignore))


@lru_cache(maxsize=256)
def _near(rule: str) -> tuple[str, ...]:
    """The rules that one was probably meant to be; a comment may have been copied."""
    return near_misses(rule, rules())


def _removal(ignore: Ignore) -> Fix:
    """Delete the comment, or the name in it."""
    return Fix("remove it", ignore.removal, "", is_safe=True)
