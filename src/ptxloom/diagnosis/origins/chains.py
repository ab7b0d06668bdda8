"""Products that add to each other, and where in an array their sums end.

They add in their accumulators, or afterwards: slices of k meet in one element by `add`, `red` or `atom`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.origins.roots import Roots
from ptxloom.diagnosis.origins.stacks import Stack

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.products import SiteProducts
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.results.provenance import ProvenanceRecord


class Places:
    """For each product the places of its elements in the array where they end.

    Attributes:
        chain: (products,) the last product of each one's chain, the same for all whose sums meet; itself, if nothing
            adds to it.
        roots: The roots of values: what they are computed from.
        contents: For each array of the launch, by its number, where its elements come from.
    """

    def __init__(self, record: ProvenanceRecord, groups: tuple[SiteProducts, ...]) -> None:
        self.roots = Roots(record)
        self.contents = {array.number: record.contents(array.number) for array in record.arrays}
        count = len(record.products)
        self.chain = np.arange(count)
        sizes = np.zeros(count, np.int64)
        for group in groups:
            sizes[group.numbers] = group.rows * group.form.n
        self._start = np.r_[0, np.cumsum(sizes)]
        self._offset = np.full(int(self._start[-1]), -1, np.int64)
        self._array = np.full(int(self._start[-1]), -1, np.int64)
        self._path = np.zeros(int(self._start[-1]), np.int64)
        self._times = np.zeros(int(self._start[-1]), np.int64)
        self._bits = {array.number: 8 * array.dtype.itemsize for array in record.arrays}
        self._judged = sizes > 0
        met = [self._store(number, contents.origins.ravel()) for number, contents in self.contents.items()]
        self._follow(groups)
        self._join(met)

    def of(self, group: SiteProducts) -> Stack | None:
        """Where the results of an instruction's products are stored; None if most are not."""
        form = group.form
        slots = self._start[group.numbers][:, None] + np.arange(group.rows * form.n)
        arrays = self._array[slots]
        stored = arrays >= 0
        if not stored.any():
            return None
        numbers, counts = np.unique(arrays[stored], return_counts=True)
        array = int(numbers[np.argmax(counts)])
        shape = (-1, group.rows, form.n)
        known = (arrays == array).reshape(shape)
        offset, path = self._offset[slots].reshape(shape), self._path[slots].reshape(shape)
        return Stack("d", array, self._bits[array], offset, known, path, ~stored.reshape(shape))

    def _store(self, array: int, origins: NDArray[Any]) -> tuple[Integers, Integers]:
        """Note the results of products that end in an array; for sums of several, those that end at one place."""
        product, item = self.roots.of(origins)
        ends = np.flatnonzero((product >= 0) & self._judged[product])
        ways = self.roots.ways(origins)
        self._note(array, ends, product[ends], item[ends], ways)
        sums, several, place = self.roots.addends(origins)
        own = self._judged[several]
        self._note(array, sums[own], several[own], place[own], ways)
        return sums[own], several[own]

    def _note(self, array: int, ends: Integers, product: Integers, item: Integers, ways: Integers) -> None:
        slots = self._start[product] + item
        self._offset[slots], self._array[slots], self._path[slots] = ends, array, ways[ends]
        np.add.at(self._times, slots, 1)

    def _join(self, met: list[tuple[Integers, Integers]]) -> None:
        """Merge chains whose sums end in one place."""
        for ends, products in met:
            while len(ends):
                last = np.full(int(ends.max()) + 1, -1, np.int64)
                np.maximum.at(last, ends, self.chain[products])
                joined = self.chain.copy()
                np.maximum.at(joined, self.chain[products], last[ends])
                if np.array_equal(joined[self.chain], self.chain):
                    break
                self.chain = joined[self.chain]

    def _follow(self, groups: tuple[SiteProducts, ...]) -> None:
        """Assign each accumulator the place of its product's result."""
        before: dict[int, tuple[Integers, Integers]] = {}
        for group in groups:
            product, item = self.roots.of(group.operand("c"))
            flat = product.reshape(len(product), -1), item.reshape(len(item), -1)
            before.update(zip(group.numbers.tolist(), zip(*flat, strict=True), strict=True))
        for number in sorted(before, reverse=True):
            product, item = before[number]
            own = np.flatnonzero((product >= 0) & (product < number) & self._judged[product])
            if not len(own):
                continue
            slots = self._start[product[own]] + item[own]
            here = self._start[number] + own
            new = (self._array[slots] < 0) & (self._array[here] >= 0)
            for values in (self._offset, self._array, self._path):
                values[slots[new]] = values[here[new]]
            self.chain[product[own[0]]] = self.chain[number]
