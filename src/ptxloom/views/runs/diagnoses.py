"""Why a result is wrong, and of what that was asked: for people with the operand drawn as it is and as it should be."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import TOOLS
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, text_table
from ptxloom.views.runs import hazard_reports
from ptxloom.views.runs.comparison_reports import downgrade

if TYPE_CHECKING:
    from ptxloom.comparison import Comparison
    from ptxloom.diagnosis import Diagnosis, Examination, Picture, Unjudged
    from ptxloom.diagnosis.examination import Verdict
    from ptxloom.diagnosis.lines.behind import Behind
    from ptxloom.machine import Hazard, Hazards

_ROWS = 8  # of a picture
_COLUMNS = 6
_MOST_LINES = 8  # PTX lines that are listed
_MOST_GAPS = 12  # things not judged that are listed


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """The report of a run.

    Attributes:
        examined: The verdict of the laws.
        comparisons: Its arrays against what they should be.
        hazards: What the four tools found; they come before any law.
        ended: Why the kernel was ended; empty if it finished.
        behind: For each access out of bounds, where its index is computed and what lets it.
    """

    examined: Examination
    comparisons: tuple[Comparison, ...] = ()
    hazards: Hazards | tuple[Hazard, ...] = ()
    ended: str = ""
    behind: tuple[Behind, ...] = ()

    @property
    def wrong(self) -> tuple[str, ...]:
        """The arrays that are not what they should be."""
        return tuple(one.name for one in self.comparisons if not one.passed)

    @property
    def explained(self) -> tuple[Diagnosis, ...]:
        """The diagnoses that come before what the tools found: with their changes, the tools find nothing.

        Empty if the likeliest of these is at a line that the tools name themselves.
        """
        found = tuple(one for one in self.examined.found if one.silences)
        own = {(one.origin or one.line) for one in self.hazards}
        return () if found and (found[0].origin or found[0].line) in own else found

    @property
    def verdict(self) -> Verdict:
        """That of the examination.

        Never clean if an array is wrong or a tool found something, whatever the laws say.
        """
        verdict = self.examined.verdict
        return "unjudged" if (self.wrong or self.hazards) and verdict == "clean" else verdict


def full(told: ReportedRun, style: Style = PLAIN, tried: ReportedRun | None = None) -> str:
    """Each diagnosis with its change and its picture; what was judged, and what was not.

    Args:
        told: The run.
        style: Of the text.
        tried: What became of a repair.
    """
    ahead = told.explained
    parts = ["\n".join(_one(one, style)) for one in ahead]
    parts += [_watched(told, style)] if told.hazards or told.ended else []
    parts += ["\n".join(_one(one, style)) for one in told.examined.found if one not in ahead]
    parts.append("\n".join((*_verdict(told), *_downgrades(told), *_counts(told.examined), _tools(told))))
    if tried is not None:
        parts.append(outcome(tried))
    return "\n\n".join(parts) + "\n"


def _watched(told: ReportedRun, style: Style) -> str:
    """What the tools found, and what ended the kernel."""
    ended = f"{style.paint(harmless(told.ended), Ink.RED)}: no law was checked\n\n" if told.ended else ""
    behind = "".join(f"\n{harmless(str(one))}" for one in told.behind)
    return f"{ended}{hazard_reports.full(told.hazards, style)}".rstrip("\n") + behind


def _tools(told: ReportedRun) -> str:
    """Who watched, and what came of it."""
    found = Counter(hazard.rule.partition(".")[0] for hazard in told.hazards)
    counted = [f"{tool}: {count:,} hazard{'s' * (count != 1)}" for tool, count in found.items()]
    others = [tool for tool in TOOLS if tool not in found]
    return "; ".join([*counted, *([f"{', '.join(others)}: nothing"] if others else [])])


def _verdict(told: ReportedRun) -> list[str]:
    """The summary if no law is broken, including what was not judged."""
    examined, wrong = told.examined, told.wrong
    if told.ended:
        return []
    if not all(one.is_suspicion for one in examined.found):
        return []
    all_of = examined.verdict == "clean"
    if wrong:
        known = "no law is broken" if all_of else "no law that could be checked is broken"
        if all_of and not _downgrades(told):
            known += ": where elements come from was judged, what is computed with them was not"
        return [f"{harmless(', '.join(wrong))} {'is' if len(wrong) == 1 else 'are'} wrong, and {known}"]
    if all_of:
        return ["no law is broken: every element that is multiplied and stored is where it should be"]
    if examined.products or examined.elements:
        return ["not all could be judged; no law that could be checked is broken"]
    return ["could not judge: no product and no stored element"]


def _downgrades(told: ReportedRun) -> list[str]:
    """The arrays that are wrong by the type of their sums alone."""
    found = [(one.name, one.downgrade) for one in told.comparisons if one.downgrade is not None]
    return [f"downgrade of {harmless(name)}: {downgrade(one)}" for name, one in found]


def _counts(examined: Examination) -> list[str]:
    """What was judged, and what was not, by line."""
    judged = [f"{count:,} {what}" for count, what in _judged(examined) if count]
    lines = [f"judged: {_listed(judged)}"]
    if examined.unjudged:
        lines += ["not judged:", *(f"  {harmless(_gap(one))}" for one in examined.unjudged[:_MOST_GAPS])]
    if len(examined.unjudged) > _MOST_GAPS:
        lines.append(f"  and {len(examined.unjudged) - _MOST_GAPS:,} more, which JSON has")
    return lines


def _listed(judged: list[str]) -> str:
    """As a sentence lists it."""
    *ahead, last = judged or ["nothing"]
    return f"{', '.join(ahead)} and {last}" if ahead else last


def _judged(examined: Examination) -> tuple[tuple[int, str], ...]:
    products, terms, elements = examined.products, examined.terms, examined.elements
    return (
        (products, f"matrix product{'s' * (products != 1)}"),
        (terms, f"product{'s' * (terms != 1)} of two elements"),
        (elements, f"stored element{'s' * (elements != 1)}"),
    )


def _gap(one: Unjudged) -> str:
    more = f" and {len(one.lines) - 1} more" if len(one.lines) > 1 else ""
    place = f"line {one.line}{more}" if one.line else "all lines"
    place = f"{one.origin.told} (PTX {place})" if one.origin else place
    what = one.what.removesuffix("s") if one.count == 1 else one.what
    count = f"{one.count:,} {what}" if one.count else what
    return f"{place}: {count}{f' of {one.array}' if one.array else ''}: {one.why}"


def _one(diagnosis: Diagnosis, style: Style) -> list[str]:
    sure = "" if diagnosis.certain else " (not certain)"
    head = style.paint(f"{diagnosis.cause}{sure}", Ink.RED if diagnosis.certain else Ink.YELLOW)
    lines = [f"{head}: {harmless(_what(diagnosis))}", f"  {harmless(diagnosis.detail)}"]
    place = f"line {diagnosis.line}"
    place = f"{diagnosis.origin.told} (PTX {place})" if diagnosis.origin else place
    lines.append(f"  {harmless(place)}: {harmless(diagnosis.instruction)}")
    others = [number for number in diagnosis.lines if number != diagnosis.line][:_MOST_LINES]
    if others:
        lines.append(f"  on the way: PTX lines {', '.join(map(str, others))}")
    if diagnosis.others:
        lines.append(f"  as well explained by: {', '.join(diagnosis.others)}")
    if diagnosis.repair is not None:
        lines += ["  repair:", *(f"    {harmless(line)}" for line in str(diagnosis.repair).split("\n"))]
    if diagnosis.picture is not None:
        lines += _drawn(diagnosis.picture, style)
    return lines


def _what(diagnosis: Diagnosis) -> str:
    operand, whose = diagnosis.operand, ""
    if diagnosis.array:
        whose = f", {'stored in' if operand == 'd' else 'from'} {diagnosis.array}"
    named = f"operand {operand}{whose}" if operand else f"the products{whose}"
    if diagnosis.law == "reference":
        named = diagnosis.array
    return f"{named}: {diagnosis.wrong:,} of {diagnosis.total:,} elements wrong"


def _drawn(picture: Picture, style: Style) -> list[str]:
    """The part with the most wrong cells; these bear a star."""
    top, left = picture.window(_ROWS, _COLUMNS)
    wrong = picture.wrong[top : top + _ROWS, left : left + _COLUMNS]
    if not wrong.any():
        return []  # what is wrong is not where elements stand
    names = _named(picture.columns, left, wrong.shape[1])
    body: list[tuple[Cell, ...]] = []
    for row, name in enumerate(_named(picture.rows, top, wrong.shape[0])):
        here = [_cell(picture, top + row, left + n) for n in range(wrong.shape[1])]
        there = [Cell(harmless(picture.says(picture.wanted[top + row, left + n]))) for n in range(wrong.shape[1])]
        body.append((Cell(name), *here, Cell("|"), *there))
    table = Table(("", *names, "|", *names), tuple(body))
    return [f"  {harmless(picture.about)}", *(f"    {line}" for line in text_table(table, style))]


def _named(names: tuple[str, ...], first: int, count: int) -> tuple[str, ...]:
    """What rows or columns are called: their numbers, if nothing else."""
    return names[first : first + count] if names else tuple(map(str, range(first, first + count)))


def _cell(picture: Picture, row: int, column: int) -> Cell:
    wrong = bool(picture.wrong[row, column])
    return Cell(harmless(picture.says(picture.held[row, column])) + "*" * wrong, ink=Ink.RED if wrong else None)


def outcome(tried: ReportedRun) -> str:
    """What became of a repair, in a sentence."""
    if tried.ended:
        return f"tried: {tried.ended}"
    if tried.wrong:
        return f"tried: {', '.join(tried.wrong)} still wrong"
    found = tried.examined.found
    if found:
        return f"tried: {len(found)} law{'s' * (len(found) != 1)} still broken"
    known = "" if tried.examined.verdict == "clean" else " that could be checked"
    right = ", and the result is right" if tried.comparisons else ""
    return f"tried: with the repair no law{known} is broken{right}"


def concise(told: ReportedRun) -> str:
    """A line for each, for each array that is wrong, and for each thing that was not judged."""
    lines = [f"line {one.line}: {one.rule}: {harmless(one.message)}" for one in told.hazards]
    lines += [f"ended: {harmless(told.ended)}"] if told.ended else []
    lines += [f"line {one.line}: {one.cause}: {harmless(_what(one))}" for one in told.examined.found]
    lines += [f"wrong: {harmless(name)}" for name in told.wrong]
    lines += [f"not judged: {harmless(_gap(one))}" for one in told.examined.unjudged]
    return "".join(f"{line}\n" for line in lines)
