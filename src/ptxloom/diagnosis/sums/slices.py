"""Scales of slices of matrix products, `c += d * sa * sb`: each slice uses the scale of its block of k."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ptxloom.diagnosis.arrays.blocks import Matrix
from ptxloom.diagnosis.arrays.coverage import tiles_of
from ptxloom.diagnosis.sums.scaled import Placed, ScaledTerms, by_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.sums.multipliers import Slices
    from ptxloom.machine.results.provenance import ProvenanceRecord

Groups: TypeAlias = "Sequence[tuple[Sequence[SiteEvidence], Reading]]"
"""Products of the same arrays, each with how these were read."""


def scaled_slices(slices: Slices, result: int, groups: Groups, record: ProvenanceRecord) -> ScaledTerms:
    """Check whether the slices that are added to an array were multiplied by the scales of their blocks.

    Args:
        slices: These.
        result: The array's number.
        groups: The products that break no law, with how their arrays were read.
        record: Knows the arrays.
    """
    nothing = ScaledTerms(frozenset(), (), "")
    own = [(group, reading) for group, reading in groups if _stores(group, reading, result)]
    if len(own) != 1 or not len(slices.product):
        return nothing
    ((group, reading),) = own
    first = _first_k(group, reading, record)
    k = first[slices.product]
    if (k < 0).any():
        return nothing
    m, n = reading.planes["d"].split(slices.result)
    a, b = reading.planes["a"], reading.planes["b"]
    sides = (Placed(Matrix(a.extents, ("m", "k")), (m, k)), Placed(Matrix(b.extents, ("k", "n")), (k, n)))
    extents = set(reading.planes["d"].extents)
    blocks = {extent * len(np.unique(k)) for extent in extents} - extents
    others = frozenset(prod(array.shape) for array in record.arrays) - blocks  # gathered ones, such as a row's weight
    known, wrong = by_blocks(slices.scales, sides, others, record)
    return ScaledTerms(known, tuple(wrong), "")


def _stores(group: Sequence[SiteEvidence], reading: Reading, result: int) -> bool:
    """Whether products of two matrices are stored in a third, each alone in its array."""
    planes = reading.planes
    whole = set(planes) == set("abd") and not any(plane.stacked for plane in planes.values())
    return whole and planes["d"].array == result and not group[0].form.sparse


def _first_k(group: Sequence[SiteEvidence], reading: Reading, record: ProvenanceRecord) -> Integers:
    """(products of the run,) the first k of those of a group, else -1."""
    found = np.full(len(record.raw.events), -1, np.int64)
    for site in group:
        tile = tiles_of(site, reading)["a"]
        found[site.numbers] = np.where(tile.known, tile.columns, np.iinfo(np.int64).max).min(axis=(1, 2))
    return found
