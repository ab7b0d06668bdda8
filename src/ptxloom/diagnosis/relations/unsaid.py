"""Likely errors of an undeclared result, inferred from the extents of its arrays alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.diagnosis.arrays.left_open import numbers_of
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.relations.blame import Accused, of_missing, of_odd, of_places, of_strangers
from ptxloom.diagnosis.relations.each_way import odd_ways
from ptxloom.diagnosis.relations.leaves import once
from ptxloom.diagnosis.relations.links import Link, Links
from ptxloom.diagnosis.relations.names import of_moved
from ptxloom.diagnosis.relations.patterns import deviation, whole_axes
from ptxloom.diagnosis.relations.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.model import Diagnosis
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.relations.leaves import Leaves
    from ptxloom.diagnosis.relations.source import Result
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray

_TELLING: Final = ("leading-dimension", "order-exchanged")  # what is no coincidence
_MOST_LOST: Final = 0.9


def unsaid(sources: Sequence[Source], unread: Sequence[TracedArray], leaves: Leaves, result: Result) -> list[Diagnosis]:
    """The errors of a result that the extents of arrays show.

    Args:
        sources: The arrays that correspond to it in some way.
        unread: Those that do not.
        leaves: The elements that it is computed from.
        result: The result.
    """
    none = np.zeros(0, np.int64)
    if unread and (turned := _turned(leaves, unread, result)) is not None:
        return [turned]
    found: list[Diagnosis] = []
    for array in unread:
        ways = leaves.chosen(leaves.array == array.number)
        found += _of_loads(array, ways, result)
        links = _by_extents(array.shape, result.array.shape)
        if links is None:
            continue
        each = once(ways)
        differing = deviation(each, links, whole_axes(links), none)
        if differing is None or not differing.extra.any():
            continue
        named = of_moved(each, links, differing.extra)[0]
        if named.cause in _TELLING:
            found.append(of_strangers(Accused(array, each, ways, links, differing, result)))
    for source in sources:
        found += _of_axes(source, sources, result)
        found += _of_loads(source.array, source.ways, result)
    return found[:1]


def _of_loads(array: TracedArray, ways: Leaves, result: Result) -> list[Diagnosis]:
    """A load whose elements are used at other places than those of the others, in an array of the result's shape."""
    if array.shape != result.array.shape or len(array.shape) < 2:
        return []
    links = Links(array.shape, array.shape, tuple(Link(axis) for axis in range(len(array.shape))))
    source = Source(array, ways, ways, links, whole_axes(links), counted=False)
    return [of_odd(odd, source, result) for odd in odd_ways(ways, links)][:1]


def _by_extents(shape: tuple[int, ...], result: tuple[int, ...]) -> Links | None:
    """Axes with the same number of elements correspond; None if that is ambiguous, or there is none."""
    if len(set(result)) < len(result):
        return None
    by = tuple(Link(result.index(extent)) if extent in result else Link() for extent in shape)
    joined = [link.axis for link in by if link.axis >= 0]
    return Links(shape, result, by) if joined and len(set(joined)) == len(joined) else None


def _turned(leaves: Leaves, unread: Sequence[TracedArray], result: Result) -> Diagnosis | None:
    """A result stored with rows and columns exchanged: all its inputs correspond to the exchanged axes."""
    shape = result.array.shape
    if len(shape) != 2 or shape[0] == shape[1]:
        return None
    slow, fast = np.divmod(leaves.result, shape[0])  # as of the other order
    there = leaves._replace(result=fast * shape[1] + slow)
    for array in unread:
        each = once(there.chosen(there.array == array.number))
        links = _by_extents(array.shape, shape)
        differing = None if links is None else deviation(each, links, whole_axes(links), np.zeros(0, np.int64))
        if differing is None or differing.extra.any():
            return None
    name = result.array.name
    named = Named(
        "order-exchanged", f"{name} is stored as if it had {shape[1]} rows of {shape[0]}, not {shape[0]} of {shape[1]}"
    )
    return of_places(named, result)


def _of_axes(source: Source, sources: Sequence[Source], result: Result) -> list[Diagnosis]:
    """A vector on the wrong axis, or elements along an axis that all sums leave out."""
    links, none = source.links, np.zeros(0, np.int64)
    crossed = _crossed(links, source.pattern.offsets)
    if crossed is not None:
        meant = replace(links, by=crossed)
        differing = deviation(source.leaves, meant, whole_axes(meant), none)
        if differing is not None and differing.extra.any():
            return [of_strangers(Accused(source.array, source.leaves, source.ways, meant, differing, result))]
    free = links.free
    if len(free) != 1 or any(source.pattern.offsets[axis].any() for axis in range(len(links.by)) if axis not in free):
        return []
    held = np.unique(source.pattern.offsets[free[0]])
    extent = links.shape[free[0]]
    if not 1 < len(held) < extent:
        return []
    differing = deviation(source.leaves, links, whole_axes(links), none, counted=False)
    if differing is None:
        return []
    accused = Accused(source.array, source.leaves, source.ways, links, differing, result)
    diagnosis, share = of_missing(accused)
    return [diagnosis] if share > _MOST_LOST or _is_needed(source, sources, held, extent, result.record) else []


def _crossed(links: Links, offsets: Integers) -> tuple[Link, ...] | None:
    """The corrected links of a vector that is used along an axis of the result with another number of elements."""
    if len(links.by) != 1 or links.free or offsets.any() or len(set(links.result)) < len(links.result):
        return None
    (extent,) = links.shape
    if links.by[0].scale != 1 or links.result[links.by[0].axis] == extent or extent not in links.result:
        return None
    return (Link(links.result.index(extent)),)


def _is_needed(
    source: Source, sources: Sequence[Source], held: Integers, extent: int, record: ProvenanceRecord
) -> bool:
    """Whether left-out elements belong to the sum: another summed array has the same extent, and uses all of it.

    Or they are at its end, and the kernel receives that extent and no other.
    """
    for other in sources:
        for axis in other.links.free:
            is_whole = len(np.unique(other.pattern.offsets[axis])) == extent
            if other is not source and other.links.shape[axis] == extent and is_whole:
                return True
    words = numbers_of(record)
    is_tail = held[0] == 0 and held[-1] == len(held) - 1
    return extent in words and (not is_tail or len(held) not in words)
