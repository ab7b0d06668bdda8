"""Checks scales and zero points of multiplied elements against their blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.arrays.blocks import Matrix, Scales, asked
from ptxloom.diagnosis.arrays.coverage import tiles_of
from ptxloom.diagnosis.lines.extractions import extraction
from ptxloom.diagnosis.origins.beside import beside
from ptxloom.diagnosis.tallies import by_place
from ptxloom.diagnosis.totals import Total

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.arrays.blocks import Asked
    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.origins.beside import Beside
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.pictures import Picture
    from ptxloom.machine.results.provenance import ProvenanceRecord

_WORDS: Final = {"a": ("m", "k"), "b": ("k", "n")}


class Computed(NamedTuple):
    """The elements of an operand that are computed.

    Attributes:
        role: The operand.
        node: (elements,) from what.
        rows: (elements,) the row of its matrix that each is of.
        columns: (elements,) its column.
    """

    role: str
    node: Integers
    rows: Integers
    columns: Integers


class Scaled(NamedTuple):
    """The verdict on scales.

    Attributes:
        found: What is wrong.
        left_open: Why they could not be judged; empty if they could.
    """

    found: tuple[Total, ...]
    left_open: str = ""


def scales_of(group: Sequence[SiteEvidence], reading: Reading, record: ProvenanceRecord, nodes: NDArray[Any]) -> Scaled:
    """Check that everything the factors of products are computed with belongs to their elements.

    Args:
        group: Instructions that multiply the same arrays.
        reading: How these are read: no law is broken by the elements themselves.
        record: Knows the arrays.
        nodes: What values are computed from.
    """
    found: list[Total] = []
    whys: list[str] = []
    sites = tuple(site.site for site in group)
    for role in "ab":
        plane = reading.planes.get(role)
        computed = _computed(group, reading, role)
        if plane is None or plane.array >= len(record.arrays) or computed is None:
            continue
        extents = (0, 0) if plane.stacked else plane.extents
        for total in beside_of(computed, plane.array, extents, record, nodes):
            if isinstance(total, str):
                whys.append(total)
            else:
                found.append(total._replace(sites=sites))
    return Scaled(tuple(found), "; ".join(dict.fromkeys(whys)))


def beside_of(
    computed: Computed, main: int, extents: tuple[int, int], record: ProvenanceRecord, nodes: NDArray[Any]
) -> Iterator[Total | str]:
    """The errors of everything that elements are computed with; as text, what could not be judged.

    Args:
        computed: The elements.
        main: The array of the elements.
        extents: The rows and columns of their matrix; 0 if there is no matrix.
        record: Knows the arrays.
        nodes: What values are computed from.
    """
    different, which = np.unique(computed.node, return_inverse=True)
    for one in beside(different, main, nodes, record.arrays):
        total = _judged(one, which.ravel(), computed, extents, _Known(record, nodes))
        if total is not None:
            yield total


def _computed(group: Sequence[SiteEvidence], reading: Reading, role: str) -> Computed | None:
    """The elements of an operand that are computed from others."""
    parts: list[tuple[Integers, Integers, Integers]] = []
    for site in group:
        stack = next((one for one in site.stacks if one.role == role), None)
        if stack is None or stack.node is None:
            continue
        tile = tiles_of(site, reading)[role]
        own = stack.node > 0
        parts.append((stack.node[own], tile.rows[own], tile.columns[own]))
    if not parts:
        return None
    return Computed(role, *(np.concatenate([part[n] for part in parts]) for n in range(3)))


class _Known(NamedTuple):
    """The run, and what its values were computed from."""

    record: ProvenanceRecord
    nodes: NDArray[Any]


def _judged(
    one: Beside, which: Integers, computed: Computed, extents: tuple[int, int], run: _Known
) -> Total | str | None:
    """The errors of one array of scales, empty if they are right; as text, why they could not be judged."""
    record, nodes = run
    size = int(which.max()) + 1
    unit, path = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    unit[one.value], path[one.value] = one.unit, one.path
    if (unit[one.value] != one.unit).any():
        return _open(computed.role, one, record)
    held = unit[which]
    known = held >= 0
    array = record.arrays[one.array]
    per = 8 * array.dtype.itemsize // one.unit_bits
    scales = Scales((*array.shape[:-1], array.shape[-1] * per), array.nbytes * 8 // one.unit_bits, per)
    place = computed.rows[known], computed.columns[known]
    result = asked(held[known], place, Matrix(extents, _WORDS[computed.role]), scales)
    if result.right:
        return None
    if result.named is None:
        return _open(computed.role, one, record)
    wrong, total = int(np.count_nonzero(result.wrong)), len(result.wrong)
    paths, values = path[which][known], computed.node[known]
    by = -1
    if np.isin(paths[result.wrong], paths[~result.wrong]).all():
        taker = extraction(values[result.wrong], values[~result.wrong], nodes, record)
        by = -1 if taker is None else taker.site
    facts = ("block", result.named, computed.role, one.array, paths[result.wrong], (), wrong, total)
    picture = _picture(array.name, held[known], result, place, computed.role)
    return Total(*facts, certain=False, picture=picture, by=by)


def _picture(name: str, held: Integers, asked_of: Asked, place: tuple[Integers, Integers], role: str) -> Picture | None:
    """A picture of the scale that each element of the matrix uses."""
    if asked_of.wanted is None:
        return None
    about = f"by {' and '.join(_WORDS[role])} the element of {name} that goes with it, as it is | as it should be"
    return by_place(about, place, (held, asked_of.wanted), _WORDS[role])


def _open(role: str, one: Beside, record: ProvenanceRecord) -> str:
    name = record.arrays[one.array].name
    return f"elements of {role.upper()} are computed with those of {name}, too: no law says which belong together"
