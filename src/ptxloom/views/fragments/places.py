"""One lane's values, a row's holders, or one element's holder: what `where` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.isa.limits import TENSOR_LANES
from ptxloom.records import ABSENT, Absent, Natural, Record, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import LANES_PER_HUE, PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, csv_table, markdown_table, text_table
from ptxloom.views.fragments.colouring import group_of
from ptxloom.views.fragments.prefaces import axis_names, evidence, id_of, is_shift, matrix_title, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.fragments import Element, Fragment


def table(fragment: Fragment, elements: Sequence[Element]) -> Table:
    """Elements with their holders, one a row."""
    head = ("lane", "value", "register", "bits", "matrix", "row", "column")
    if fragment.in_tensor_memory:
        down, across = axis_names(fragment)
        head = (*("CTA",) * fragment.is_pair, "lane", "column", "bits", _noun(fragment), down, across)
    return Table((*head, *("address lane",) * fragment.addressed), tuple(_row(fragment, e) for e in elements))


def _row(fragment: Fragment, element: Element) -> tuple[Cell, ...]:
    texts = (f"T{element.lane}", f"V{fragment.value_of(element)}", f"R{element.register}", bits(element))
    place = (str(id_of(fragment, element.matrix)), str(element.row), str(element.column))
    if fragment.in_tensor_memory:
        cta, lane = divmod(element.lane, TENSOR_LANES)
        texts = (*(str(cta),) * fragment.is_pair, f"L{lane}", f"C{element.register}", bits(element))
    cells = tuple(Cell(t, group_of(fragment, element, "lane")) for t in texts) + tuple(map(Cell, place))
    if not fragment.addressed:
        return cells
    lane = fragment.address_lane(matrix=element.matrix, row=element.row)
    return (*cells, Cell(f"T{lane}", lane // LANES_PER_HUE))


def _noun(fragment: Fragment) -> str:
    """The noun for a matrix."""
    return {"e": "selector", "sfa": "id", "sfb": "id", "r": "CTA of source"}.get(fragment.operand, "matrix")


def bits(element: Element) -> str:
    """The bits of the register that hold an element: `[15:0]`, the high one first, as the manual writes them."""
    return f"[{element.bit + element.width - 1}:{element.bit}]"


def sentence(fragment: Fragment, element: Element) -> str:
    """Who holds an element, in words.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> f = fragment("m8n8.x4.b16")
        >>> sentence(f, f.holder(matrix=0, row=3, column=1))
        "row 3, column 1 of matrix 0: lane 12, register 0, bits [31:16] (T12 V1:R0); lane 3 passes the row's address"
    """
    if fragment.in_tensor_memory:
        return _in_tensor_memory(fragment, element)
    place = f"row {element.row}, column {element.column}"
    place += f" of {matrix_title(fragment, element.matrix)}" * (fragment.matrices > 1 or fragment.addressed)
    holder = f"lane {element.lane}, register {element.register}, bits {bits(element)} ({fragment.label(element)})"
    if not fragment.addressed:
        return f"{place}: {holder}"
    lane = fragment.address_lane(matrix=element.matrix, row=element.row)
    return f"{place}: {holder}; lane {lane} passes the row's address"


def _in_tensor_memory(fragment: Fragment, element: Element) -> str:
    """The lane, column and bits of tensor memory that hold an element."""
    down, across = axis_names(fragment)
    cta, lane = divmod(element.lane, TENSOR_LANES)
    of = f" of {matrix_title(fragment, element.matrix)}" * (fragment.matrices > 1)
    owner = f" of CTA {cta}" * fragment.is_pair
    where = f"lane {lane}, column {element.register}{owner}, bits {bits(element)} ({fragment.label(element)})"
    reached = f"{down} {element.row}, {across} {element.column}{of}: {where}; warp {lane // 32} reaches it"
    if is_shift(fragment):
        stays = ", and here" * (element.row == fragment.rows - 1)
        return f"{reached}; then {'gone' if element.row == 0 else f'in lane {lane - 1}'}{stays}"
    return reached


def address_sentence(fragment: Fragment, lane: int) -> str:
    """A sentence on what a lane's address operand names."""
    if not fragment.addressed:
        return ""
    named = fragment.addressed_row(lane)
    if named is None:
        return f"The address that lane {lane} passes is not used by this form (sm_80 and later)."
    matrix, number = named
    return f"The address that lane {lane} passes names row {number} of matrix {matrix}."


def full_lane(fragment: Fragment, elements: Sequence[Element], style: Style = PLAIN) -> str:
    """The elements of a lane, for a terminal."""
    lane = elements[0].lane
    lines = [style.paint(title(fragment), Ink.BOLD), *text_table(table(fragment, elements), style)]
    return "\n".join([*lines, *filter(None, [address_sentence(fragment, lane)]), evidence(fragment)]) + "\n"


def full_row(fragment: Fragment, elements: Sequence[Element], style: Style = PLAIN) -> str:
    """Who holds a row, and who passes its address, for a terminal."""
    lines = [style.paint(title(fragment), Ink.BOLD), *text_table(table(fragment, elements), style)]
    if fragment.addressed:
        matrix, row = elements[0].matrix, elements[0].row
        lane = fragment.address_lane(matrix=matrix, row=row)
        lines.append(f"Lane {lane} passes the address of row {row} of {matrix_title(fragment, matrix)}.")
    return "\n".join([*lines, evidence(fragment)]) + "\n"


def full_holder(fragment: Fragment, element: Element, style: Style = PLAIN) -> str:
    """Who holds an element, for a terminal."""
    lines = [style.paint(title(fragment), Ink.BOLD)]
    if fragment.in_tensor_memory:
        held = fragment.holders(matrix=element.matrix, row=element.row, column=element.column)
        lines += [f"{sentence(fragment, each)}." for each in held]
    else:
        lines.append(f"{sentence(fragment, element)}.")
    return "\n".join([*lines, evidence(fragment)]) + "\n"


def concise(fragment: Fragment, elements: Sequence[Element]) -> str:
    """One line an element."""
    return "".join(f"{sentence(fragment, e)}\n" for e in elements)


def markdown(fragment: Fragment, elements: Sequence[Element]) -> str:
    """A Markdown table."""
    return "\n".join(markdown_table(table(fragment, elements))) + "\n"


def as_csv(fragment: Fragment, elements: Sequence[Element]) -> str:
    """One record an element."""
    return csv_table(table(fragment, elements))


class HolderRecord(Record):
    """An element and its holder."""

    instruction: str
    operand: str
    lane: Natural
    register: Natural
    bit: Natural
    width: Natural
    matrix: Natural
    row: Natural
    column: Natural
    value: Natural
    address_lane: int | Absent = ABSENT


def as_json(fragment: Fragment, elements: Sequence[Element]) -> str:
    """An array of elements with their holders."""
    return to_text([_record(fragment, one) for one in elements])


def _record(fragment: Fragment, element: Element) -> HolderRecord:
    lane = fragment.address_lane(matrix=element.matrix, row=element.row) if fragment.addressed else ABSENT
    value = fragment.value_of(element)
    return taken(
        HolderRecord,
        element,
        instruction=fragment.spelling,
        operand=fragment.operand,
        value=value,
        address_lane=lane,
    )
