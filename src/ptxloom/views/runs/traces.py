"""What traced instructions saw: the matrices of those that move matrices, a table of lanes for all others; JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.fragments.filled import read_registers
from ptxloom.isa.types import element_type
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.style import LANES_PER_HUE, PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, text_table
from ptxloom.views.fragments import filled_pictures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.results.trace import TraceRecord
    from ptxloom.views.core.json_text import Value

VERSION: Final = 1
SHOWN: Final = 32  # records, as text
_HOST: Final = 1 << 32  # addresses from here on are the host's, and say nothing


def full(records: Sequence[TraceRecord], type_: str = "", operand: str = "", style: Style = PLAIN) -> str:
    """The records in order, as far as anybody reads."""
    pages = [one(record, type_, operand, style) for record in records[:SHOWN]]
    if len(records) > SHOWN:
        rest = f"{len(records) - SHOWN:,} more of {len(records):,} records"
        pages.append(
            f"{rest}: --output-format json holds all; --trace-blocks, --trace-warps and --trace-first choose\n"
        )
    return "\n".join(pages)


def one(record: TraceRecord, type_: str = "", operand: str = "", style: Style = PLAIN) -> str:
    """A record: where it was, then its matrices, or its lanes."""
    lines = [style.paint(harmless(str(record)), Ink.BOLD)]
    found = record.matrices(type_, operand)
    if not found:
        return "\n".join([*lines, *text_table(_lanes(record, type_), style)]) + "\n"
    addresses = None if record.addresses is None else record.addresses.tolist()
    return "\n".join(lines) + "\n" + "".join(filled_pictures.full(filled, addresses, style) for filled in found)


def _lanes(record: TraceRecord, type_: str) -> Table:
    """A lane a row: its address, what it read, what it wrote; data of the type that is asked for, if it fits."""
    columns: list[tuple[str, list[str]]] = []
    if record.addresses is not None:
        if all(int(record.addresses[lane]) < _HOST for lane in record.lanes):
            columns.append(("address", [f"{int(a):#x}" for a in record.addresses]))
        columns.append(("place", [harmless(place) for place in record.places]))
    columns += [(name, _texts(record, name, values, type_)) for name, values in record.before.items()]
    columns += [(f"{name} after", _texts(record, name, values, type_)) for name, values in record.after.items()]
    columns = [(name, [text.rjust(max(map(len, (name, *texts)))) for text in texts]) for name, texts in columns]
    taking_part = set(record.lanes)
    rows = tuple(
        (Cell(f"T{lane}", lane // LANES_PER_HUE), *(Cell(texts[lane]) for _, texts in columns))
        for lane in range(32)
        if lane in taking_part
    )
    return Table(("lane", *(name for name, _ in columns)), rows)


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


def svg(record: TraceRecord, type_: str = "", operand: str = "") -> str:
    """The picture of a record's matrix operand: the one named, or the first.

    Raises:
        UsageError: The instruction holds no matrix, or no such operand.
    """
    addresses = None if record.addresses is None else record.addresses.tolist()
    return filled_pictures.svg(record.filled(type_, operand), addresses, harmless(str(record)))


def records(found: Sequence[TraceRecord], type_: str = "", operand: str = "") -> list[Value]:
    """Everything for a program."""
    return [_record(record, type_, operand) for record in found]


def _record(record: TraceRecord, type_: str, operand: str) -> Value:
    before: dict[str, Value] = {name: values.tolist() for name, values in record.before.items()}
    after: dict[str, Value] = {name: values.tolist() for name, values in record.after.items()}
    held: list[Value] = [
        {"operand": f.fragment.operand, "type": f.type, "values": _numbers(f.values)}
        for f in record.matrices(type_, operand)
    ]
    return {
        "version": VERSION,
        "line": record.line,
        "instruction": record.instruction,
        "source": str(record.origin) if record.origin else None,
        "block": list(record.block),
        "warp": record.warp,
        "execution": record.number,
        "lanes": list(record.lanes),
        "addresses": None if record.addresses is None else record.addresses.tolist(),
        "places": None if record.addresses is None else list(record.places),
        "before": before,
        "after": after,
        "matrices": held,
    }


def _numbers(values: Any) -> Value:
    """Nested lists; numbers that JSON has no word for are texts."""
    if values.ndim:
        return [_numbers(value) for value in values]
    plain = values.item()
    if isinstance(plain, int):
        return plain
    number = float(plain)
    return number if number - number == 0 else str(number)
