"""Modules that were read, as JSON, and the schema of that, made from the classes of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_type_hints

from ptxloom.records import ABSENT, Absent, Positive, Record, Spliced
from ptxloom.records.schemas import Shape
from ptxloom.survey import survey
from ptxloom.syntax import Node, tree
from ptxloom.views.findings.machine_readable import FindingRecord, finding
from ptxloom.views.modules.surveys import ModuleRecord
from ptxloom.views.modules.surveys import record as surveyed
from ptxloom.views.modules.trees import recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.syntax import Module
    from ptxloom.syntax.tree import Statement


class ParsedRecord(Record):
    """A module that was read; `statements` is there where the tree was asked for."""

    summary: Spliced[ModuleRecord]
    findings: tuple[FindingRecord, ...]
    statements: tuple[tree.Statement, ...] | Absent = ABSENT


Parsed: TypeAlias = tuple[ParsedRecord, ...]
UNIONS: Final = {"Operand": tree.Operand, "Statement": tree.Statement}


def record(module: Module, statements: Sequence[Statement] | None) -> ParsedRecord:
    """A module, and those of its statements that were asked for."""
    shown: Any = ABSENT if statements is None else recorded(tuple(statements), module.source)
    findings = tuple(map(finding, module.diagnostics))
    return ParsedRecord(summary=surveyed(survey(module)), findings=findings, statements=shown)


def shape_of(kind: Any) -> Shape | None:
    """The shape of a node: its kind, its place, its fields."""
    if not (isinstance(kind, type) and issubclass(kind, Node)):
        return None
    hints = get_type_hints(kind)
    place = dict.fromkeys(("line", "column", "end_line", "end_column"), Positive)
    fields = {name: hints[name] for name in cast("tuple[str, ...]", kind.__match_args__)}
    description = " ".join((kind.__doc__ or "").partition("\n\n")[0].split())
    return Shape({"node": Literal[kind.__name__], **place, **fields}, kind.__name__, description)
