"""Why a result is wrong, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ptxloom.records import ABSENT, Absent, Natural, Positive, Record, Spliced, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.runs.hazard_reports import HazardRecord, as_record

if TYPE_CHECKING:
    from ptxloom.diagnosis import Diagnosis, Unjudged
    from ptxloom.views.runs.diagnoses import ReportedRun


class EditRecord(Record):
    """A change of the PTX."""

    line: Natural
    old: str
    new: str


class DiagnosisRecord(Record, define="diagnosis"):
    """One reason why a result is wrong."""

    law: str
    operand: str
    array: str
    cause: str
    detail: str
    certain: bool
    others: tuple[str, ...]
    line: Natural
    instruction: str
    origin: str | None
    lines: tuple[int, ...]
    wrong: Natural
    total: Natural
    repair: tuple[EditRecord, ...]
    silences: bool


class UnjudgedRecord(Record, define="unjudged"):
    """Something of a run that no law was checked of."""

    what: Literal["products", "elements"]
    count: Natural
    line: Natural
    lines: tuple[Positive, ...]
    instruction: str
    origin: str | None
    array: str
    why: str


class JudgedRecord(Record):
    """How much was judged."""

    products: Natural
    terms: Natural
    elements: Natural


class BehindRecord(Record):
    """What stands behind an access out of bounds."""

    place: str
    guards: tuple[str, ...]
    index: tuple[str, ...]


class ToldRecord(Record):
    """The report of a run."""

    hazards: tuple[HazardRecord, ...]
    ended: str
    behind: tuple[BehindRecord, ...]
    verdict: Literal["broken", "unjudged", "clean"]
    compared: bool
    wrong: tuple[str, ...]
    downgraded: tuple[str, ...]
    diagnoses: tuple[DiagnosisRecord, ...]


class WhyRecord(Record):
    """Why a result is wrong; `tried` is the run with the repair."""

    schema: Literal[1]
    told: Spliced[ToldRecord]
    judged: JudgedRecord
    unjudged: tuple[UnjudgedRecord, ...]
    tried: ToldRecord | Absent = ABSENT


def as_json(told: ReportedRun, tried: ReportedRun | None = None) -> str:
    """The same as an object."""
    examined = told.examined
    return to_text(
        WhyRecord(
            schema=1,
            told=_short(told),
            judged=taken(JudgedRecord, examined),
            unjudged=tuple(map(_unjudged, examined.unjudged)),
            tried=ABSENT if tried is None else _short(tried),
        )
    )


def _short(told: ReportedRun) -> ToldRecord:
    return taken(
        ToldRecord,
        told,
        hazards=tuple(map(as_record, told.hazards)),
        behind=tuple(taken(BehindRecord, one) for one in told.behind),
        compared=bool(told.comparisons),
        downgraded=tuple(one.name for one in told.comparisons if one.downgrade is not None),
        diagnoses=tuple(map(_record, told.examined.found)),
    )


def _unjudged(one: Unjudged) -> UnjudgedRecord:
    return taken(UnjudgedRecord, one, origin=one.origin.told if one.origin else None)


def _record(one: Diagnosis) -> DiagnosisRecord:
    edits = () if one.repair is None else one.repair.edits
    return taken(
        DiagnosisRecord,
        one,
        origin=one.origin.told if one.origin else None,
        repair=tuple(EditRecord(line=node.span.line, old=node.span.text, new=text) for node, text in edits),
    )
