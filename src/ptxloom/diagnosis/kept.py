"""What shared memory still holds at the end of a CTA: whether lines that no product takes had been copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from ptxloom.diagnosis.tiles import Integers, Plane
    from ptxloom.machine.results.provenance import ProvenanceRecord


def was_copied(plane: Plane, absent: Integers | None, record: ProvenanceRecord, *, slow: bool) -> bool:
    """Whether lines that no product takes lie in the shared memory of the first CTA: their reader is wrong then.

    Args:
        plane: The array that they are of.
        absent: The lines.
        record: Knows shared memory.
        slow: Whether they are numbered by the slow index.
    """
    held = record.shared(0) if 0 in record.raw.kept else None
    if held is None or absent is None or not len(absent) or plane.array >= len(record.arrays):
        return False
    own = held[(held["array"] == plane.array) & (held["kind"] == Kind.EXACT)]
    array = record.arrays[plane.array]
    bits = (own["element"].astype(np.int64) * array.dtype.itemsize + own["byte"]) * 8
    rows, columns = np.divmod(bits // plane.unit_bits, plane.pitch)
    return bool(np.isin(rows if slow else columns, absent).any())


def holds(array: int, elements: Integers, record: ProvenanceRecord) -> bool:
    """Whether some elements of an array lie in the shared memory of the first CTA at its end.

    Args:
        array: Its number.
        elements: Their flat numbers.
        record: Knows shared memory.
    """
    held = record.shared(0) if 0 in record.raw.kept else None
    if held is None:
        return False
    own = held[(held["array"] == array) & (held["kind"] == Kind.EXACT)]
    return bool(np.isin(own["element"], elements).any())
