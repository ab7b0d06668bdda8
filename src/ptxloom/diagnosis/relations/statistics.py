"""The statistics that normalise a result: which elements each sum or maximum of many values combines, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.relations.leaves import Leaves
from ptxloom.diagnosis.relations.reductions import EXTREME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.relations.leaves import Values
    from ptxloom.diagnosis.relations.reductions import Reductions
    from ptxloom.machine.results.provenance import Contents

_MOST: Final = 1 << 21  # elements of all statistics
_DEEPEST: Final = 4096
_SALT: Final = (0x1F3D5B79A2C4E681, 0x2545F4914F6CDD1D)


class Statistic(NamedTuple):
    """A sum, or a maximum or minimum, by which elements of a result are computed: of each row its own.

    Attributes:
        site: The instruction that joins the last values.
        is_extreme: Whether it is a maximum or a minimum.
        result: (uses,) the stored elements that are computed from it.
        content: (uses,) which of the contents each is computed from.
        root: (contents,) a node of each content.
        leaves: What each content joins; `result` is the number of the content.
    """

    site: int
    is_extreme: bool
    result: Integers
    content: Integers
    root: Integers
    leaves: Leaves


class Parts(NamedTuple):
    """The inputs of a result's elements.

    Attributes:
        direct: Elements used outside any statistic.
        statistics: The statistics.
    """

    direct: Leaves
    statistics: tuple[Statistic, ...]


def parts_of(contents: Contents, values: Values, reductions: Reductions) -> Parts | None:
    """The statistics in what the elements of an array are computed from; None if there are too many.

    Args:
        contents: Of the array.
        values: What they were computed from.
        reductions: Which of these join many.
    """
    stored = np.flatnonzero(contents.stored_at.ravel() >= 0)
    code = values.code_of(contents.origins.ravel()[stored])
    apart = values.apart(stored[code > 0], code[code > 0], reductions.roots)
    if not apart.is_complete or not len(apart.met[0]):
        return None
    whole = np.zeros(contents.stored_at.size, np.bool_)
    whole[stored] = True
    roots, which = np.unique(apart.met[1], return_inverse=True)
    found = joined(roots, values, reductions)
    if found is None:
        return None
    several = _each((apart.met[0], which), roots, found.leaves, values, reductions)
    result, array, element, path, site, times = apart.leaves
    return Parts(Leaves(result, array, element, path, site, times, whole), tuple(several))


class Joined(NamedTuple):
    """The elements that values combine.

    Attributes:
        leaves: The elements, once for each part that they belong to; `result` is the number of the value.
        number: (values,) how many parts each joins.
    """

    leaves: Leaves
    number: Integers


def joined(roots: Integers, values: Values, reductions: Reductions) -> Joined | None:
    """The elements that values join; None if there are too many.

    Args:
        roots: The nodes of the values.
        values: What they were computed from.
        reductions: Which of these join others.
    """
    result, code, times, site = _terms(roots, values, reductions)
    different, which = np.unique(code, return_inverse=True)
    inner = np.flatnonzero(different > 0)
    apart = values.apart(inner, different[inner], reductions.roots)
    if not apart.is_complete or (different == -2).any():
        return None
    plain = np.flatnonzero(different < -2)
    sources = values.sources[-3 - different[plain]]
    parts = (
        np.concatenate((apart.leaves[0], plain)),
        np.concatenate((apart.leaves[1], sources["array"].astype(np.int64))),
        np.concatenate((apart.leaves[2], sources["element"])),
        np.concatenate((apart.leaves[3], sources["path"].astype(np.int64))),
        np.concatenate((apart.leaves[4], np.full(len(plain), -1, np.int64))),
    )
    order = np.lexsort((parts[2], parts[1], parts[0]))
    term, array, element, path, first = (part[order] for part in parts)
    new = np.r_[True, (np.diff(term) != 0) | (np.diff(array) != 0) | (np.diff(element) != 0)][: len(term)]
    term, array, element, path, first = (part[new] for part in (term, array, element, path, first))
    start = np.searchsorted(term, which)
    count = np.searchsorted(term, which, "right") - start
    if int(count.sum()) > _MOST:
        return None
    rows = np.repeat(np.arange(len(which)), count)
    at = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count) + start[rows]
    by = np.where(first[at] < 0, site[rows], first[at])
    leaves = Leaves(result[rows], array[at], element[at], path[at], by, times[rows], np.ones(1, np.bool_))
    number = np.zeros(len(roots), np.int64)
    np.add.at(number, result, times)
    return Joined(leaves, number)


def _terms(roots: Integers, values: Values, reductions: Reductions) -> tuple[Integers, Integers, Integers, Integers]:
    """The values that roots join: the root, the value, how often, and the instruction that does."""
    front = np.arange(len(roots)), roots, np.ones(len(roots), np.int64)
    found: list[tuple[Integers, ...]] = []
    work = 0
    for _ in range(_DEEPEST):
        owner, node, times = front
        codes, inside = values.codes[node], reductions.through[node]
        for row, column in (np.nonzero((codes != 0) & ~inside),):
            found.append((owner[row], codes[row, column], times[row], values.sites[node[row]]))
        row, column = np.nonzero(inside)
        work += len(row)
        if not len(row) or work > _MOST:
            break
        front = _once(owner[row], codes[row, column], times[row], len(values.nodes))
    owner, code, times, site = (np.concatenate(several) for several in zip(*found, strict=True))
    return owner, code, times, site


def _once(owner: Integers, node: Integers, times: Integers, count: int) -> tuple[Integers, Integers, Integers]:
    keys, which = np.unique(owner * count + node, return_inverse=True)
    total = np.zeros(len(keys), np.int64)
    np.add.at(total, which, times)
    return keys // count, keys % count, total


def _each(
    uses: tuple[Integers, Integers], roots: Integers, leaves: Leaves, values: Values, reductions: Reductions
) -> Iterator[Statistic]:
    """The statistics, one for each instruction that joins the last values of one: what is alike counts once."""
    results, which = uses
    site_of = values.sites[roots]
    for site in np.unique(site_of).tolist():
        is_extreme = bool(reductions.kind[roots[site_of == site][0]] == EXTREME)
        own = leaves.chosen(site_of[leaves.result] == site)
        own = _summed(own, is_extreme=is_extreme)
        signature = _signatures(own, len(roots))
        mine = site_of[which] == site
        different, first, content = np.unique(signature[which[mine]], return_index=True, return_inverse=True)
        del different
        chosen = which[mine][first]
        number = np.full(len(roots), -1, np.int64)
        number[chosen] = np.arange(len(chosen))
        kept = own.chosen(number[own.result] >= 0)
        pairs = np.unique(np.stack((results[mine], content)), axis=1)
        kept = kept._replace(result=number[kept.result])
        kept = kept.chosen(np.argsort(kept.result, kind="stable"))
        yield Statistic(site, is_extreme, pairs[0], pairs[1], roots[chosen], kept)


def _summed(leaves: Leaves, *, is_extreme: bool) -> Leaves:
    """Each element once for each root; of a maximum it does not count how often."""
    order = np.lexsort((leaves.element, leaves.array, leaves.result))
    sorted_ = leaves.chosen(order)
    changed = (np.diff(sorted_.result) != 0) | (np.diff(sorted_.array) != 0) | (np.diff(sorted_.element) != 0)
    starts = np.flatnonzero(np.r_[True, changed][: len(order)])
    found = sorted_.chosen(starts)
    if not len(starts):
        return found
    times = np.ones(len(starts), np.int64) if is_extreme else np.add.reduceat(sorted_.times, starts)
    return found._replace(times=times)


def _signatures(leaves: Leaves, count: int) -> Integers:
    """(roots,) a number for what each joins, alike where that is."""
    salt = np.array(_SALT, np.int64)
    mixed = (leaves.element * salt[0] + leaves.array * salt[1]) ^ (leaves.times * 0x9E3779B97F4A7C)
    mixed = (mixed ^ (mixed >> 29)) * salt[1]
    found = np.zeros(count, np.int64)
    np.add.at(found, leaves.result, mixed ^ (mixed >> 31))
    return found
