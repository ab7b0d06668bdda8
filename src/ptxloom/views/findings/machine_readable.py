"""Findings for programs: JSON, the annotations of a GitHub workflow, and the code quality report of GitLab."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import Severity
from ptxloom.records import Record, Spliced
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.places import PtxPlace, SourcePlace, place_of, ptx_place, source_place
from ptxloom.views.findings.finding_reports import helps
from ptxloom.views.findings.sarif import ANY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnostics import Diagnostic

GITLAB_SEVERITY: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}
GITHUB_LEVEL: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


class FixRecord(Record):
    """How a finding is mended."""

    description: str
    place: Spliced[PtxPlace]
    replacement: str
    safe: bool


class RelatedRecord(Record):
    """Another place of a finding."""

    message: str
    place: Spliced[SourcePlace]


class FindingRecord(Record, define="finding"):
    """A finding; what it lacks is null or empty, never absent."""

    rule: str
    severity: Severity
    message: str
    place: Spliced[SourcePlace]
    label: str
    section: str
    help: str
    fix: FixRecord | None
    related: tuple[RelatedRecord, ...]


def finding(diagnostic: Diagnostic) -> FindingRecord:
    """One finding as it is recorded."""
    fix = diagnostic.fix
    return FindingRecord(
        rule=diagnostic.rule,
        severity=diagnostic.severity,
        message=diagnostic.message,
        place=source_place(diagnostic.span),
        label=diagnostic.label,
        section=diagnostic.section,
        help=diagnostic.help,
        fix=fix
        and FixRecord(
            description=fix.description, place=ptx_place(fix.span), replacement=fix.replacement, safe=fix.is_safe
        ),
        related=tuple(RelatedRecord(message=one.text, place=source_place(one.span)) for one in diagnostic.related),
    )


def as_json(diagnostics: Sequence[Diagnostic]) -> str:
    """Every finding in one JSON array."""
    return to_text([finding(d) for d in diagnostics])


def gitlab(diagnostics: Sequence[Diagnostic]) -> str:
    """A report that GitLab's merge requests show (`artifacts:reports:codequality`)."""
    seen: Counter[str] = Counter()
    return to_text([_quality(d, seen) for d in diagnostics])


def _quality(diagnostic: Diagnostic, seen: Counter[str]) -> dict[str, object]:
    """An entry; its fingerprint stays the same while lines above it come and go."""
    place = place_of(diagnostic.span)
    about = f"{place.file}\0{diagnostic.rule}\0{diagnostic.message}"
    seen[about] += 1
    return {
        "description": diagnostic.message,
        "check_name": diagnostic.rule,
        "fingerprint": sha256(f"{about}\0{seen[about]}".encode(errors=ANY_NAME)).hexdigest(),
        "severity": GITLAB_SEVERITY[diagnostic.severity],
        "location": {"path": place.file, "lines": {"begin": place.line, "end": place.end_line}},
    }


def github(diagnostics: Sequence[Diagnostic]) -> str:
    """One workflow command a finding; GitHub shows them beside the lines of a pull request."""
    return "".join(_annotation(d) for d in diagnostics)


def _annotation(diagnostic: Diagnostic) -> str:
    """`::error file=...,line=...::message`, in the syntax of the workflow commands' reference."""
    place = place_of(diagnostic.span)
    fields = {"title": f"ptxloom ({diagnostic.rule})", "file": place.file, "line": str(place.line)}
    if place.column:
        fields |= {"col": str(place.column), "endLine": str(place.end_line), "endColumn": str(place.end_column)}
    properties = ",".join(f"{name}={_escape_property(value)}" for name, value in fields.items())
    text = f"{diagnostic.message}: {diagnostic.label}" if diagnostic.label else diagnostic.message
    behind = [f"PTX: {place.ptx}"] if place.ptx is not None else []
    text = "\n".join((text, *behind, *(f"help: {one}" for one in helps(diagnostic))))
    return f"::{GITHUB_LEVEL[diagnostic.severity]} {properties}::{_escape(text)}\n"


def _escape(text: str) -> str:
    """Percent signs and line ends, as a workflow command wants them; nothing else may steer a terminal."""
    return harmless(text.replace("%", "%25").replace("\r", "%0D")).replace("\n", "%0A")


def _escape_property(text: str) -> str:
    """A property's value: colons and commas too."""
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
