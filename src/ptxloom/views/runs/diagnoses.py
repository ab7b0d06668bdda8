"""Why a result is wrong: for people with the operand as it is beside the operand as it should be, or as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxloom.views.core.cells import harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, text_table

if TYPE_CHECKING:
    from ptxloom.diagnosis import Diagnosis, Picture
    from ptxloom.views.core.json_text import Value

_ROWS = 8  # of a picture
_COLUMNS = 6
_MOST_LINES = 8  # PTX lines that are listed


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a repair.

    Attributes:
        found: What is still wrong.
        wrong: The arrays that are still not what they should be.
        compared: Whether any array was compared.
    """

    found: tuple[Diagnosis, ...]
    wrong: tuple[str, ...]
    compared: bool


def full(found: tuple[Diagnosis, ...], style: Style = PLAIN, tried: Tried | None = None) -> str:
    """Each diagnosis with its change and its picture."""
    if not found:
        return "no law is broken: every element that is multiplied and stored is where it should be\n"
    parts = ["\n".join(_one(diagnosis, style)) for diagnosis in found]
    if tried is not None:
        parts.append(outcome(tried))
    return "\n\n".join(parts) + "\n"


def _one(diagnosis: Diagnosis, style: Style) -> list[str]:
    sure = "" if diagnosis.certain else " (not certain)"
    head = style.paint(f"{diagnosis.cause}{sure}", Ink.RED if diagnosis.certain else Ink.YELLOW)
    lines = [f"{head}: {harmless(_what(diagnosis))}", f"  {harmless(diagnosis.detail)}"]
    origin = f"  ({diagnosis.origin})" if diagnosis.origin else ""
    lines.append(f"  line {diagnosis.line}: {harmless(diagnosis.instruction)}{harmless(origin)}")
    others = [number for number in diagnosis.lines if number != diagnosis.line][:_MOST_LINES]
    if others:
        lines.append(f"  on the way: lines {', '.join(map(str, others))}")
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
    return f"{named}: {diagnosis.wrong:,} of {diagnosis.total:,} elements wrong"


def _drawn(picture: Picture, style: Style) -> list[str]:
    """The upper left of the operand, each element as row and column of its matrix; what is wrong bears a star."""
    x, y, z = picture.cta
    held, wanted = picture.held.tolist(), picture.wanted.tolist()
    rows, columns = min(len(held), _ROWS), min(len(held[0]), _COLUMNS)
    head = ("", *(f"{n}" for n in range(columns)), "|", *(f"{n}" for n in range(columns)))
    body: list[tuple[Cell, ...]] = []
    for row in range(rows):
        left = [_cell(held[row][n], wanted[row][n]) for n in range(columns)]
        right = [Cell(_place(wanted[row][n])) for n in range(columns)]
        body.append((Cell(str(row)), *left, Cell("|"), *right))
    about = f"  CTA ({x}, {y}, {z}), warp {picture.warp}: row,column as it is | as it should be"
    return [about, *(f"    {line}" for line in text_table(Table(head, tuple(body)), style))]


def _cell(held: list[int], wanted: list[int]) -> Cell:
    wrong = held != wanted
    return Cell(f"{_place(held)}{'*' * wrong}", ink=Ink.RED if wrong else None)


def _place(place: list[int]) -> str:
    return "-" if place[0] < 0 else f"{place[0]},{place[1]}"


def outcome(tried: Tried) -> str:
    """What became of a repair, in a sentence."""
    if tried.wrong:
        return f"tried: {', '.join(tried.wrong)} still wrong"
    if tried.found:
        return f"tried: {len(tried.found)} law{'s' * (len(tried.found) != 1)} still broken"
    return "tried: with the repair no law is broken" + (", and the result is right" if tried.compared else "")


def concise(found: tuple[Diagnosis, ...]) -> str:
    """A line for each."""
    return "".join(f"line {one.line}: {one.cause}: {harmless(_what(one))}\n" for one in found)


def as_json(found: tuple[Diagnosis, ...], tried: Tried | None = None) -> str:
    """The same as an object."""
    records: list[Value] = [_record(one) for one in found]
    value: dict[str, Value] = {"schema": 1, "diagnoses": records}
    if tried is not None:
        still: list[Value] = [_record(one) for one in tried.found]
        wrong: list[Value] = [*tried.wrong]
        value["tried"] = {"diagnoses": still, "wrong": wrong, "compared": tried.compared}
    return to_text(value)


def _record(one: Diagnosis) -> Value:
    edits: list[Value] = []
    if one.repair is not None:
        edits = [{"line": node.span.line, "old": node.span.text, "new": text} for node, text in one.repair.edits]
    return {
        "law": one.law,
        "operand": one.operand,
        "array": one.array,
        "cause": one.cause,
        "detail": one.detail,
        "certain": one.certain,
        "others": [*one.others],
        "line": one.line,
        "instruction": one.instruction,
        "origin": str(one.origin) if one.origin else None,
        "lines": [*one.lines],
        "wrong": one.wrong,
        "total": one.total,
        "repair": edits,
    }
