"""Which elements of arrays each stored element was computed from, by whatever instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.machine.results.provenance import Contents

_DEEPEST: Final = 4096  # instructions between an element and the result
_MOST: Final = 1 << 20  # values that are looked at
_PROBE: Final = 64  # stored elements from which the number of values in each is estimated
_MIX: Final = 2654435761
_MOST_TIMES: Final = 1 << 20
_UNKNOWN, _PRODUCT, _ITSELF = -1, -2, -3  # a source without a node; below, the number of an element
_ELEMENT: Final = (Kind.EXACT, Kind.CONVERTED)


class Leaves(NamedTuple):
    """The elements that stored elements were computed from.

    Attributes:
        result: (leaves,) the flat number of the stored element.
        array: (leaves,) the array that an element is of.
        element: (leaves,) its flat number.
        path: (leaves,) its way from the load on.
        site: (leaves,) the instruction that computed with it first; -1: it was stored as it is.
        times: (leaves,) on how many ways it came to the result.
        whole: (elements,) whether all that a stored element was computed from is known.
    """

    result: Integers
    array: Integers
    element: Integers
    path: Integers
    site: Integers
    times: Integers
    whole: Truth

    def chosen(self, which: Truth | Integers) -> Leaves:
        """Only some of them."""
        result, array, element, path, site, times = (values[which] for values in self[:-1])
        return Leaves(result, array, element, path, site, times, self.whole)


class Values:
    """What values were computed from, a number for each source: its node, its place among all sources, or a word."""

    def __init__(self, nodes: NDArray[Any]) -> None:
        self.nodes = nodes
        self.sources = nodes["sources"].ravel()
        self._codes = self._coded(self.sources, -3 - np.arange(len(self.sources))).reshape(-1, 3)
        self._sites = nodes["site"]

    def leaves(self, contents: Contents) -> Leaves | None:
        """The leaves of an array's stored elements; None if a product of matrices is among them, or there are too many.

        Where all have too many, only some of the stored elements are taken apart.
        """
        stored = np.flatnonzero(contents.stored_at.ravel() >= 0)
        every = 1
        if len(stored) > 2 * _PROBE:
            some = stored[:: len(stored) // _PROBE]
            tried, work = self._unfolded(contents, some)
            if tried is None:
                return None
            while work * len(stored) > _MOST * len(some) * every:
                every *= 2
        if every > 1:
            stored = stored[stored * _MIX // _PROBE % every == 0]
        return self._unfolded(contents, stored)[0]

    def _unfolded(self, contents: Contents, stored: Integers) -> tuple[Leaves | None, int]:
        """The leaves of some stored elements, and how many values were looked at for them."""
        origins = contents.origins.ravel()
        whole = np.zeros(len(origins), np.bool_)
        whole[stored] = True
        own = origins[stored]
        code = self._coded(own, np.full(len(stored), _ITSELF))
        plain = code == _ITSELF
        parts = [self._parts(stored[plain], own[plain], np.full(int(np.count_nonzero(plain)), -1), 1)]
        front = _Front(stored[~plain], code[~plain], np.ones(int(np.count_nonzero(~plain)), np.int64))
        site, work = np.full(len(front.result), -1, np.int64), len(stored)
        for _ in range(_DEEPEST):
            if (front.code == _PRODUCT).any() or work > 2 * _MOST:
                return None, work
            whole[front.result[front.code == _UNKNOWN]] = False
            leaf = front.code < _PRODUCT
            parts.append(
                self._parts(front.result[leaf], self.sources[-3 - front.code[leaf]], site[leaf], front.times[leaf])
            )
            inner = front.code > 0
            if not inner.any():
                result, array, element, path, site, times = (
                    np.concatenate([part[n] for part in parts]) for n in range(6)
                )
                return Leaves(result, array, element, path, site, times, whole), work
            result, node, times = _merged(front.result[inner], front.code[inner], front.times[inner], len(self.nodes))
            codes = self._codes[node]
            some = codes != 0
            row = np.nonzero(some)[0]
            front, site = _Front(result[row], codes[some], times[row]), self._sites[node[row]]
            work += len(row)
        return None, work

    @staticmethod
    def _coded(origins: NDArray[Any], leaf: Integers) -> Integers:
        """Sources as numbers: 0 nothing, positive their node, negative the elements of `leaf`."""
        kind = origins["kind"]
        code = np.where(kind == Kind.NONE, 0, np.full(len(kind), _UNKNOWN, np.int64))
        inner = (kind == Kind.COMPUTED) & (origins["node"] > 0)
        code[inner] = origins["node"][inner]
        code[kind == Kind.PRODUCT] = _PRODUCT
        element = np.isin(kind, _ELEMENT) & (origins["array"] >= 0)
        code[element] = leaf[element]
        return code

    @staticmethod
    def _parts(result: Integers, origins: NDArray[Any], site: Integers, times: Integers | int) -> tuple[Integers, ...]:
        array, path = origins["array"].astype(np.int64), origins["path"].astype(np.int64)
        return result, array, origins["element"], path, site, np.broadcast_to(times, result.shape)


class _Front(NamedTuple):
    """Values that are yet to be taken apart: the stored element, the value, and on how many ways it came there."""

    result: Integers
    code: Integers
    times: Integers


def _merged(result: Integers, node: Integers, times: Integers, count: int) -> tuple[Integers, Integers, Integers]:
    """Each value of an element's once, however often it was computed with."""
    keys = result * count + node
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    total = np.add.reduceat(times[order], starts)
    keys = keys[starts]
    return keys // count, keys % count, np.minimum(total, _MOST_TIMES).astype(np.int64)


def once(ways: Leaves) -> Leaves:
    """Each element of one array once for each result, on as many ways as all of its together."""
    key = ways.result * (int(ways.element.max(initial=0)) + 1) + ways.element
    different, first, which = np.unique(key, return_index=True, return_inverse=True)
    times = np.bincount(which, weights=ways.times, minlength=len(different)).astype(np.int64)
    return ways.chosen(first)._replace(times=times)
