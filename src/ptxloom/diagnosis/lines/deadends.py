"""Where elements that a result lacks were lost: loaded and computed with, or never loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.lines.loops import ends_of
from ptxloom.machine.results.provenance import Kind

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
    """

    last: Op | None
    share: float


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
    return Lost(record.program.ops[int(sites[np.argmax(counts)])], share)


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
    ends = ends_of(gone.last, [], record.program)
    return ends.test if ends is not None else gone.last


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
