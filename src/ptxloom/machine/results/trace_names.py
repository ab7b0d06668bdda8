"""The names in conditions on a trace, and their values in each lane of an execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.isa.limits import LANES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.machine.instruments.trace import Field
    from ptxloom.machine.results.trace import TraceRecord
    from ptxloom.machine.results.trace_condition import Number

_AXES: Final = "xyz"
_PLACES: Final = frozenset(
    ("laneid", "lane", "warp", "execution", *(f"{n}.{c}" for n in ("tid", "ctaid") for c in _AXES))
)


def known_names(fields: Iterable[Field]) -> frozenset[str]:
    """All that may be named of an instruction, with and without a percent sign."""
    registers = {field.name or "address" for field in fields}
    return frozenset(spelled for name in (*registers, *_PLACES, "tid", "ctaid") for spelled in _spellings(name))


def _spellings(name: str) -> set[str]:
    return {name, name.removeprefix("%"), f"%{name.removeprefix('%')}"}


def values_of(record: TraceRecord, names: Iterable[str], kinds: Mapping[str, str]) -> dict[str, Sequence[Number]]:
    """The values of names by lane: of a register before the instruction or, if it is only written, after it.

    Args:
        record: An execution.
        names: What is asked for; a name that has no value in this execution is left out.
        kinds: How registers are declared, such as `s32`.
    """
    found: dict[str, Sequence[Number]] = {}
    for name in names:
        values = _place(record, name.removeprefix("%"))
        if values is None:
            values = _register(record, name, kinds)
        if values is not None:
            found[name] = values
    return found


def _place(record: TraceRecord, name: str) -> Sequence[Number] | None:
    """A place in the grid, or the address."""
    if name == "address" and record.addresses is not None:
        return [int(address) for address in record.addresses]
    head, _, axis = name.partition(".")
    same = {"warp": record.warp, "execution": record.number}
    if head == "ctaid":
        same["ctaid"] = record.block[_AXES.index(axis or "x")]
    if head in same:
        return [same[head]] * LANES
    if head in {"lane", "laneid"}:
        return [*range(LANES)]
    return [thread[_AXES.index(axis or "x")] for thread in record.threads] if head == "tid" else None


def _register(record: TraceRecord, name: str, kinds: Mapping[str, str]) -> Sequence[Number] | None:
    for held in (record.before, record.after):
        for spelled in _spellings(name):
            if spelled in held:
                return numbers(held[spelled], kinds.get(spelled, ""))
    return None


def numbers(values: NDArray[Any], kind: str = "") -> Sequence[Number]:
    """A register's contents as numbers of its type; bits as unsigned ones."""
    if values.ndim > 1:
        return [(int(high) << 64) | int(low) for low, high in values.tolist()]
    bits = 8 * values.dtype.itemsize
    if kind[:1] in {"s", "f"} and values.dtype.kind == "u" and kind[1:] == str(bits):
        return values.view(np.dtype(f"{'i' if kind[0] == 's' else 'f'}{bits // 8}")).tolist()
    return values.tolist()
