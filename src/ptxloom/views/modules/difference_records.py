"""Two modules beside each other, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ptxloom.difference.model import Change
from ptxloom.names.demangling import demangled
from ptxloom.records import Natural, Positive, Record, Spliced, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.modules.trees import Heading, heading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.difference.lines import Line
    from ptxloom.difference.model import FunctionDifference, Hunk, ModuleDifference
    from ptxloom.survey import LoopSummary
    from ptxloom.syntax import Module


class SideRecord(Record):
    """One of two modules."""

    file: str
    heading: Spliced[Heading]


class FactRecord(Record):
    """The two versions of the same thing."""

    what: str
    a: str
    b: str


class CountRecord(Record):
    """What the two have in different numbers."""

    what: str
    instruction: str | None
    a: Natural
    b: Natural


class LoopRecord(Record):
    """A loop of either."""

    label: str | None
    line: Natural
    end_line: Natural
    depth: Positive
    instructions: Natural


class LineRecord(Record):
    """A line of either."""

    line: Natural
    text: str


class RowRecord(Record):
    """A line of the first beside one of the second."""

    change: Change
    a: LineRecord | None
    b: LineRecord | None


class HunkRecord(Record):
    """Neighbouring rows that are not the same."""

    weight: Natural
    behind: str | None
    rows: tuple[RowRecord, ...]


class ChangesRecord(Record):
    """How many rows became what."""

    same: Natural
    operands: Natural
    moved: Natural
    removed: Natural
    added: Natural


class FunctionRecord(Record):
    """A function of both."""

    a: str
    b: str
    demangled: tuple[str, str]
    same: bool
    compared_by_line: bool
    facts: tuple[FactRecord, ...]
    lines: ChangesRecord
    counts: tuple[CountRecord, ...]
    loops: tuple[tuple[LoopRecord, ...], tuple[LoopRecord, ...]] | None
    hunks: tuple[HunkRecord, ...]


class DifferenceRecord(Record):
    """Two modules beside each other."""

    version: Literal[1]
    same: bool
    a: SideRecord
    b: SideRecord
    facts: tuple[FactRecord, ...]
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]
    functions: tuple[FunctionRecord, ...]


def as_json(found: ModuleDifference) -> str:
    """All of it for a program."""
    return to_text(
        DifferenceRecord(
            version=1,
            same=found.same,
            a=_side(found.a),
            b=_side(found.b),
            facts=_facts(found.facts),
            only_in_a=found.removed,
            only_in_b=found.added,
            functions=tuple(map(_record, found.functions)),
        )
    )


def _side(module: Module) -> SideRecord:
    return SideRecord(file=module.source.name, heading=heading(module))


def _facts(facts: Iterable[tuple[str, str, str]]) -> tuple[FactRecord, ...]:
    return tuple(FactRecord(what=what, a=a, b=b) for what, a, b in facts)


def _record(found: FunctionDifference) -> FunctionRecord:
    return taken(
        FunctionRecord,
        found,
        a=found.a.function.name,
        b=found.b.function.name,
        demangled=(demangled(found.a.function.name), demangled(found.b.function.name)),
        compared_by_line=found.whole,
        facts=_facts(found.facts),
        lines=found.changes,
        counts=tuple(taken(CountRecord, one, instruction=one.spelling or None) for one in found.counts),
        loops=None if found.loops is None else tuple(tuple(map(_loop_record, loops)) for loops in found.loops),
        hunks=tuple(_hunk_record(one) for one in found.hunks),
    )


def _loop_record(one: LoopSummary) -> LoopRecord:
    return taken(LoopRecord, one, label=one.label or None, line=one.first_line, end_line=one.last_line)


def _hunk_record(one: Hunk) -> HunkRecord:
    rows = tuple(RowRecord(change=row.change, a=_line_record(row.a), b=_line_record(row.b)) for row in one.rows)
    return HunkRecord(weight=one.weight, behind=one.label or None, rows=rows)


def _line_record(line: Line | None) -> LineRecord | None:
    return None if line is None else LineRecord(line=line.number, text=line.text)
