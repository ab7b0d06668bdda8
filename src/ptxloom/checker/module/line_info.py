"""Rules about line information: `.loc` of inlined code names a function and where it was called (PTX ISA 11.5.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.checker.core.suggestions import near_label
from ptxloom.checker.findings.report import error, word_span
from ptxloom.syntax.origins import places
from ptxloom.syntax.tree import Label, Loc, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Platform
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module

_SECTION: Final = "11.5.4"


def lines(module: Module, _: Platform) -> Iterator[Diagnostic]:
    """The findings about the places that `.loc` names."""
    if module.diagnostics or "inlined_at" not in module.source.text:  # what was not read may hold the label
        return
    sections = [one for one in module.statements if isinstance(one, Section)]
    labels = {one.name for section in sections for one in section.contents if isinstance(one, Label)}
    seen: set[tuple[int, int, int]] = set()
    unknown: set[str] = set()
    for node in (one for one in places(module.statements) if isinstance(one, Loc)):
        name = node.function_name
        if name is not None and name not in labels and name not in unknown:
            unknown.add(name)
            span = word_span(node, name)
            label, fix = near_label(name, span, labels)
            message = f"`{name}` is not a label of a section"
            yield error("undeclared-name", message, span, _SECTION, label=label, fix=fix)
        if node.inlined_at is not None and node.inlined_at not in seen:
            place = " ".join(map(str, node.inlined_at))
            message = f"no `.loc {place}` comes before this"
            why = "code is inlined at a place that an earlier `.loc` names"
            yield error("misplaced-directive", message, word_span(node, "inlined_at"), _SECTION, label=why)
        seen.add((node.file, node.line, node.column))
