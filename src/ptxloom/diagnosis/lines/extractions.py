"""Where computed elements from the right word go wrong: the instruction that extracts or joins them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.binding.touches import touches
from ptxloom.diagnosis.origins.bases import way
from ptxloom.machine.results.provenance import Kind
from ptxloom.readings.computed import resizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord

_ELEMENT: Final = (Kind.EXACT, Kind.CONVERTED)
_DEEPEST: Final = 8  # instructions between an element and what is computed from it


def extraction(wrong: Integers, right: Integers, nodes: NDArray[Any], record: ProvenanceRecord) -> Op | None:
    """The first instruction after the load that computes only with wrong elements; None if there is none.

    Args:
        wrong: The sources of wrong values, by number.
        right: Likewise those of right values.
        nodes: What values are computed from.
        record: Knows the instructions.
    """
    bad, good = _depths(wrong, nodes), _depths(right, nodes)
    own = {site: depth for site, depth in bad.items() if site not in good}
    if not own or not good:
        return None
    return record.program.ops[max(own, key=lambda site: (own[site], -site))]


def first_of_word(values: Integers, array: int, nodes: NDArray[Any], record: ProvenanceRecord) -> Op | None:
    """The first instruction that computes with the words of an array; None if there is none.

    Args:
        values: The sources of values made of them, by number.
        array: The array.
        nodes: What values are computed from.
        record: Knows the instructions.
    """
    front, found = np.unique(values[values > 0]), np.zeros(0, np.int64)
    for _ in range(_DEEPEST):
        sources = nodes["sources"][front]
        own = (np.isin(sources["kind"], _ELEMENT) & (sources["array"] == array)).any(axis=1)
        found = np.concatenate((found, nodes["site"][front[own]].astype(np.int64)))
        front = np.unique(sources["node"][(sources["kind"] == Kind.COMPUTED) & (sources["node"] > 0)]).astype(np.int64)
        if not len(front):
            break
    sites, counts = np.unique(found, return_counts=True)
    return record.program.ops[int(sites[np.argmax(counts)])] if len(sites) else None


def extracting(paths: Integers, record: ProvenanceRecord) -> Op | None:
    """The first instruction on the path of most elements that computes with the loaded word, or None.

    Args:
        paths: The paths of elements of words.
        record: Knows them.
    """
    numbers, counts = np.unique(paths[paths > 0], return_counts=True)
    if not len(numbers):
        return None
    ops = [record.program.ops[site] for site in way(record, int(numbers[np.argmax(counts)]))]
    return next((op for op in ops[1:] if not touches(op.node) and not resizes(op.node)), None)


def _depths(values: Integers, nodes: NDArray[Any]) -> dict[int, int]:
    """The instructions that computed values, and the number of steps behind each."""
    found: dict[int, int] = {}
    front = np.unique(values[values > 0])
    for depth in range(_DEEPEST):
        for site in np.unique(nodes["site"][front]).tolist():
            found[site] = depth
        sources = nodes["sources"][front]
        front = np.unique(sources["node"][(sources["kind"] == Kind.COMPUTED) & (sources["node"] > 0)]).astype(np.int64)
        if not len(front):
            break
    return found
