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


class Apart(NamedTuple):
    """Values decomposed into their inputs.

    Attributes:
        leaves: Of each element whose value it is of, its array, itself, its path, the instruction that computed with it
            first, and on how many ways it came.
        met: Of each value that was not to be taken apart whose it is, and its node.
        unknown: The values of which something is not known.
        work: How many values were looked at.
        is_complete: Whether all were taken apart.
    """

    leaves: tuple[Integers, ...]
    met: tuple[Integers, Integers]
    unknown: Integers
    work: int
    is_complete: bool


class Values:
    """The inputs of values, each coded as a number: its node, its place among all sources, or a word."""

    def __init__(self, nodes: NDArray[Any]) -> None:
        self.nodes = nodes
        self.sources = nodes["sources"].ravel()
        self.codes = self._coded(self.sources, -3 - np.arange(len(self.sources))).reshape(-1, 3)
        self.sites = nodes["site"]

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
        itself = self._parts(stored[plain], own[plain], np.full(int(np.count_nonzero(plain)), -1), 1)
        apart = self.apart(stored[~plain], code[~plain])
        work = len(stored) + apart.work
        if not apart.is_complete:
            return None, work
        whole[apart.unknown] = False
        found = (np.concatenate(several) for several in zip(itself, apart.leaves, strict=True))
        result, array, element, path, site, times = found
        return Leaves(result, array, element, path, site, times, whole), work

    def code_of(self, origins: NDArray[Any]) -> Integers:
        """The nodes of stored values; of those that are no computed ones, a number that is not positive."""
        return self._coded(origins, np.full(len(origins), _ITSELF))

    def apart(self, owner: Integers, code: Integers, stops: Truth | None = None) -> Apart:
        """Decompose values, down to elements of arrays.

        Args:
            owner: (values,) whose each is.
            code: (values,) they, as sources are coded.
            stops: (nodes,) which values are not taken apart.
        """
        front = _Front(owner, code, np.ones(len(owner), np.int64))
        site, work = np.full(len(owner), -1, np.int64), 0
        none = np.zeros(0, np.int64)
        parts: list[tuple[Integers, ...]] = [(none,) * 6]
        met: list[tuple[Integers, ...]] = [(none, none)]
        unknown: list[Integers] = [none]
        is_complete = False
        for _ in range(_DEEPEST):
            if (front.code == _PRODUCT).any() or work > 2 * _MOST:
                break
            unknown.append(front.result[front.code == _UNKNOWN])
            leaf = front.code < _PRODUCT
            parts.append(
                self._parts(front.result[leaf], self.sources[-3 - front.code[leaf]], site[leaf], front.times[leaf])
            )
            inner = front.code > 0
            if stops is not None:
                at = inner & stops[np.maximum(front.code, 0)]
                met.append((front.result[at], front.code[at]))
                inner &= ~at
            if not inner.any():
                is_complete = True
                break
            result, node, times = _merged(front.result[inner], front.code[inner], front.times[inner], len(self.nodes))
            codes = self.codes[node]
            some = codes != 0
            row = np.nonzero(some)[0]
            front, site = _Front(result[row], codes[some], times[row]), self.sites[node[row]]
            work += len(row)
        leaves, stopped = (tuple(np.concatenate(one) for one in zip(*several, strict=True)) for several in (parts, met))
        return Apart(leaves, (stopped[0], stopped[1]), np.concatenate(unknown), work, is_complete)

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
    """Values still to be decomposed: the stored element, the value, and its number of paths there."""

    result: Integers
    code: Integers
    times: Integers


def _merged(result: Integers, node: Integers, times: Integers, count: int) -> tuple[Integers, Integers, Integers]:
    """Each value once per stored element, however often it was used."""
    keys = result * count + node
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    total = np.add.reduceat(times[order], starts)
    keys = keys[starts]
    return keys // count, keys % count, np.minimum(total, _MOST_TIMES).astype(np.int64)


def once(ways: Leaves) -> Leaves:
    """Each element of one array once per result, with its number of paths added up."""
    key = ways.result * (int(ways.element.max(initial=0)) + 1) + ways.element
    different, first, which = np.unique(key, return_index=True, return_inverse=True)
    times = np.bincount(which, weights=ways.times, minlength=len(different)).astype(np.int64)
    return ways.chosen(first)._replace(times=times)
