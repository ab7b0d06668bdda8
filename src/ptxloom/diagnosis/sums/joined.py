"""Elements that join products after functions that use their sum several times, as GELU does: each once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers, Truth

_DEEPEST: Final = 64  # instructions between a product and the result
_MOST: Final = 1 << 22  # values that are looked at
_ELEMENT: Final = (Kind.EXACT, Kind.CONVERTED)
_FOLLOWED: Final = (*_ELEMENT, Kind.COMPUTED, Kind.PRODUCT, Kind.NONE)


class Joined(NamedTuple):
    """The elements that results of products are computed with.

    Attributes:
        places: (joined,) the element of the result.
        origins: (joined,) of `ORIGIN`: an element combined with it, each once.
        whole: (elements,) whether all that a result is computed from is a product or such an element.
    """

    places: Integers
    origins: NDArray[Any]
    whole: Truth


def joined(results: Truth, origins: NDArray[Any], nodes: NDArray[Any]) -> Joined:
    """All elements, besides matrix products, that some results are computed from.

    Args:
        results: (elements,) of which.
        origins: (elements,) of `ORIGIN`: what is stored.
        nodes: What values were computed from.

    Returns:
        These elements; none, of none of the results, if no value is computed from a product of matrices at once.
    """
    if not (nodes["sources"]["kind"] == Kind.PRODUCT).any():
        return Joined(np.zeros(0, np.int64), origins[:0], np.zeros(len(results), np.bool_))
    places = np.flatnonzero(results & (origins["kind"] == Kind.COMPUTED))
    node = origins["node"][places].astype(np.int64)
    whole, multiplied = np.zeros(len(results), np.bool_), np.zeros(len(results), np.bool_)
    found: list[tuple[Integers, NDArray[Any]]] = [(places[:0], origins[:0])]
    whole[places] = True
    count = 0
    for _ in range(_DEEPEST):
        count += len(node)
        if not len(node) or count > _MOST:
            break
        sources = nodes["sources"][node]
        strange = ~np.isin(sources["kind"], _FOLLOWED) | (np.isin(sources["kind"], _ELEMENT) & (sources["array"] < 0))
        whole[places[strange.any(axis=1)]] = False
        multiplied[places[(sources["kind"] == Kind.PRODUCT).any(axis=1)]] = True
        row, at = np.nonzero(np.isin(sources["kind"], _ELEMENT) & (sources["array"] >= 0))
        found.append((places[row], sources[row, at]))
        row, at = np.nonzero((sources["kind"] == Kind.COMPUTED) & (sources["node"] > 0))
        pairs = np.unique(np.stack((places[row], sources["node"][row, at].astype(np.int64)), axis=1), axis=0)
        places, node = pairs.T
    if len(node):
        return Joined(places[:0], origins[:0], np.zeros(len(results), np.bool_))
    place = np.concatenate([part for part, _ in found])
    elements: NDArray[Any] = np.concatenate([part for _, part in found])
    keys = np.stack((place, elements["array"].astype(np.int64), elements["element"].astype(np.int64)), axis=1)
    _, first = np.unique(keys, axis=0, return_index=True)
    first = first[multiplied[place[first]]]
    return Joined(place[first], elements[first], whole & multiplied)
