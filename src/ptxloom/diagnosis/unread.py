"""Elements that a run never multiplies and never stores, although they belong there by the reading of its arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.lines.deadends import kept_nodes
from ptxloom.diagnosis.relations.names import ranges
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.tiles import Integers, Plane, Truth
    from ptxloom.machine.results.provenance import Contents, ProvenanceRecord

_ELEMENT: Final = (Kind.EXACT, Kind.CONVERTED)
_LETTERS: Final = {"a": "mk", "b": "kn", "d": "mn"}


class Unread(NamedTuple):
    """Elements of an array that belong to a product, but never enter it.

    Attributes:
        array: Its number.
        number: Their number.
        site: The instruction that multiplies, or stores, others of them.
        why: What was not done with them, as the end of a sentence.
    """

    array: int
    number: int
    site: int
    why: str


class Uses:
    """Which elements of each array any product or stored value uses."""

    def __init__(
        self, groups: Sequence[Sequence[SiteEvidence]], contents: Sequence[Contents], nodes: NDArray[Any]
    ) -> None:
        self._stacks = [stack for group in groups for site in group for stack in site.stacks if stack.role != "d"]
        self._elements = {one.array.number: np.zeros(one.stored_at.size, np.bool_) for one in contents}
        for one in contents:
            origins = one.origins.ravel()
            self._mark(origins[one.stored_at.ravel() >= 0])
            kept = kept_nodes(origins, nodes)
            self._mark(nodes["sources"][kept].ravel())

    def _mark(self, origins: NDArray[Any]) -> None:
        own = origins[np.isin(origins["kind"], _ELEMENT) & (origins["array"] >= 0)]
        numbers: list[int] = np.unique(own["array"]).tolist()
        for number in numbers:
            self._elements[number][own["element"][own["array"] == number]] = True

    def of(self, array: int) -> Truth:
        """(elements,) of an array: those that reach stored values without a product."""
        return self._elements[array]

    def in_units(self, array: int, unit_bits: int, element_bits: int) -> Truth:
        """(units,) likewise, with those that are multiplied."""
        used = self._elements[array]
        found = np.zeros(len(used) * element_bits // unit_bits, np.bool_)
        if unit_bits >= element_bits:
            found |= used.reshape(len(found), -1).any(axis=1)
        for stack in self._stacks:
            if stack.array == array and stack.unit_bits == unit_bits:
                offset = stack.offset[stack.known]
                found[offset[(offset >= 0) & (offset < len(found))]] = True
        return found


def never_read(
    group: Sequence[SiteEvidence], reading: Reading, uses: Uses, contents: Sequence[Contents], record: ProvenanceRecord
) -> Iterator[Unread]:
    """Elements that belong to the products of a group by the extents of its arrays, but never enter them.

    Along a shared axis, the lines that both arrays have belong; an array may have more.

    Args:
        group: Instructions that multiply the same arrays.
        reading: How these were read.
        uses: The used elements of all arrays.
        contents: The contents of each array, by its number.
        record: Knows the arrays.
    """
    extents: dict[str, int] = {}
    for role, plane in reading.planes.items():
        for letter, extent in zip(_LETTERS[role], plane.extents, strict=True):
            if extent:
                extents[letter] = min(extent, extents.get(letter, extent))
    for role, plane in reading.planes.items():
        if plane.array >= len(record.arrays) or (role == "a" and group[0].form.sparse):
            continue
        bits = 8 * record.arrays[plane.array].dtype.itemsize
        if role == "d":
            here = contents[plane.array].stored_at.ravel() >= 0
            if plane.unit_bits != bits:
                continue
        else:
            here = uses.in_units(plane.array, plane.unit_bits, bits)
        found = _missing(plane, here, [extents[letter] for letter in _LETTERS[role]])
        if found is not None:
            count, axis, lines = found
            where = f"{_LETTERS[role][axis]} {lines}" if axis >= 0 else "some"
            sites = [site.site for site in group]
            if role == "d":
                sites = np.unique(contents[plane.array].stored_at[contents[plane.array].stored_at >= 0]).tolist()
            done = "stored" if role == "d" else "multiplied"
            yield Unread(plane.array, count, sites[0], f"never {done} ({where})")


def never_summed(result: int, factors: Sequence[int], uses: Uses, contents: Sequence[Contents]) -> Iterator[Unread]:
    """Elements of a result that are never stored, and unused elements of the arrays that it is a sum of products of.

    Args:
        result: The array's number.
        factors: The numbers of those arrays.
        uses: As in `never_read`.
        contents: Likewise.
    """
    stored = contents[result].stored_at.ravel()
    site = int(stored.max())
    empty = np.flatnonzero(stored < 0)
    if len(empty):
        yield Unread(result, len(empty), site, f"never stored ({ranges(empty)})")
    for number in dict.fromkeys(factors):
        unused = np.flatnonzero(~uses.of(number))
        if len(unused):
            yield Unread(number, len(unused), site, f"nothing that is stored is computed from them ({ranges(unused)})")


def _missing(plane: Plane, here: Truth, extents: Sequence[int]) -> tuple[int, int, str] | None:
    """The number of missing elements; the axis and the lines that are left out, -1 if no whole line is."""
    units: Integers = np.arange(len(here))
    rows, columns = plane.split(units)
    gone = ~here & (rows < extents[0]) & (columns < extents[1])
    if not gone.any():
        return None
    count = int(np.count_nonzero(gone))
    for axis, values in enumerate((rows, columns)):
        lines = np.unique(values[gone])
        times = np.bincount(values[gone])[lines]
        if len(lines) < extents[axis] and (times >= extents[1 - axis]).all():
            return count, axis, ranges(lines)
    return count, -1, ""
