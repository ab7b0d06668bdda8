"""What traced instructions saw, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from ptxloom.records import Natural, Record, taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine import TraceRecord

_VERSION: Final = 1


class MatrixRecord(Record):
    """An operand that holds matrices, filled with what its registers held."""

    operand: str
    type: str
    first_row: Natural
    values: tuple[tuple[tuple[float | str, ...], ...], ...]


class ExecutionRecord(Record):
    """One execution of an instruction by a warp."""

    version: Literal[1]
    line: Natural
    instruction: str
    source: str | None
    block: tuple[int, ...]
    warp: Natural
    execution: Natural
    lanes: tuple[int, ...]
    chosen: tuple[int, ...]
    addresses: tuple[int, ...] | None
    places: tuple[str, ...] | None
    before: Mapping[str, tuple[Any, ...]]
    after: Mapping[str, tuple[Any, ...]]
    matrices: tuple[MatrixRecord, ...]


def records(found: Sequence[TraceRecord], type_: str = "", operand: str = "") -> tuple[ExecutionRecord, ...]:
    """Everything for a program."""
    return tuple(_record(one, type_, operand) for one in found)


def _record(found: TraceRecord, type_: str, operand: str) -> ExecutionRecord:
    held = found.matrices(type_, operand)
    return taken(
        ExecutionRecord,
        found,
        version=_VERSION,
        source=found.origin.told if found.origin else None,
        execution=found.number,
        places=None if found.addresses is None else found.places,
        matrices=tuple(taken(MatrixRecord, one, operand=one.fragment.operand) for one in held),
    )
