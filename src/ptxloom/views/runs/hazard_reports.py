"""Hazards as text for people, as JSON, and as findings that every other format knows how to print."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from ptxloom.diagnostics import Diagnostic, Label, Severity
from ptxloom.names.demangling import demangled
from ptxloom.records import Keywords, Natural, Positive, Record, Spliced, record, taken
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.places import SourcePlace, place_of, placed_snippet, source_place
from ptxloom.views.core.snippet import Mark
from ptxloom.views.core.style import PLAIN, SEVERITY_INK, Ink, Style
from ptxloom.views.findings import sarif as sarif_log
from ptxloom.views.findings.finding_reports import concise as concise_findings
from ptxloom.views.findings.junit import junit as junit_findings
from ptxloom.views.findings.machine_readable import github as github_findings
from ptxloom.views.findings.machine_readable import gitlab as gitlab_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.hazards.kind import HazardKind
    from ptxloom.machine import Hazard, Party
    from ptxloom.records import Json
    from ptxloom.source import Span
    from ptxloom.syntax.origins import SourceLine

SCHEMA_VERSION: Final = 1
_SHOWN: Final = 6  # lines of hazards that are like the one before
_HEAD: Final = re.compile(r"(@!?\S+\s+)?[^\s;]+")


def full(hazards: Sequence[Hazard], style: Style = PLAIN) -> str:
    """Every hazard with its lines, its lanes, its address and what to do; with blank lines between.

    Hazards with the same rule and source lines (of an unrolled loop) are reported once, by the first, with the PTX
    lines of the others.
    """
    alike: dict[object, list[Hazard]] = {}
    for hazard in hazards:
        alike.setdefault(hazard.likeness, []).append(hazard)
    told = [_hazard(first, style, rest) for first, *rest in alike.values()]
    beyond: str = getattr(hazards, "rest", "")  # those of a run know of what they do not hold
    return "\n".join([*told, f"{beyond}\n"] if beyond else told)


def _hazard(hazard: Hazard, style: Style, rest: Sequence[Hazard]) -> str:
    ink = SEVERITY_INK[hazard.severity]
    marks = [Mark(_head(hazard.span), _doing(hazard.party), ink)]
    if hazard.other is not None:
        marks.append(Mark(_head(hazard.other.span), _doing(hazard.other), Ink.BLUE, main=False))
    head = style.paint(f"{hazard.severity}[{hazard.rule}]", ink)
    shown, gutter = placed_snippet(marks, style)
    equals = f"{'':{gutter}} {style.paint('=', Ink.BLUE)}"
    lines = [f"{head}: {style.paint(harmless(hazard.message), Ink.BOLD)}", *shown]
    lines += [f"{equals} {name}: {harmless(text)}" for name, text in _notes(hazard, rest)]
    if hazard.help:
        lines.append(f"{style.paint('help', Ink.CYAN)}: {harmless(hazard.help)}")
    return "\n".join(lines) + "\n"


def _head(span: Span) -> Span:
    """The opcode and its qualifiers: what is underlined of an instruction."""
    words = _HEAD.match(span.text)
    return replace(span, end=span.start + words.end()) if words else span


def _doing(party: Party) -> str:
    return f"{party.who}{f' {party.action}' if party.action else ''}"


def _notes(hazard: Hazard, rest: Sequence[Hazard]) -> list[tuple[str, str]]:
    """The notes below the lines: a word, and its text."""
    notes: list[tuple[str, str]] = []
    if hazard.origin is not None:
        ends = [
            party.origin.told for party in (hazard.party, hazard.other) if party and party.origin and _untold(party)
        ]
        if ends:
            notes.append(("source", "; and ".join(dict.fromkeys(ends))))
    if rest:
        notes.append(("also", f"{_lines(rest)}, from the same source"))
    if hazard.kernel:
        notes.append(("kernel", f"{demangled(hazard.kernel)}, which a kernel launched"))
    if hazard.element:
        notes.append(("element", hazard.element))
    if hazard.count > 1:
        notes.append(("seen", f"{hazard.count:,} times; this is the first"))
    if hazard.section:
        notes.append(("note", f"PTX ISA {hazard.section}"))
    return notes


def _untold(party: Party) -> bool:
    """Whether the place of a party does not show all of its source line."""
    return party.origin is not None and (party.origin.into is not None or place_of(party.span).ptx is None)


def _lines(hazards: Sequence[Hazard]) -> str:
    """The PTX lines of hazards: of both sides, where there are two."""
    places = sorted({(h.line, h.other.line if h.other else 0) for h in hazards})
    shown = [f"{line} with {other}" if other else str(line) for line, other in places[:_SHOWN]]
    more = [f"{len(places) - _SHOWN} more"] if len(places) > _SHOWN else []
    return f"PTX line{'s' if len(places) > 1 else ''} {', '.join((*shown, *more))}"


def diagnostic(hazard: Hazard) -> Diagnostic:
    """A hazard as a finding about the PTX."""
    others = () if hazard.other is None else (Label(hazard.other.span, _doing(hazard.other)),)
    label = _doing(hazard.party)
    return Diagnostic(
        hazard.rule,
        hazard.severity,
        hazard.message,
        hazard.span,
        label,
        hazard.section,
        hazard.help,
        related=others,
    )


def concise(hazards: Sequence[Hazard]) -> str:
    """One line a hazard: `file:line:col: severity: message [rule]`."""
    return concise_findings([diagnostic(h) for h in hazards])


def github(hazards: Sequence[Hazard]) -> str:
    """One workflow command a hazard."""
    return github_findings([diagnostic(h) for h in hazards])


def gitlab(hazards: Sequence[Hazard]) -> str:
    """A report of GitLab's Code Quality."""
    return gitlab_findings([diagnostic(h) for h in hazards])


def junit(hazards: Sequence[Hazard]) -> str:
    """A report as JUnit writes it: a case a hazard."""
    return junit_findings([diagnostic(h) for h in hazards])


def sarif(hazards: Sequence[Hazard], version: str, kinds: Sequence[HazardKind]) -> str:
    """A SARIF log; the lines of the program that was compiled are related locations."""
    used = {h.rule for h in hazards}
    pages = {kind.rule: kind.markdown for kind in kinds if kind.rule in used}
    return sarif_log.sarif([diagnostic(h) for h in hazards], version, pages, [_extra(h) for h in hazards])


def _extra(hazard: Hazard) -> dict[str, Json]:
    """What a result holds beside what every finding has."""
    locations: list[Json] = []
    for party, text in ((hazard.party, "compiled from here"), (hazard.other, "the other side, compiled from here")):
        origin = party and party.origin
        if party is None or not _untold(party):
            continue
        while origin is not None:
            locations.append(sarif_log.line_location(origin.file, origin.line, text))
            origin, text = origin.into, "inlined here"  # noqa: PLW2901 - the chain's next link
    members = dict(as_record(hazard).members())
    names = ("block", "warp", "lanes", "space", "address", "size", "symbol", "element")
    about: dict[str, Json] = {"ptx": str(hazard.span), **{name: record(members[name]) for name in names}}
    extra: dict[str, Json] = {"occurrenceCount": hazard.count, "properties": about}
    if locations:
        extra["relatedLocations"] = locations
    return extra


class OriginRecord(Record, define="source"):
    """A line of the program that was compiled, and where it was inlined."""

    file: str
    line: Natural
    inlined_at: OriginRecord | None


class PartyRecord(Record, define="place"):
    """Lanes that do something, and where."""

    place: Spliced[SourcePlace]
    instruction: str
    source: OriginRecord | None
    block: tuple[Natural, Natural, Natural]
    warp: Natural
    lanes: Annotated[tuple[Annotated[int, Keywords(minimum=0, maximum=31)], ...], Keywords(uniqueItems=True)]
    action: str


Tool: TypeAlias = Literal["memcheck", "racecheck", "initcheck", "synccheck"]
_RULE: Final = r"^(memcheck|racecheck|initcheck|synccheck)\.[a-z-]+$"
_SECTION: Final = r"^([0-9]+(\.[0-9]+)*)?$"


class HazardRecord(Record, define="hazard"):
    """A hazard; what it lacks is null or empty, never absent."""

    rule: Annotated[str, Keywords(pattern=_RULE)]
    tool: Tool
    kind: Annotated[str, Keywords(pattern="^[a-z-]+$")]
    severity: Severity
    message: Annotated[str, Keywords(minLength=1)]
    party: Spliced[PartyRecord]
    other: PartyRecord | None
    space: Literal["", "generic", "global", "shared", "local", "const", "param"]
    address: Natural
    size: Natural
    symbol: str
    element: str
    section: Annotated[str, Keywords(pattern=_SECTION)]
    help: str
    count: Positive
    kernel: str


def as_record(hazard: Hazard) -> HazardRecord:
    """One hazard as it is recorded."""
    other = None if hazard.other is None else _party(hazard.other)
    return taken(HazardRecord, hazard, party=_party(hazard.party), other=other)


def _party(party: Party) -> PartyRecord:
    return taken(PartyRecord, party, place=source_place(party.span), source=_origin(party.origin))


def _origin(line: SourceLine | None) -> OriginRecord | None:
    """A source line and where it was inlined."""
    return line and taken(OriginRecord, line, inlined_at=_origin(line.into))
