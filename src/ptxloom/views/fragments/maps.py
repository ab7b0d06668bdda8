"""The whole fragment as a table: who holds each element, and whose address names each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.fragments import Evidence
from ptxloom.isa.matrix import matrix_move
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import LANES_PER_HUE, PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, csv_table, markdown_table, row, text_table

if TYPE_CHECKING:
    from ptxloom.fragments import Element, Fragment
    from ptxloom.isa.matrix import MatrixMove
    from ptxloom.views.core.json_text import Value


def grid(fragment: Fragment, matrix: int) -> Table:
    """One matrix: rows and columns as the fragment counts them, a holder in every cell."""
    addressed = ("address",) * fragment.addressed
    head = (*addressed, "row", *(f"col {c}" for c in range(fragment.columns)))
    rows = tuple((*_margin(fragment, matrix, r), *_holders(fragment, matrix, r)) for r in range(fragment.rows))
    return Table(head, rows)


def _margin(fragment: Fragment, matrix: int, number: int) -> tuple[Cell, ...]:
    """What stands left of a row: the lane whose address names it, where there is one, and its number."""
    if not fragment.addressed:
        return row(number)
    lane = fragment.address_lane(matrix=matrix, row=number)
    return Cell(f"T{lane}", lane // LANES_PER_HUE), Cell(str(number))


def _holders(fragment: Fragment, matrix: int, number: int) -> tuple[Cell, ...]:
    """The holders of one row's elements."""
    held = (fragment.holder(matrix=matrix, row=number, column=c) for c in range(fragment.columns))
    return tuple(Cell(fragment.label(e), e.lane // LANES_PER_HUE) for e in held)


def preface(fragment: Fragment) -> list[str]:
    """How to read the table, in three sentences and what it rests on."""
    many = fragment.matrices > 1
    what = f"{fragment.matrices} matrices, each" if many else "One matrix,"
    example = fragment.at(5, min(1, fragment.values_per_lane - 1))
    value = fragment.value_of(example)
    held = f"{_count(fragment.values_per_lane, 'value')} in {_count(fragment.registers, 'register')}"
    place = f"as its value {value}, in its register {example.register}"
    lines = [
        f"{what} {fragment.rows} rows x {fragment.columns} columns of {_element(fragment)}; a lane holds {held}.",
        f"{fragment.label(example)} reads: lane 5 holds this element, {place}.",
        f"Value V starts at bit {fragment.stride} * V of the lane's registers laid end to end.",
    ]
    if fragment.addressed:
        lines += _memory(matrix_move(fragment.spelling))
    return [*lines, evidence(fragment)]


def _memory(move: MatrixMove) -> list[str]:
    """What a row is in shared memory."""
    lines = [f"A row is {move.row_bytes} bytes of shared memory; the lane at its left passes the row's address."]
    if move.source.bits != move.destination.bits:
        padding = f", and the row ends in {move.source.padding_bits} bits of padding" * bool(move.source.padding_bits)
        extended = "sign-extended" if move.source.signed else "with zeros above it"
        lines.append(f"There an element takes {move.source.bits} bits{padding}; in its register it stands {extended}.")
    return lines


def evidence(fragment: Fragment) -> str:
    """What the map rests on, as a sentence."""
    confirmed = fragment.confirmed is Evidence.SILICON
    return f"{'Confirmed' if confirmed else 'Not run on silicon by us'}: {fragment.confirmed}."


def title(fragment: Fragment) -> str:
    """The instruction, and the operand where it has several."""
    return fragment.spelling if fragment.addressed else f"{fragment.spelling}, operand {fragment.operand}"


def full(fragment: Fragment, style: Style = PLAIN) -> str:
    """The preface and every matrix, for a terminal."""
    lines = [style.paint(title(fragment), Ink.BOLD), *preface(fragment)]
    for matrix in range(fragment.matrices):
        lines += ["", *([f"matrix {matrix}"] * (fragment.matrices > 1)), *text_table(grid(fragment, matrix), style)]
    return "\n".join(lines) + "\n"


def concise(fragment: Fragment) -> str:
    """One line an element: `matrix row column holder`."""
    return "".join(f"{e.matrix} {e.row} {e.column} {fragment.label(e)}\n" for e in _in_order(fragment))


def markdown(fragment: Fragment) -> str:
    """The same as Markdown."""
    lines = [f"### `{fragment.spelling}`" + f", operand {fragment.operand}" * (not fragment.addressed), ""]
    lines.append("  \n".join(preface(fragment)))
    for matrix in range(fragment.matrices):
        lines += ["", *([f"Matrix {matrix}:", ""] * (fragment.matrices > 1)), *markdown_table(grid(fragment, matrix))]
    return "\n".join(lines) + "\n"


def as_csv(fragment: Fragment) -> str:
    """One record an element; the address lane is empty where lanes name no addresses."""
    head = ("matrix", "row", "column", "lane", "value", "register", "bit", "width", "address_lane")
    rows = (row(*_record(fragment, e).values()) for e in _in_order(fragment))
    return csv_table(Table(head, tuple(rows)))


def as_json(fragment: Fragment) -> str:
    """The fragment as one JSON object."""
    elements: list[Value] = [{**_record(fragment, e)} for e in _in_order(fragment)]
    return to_text(
        {
            "instruction": fragment.spelling,
            "operand": fragment.operand,
            "matrices": fragment.matrices,
            "rows": fragment.rows,
            "columns": fragment.columns,
            "registers": fragment.registers,
            "values_per_lane": fragment.values_per_lane,
            "evidence": str(fragment.confirmed),
            "elements": elements,
        }
    )


def _in_order(fragment: Fragment) -> list[Element]:
    """The elements by matrix, row and column."""
    return sorted(fragment.elements, key=lambda e: (e.matrix, e.row, e.column))


def _record(fragment: Fragment, element: Element) -> dict[str, int | str]:
    """An element's fields for programs."""
    lane = fragment.address_lane(matrix=element.matrix, row=element.row) if fragment.addressed else ""
    return {
        "matrix": element.matrix,
        "row": element.row,
        "column": element.column,
        "lane": element.lane,
        "value": fragment.value_of(element),
        "register": element.register,
        "bit": element.bit,
        "width": element.width,
        "address_lane": lane,
    }


def _element(fragment: Fragment) -> str:
    """How wide an element is, and what it stands in where that is wider."""
    if fragment.width == fragment.stride:
        return f"{fragment.width}-bit elements"
    return f"{fragment.width}-bit elements, each in {fragment.stride} bits of its register"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
