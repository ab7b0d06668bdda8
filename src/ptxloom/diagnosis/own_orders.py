"""What stays unjudged if an array may have its own order: packed elements, blocks, memory without a shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.diagnosis.arrays.relaid import is_relaid
from ptxloom.diagnosis.findings import first_of
from ptxloom.diagnosis.laws import K

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.tiles import Plane
    from ptxloom.machine.results.provenance import ProvenanceRecord

_OWN = "each element of {} is used in its own place, in another order than that of memory: no law says what is intended"
_OF_ORDERS = frozenset(
    {
        "columns-permuted",
        "columns-rotated",
        "k-tile-mismatch",
        "other-layout",
        "rows-permuted",
        "rows-rotated",
        "unknown",
    }
)  # what an array is said to suffer from that only has an order of its own


def own_order(
    group: tuple[SiteEvidence, ...], broken: Sequence[Suspect], reading: Reading, record: ProvenanceRecord
) -> str:
    """Why elements that are merely in another order were not judged.

    If the k of two factors differ, blaming one of them does not show whose order it is.
    """
    roles = {suspect.tile.role for suspect in broken}
    along_k = all(suspect.law == K for suspect in broken)
    for role in "ab":
        plane = reading.planes.get(role)
        if plane is None or plane.array >= len(record.arrays) or not (roles == {role} or (broken and along_k)):
            continue
        causes = {first_of(suspect).cause for suspect in broken}
        packed = is_packed(plane, record)
        plain = causes == {"halves-exchanged"} if packed else not causes <= _OF_ORDERS
        if not plain and (packed or not _is_plain(plane, record)) and is_relaid(group, reading, role):
            return _OWN.format(record.arrays[plane.array].name)
    return ""


def _is_plain(plane: Plane, record: ProvenanceRecord) -> bool:
    """Whether an array was given as the matrix, or the matrices, that it is read as."""
    shape = record.arrays[plane.array].shape
    return len(shape) > 1 and shape[-1] == plane.pitch and not plane.digits


def own_axes(reading: Reading, record: ProvenanceRecord) -> str:
    """The open questions if a law holds only under an undeclared order of packed elements."""
    open_ = [
        plane
        for plane in reading.planes.values()
        if plane.digits and (is_packed(plane, record) or plane.is_one_of_several)
    ]
    return "; ".join(_OWN.format(record.arrays[plane.array].name) for plane in open_)


def is_packed(plane: Plane, record: ProvenanceRecord) -> bool:
    """Whether several elements of an operand are in one element of its array."""
    own = plane.array < len(record.arrays)
    return own and plane.unit_bits < 8 * record.arrays[plane.array].dtype.itemsize
