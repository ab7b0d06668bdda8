"""Products that add to each other, and where in an array what they give ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.stacks import Stack
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ptxloom.diagnosis.products import SiteProducts
    from ptxloom.diagnosis.tiles import Integers
    from ptxloom.machine.results.provenance import ProvenanceRecord

_DEEPEST = 24  # values between a product and what is stored of it: scales, biases, activations, conversions


class Places:
    """For each product the places of its elements in the array where they end.

    Attributes:
        chain: (products,) the last product of each one's chain; itself, if nothing adds to it.
        roots: What values are computed from.
    """

    def __init__(self, record: ProvenanceRecord, groups: tuple[SiteProducts, ...]) -> None:
        self.roots = Roots(record)
        count = len(record.products)
        self.chain = np.arange(count)
        sizes = np.zeros(count, np.int64)
        for group in groups:
            sizes[group.numbers] = group.form.m * group.form.n
        self._start = np.r_[0, np.cumsum(sizes)]
        self._offset = np.full(int(self._start[-1]), -1, np.int64)
        self._array = np.full(int(self._start[-1]), -1, np.int64)
        self._path = np.zeros(int(self._start[-1]), np.int64)
        self._times = np.zeros(int(self._start[-1]), np.int64)
        self._bits = {array.number: 8 * array.dtype.itemsize for array in record.arrays}
        self._judged = sizes > 0
        for array in record.arrays:
            self._store(array.number, record.contents(array.number).origins.ravel())
        self._follow(groups)

    def of(self, group: SiteProducts) -> Stack | None:
        """Where the results of an instruction's products go; None if most go nowhere."""
        form = group.form
        slots = self._start[group.numbers][:, None] + np.arange(form.m * form.n)
        arrays = self._array[slots]
        stored = arrays >= 0
        if not stored.any():
            return None
        numbers, counts = np.unique(arrays[stored], return_counts=True)
        array = int(numbers[np.argmax(counts)])
        shape = (-1, form.m, form.n)
        known = (arrays == array).reshape(shape)
        offset, path = self._offset[slots].reshape(shape), self._path[slots].reshape(shape)
        return Stack("d", array, self._bits[array], offset, known, path, ~stored.reshape(shape))

    def _store(self, array: int, origins: NDArray[Any]) -> None:
        product, item = self.roots.of(origins)
        ends = np.flatnonzero((product >= 0) & self._judged[product])
        slots = self._start[product[ends]] + item[ends]
        self._offset[slots], self._array[slots], self._path[slots] = ends, array, origins["path"][ends]
        np.add.at(self._times, slots, 1)

    def _follow(self, groups: tuple[SiteProducts, ...]) -> None:
        """What a product adds to goes where its own result goes."""
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


class Roots:
    """The product that a value was computed from, if there is one alone."""

    def __init__(self, record: ProvenanceRecord) -> None:
        nodes = record.nodes
        size = len(nodes)
        self._product, self._item = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
        for _ in range(_DEEPEST):
            product, item = self.of(nodes["sources"])
            best = product.max(axis=1, initial=-1)
            at = product.argmax(axis=1) if size else np.zeros(0, np.int64)
            chosen = item[np.arange(size), at]
            other = (product >= 0) & ((product != best[:, None]) | (item != chosen[:, None]))
            best = np.where(other.any(axis=1), -1, best)
            if np.array_equal(best, self._product):
                break
            self._product, self._item = best, np.where(best >= 0, chosen, -1)

    def of(self, origins: NDArray[Any]) -> tuple[Integers, Integers]:
        """The product, and the element of its D, of each origin; -1 where there is none, or more than one."""
        product = np.where(origins["kind"] == Kind.PRODUCT, origins["node"], -1)
        item = np.where(origins["kind"] == Kind.PRODUCT, origins["item"], -1).astype(np.int64)
        computed = (origins["kind"] == Kind.COMPUTED) & (origins["node"] > 0)
        if computed.any():
            nodes = origins["node"][computed]
            product[computed], item[computed] = self._product[nodes], self._item[nodes]
        return product, item
