"""Factors that are computed from results of other products: the weights P of attention, a layer's input.

Such a factor comes from no array. But if each of its elements is computed from one element of a product (and not from a
maximum or a sum of many), it has a row m and a column n of that product S = Q K^T: its place in a matrix that is never
stored. This matrix is read like an array, so all laws apply to it: the k of P is the n of S, which is the line of K,
and must be that of V.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.arrays.coverage import tiles_of
from ptxloom.diagnosis.origins.stacks import Stack
from ptxloom.diagnosis.origins.tiles import common_columns, common_rows
from ptxloom.machine.results.provenance import TracedArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.stacks import Made
    from ptxloom.diagnosis.origins.tiles import Integers, Plane

_UNIT: np.dtype[np.uint8] = np.dtype(np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Unstored:
    """The result of the products of the same arrays, of one shape, as a matrix.

    Attributes:
        array: Stands for it; no memory does.
        numbers: (products,) which they are, in ascending order.
        rows: (products, m) the rows of the matrix that are theirs.
        columns: (products, n) likewise the columns.
        lines: The array that each column is a line of, and the ways of its elements.
    """

    array: TracedArray
    numbers: Integers
    rows: Integers
    columns: Integers
    lines: tuple[int, Integers]

    @classmethod
    def of(cls, group: Sequence[SiteEvidence], reading: Reading, arrays: Sequence[TracedArray]) -> Unstored:
        """The result of products that break no law, with both factors from arrays."""
        a, b = reading.planes["a"], reading.planes["b"]
        extents = a.extents[0], _columns(b, arrays[b.array])
        name = f"{arrays[a.array].name} {arrays[b.array].name}"
        array = TracedArray(len(arrays), name, None, _UNIT, extents, (extents[1], 1), extents[0] * extents[1])
        tiles = [tiles_of(site, reading) for site in group]
        numbers = np.concatenate([site.numbers for site in group])
        rows = np.concatenate([common_rows(one["a"]) for one in tiles])
        columns = np.concatenate([common_columns(one["b"]) for one in tiles])
        inside = (columns >= 0) & (columns < b.extents[1])
        columns = np.where(inside, columns % extents[1], -1)
        order = np.argsort(numbers)
        ways = np.concatenate([site.b.path.ravel() for site in group if site.b is not None])
        return cls(array, numbers[order], rows[order], columns[order], (b.array, ways))

    def places(self, made: Made) -> Integers:
        """Offsets in the matrix of values computed from elements of its products; -1 for others."""
        at = np.minimum(np.searchsorted(self.numbers, made.product), len(self.numbers) - 1)
        own = self.numbers[at] == made.product
        m, n = np.divmod(np.where(own, made.item, 0), self.columns.shape[1])
        row, column = self.rows[at, m], self.columns[at, n]
        lines, extent = self.array.shape
        inside = own & (row >= 0) & (row < lines) & (column >= 0) & (column < extent)
        return np.where(inside, row * extent + column, -1)


def _columns(plane: Plane, array: TracedArray) -> int:
    """The result's columns per matrix of the second factor's array, after which k starts again."""
    lines = prod(array.shape[:-1])
    stacked = len(array.shape) > 2 and not plane.slow_rows and plane.lines == lines
    return array.shape[len(array.shape) - 2] if stacked else plane.extents[1]


def with_factor(site: SiteEvidence, result: Unstored) -> SiteEvidence:
    """An instruction's products with a factor that is computed from a result; unchanged, if there is none."""
    if len(site.made) != 1:
        return site
    ((role, made),) = site.made.items()
    offset = result.places(made)
    known = offset >= 0
    if 2 * np.count_nonzero(known) < known.size:
        return site
    stack = Stack(role, result.array.number, 8 * _UNIT.itemsize, offset, known, made.path, ~known)
    return replace(site, a=stack) if role == "a" else replace(site, b=stack)
