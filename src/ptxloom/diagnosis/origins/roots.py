"""Which products a value was computed from: one alone, or several that were added up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.arithmetic import MULTIPLY, roles_of
from ptxloom.machine.results.provenance import Kind
from ptxloom.machine.runtime.structs.trail import PATH_LIMIT
from ptxloom.readings.computed import adds, is_extreme
from ptxloom.readings.effects import updates_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord

NO_ROOT: Final = -1
_NO_ROOTS: Final[tuple[int, int]] = (NO_ROOT, NO_ROOT)
_SUM: Final = -2
_DEEPEST: Final = 256  # values between a sum and what is added first
_MOST_FOLLOWED: Final = 1 << 22


class _Sums(NamedTuple):
    """The instructions that add.

    Attributes:
        adding: Those that only add.
        scaling: Those that add a product to something, and the places of its factors among their sources; -1: none.
    """

    adding: frozenset[int]
    scaling: Mapping[int, tuple[int, int]]

    def has(self, site: int, roots: Sequence[tuple[int, int]]) -> bool:
        """Whether an instruction returns a sum of values with roots: at most one factor of its product has one."""
        factors = self.scaling.get(site)
        scales = factors is not None and any(place < 0 or roots[place] == _NO_ROOTS for place in factors)
        return site in self.adding or scales


class Roots:
    """The product that each value was computed from, if there is only one.

    A sum of the same element of several products (slices of k, each perhaps scaled) has them all. A value computed
    from several products in another way, such as the maximum of a row, has none.
    """

    def __init__(self, record: ProvenanceRecord) -> None:
        self._nodes = nodes = record.nodes
        size = len(nodes)
        self._product, self._item = np.full(size, NO_ROOT, np.int64), np.full(size, NO_ROOT, np.int64)
        adding = frozenset(op.site for op in record.program.ops if _adds(op))
        roles = roles_of(record.program, np.unique(nodes["site"][1:]).tolist())
        scaling = {site: role.slots[:2] for site, role in roles.items() if role.kind == MULTIPLY and role.slots[2] >= 0}
        extremes = [op.site for op in record.program.ops if is_extreme(op.node)]
        product, item = self._all_of(nodes["sources"])  # of those that are products themselves
        sources = nodes["sources"]
        inner = np.where(sources["kind"] == Kind.COMPUTED, sources["node"], 0)
        several = np.isin(nodes["site"], extremes)  # the maximum of a row, of which all but one may be masked
        product[several], item[several], inner[several] = NO_ROOT, NO_ROOT, 0
        sums = _Sums(adding, scaling)
        self._resolve(nodes["site"].tolist(), product.tolist(), item.tolist(), inner.tolist(), sums)

    def _resolve(
        self,
        sites: list[int],
        products: list[list[int]],
        items: list[list[int]],
        inner: list[list[int]],
        sums: _Sums,
    ) -> None:
        """The root of each value, in the order in which they were computed."""
        roots: list[tuple[int, int]] = [_NO_ROOTS] * len(sites)
        for number in range(1, len(sites)):
            several = [
                roots[node] if 0 < node < number else (product, item)
                for product, item, node in zip(products[number], items[number], inner[number], strict=True)
            ]
            found = set(several)
            found.discard(_NO_ROOTS)
            if found:
                roots[number] = _of_several(found, adds=sums.has(sites[number], several))
        self._product[:], self._item[:] = np.array(roots, np.int64).reshape(-1, 2).T

    def of(self, origins: NDArray[Any]) -> tuple[Integers, Integers]:
        """The product, and the element of its D, of each origin; -1 where there is none, or more than one."""
        product, item = self._all_of(origins)
        return np.maximum(product, NO_ROOT), np.where(product < 0, NO_ROOT, item)

    def ways(self, origins: NDArray[Any]) -> Integers:
        """The ways of origins, each that is computed from one product's element with that from the product on.

        `bases.way` takes them apart. Moves between two of several computations are left out.
        """
        own = origins["path"].astype(np.int64)
        product, _ = self.of(origins)
        left = np.flatnonzero((product >= 0) & (origins["kind"] == Kind.COMPUTED))
        nodes, base = origins["node"].astype(np.int64), np.zeros_like(own)
        for _ in range(_DEEPEST):
            if not len(left):
                break
            different, which = np.unique(nodes[left], return_inverse=True)
            sources = self._nodes["sources"][different]
            sought = self._product[different][:, None]
            sources = sources[np.arange(len(different)), np.argmax(self._all_of(sources)[0] == sought, axis=1)][which]
            base[left], nodes[left] = sources["path"], sources["node"]
            left = left[(sources["path"] == 0) & (sources["kind"] == Kind.COMPUTED) & (sources["node"] > 0)]
        fits = own < np.iinfo(np.int32).max // PATH_LIMIT
        return np.where(base == 0, own, np.where((own > 0) & fits, base % PATH_LIMIT + own * PATH_LIMIT, base))

    def addends(self, origins: NDArray[Any]) -> tuple[Integers, Integers, Integers]:
        """For flat origins that are sums of several products: the origin's number, a product, the element of its D.

        There is one entry per product; origins with too many are left out.
        """
        product, _ = self._all_of(origins)
        ends = np.flatnonzero(product == _SUM)
        nodes = origins["node"][ends].astype(np.int64)
        found: list[Integers] = [np.zeros((0, 3), np.int64)]
        for _ in range(_DEEPEST):
            if not len(ends) or len(ends) > _MOST_FOLLOWED:
                break
            sources = self._nodes["sources"][nodes]
            products, items = self._all_of(sources)
            row, source = np.nonzero(products >= 0)
            found.append(np.stack((ends[row], products[row, source], items[row, source]), axis=1))
            row, source = np.nonzero(products == _SUM)
            further = np.stack((ends[row], sources["node"][row, source].astype(np.int64)), axis=1)
            ends, nodes = np.unique(further, axis=0).T
        if len(ends):
            found = found[:1]
        end, several, item = np.unique(np.concatenate(found), axis=0).T
        return end, several, item

    def _all_of(self, origins: NDArray[Any]) -> tuple[Integers, Integers]:
        """As `of`, but the product of a sum of several is `_SUM`."""
        product = np.where(origins["kind"] == Kind.PRODUCT, origins["node"], NO_ROOT)
        item = np.where(origins["kind"] == Kind.PRODUCT, origins["item"], NO_ROOT).astype(np.int64)
        computed = (origins["kind"] == Kind.COMPUTED) & (origins["node"] > 0)
        if computed.any():
            nodes = origins["node"][computed]
            product[computed], item[computed] = self._product[nodes], self._item[nodes]
        return product, item


def _of_several(found: set[tuple[int, int]], *, adds: bool) -> tuple[int, int]:
    """The root of a value, from the roots of its sources."""
    if len(found) > 1 and not adds:
        found = {one for one in found if one[0] != _SUM}  # what a value is scaled by
    if len(found) == 1:
        return next(iter(found))
    items = {item for _, item in found}
    return (_SUM, items.pop()) if adds and len(items) == 1 else (NO_ROOT, NO_ROOT)


def _adds(op: Op) -> bool:
    """Whether an instruction returns the sum of its inputs."""
    return adds(op.node) or (updates_memory(op.node) and op.has("add"))
