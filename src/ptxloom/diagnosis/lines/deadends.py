"""Where elements that a result lacks were lost: loaded and computed with, or never loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.lines.loops import ends_of
from ptxloom.diagnosis.origins.bases import way
from ptxloom.machine.results.provenance import Kind
from ptxloom.readings.effects import loads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord

_ELEMENT: Final = (Kind.EXACT, Kind.CONVERTED)
_DEEPEST: Final = 256
_MOST_LOST: Final = 0.9


class Lost(NamedTuple):
    """Where missing elements were lost.

    Attributes:
        last: The last instruction that computed with most of them; None if none did.
        share: The fraction of them that anything was computed from.
        fetched: The load that brings results of that instruction back from memory where no result is missing.
    """

    last: Op | None
    share: float
    fetched: Op | None = None

    def ends_at(self, record: ProvenanceRecord) -> Op | None:
        """The test of the loop that fetches or computes too little; else the last computation; None without one."""
        for op in (self.fetched, self.last):
            ends = None if op is None else ends_of(op, [], record.program)
            if ends is not None:
                return ends.test
        return self.last


def lost(array: int, elements: Integers, kept: Truth, nodes: NDArray[Any], record: ProvenanceRecord) -> Lost:
    """Follow missing elements from the first values computed from them to the last.

    Args:
        array: Their array.
        elements: Their flat numbers.
        kept: (nodes,) the values that reached a result.
        nodes: What values were computed from.
        record: Knows the instructions.
    """
    sources = nodes["sources"]
    of_element = np.isin(sources["kind"], _ELEMENT) & (sources["array"] == array)
    of_element &= np.isin(sources["element"], elements)
    if not of_element.any():
        return Lost(None, 0.0)
    share = len(np.unique(sources["element"][of_element])) / max(len(np.unique(elements)), 1)
    reached = of_element.any(axis=1) & ~kept
    if not reached.any():
        return Lost(None, 0.0)
    made = np.where(sources["kind"] == Kind.COMPUTED, sources["node"], 0)
    for _ in range(_DEEPEST):
        more = reached[made].any(axis=1) & ~kept
        more[0] = False
        if not (more & ~reached).any():
            break
        reached |= more
    used = np.unique(made[reached])
    ends = np.setdiff1d(np.flatnonzero(reached), used)
    sites, counts = np.unique(nodes["site"][ends], return_counts=True)
    last = int(sites[np.argmax(counts)])
    return Lost(record.program.ops[last], share, _fetched(last, kept, nodes, record))


def _fetched(site: int, kept: Truth, nodes: NDArray[Any], record: ProvenanceRecord) -> Op | None:
    """The load that brought most results of an instruction back from memory on their way to a stored element."""
    sources = nodes["sources"]
    made = np.where(sources["kind"] == Kind.COMPUTED, sources["node"], 0)
    used = kept[:, None] & (made > 0) & (nodes["site"] == site)[made]
    paths, counts = np.unique(sources["path"][used], return_counts=True)
    ways = (way(record, int(path)) for path in paths[np.argsort(-counts)] if path > 0)
    fetching = (op for sites in ways for op in (record.program.ops[one] for one in sites) if loads(op.node))
    return next(fetching, None)


def thrown_away(
    array: int, elements: Integers, origins: NDArray[Any], nodes: NDArray[Any], record: ProvenanceRecord
) -> Op | None:
    """The last computation with elements that never reached a result; the test of its loop, if it is in one.

    Args:
        array: Their array.
        elements: Their flat numbers.
        origins: The origins of the result's elements.
        nodes: What values were computed from.
        record: Knows the instructions.
    """
    gone = lost(array, elements, kept_nodes(origins, nodes), nodes, record)
    if gone.last is None or gone.share < _MOST_LOST:
        return None
    return gone.ends_at(record)


def kept_nodes(origins: NDArray[Any], nodes: NDArray[Any]) -> Truth:
    """(nodes,) the values that stored elements were computed from."""
    found = np.zeros(len(nodes), np.bool_)
    front = np.unique(origins["node"][(origins["kind"] == Kind.COMPUTED) & (origins["node"] > 0)])
    while len(front):
        found[front] = True
        sources = nodes["sources"][front].ravel()
        front = np.unique(sources["node"][(sources["kind"] == Kind.COMPUTED) & (sources["node"] > 0)])
        front = front[~found[front]]
    return found
