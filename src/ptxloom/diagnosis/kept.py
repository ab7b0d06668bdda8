"""Tells from shared memory at the end of a CTA whether lines that no product reads had been copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.diagnosis.origins.bases import Bases
from ptxloom.diagnosis.origins.tiles import whole
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.origins.tiles import Integers, Plane, Tile, Truth
    from ptxloom.machine.results.provenance import ProvenanceRecord

_REPEATED: Final = ("rows-repeated", "columns-repeated")


def was_copied(plane: Plane, absent: Integers | None, record: ProvenanceRecord, *, slow: bool) -> bool:
    """Whether lines that no product takes are in the shared memory of the first CTA: then their reader is wrong.

    Args:
        plane: The array of the lines.
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
    rows, columns = np.divmod(plane.flat(bits // plane.unit_bits), plane.pitch)
    return bool(np.isin(rows if slow else columns, absent).any())


def was_there(suspect: Suspect, record: ProvenanceRecord) -> bool | None:
    """Whether missing elements of a factor, which no product takes, were in shared memory: then their reader is wrong.

    Otherwise the copy is wrong. The first CTA decides, at its end; if all of its products are right, the errors of the
    others depend on their own addresses, and so on the copy.

    Args:
        suspect: The factor, of which an explanation is known.
        record: Knows shared memory.

    Returns:
        None if undecided: all elements are there, but in other places.
    """
    tile, plane = suspect.tile, suspect.tile.plane
    mended = suspect.explained[0].repaired
    held = record.shared(0) if 0 in record.raw.kept else None
    if held is None or plane.array >= len(record.arrays) or plane.stacked:
        return None
    wrong = ~whole(tile, suspect.wanted) & tile.known
    here = record.raw.events["cta"][suspect.evidence.numbers[suspect.events]] == 0
    if not wrong[here].any():
        return False
    own = Bases(record).of(held)
    own = own[(own["array"] == plane.array) & np.isin(own["kind"], (Kind.EXACT, Kind.CONVERTED))]
    bits = (own["element"].astype(np.int64) * record.arrays[plane.array].dtype.itemsize + own["byte"]) * 8 + own["bit"]
    different, first, times = np.unique(bits, return_index=True, return_counts=True)
    if suspect.explained[0].named.cause in _REPEATED and len(different):  # all bytes of what is converted are of one
        size = suspect.evidence.form.container_bits(tile.role) // 8
        return bool((times <= np.where(own["kind"][first] == Kind.CONVERTED, size, 1)).all())
    absent = np.setdiff1d(_places(mended.chosen(here), wrong[here]), _places(tile.chosen(here), tile.known[here]))
    there = plane.flat(different // plane.unit_bits)
    return bool(np.isin(there, absent).any()) if len(absent) else None


def _places(tile: Tile, which: Truth) -> Integers:
    """The places of some elements of a tile in their array, in its units."""
    return np.unique((tile.slow * tile.plane.pitch + tile.fast)[which])


def holds(array: int, elements: Integers, record: ProvenanceRecord) -> bool:
    """Whether some elements of an array are in the shared memory of the first CTA at its end.

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
