"""What traced instructions saw: the matrices of those that move matrices, a table of lanes for all others; JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.fragments.filled import read_registers
from ptxloom.fragments.matrix_operands import matrix_operands
from ptxloom.isa.limits import LANES
from ptxloom.isa.types import element_type
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.palette import hue
from ptxloom.views.core.style import LANES_PER_HUE, PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, text_table
from ptxloom.views.drawing.figure import Cell as Drawn
from ptxloom.views.drawing.figure import Figure, Grid
from ptxloom.views.fragments import filled_pictures
from ptxloom.views.fragments.legends import lanes as lanes_legend
from ptxloom.views.runs.source_lines import no_source, source_lines
from ptxloom.wording import lanes_text, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine import TraceRecord
    from ptxloom.views.runs.source_lines import SourceOf

VERSION: Final = 1
SHOWN: Final = 32  # records, as text
_OTHERS: Final = 4  # warps that saw the same and are named
_HOST: Final = 1 << 32  # addresses from here on are the host's, and are not shown


def full(
    records: Sequence[TraceRecord],
    type_: str = "",
    operand: str = "",
    style: Style = PLAIN,
    sources: SourceOf = no_source,
) -> str:
    """The records in order, those that saw the same as one; the first `SHOWN` of these."""
    alike: dict[tuple[object, ...], list[TraceRecord]] = {}
    for record in records:
        alike.setdefault(_seen(record), []).append(record)
    groups = [*alike.values()]
    pages = [_page(group, type_, operand, style, sources) for group in groups[:SHOWN]]
    if len(groups) > SHOWN:
        rest = f"{sum(map(len, groups[SHOWN:])):,} more of {len(records):,} records"
        pages.append(
            f"{rest}: --output-format json holds all; --trace-blocks, --trace-warps, --trace-first, --lanes and --when "
            "choose\n"
        )
    return "\n".join(pages)


def _seen(record: TraceRecord) -> tuple[object, ...]:
    """What distinguishes an execution from others of its instruction."""
    rows = {one.first_row(record.warp) for one in matrix_operands(record.node)}
    lanes = [*record.lanes]
    addresses = b"" if record.addresses is None else record.addresses[lanes].tobytes()
    held = [(name, values[lanes].tobytes()) for each in (record.before, record.after) for name, values in each.items()]
    return (record.node.start, record.chosen, frozenset(rows), addresses, *held)


def _page(group: Sequence[TraceRecord], type_: str, operand: str, style: Style, sources: SourceOf) -> str:
    """Executions that saw the same: the first, what it was compiled from, and where the others were."""
    head, _, rest = one(group[0], type_, operand, style).partition("\n")
    between = source_lines(group[0].origin, sources, style)
    if len(group) > 1:
        between.append(_others(group))
    return "\n".join([head, *between, rest])


def _others(group: Sequence[TraceRecord]) -> str:
    """Where else it was so: the executions of each warp."""
    warps: dict[tuple[tuple[int, int, int], int], list[int]] = {}
    for record in group[1:]:
        warps.setdefault((record.block, record.warp), []).append(record.number)
    said = [
        f"block {block}, warp {warp}, execution{'s' * (len(numbers) > 1)} {ranges(tuple(numbers))}"
        for (block, warp), numbers in warps.items()
    ]
    more = f" and {len(said) - _OTHERS} more warps" if len(said) > _OTHERS else ""
    return f"the same in {len(group) - 1} more: {'; '.join(said[:_OTHERS])}{more}"


def one(record: TraceRecord, type_: str = "", operand: str = "", style: Style = PLAIN) -> str:
    """A record: where it was, then its matrices, or its lanes if it has no matrices or some lanes were chosen."""
    lines = [style.paint(harmless(str(record)), Ink.BOLD)]
    found = record.matrices(type_, operand) if operand or record.chosen == record.lanes else ()
    if not found:
        return "\n".join([*lines, *_lanes(record, type_, style)]) + "\n"
    addresses = None if record.addresses is None else record.addresses.tolist()
    return "\n".join(lines) + "\n" + "".join(filled_pictures.full(filled, addresses, style) for filled in found)


_Columns = list[tuple[str, list[str]]]


def _columns(record: TraceRecord, type_: str) -> tuple[list[tuple[str, str]], _Columns]:
    """What is the same in all lanes, and for all else a text for each: its address, what it read, what it wrote."""
    columns: _Columns = []
    if record.addresses is not None:
        if all(int(record.addresses[lane]) < _HOST for lane in record.lanes):
            columns.append(("address", [f"{int(a):#x}" for a in record.addresses]))
        columns.append(("place", [harmless(place) for place in record.places]))
    columns += [(name, _texts(record, name, values, type_)) for name, values in record.before.items()]
    columns += [(f"{name} after", _texts(record, name, values, type_)) for name, values in record.after.items()]
    lanes = record.chosen
    columns = [(name, [texts[lane] for lane in lanes]) for name, texts in columns]
    folded = [(name, texts[0]) for name, texts in columns if len({*texts}) == 1 and len(lanes) > 1]
    return folded, [(name, texts) for name, texts in columns if len({*texts}) > 1 or len(lanes) == 1]


def _lanes(record: TraceRecord, type_: str, style: Style) -> list[str]:
    """What is the same in all lanes, then a lane a row."""
    folded, columns = _columns(record, type_)
    lanes = record.chosen
    lines: list[str] = []
    if folded:
        which = "all lanes" if len(lanes) == LANES else lanes_text(lanes)
        lines.append(f"{which}: {', '.join(f'{name} {text}' for name, text in folded)}")
    if columns:
        columns = [(name, [text.rjust(max(map(len, (name, *texts)))) for text in texts]) for name, texts in columns]
        rows = tuple(
            (Cell(f"T{lane}", lane // LANES_PER_HUE), *(Cell(texts[number]) for _, texts in columns))
            for number, lane in enumerate(lanes)
        )
        lines += text_table(Table(("lane", *(name for name, _ in columns)), rows), style)
    return lines


def _texts(record: TraceRecord, name: str, values: Any, type_: str) -> list[str]:
    """A register's contents by lane."""
    fits = type_ and values.dtype.itemsize * 8 % element_type(type_).container_bits == 0
    if fits and name not in record.pointers and values.ndim == 1 and values.dtype.kind != "b":
        return [
            " ".join(filled_pictures.number(number, type_) for number in numbers)
            for numbers in read_registers(values, type_).tolist()
        ]
    if values.ndim > 1:
        return [f"{(int(high) << 64) | int(low):#x}" for low, high in values.tolist()]
    if values.dtype.kind == "b":
        return ["true" if value else "false" for value in values.tolist()]
    return [f"{value:#x}" for value in values.tolist()]


def figure(record: TraceRecord, type_: str = "", operand: str = "", colour_by: str = "lane") -> Figure:
    """The picture of a record: its matrices, or its lanes if it holds no matrix.

    Raises:
        UsageError: There is no such operand.
    """
    where = harmless(str(record))
    if operand or record.operands:
        found = (record.filled(type_, operand),) if operand else record.matrices(type_)
        addresses = None if record.addresses is None else record.addresses.tolist()
        return filled_pictures.figure(found, addresses, (where,), colour_by)
    folded, columns = _columns(record, type_)
    cells = {
        (row, column): Drawn((texts[row],), hue(lane // LANES_PER_HUE))
        for row, lane in enumerate(record.chosen)
        for column, (_, texts) in enumerate(columns)
    }
    names = tuple(f"T{lane}" for lane in record.chosen)
    notes = ("The same in all: " + ", ".join(f"{name} {text}" for name, text in folded),) if folded else ()
    grid = Grid("", names, tuple(name for name, _ in columns), cells, "lane", listing=True)
    return Figure(where, ((grid,),), notes, lanes_legend(LANES))
