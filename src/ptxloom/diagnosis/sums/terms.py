"""What stored elements are sums of: a term for each product of two elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.sums.arithmetic import MULTIPLY, PASS, SUM, roles_of
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ptxloom.diagnosis.bases import Bases
    from ptxloom.diagnosis.tiles import Integers, Truth
    from ptxloom.machine.results.provenance import Contents, ProvenanceRecord

_DEEPEST: Final = 4096  # instructions that add to one element
_MOST_TERMS: Final = 1 << 23
_ELEMENT: Final = (Kind.EXACT, Kind.CONVERTED)


class Terms(NamedTuple):
    """Products of two elements that are added to elements of one array.

    Attributes:
        result: (terms,) the flat number of the element that they are added to.
        factors: (terms, 2) of `ORIGIN`.
        site: (terms,) the instruction that multiplies.
        depth: (terms,) how many are added behind it.
        whole: (elements,) whether all that an element was computed from is among the terms and what is added, or
            scales them.
        multiplied: (elements,) whether a product, of two elements or of matrices, is among what each was computed from.
        added: (added,) the elements that something is added to which is no product of two.
        addends: (added,) of `ORIGIN`: what is.
        scaled: (scaled,) the elements of which something that is added was multiplied by an element.
        scales: (scaled,) of `ORIGIN`: by which.
    """

    result: Integers
    factors: NDArray[Any]
    site: Integers
    depth: Integers
    whole: Truth
    multiplied: Truth
    added: Integers
    addends: NDArray[Any]
    scaled: Integers
    scales: NDArray[Any]

    def chosen(self, which: Truth) -> Terms:
        """Only some of the terms."""
        return Terms(
            self.result[which], self.factors[which], self.site[which], self.depth[which], self.whole,
            self.multiplied,
            self.added, self.addends, self.scaled, self.scales,
        )  # fmt: skip


class _Front(NamedTuple):
    """Values that are yet to be taken apart, and the elements that they are added to."""

    result: Integers
    origins: NDArray[Any]

    def __getitem__(self, which: Any) -> _Front:  # pyright: ignore[reportIncompatibleMethodOverride] - rows, not fields
        return _Front(self.result[which], self.origins[which])


class Unfolding:
    """Takes sums apart, of all elements of an array at once."""

    def __init__(self, record: ProvenanceRecord, bases: Bases) -> None:
        self._nodes, self._bases = bases.nodes, bases
        self._sizes = np.array([array.dtype.itemsize for array in record.arrays] + [0], np.int64)  # -1: of no array
        sites = np.unique(self._nodes["site"][1:]).tolist()
        roles = roles_of(record.program, sites)
        size = max(sites, default=0) + 1
        self._kind, self._packed = np.zeros(size, np.int64), np.ones(size, np.int64)
        self._slots = np.full((size, 3), -1, np.int64)
        for site, role in roles.items():
            self._kind[site], self._slots[site], self._packed[site] = role.kind, role.slots, role.packed
        self._added: list[_Front] = []
        self._scales: list[_Front] = []
        self._multiplied = np.zeros(0, np.bool_)

    def terms(self, contents: Contents) -> Terms | None:
        """The terms of an array's elements; None if they hold no products, or too many."""
        origins = contents.origins.ravel()
        start = np.flatnonzero((origins["kind"] == Kind.COMPUTED) & (origins["node"] > 0))
        whole = np.zeros(len(origins), np.bool_)
        whole[start] = True
        front = _Front(start, origins[start])
        self._added, self._scales, self._multiplied = [], [], np.zeros(len(origins), np.bool_)
        parts: list[tuple[Integers, NDArray[Any], Integers, Integers]] = []
        count = 0
        for depth in range(_DEEPEST):
            if not len(front.result):
                break
            front, found = self._step(front, whole)
            parts += [(result, factors, site, np.full(len(result), depth)) for result, factors, site in found]
            count += sum(len(result) for result, _, _ in found)
            if count + len(front.result) > _MOST_TERMS:
                return None
        if len(front.result):
            return None
        none = np.zeros(0, np.int64)
        parts.append((none, np.zeros((0, 2), origins.dtype), none, none))
        result, factors, site, depths = (np.concatenate([part[n] for part in parts]) for n in range(4))
        multiplied = self._multiplied
        multiplied[result] = True
        added, scaled = ([_Front(none, origins[:0]), *several] for several in (self._added, self._scales))
        return Terms(
            result, factors, site, depths, whole, multiplied,
            np.concatenate([one.result for one in added]), np.concatenate([one.origins for one in added]),
            np.concatenate([one.result for one in scaled]), np.concatenate([one.origins for one in scaled]),
        )  # fmt: skip

    def _step(self, front: _Front, whole: Truth) -> tuple[_Front, list[tuple[Integers, NDArray[Any], Integers]]]:
        """Take each value apart once: products that are found, and what is left to be taken apart."""
        computed = (front.origins["kind"] == Kind.COMPUTED) & (front.origins["node"] > 0)
        product = front.origins["kind"] == Kind.PRODUCT
        self._multiplied[front.result[product]] = True
        alone = np.isin(front.origins["kind"], _ELEMENT)
        self._added.append(front[alone])
        whole[front.result[~computed & ~alone & ~product]] = False
        front = front[computed]
        nodes = self._nodes[front.origins["node"]]
        sites = nodes["site"]
        kind = self._kind[sites]
        rest: list[_Front] = []
        which = np.isin(kind, (SUM, PASS))
        rest += [_Front(front.result[which], nodes["sources"][which, number]) for number in range(3)]
        whole[front.result[~np.isin(kind, (SUM, PASS, MULTIPLY))]] = False
        which = kind == MULTIPLY
        found = list(self._products(front[which], nodes[which], whole, rest))
        joined = _Front(np.concatenate([one.result for one in rest]), np.concatenate([one.origins for one in rest]))
        return joined[joined.origins["kind"] != Kind.NONE], found

    def _products(
        self, front: _Front, nodes: NDArray[Any], whole: Truth, rest: list[_Front]
    ) -> Iterator[tuple[Integers, NDArray[Any], Integers]]:
        """Products of two elements; what is scaled by one, and what products are added to, goes to the rest."""
        slots = self._slots[nodes["site"]]
        rows = np.arange(len(nodes))
        held = np.zeros((len(nodes), 3), nodes["sources"].dtype)
        for number in range(3):
            known = slots[:, number] >= 0
            held[known, number] = nodes["sources"][rows[known], slots[known, number]]
        rest.append(_Front(front.result, held[:, 2]))
        factors = self._bases.of(held[:, :2])
        element = np.isin(factors["kind"], _ELEMENT)
        some = factors["kind"] != Kind.NONE
        unnamed = (element & (factors["array"] < 0)).any(axis=1)
        packed = self._packed[nodes["site"]]
        bytes_ = self._sizes[factors["array"]] == 1
        unlike = (packed > 1) & (bytes_[:, 0] != bytes_[:, 1])  # words on one side: which of their bytes no tag says
        whole[front.result[unnamed | unlike]] = False
        packed = np.where(bytes_.all(axis=1), packed, 1)
        both = element.all(axis=1) & ~unnamed & ~unlike
        widths: list[int] = np.unique(packed[both]).tolist()
        for width in widths:
            which = both & (packed == width)
            for number in range(width):
                own = factors[which].copy()
                own["element"] += number
                yield front.result[which], own, nodes["site"][which]
        for number in range(2):
            scaled = ~both & ~unnamed & ~unlike & some[:, number] & (element[:, 1 - number] | ~some[:, 1 - number])
            rest.append(_Front(front.result[scaled], held[scaled, number]))
            by = scaled & element[:, 1 - number]
            self._scales.append(_Front(front.result[by], factors[by, 1 - number]))
        neither = ~both & some.all(axis=1) & ~element.any(axis=1)
        whole[front.result[neither]] = False
