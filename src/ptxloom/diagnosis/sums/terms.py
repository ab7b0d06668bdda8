"""Decomposes stored sums into terms, one for each product of two elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.arithmetic import BEND, MULTIPLY, PASS, SUM, roles_of
from ptxloom.diagnosis.origins.beside import leaves
from ptxloom.diagnosis.sums.multipliers import ARRAY_BITS, ELEMENT_MASK, Multipliers, Slices
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.bases import Bases
    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.machine.results.provenance import Contents, ProvenanceRecord

_DEEPEST: Final = 4096  # instructions that add to one element
_MOST_TERMS: Final = 1 << 23
_ELEMENT: Final = (Kind.EXACT, Kind.CONVERTED)
_SCALES: Final = 2  # that a term is followed with
_MANY: Final = 4  # values per element, from which on sums are looked at that many elements share
_SHARED: Final = 8  # elements that one part of a sum is of; what more share is a statistic of their row


class Terms(NamedTuple):
    """Products of two elements that are added to elements of one array.

    Attributes:
        result: (terms,) the flat number of the element that they are added to.
        factors: (terms, 2) of `ORIGIN`.
        site: (terms,) the instruction that multiplies.
        depth: (terms,) the number of later additions.
        whole: (elements,) whether all sources of an element are terms, addends, or scales of them.
        multiplied: (elements,) whether a product, of two elements or of matrices, is among what each was computed from.
        added: (added,) the elements to which something other than a product of two is added.
        addends: (added,) of `ORIGIN`: the addends.
        scaled: (scaled,) the elements with an addend that was multiplied by an element.
        scales: (scaled,) of `ORIGIN`: the multipliers.
        by: (terms, 2) further elements by which each term was multiplied: array and element in one number; -1: none.
        ways: (terms, 2) the paths of these.
        nodes: (terms, 2) what the factors were computed from; 0 for those that were not.
        slices: Matrix products that are added, too.
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
    by: Integers
    ways: Integers
    nodes: Integers
    slices: Slices

    @property
    def multipliers(self) -> Multipliers:
        """The further elements by which terms were multiplied."""
        return Multipliers(self.by, self.ways)

    def chosen(self, which: Truth) -> Terms:
        """Only some of the terms."""
        return self._replace(
            result=self.result[which], factors=self.factors[which], site=self.site[which], depth=self.depth[which],
            by=self.by[which], ways=self.ways[which], nodes=self.nodes[which],
        )  # fmt: skip

    def is_structure(self, number: int) -> bool:
        """Whether some elements of an array are factors, and others only multiply such products: scales of blocks."""
        codes = self.by[self.by >> ARRAY_BITS == number] & ELEMENT_MASK
        own = self.scales["element"][self.scales["array"] == number]
        factors = self.factors["element"][self.factors["array"] == number]
        scales = np.union1d(codes, own)
        return bool(len(scales)) and not np.isin(scales, factors).any()


class _Front(NamedTuple):
    """Values still to be decomposed, and the elements to which they are added.

    With each are its multipliers on the way, and the value whose function it is part of (0: none).
    """

    result: Integers
    origins: NDArray[Any]
    by: Integers
    ways: Integers
    bent: Integers

    def chosen(self, which: Any) -> _Front:
        """The selected ones."""
        return _Front(*(values[which] for values in self))

    def made_of(self, origins: NDArray[Any]) -> _Front:
        """Replace the values by their sources."""
        return self._replace(origins=origins)

    def scaled(self, scales: NDArray[Any]) -> _Front:
        """The same, also multiplied by elements; unchanged, where there are none."""
        element = np.isin(scales["kind"], _ELEMENT)
        code = (scales["array"].astype(np.int64) << ARRAY_BITS) + scales["element"]
        by = np.where(element[:, None], np.stack((code, self.by[:, 0]), axis=1), self.by)
        path = scales["path"].astype(np.int64)
        return self._replace(
            by=by, ways=np.where(element[:, None], np.stack((path, self.ways[:, 0]), axis=1), self.ways)
        )


def _joined(parts: list[_Front]) -> _Front:
    return _Front(*(np.concatenate(several) for several in zip(*parts, strict=True)))


def _of_several_functions(own: _Front, whole: Truth) -> Truth:
    """Which terms are of elements that are sums of functions of sums, not of products: those are not whole."""
    least, most = np.full(len(whole), np.iinfo(np.int64).max), np.zeros(len(whole), np.int64)
    np.minimum.at(least, own.result, own.bent)
    np.maximum.at(most, own.result, own.bent)
    several = least < most
    whole[several] = False
    return several[own.result]


def _shared_parts(front: _Front, whole: Truth) -> Truth:
    """Which parts of sums many elements have in common: norms and the like.

    To take these apart for each element is the square of what there is to know.
    """
    if len(front.result) <= _MANY * np.count_nonzero(whole):
        return np.zeros(len(front.result), np.bool_)
    _, which, counts = np.unique(front.origins["node"], return_inverse=True, return_counts=True)
    return counts[which.ravel()] > _SHARED


_Product = tuple["_Front", "NDArray[Any]", "Integers", "Integers"]
"""Terms: where they are added, their factors, which instructions multiply, and what the factors were computed from."""


class Unfolding:
    """Decomposes the sums of all elements of an array at once."""

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
        self._sliced: list[_Front] = []
        self._multiplied = np.zeros(0, np.bool_)
        self._cut = np.zeros(0, np.bool_)  # elements with parts that are not taken apart

    def terms(self, contents: Contents) -> Terms | None:
        """The terms of an array's elements; None if they hold no products, or too many."""
        origins = contents.origins.ravel()
        start = np.flatnonzero((origins["kind"] == Kind.COMPUTED) & (origins["node"] > 0))
        whole = np.zeros(len(origins), np.bool_)
        whole[start] = True
        nothing = np.full((len(start), _SCALES), -1, np.int64)
        front = _Front(start, origins[start], nothing, nothing, np.zeros(len(start), np.int64))
        self._added, self._scales, self._sliced = [], [], []
        self._multiplied, self._cut = np.zeros(len(origins), np.bool_), np.zeros(len(origins), np.bool_)
        parts: list[tuple[_Front, NDArray[Any], Integers, Integers, Integers]] = []
        count = 0
        for depth in range(_DEEPEST):
            if not len(front.result):
                break
            front, found = self._step(front, whole)
            parts += [(*one, np.full(len(one[2]), depth)) for one in found]
            count += sum(len(one[2]) for one in found)
            if count + len(front.result) > _MOST_TERMS:
                return None
        if len(front.result):
            return None
        none, empty = np.zeros(0, np.int64), front.chosen(slice(0))
        parts.append((empty, np.zeros((0, 2), origins.dtype), none, np.zeros((0, 2), np.int64), none))
        own = _joined([part[0] for part in parts])
        factors, site, inner, depths = (np.concatenate([part[n] for part in parts]) for n in (1, 2, 3, 4))
        multiplied = self._multiplied
        multiplied[own.result] = True
        several = _of_several_functions(own, whole) | (self._cut[own.result] & (own.bent != 0))
        own = own.chosen(~several)
        factors, site, inner, depths = (one[~several] for one in (factors, site, inner, depths))
        added, scaled, sliced = (_joined([empty, *several]) for several in (self._added, self._scales, self._sliced))
        slices = Slices(
            sliced.result, sliced.origins["node"].astype(np.int64), Multipliers(sliced.by, sliced.ways)
        )  # fmt: skip
        return Terms(
            own.result, factors, site, depths, whole, multiplied,
            added.result, added.origins, scaled.result, scaled.origins, own.by, own.ways, inner,
            slices,
        )  # fmt: skip

    def _step(self, front: _Front, whole: Truth) -> tuple[_Front, list[_Product]]:
        """Decompose each value one step: returns the values still to be decomposed, and the products found."""
        computed = (front.origins["kind"] == Kind.COMPUTED) & (front.origins["node"] > 0)
        product = front.origins["kind"] == Kind.PRODUCT
        self._multiplied[front.result[product]] = True
        self._sliced.append(front.chosen(product))
        alone = np.isin(front.origins["kind"], _ELEMENT)
        self._added.append(front.chosen(alone))
        whole[front.result[~computed & ~alone & ~product]] = False
        front = front.chosen(computed)
        shared = _shared_parts(front, whole)
        self._cut[front.result[shared]], whole[front.result[shared]] = True, False
        front = front.chosen(~shared)
        nodes = self._nodes[front.origins["node"]]
        sites = nodes["site"]
        kind = self._kind[sites]
        rest: list[_Front] = []
        bends = (kind == BEND) & (front.bent == 0)
        front = front._replace(bent=np.where(bends, front.origins["node"], front.bent))
        which = np.isin(kind, (SUM, PASS, BEND))
        rest += [front.chosen(which).made_of(nodes["sources"][which, number]) for number in range(3)]
        whole[front.result[~np.isin(kind, (SUM, PASS, BEND, MULTIPLY))]] = False
        which = kind == MULTIPLY
        found = list(self._products(front.chosen(which), nodes[which], whole, rest))
        joined = _joined(rest)
        return joined.chosen(joined.origins["kind"] != Kind.NONE), found

    def _products(self, front: _Front, nodes: NDArray[Any], whole: Truth, rest: list[_Front]) -> Iterator[_Product]:
        """Products of two elements; values scaled by one element, and other addends, go to `rest`."""
        slots = self._slots[nodes["site"]]
        rows = np.arange(len(nodes))
        held = np.zeros((len(nodes), 3), nodes["sources"].dtype)
        for number in range(3):
            known = slots[:, number] >= 0
            held[known, number] = nodes["sources"][rows[known], slots[known, number]]
        rest.append(front.made_of(held[:, 2]))
        factors = self._bases.of(held[:, :2])
        inner = np.where(held["kind"][:, :2] == Kind.COMPUTED, held["node"][:, :2], 0).astype(np.int64)
        element = np.isin(factors["kind"], _ELEMENT)
        some = factors["kind"] != Kind.NONE
        unnamed = (element & (factors["array"] < 0)).any(axis=1)
        packed = self._packed[nodes["site"]]
        bytes_ = self._sizes[factors["array"]] == 1
        unlike = (packed > 1) & (bytes_[:, 0] != bytes_[:, 1])  # words on one side: no tag identifies their bytes
        whole[front.result[unnamed | unlike]] = False
        packed = np.where(bytes_.all(axis=1), packed, 1)
        both = element.all(axis=1) & ~unnamed & ~unlike
        widths: list[int] = np.unique(packed[both]).tolist()
        for width in widths:
            which = both & (packed == width)
            for number in range(width):
                own = factors[which].copy()
                own["element"] += number
                yield front.chosen(which), own, nodes["site"][which], inner[which]
        for number in range(2):
            scaled = ~both & ~unnamed & ~unlike & some[:, number] & (element[:, 1 - number] | ~some[:, 1 - number])
            own, chain = front.chosen(scaled), front.chosen(scaled).made_of(held[scaled, number])
            for scales in self._multipliers(held[scaled, 1 - number], factors[scaled, 1 - number], own, whole):
                chain = chain.scaled(scales)
                by = np.isin(scales["kind"], _ELEMENT)
                self._scales.append(own.chosen(by).made_of(scales[by]))
            rest.append(chain)
        neither = ~both & some.all(axis=1) & ~element.any(axis=1)
        whole[front.result[neither]] = False

    def _multipliers(
        self, values: NDArray[Any], elements: NDArray[Any], own: _Front, whole: Truth
    ) -> tuple[NDArray[Any], ...]:
        """The elements that multipliers are: of a product of two elements both; other results of several are not whole.

        Args:
            values: (values,) the multipliers.
            elements: (values,) the one element that each was computed from.
            own: What they multiply.
            whole: (elements,) whether all sources of an element of the result are known.
        """
        computed = np.flatnonzero((values["kind"] == Kind.COMPUTED) & (values["node"] > 0))
        if not len(computed):
            return (elements,)
        different, which = np.unique(values["node"][computed], return_inverse=True)
        nodes = self._nodes[different]
        slots = self._slots[nodes["site"]]
        rows = np.arange(len(nodes))
        pair = self._bases.of(nodes["sources"][rows[:, None], np.maximum(slots[:, :2], 0)])
        two = (self._kind[nodes["site"]] == MULTIPLY) & (slots[:, :2] >= 0).all(axis=1) & (slots[:, 2] < 0)
        two &= np.isin(pair["kind"], _ELEMENT).all(axis=1) & (pair["array"][:, 0] != pair["array"][:, 1])
        value, sources = leaves(different, self._nodes)
        used = np.unique(np.stack((value, sources["array"].astype(np.int64)), axis=1), axis=0)
        arrays = np.bincount(used[:, 0], minlength=len(different))
        which = which.ravel()
        whole[own.result[computed[(arrays > 1 + two)[which]]]] = False
        first, second = elements.copy(), np.zeros_like(elements)
        first[computed[two[which]]] = pair[which[two[which]], 0]
        second[computed[two[which]]] = pair[which[two[which]], 1]
        return first, second
