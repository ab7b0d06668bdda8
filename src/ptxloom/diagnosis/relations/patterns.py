"""Whether all elements of a result use an array in the same way: which elements are missing, which replace others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.diagnosis.relations.leaves import Leaves
    from ptxloom.diagnosis.relations.links import Links

_MOST: Final = 1 << 23  # elements of all results that are looked for
_LIKELY: Final = 0.6  # of the results, that must be alike
_SALT: Final = (0x1F3D5B79A2C4E681, 0x2545F4914F6CDD1D)


class Pattern(NamedTuple):
    """Which elements of an array results are computed from.

    Attributes:
        offsets: (axes, members) the distance of each from the index that corresponds to the result.
        times: (members,) the number of paths of each.
    """

    offsets: Integers
    times: Integers


class Deviation(NamedTuple):
    """How the elements of some results differ from the pattern.

    Attributes:
        pattern: The pattern that all should have.
        extra: (leaves,) which elements do not belong to their result.
        again: (leaves,) which come too often.
        missing: (missing,) the results that lack a member.
        lacking: (missing,) which member.
        results: How many results there are.
    """

    pattern: Pattern
    extra: Truth
    again: Truth
    missing: Integers
    lacking: Integers
    results: int

    @property
    def is_clean(self) -> bool:
        """Whether all are alike."""
        return not (self.extra.any() or self.again.any() or len(self.missing))


def usual(leaves: Leaves, links: Links) -> Pattern | None:
    """The pattern of most results; None if there is no common one."""
    apart = links.apart(leaves.result, leaves.element)
    codes, low, sizes = _coded(apart)

    salt = np.array(_SALT, np.int64)
    mixed = ((codes * salt[0] + leaves.times) ^ (codes >> 7)) * salt[1]
    results, which = np.unique(leaves.result, return_inverse=True)
    signature = np.zeros(len(results), np.int64)
    np.add.at(signature, which, mixed * (mixed >> 31 | 1))
    different, first, counts = np.unique(signature, return_index=True, return_counts=True)
    del different
    if counts.max() < _LIKELY * len(results):
        return None
    own = which == first[np.argmax(counts)]
    return Pattern(_offsets(codes[own], low, sizes), leaves.times[own])


def whole_axes(links: Links) -> Pattern:
    """The pattern of a result that takes every element along the free axes of an array, each once."""
    ranges = [np.arange(extent if number in links.free else 1) for number, extent in enumerate(links.shape)]
    offsets = np.stack([one.ravel() for one in np.meshgrid(*ranges, indexing="ij")])
    return Pattern(offsets, np.ones(offsets.shape[1], np.int64))


def edge_of(results: Integers, links: Links, pattern: Pattern) -> Integers:
    """The results for which a member of the pattern is outside the array."""
    base = links.base(results)
    beyond = np.zeros(len(results), np.bool_)
    for axis, extent in enumerate(links.shape):
        low, high = int(pattern.offsets[axis].min(initial=0)), int(pattern.offsets[axis].max(initial=0))
        beyond |= (base[axis] + low < 0) | (base[axis] + high >= extent)
    return results[beyond]


def deviation(
    leaves: Leaves, links: Links, pattern: Pattern, left_out: Integers, *, counted: bool = True
) -> Deviation | None:
    """How results differ from a pattern, except where members would be beyond the array; None if too many differ.

    Args:
        leaves: The elements of one array that results are computed from.
        links: How these correspond to the results.
        pattern: The pattern that all should have.
        left_out: Results that need not have all members.
        counted: Whether each member must have the same number of paths.
    """
    results, which = np.unique(leaves.result, return_inverse=True)
    members = pattern.offsets.shape[1]
    if len(results) * members > _MOST:
        return None
    apart = links.apart(leaves.result, leaves.element)
    place = _places(apart, pattern.offsets)
    known = place >= 0
    held = np.zeros((len(results), members), np.int64)
    held[which[known], place[known]] = leaves.times[known]
    base = links.base(results)
    extents = np.array(links.shape)[:, None]
    inside: Truth = np.ones((len(results), members), np.bool_)
    for axis in range(len(links.shape)):
        there = base[axis][:, None] + pattern.offsets[axis]
        inside &= (there >= 0) & (there < extents[axis])
    rows, lacking = np.nonzero((held == 0) & inside & ~np.isin(results, left_out)[:, None])
    full: Truth = np.all(inside, axis=1)
    extra = ~known & full[which]
    extra |= ~known & ~_at_edge(leaves.element, which, base, pattern, links)
    again = np.zeros(len(place), np.bool_)
    if counted and len(np.unique(pattern.times)) == 1:
        again[known] = (leaves.times > pattern.times[0])[known] & full[which[known]]
    return Deviation(pattern, extra, again, results[rows], lacking, len(results))


def _at_edge(element: Integers, which: Integers, base: Integers, pattern: Pattern, links: Links) -> Truth:
    """Whether elements replace members beyond the array: the nearest existing one, or those of the other end."""
    held = np.stack(np.unravel_index(element, links.shape))
    fine = np.ones(len(element), np.bool_)
    for axis, extent in enumerate(links.shape):
        low, high = int(pattern.offsets[axis].min(initial=0)), int(pattern.offsets[axis].max(initial=0))
        at = base[axis][which]
        apart = held[axis] - at
        near = (apart >= low) & (apart <= high)
        turned = ((apart + extent >= low) & (apart + extent <= high)) | (apart - extent >= low) & (
            apart - extent <= high
        )
        fine &= near | turned | (links.by[axis].axis < 0)
    return fine


def _coded(apart: Integers) -> tuple[Integers, Integers, Integers]:
    """One number for each vector, the least along each axis, and how many there are along it."""
    low = apart.min(axis=1)
    sizes = apart.max(axis=1) - low + 1
    codes = np.zeros(apart.shape[1], np.int64)
    for axis in range(len(apart)):
        codes = codes * sizes[axis] + (apart[axis] - low[axis])
    return codes, low, sizes


def _offsets(codes: Integers, low: Integers, sizes: Integers) -> Integers:
    """The vectors of numbers."""
    found: list[Integers] = []
    for axis in reversed(range(len(low))):
        codes, rest = np.divmod(codes, sizes[axis])
        found.append(rest + low[axis])
    return np.stack(found[::-1])


def _places(apart: Integers, offsets: Integers) -> Integers:
    """Which member of a pattern each vector is; -1 if none."""
    low = np.minimum(apart.min(axis=1), offsets.min(axis=1))
    sizes = np.maximum(apart.max(axis=1), offsets.max(axis=1)) - low + 1
    keys, members = np.zeros(apart.shape[1], np.int64), np.zeros(offsets.shape[1], np.int64)
    for axis in range(len(low)):
        keys = keys * sizes[axis] + (apart[axis] - low[axis])
        members = members * sizes[axis] + (offsets[axis] - low[axis])
    order = np.argsort(members, kind="stable")
    at = np.minimum(np.searchsorted(members[order], keys), len(order) - 1)
    return np.where(members[order][at] == keys, order[at], -1)
