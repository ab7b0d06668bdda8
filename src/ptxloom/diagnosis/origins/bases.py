"""The element that a computed value stands for: a dequantised weight, `(w >> 4) - 8` times a scale, is that weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.machine.results.provenance import Kind
from ptxloom.machine.runtime.structs.trail import PATH_LIMIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.machine.results.provenance import ProvenanceRecord

_DEEPEST: Final = 8  # instructions that compute one element from another
_ELEMENT: Final = (Kind.EXACT, Kind.CONVERTED)


class Bases:
    """For each value the one element that it was computed from, if there is one in the largest array among them."""

    def __init__(self, record: ProvenanceRecord) -> None:
        self.nodes = record.nodes
        self._bytes = np.array([array.nbytes for array in record.arrays] + [0], np.int64)

    def of(self, origins: NDArray[Any], deepest: int = _DEEPEST) -> NDArray[Any]:
        """Origins of any shape, each that is computed from one element as that element, converted; else unchanged.

        Its path combines the path to the computation and the path from there; `way` separates them.
        """
        result = origins.copy().ravel()
        computed = np.flatnonzero((result["kind"] == Kind.COMPUTED) & (result["node"] > 0))
        if len(computed) and deepest:
            different, which = np.unique(result["node"][computed], return_inverse=True)
            sources = self.of(self.nodes["sources"][different], deepest - 1)
            found, at = self._main(sources)
            chosen = sources[np.arange(len(at)), at]
            chosen["kind"] = np.where(found, Kind.CONVERTED, Kind.COMPUTED)
            known = found[which]
            base, own = chosen[which][known], result["path"][computed[known]]
            joined = np.where(own > 0, base["path"].astype(np.int64) % PATH_LIMIT, base["path"])
            fits = own < np.iinfo(np.int32).max // PATH_LIMIT
            base["path"] = np.where((own > 0) & fits, joined + own.astype(np.int64) * PATH_LIMIT, base["path"])
            result[computed[known]] = base
        return result.reshape(origins.shape)

    def _main(self, sources: NDArray[Any]) -> tuple[Truth, Integers]:
        """For rows of three origins: whether one element determines all, and which of them it is."""
        element = np.isin(sources["kind"], _ELEMENT)
        opaque = ~element & (sources["kind"] != Kind.NONE)
        size = np.where(element, self._bytes[sources["array"]], -1)
        at = np.argmax(size, axis=1)
        rows = np.arange(len(sources))
        best = sources[rows, at]
        same_array = element & (sources["array"] == best["array"][:, None])
        same = (sources["element"] == best["element"][:, None]) & (sources["byte"] == best["byte"][:, None])
        same &= sources["bit"] == best["bit"][:, None]
        return element[rows, at] & ~(same_array & ~same).any(axis=1) & ~opaque.any(axis=1), at


def way(record: ProvenanceRecord, number: int) -> tuple[int, ...]:
    """The sites on a byte's path: to the computation that used it, and from there with the computed value."""
    behind, before = divmod(number, PATH_LIMIT)
    return record.path(before) + (record.path(behind) if behind else ())
