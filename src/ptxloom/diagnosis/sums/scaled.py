"""Scales inside a sum, `c += d * sa * sb`: each term uses the scales of its factors' blocks."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.arrays.blocks import Matrix, Scales, asked
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.scales import Computed, beside_of
from ptxloom.diagnosis.sums.addends import Wrong

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.arrays.blocks import Asked
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.sums.einsum import Axes
    from ptxloom.diagnosis.sums.multipliers import Multipliers
    from ptxloom.diagnosis.sums.terms import Terms
    from ptxloom.diagnosis.totals import Total
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray

_MATRIX: Final = 2  # axes


class ScaledTerms(NamedTuple):
    """The verdict on scales inside a sum.

    Attributes:
        known: The arrays of scales that were judged here, right or wrong, and need no check after the sum.
        broken: What is wrong: the array of scales, and how.
        left_open: Why some could not be asked; empty if all could.
    """

    known: frozenset[int]
    broken: tuple[tuple[TracedArray, Wrong], ...]
    left_open: str


def scaled(terms: Terms, axes: Axes, record: ProvenanceRecord, nodes: NDArray[Any]) -> ScaledTerms:
    """Check for each array of scales that differ within a sum whether they are those of the terms' blocks.

    Args:
        terms: Its terms, whose factors break no law.
        axes: How they are read.
        record: Knows the arrays.
        nodes: What values were computed from.
    """
    if len(axes.letters[2]) != _MATRIX or any(len(letters) != _MATRIX for letters in axes.letters):
        return ScaledTerms(frozenset(), (), "")
    matrices = [_matrix(terms, axes, side) for side in (0, 1)]
    known, wrong = by_blocks(terms.multipliers, matrices, frozenset(axes.shapes[2]), record)
    beside = _beside(terms, axes, record, nodes)
    whys = [one for one in beside if isinstance(one, str)]
    wrong += [
        (record.arrays[one.array], Wrong("block", one.named, one.paths, one.wrong, one.total, one.picture))
        for one in beside
        if not isinstance(one, str)
    ]
    return ScaledTerms(known, tuple(wrong), "; ".join(whys))


class Placed(NamedTuple):
    """The places of products in a factor's matrix whose blocks have scales.

    Attributes:
        matrix: The matrix.
        place: (products,) the row in it, and the column.
    """

    matrix: Matrix
    place: tuple[Integers, Integers]


def by_blocks(
    scales: Multipliers, sides: Sequence[Placed], behind: frozenset[int], record: ProvenanceRecord
) -> tuple[frozenset[int], list[tuple[TracedArray, Wrong]]]:
    """The arrays of scales that were judged: each product goes with the scale of its block of either factor.

    Args:
        scales: What products were multiplied by.
        sides: Their places in the matrices of the factors.
        behind: The sizes of arrays that may stand behind the sum instead, if they do not vary along k.
        record: Knows the arrays.

    Returns:
        Their numbers; and what is wrong: the array, and how.
    """
    known: set[int] = set()
    wrong: list[tuple[TracedArray, Wrong]] = []
    for number in scales.arrays:
        array = record.arrays[number]
        own, held, path = scales.of(number)
        size = prod(array.shape)
        if not own.all() or size == 1 or (size in behind and not _varies(held, sides)):
            continue
        said = [asked(held, side.place, side.matrix, Scales(array.shape, size)) for side in sides]
        told = [one for one in said if one.named is not None]
        if any(one.right for one in said) or told:
            known.add(number)
        if told and not any(one.right for one in said):
            best = min(told, key=lambda one: int(np.count_nonzero(one.wrong)))
            wrong.append((array, _as_wrong(best, path)))
    return frozenset(known), wrong


def _varies(held: Integers, sides: Sequence[Placed]) -> bool:
    """Whether products added to one element of the result were multiplied by different scales."""
    first, second = (side.place[number] for number, side in enumerate(sides))
    keys = np.stack((first, second, held), axis=1)
    return len(np.unique(keys, axis=0)) > len(np.unique(keys[:, :2], axis=0))


def _as_wrong(one: Asked, path: Integers) -> Wrong:
    named = one.named or Named("unknown", "", 9)
    return Wrong("block", named, path[one.wrong], int(np.count_nonzero(one.wrong)), len(one.wrong))


def _matrix(terms: Terms, axes: Axes, side: int) -> Placed:
    """A factor with the names of its axes, k last for the first factor, and the places of its elements."""
    letters, shape = axes.letters[side], axes.shapes[side]
    order = sorted(range(_MATRIX), key=lambda n: (letters[n] in axes.summed) == (side == 0))
    index = axes.indices(side, terms.factors["element"][:, side])
    names = tuple("k" if letters[n] in axes.summed else "mn"[axes.letters[2].index(letters[n])] for n in order)
    extents = shape[order[0]], shape[order[1]]
    return Placed(Matrix(extents, (names[0], names[1])), (index[letters[order[0]]], index[letters[order[1]]]))


def _beside(terms: Terms, axes: Axes, record: ProvenanceRecord, nodes: NDArray[Any]) -> list[Total | str]:
    """The errors of everything that factors are computed with; as text, what could not be judged."""
    found: list[Total | str] = []
    for side in (0, 1):
        own = terms.nodes[:, side] > 0
        if not own.any():
            continue
        (extents, _), (rows, columns) = _matrix(terms, axes, side)
        computed = Computed("ab"[side], terms.nodes[own, side], rows[own], columns[own])
        found += beside_of(computed, int(terms.factors["array"][0, side]), extents, record, nodes)
    return found
