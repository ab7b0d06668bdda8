"""The whole fragment as a table: who holds each element, and whose address names each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.records import Natural, Record, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import LANES_PER_HUE, PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, csv_table, markdown_table, row, text_table
from ptxloom.views.fragments.colouring import group_of
from ptxloom.views.fragments.folding import block_of
from ptxloom.views.fragments.prefaces import matrix_title, preface, title
from ptxloom.views.fragments.tensor_memory import memory_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.fragments import Digit, Element, Fragment
from ptxloom.views.fragments.folding import Block


def grid(fragment: Fragment, matrix: int) -> Table:
    """One matrix, or a block of it: rows and columns as the fragment counts them, a holder in every cell."""
    addressed = ("address",) * fragment.addressed
    block = block_of(fragment)
    head = (*addressed, "row", *(f"col {c}" for c in range(block.columns)))
    rows = tuple((*_margin(fragment, matrix, r), *_holders(fragment, matrix, r, block)) for r in range(block.rows))
    return Table(head, rows)


def _margin(fragment: Fragment, matrix: int, number: int) -> tuple[Cell, ...]:
    """The cells left of a row: the lane whose address names it, if any, and its number."""
    if not fragment.addressed:
        return row(number)
    lane = fragment.address_lane(matrix=matrix, row=number)
    return Cell(f"T{lane}", lane // LANES_PER_HUE), Cell(str(number))


def _holders(fragment: Fragment, matrix: int, number: int, block: Block) -> tuple[Cell, ...]:
    """The holders of one row's elements."""
    held = (fragment.holder(matrix=matrix, row=number, column=c) for c in range(block.columns))
    return tuple(Cell(fragment.label(e), group_of(fragment, e, "lane")) for e in held)


def full(fragment: Fragment, style: Style = PLAIN) -> str:
    """The preface and every matrix, for a terminal."""
    lines = [style.paint(title(fragment), Ink.BOLD), *preface(fragment)]
    if fragment.in_tensor_memory:
        for name, table in memory_tables(fragment):
            lines += ["", name, *text_table(table, style)]
    for matrix in range(fragment.matrices):
        lines += [
            "",
            *([matrix_title(fragment, matrix)] * (fragment.matrices > 1 or fragment.in_tensor_memory)),
            *text_table(grid(fragment, matrix), style),
        ]
    return "\n".join(lines) + "\n"


def concise(fragment: Fragment) -> str:
    """One line an element: `matrix row column holder`."""
    return "".join(f"{e.matrix} {e.row} {e.column} {fragment.label(e)}\n" for e in _in_order(fragment))


def markdown(fragment: Fragment) -> str:
    """The same as Markdown."""
    lines = [f"### `{fragment.spelling}`" + f", operand {fragment.operand}" * (fragment.operand != "r"), ""]
    lines.append("  \n".join(preface(fragment)))
    if fragment.in_tensor_memory:
        for name, table in memory_tables(fragment):
            lines += ["", f"{name[0].upper()}{name[1:]}:", "", *markdown_table(table)]
    for matrix in range(fragment.matrices):
        lines += [
            "",
            *([f"{matrix_title(fragment, matrix).capitalize()}:", ""] * (fragment.matrices > 1)),
            *markdown_table(grid(fragment, matrix)),
        ]
    return "\n".join(lines) + "\n"


def as_csv(fragment: Fragment) -> str:
    """One record an element; the address lane is empty where lanes name no addresses."""
    records = [dict(_record(fragment, one).members()) for one in _in_order(fragment)]
    return csv_table(Table(tuple(records[0]), tuple(row(*one.values()) for one in records)))


class DigitRecord(Record):
    """One digit of a number: what it counts, and how many values it has."""

    axis: str
    weight: Natural
    radix: Natural


class ElementRecord(Record):
    """An element and its holder; the address lane is empty where lanes name no addresses."""

    matrix: Natural
    row: Natural
    column: Natural
    lane: Natural
    value: Natural
    register: Natural
    bit: Natural
    width: Natural
    address_lane: int | str


class FragmentRecord(Record):
    """Who holds every element."""

    instruction: str
    operand: str
    matrices: Natural
    rows: Natural
    columns: Natural
    registers: Natural
    values_per_lane: Natural
    evidence: str
    lane_digits: tuple[DigitRecord, ...]
    value_digits: tuple[DigitRecord, ...]
    elements: tuple[ElementRecord, ...]


def as_json(fragment: Fragment) -> str:
    """The fragment as one JSON object."""
    return to_text(
        taken(
            FragmentRecord,
            fragment,
            instruction=fragment.spelling,
            evidence=fragment.confirmed,
            lane_digits=_digits(fragment.lanes),
            value_digits=_digits(fragment.values),
            elements=tuple(_record(fragment, one) for one in _in_order(fragment)),
        )
    )


def _digits(digits: Sequence[Digit]) -> tuple[DigitRecord, ...]:
    """What the digits of a number stand for, the lowest first."""
    return tuple(taken(DigitRecord, digit) for digit in digits)


def _in_order(fragment: Fragment) -> list[Element]:
    """The elements by matrix, row and column."""
    return sorted(fragment.elements, key=lambda e: (e.matrix, e.row, e.column))


def _record(fragment: Fragment, element: Element) -> ElementRecord:
    """An element for programs."""
    lane = fragment.address_lane(matrix=element.matrix, row=element.row) if fragment.addressed else ""
    return taken(ElementRecord, element, value=fragment.value_of(element), address_lane=lane)
