"""The possible readings of a sum's arrays as matrices: packed elements unpacked, several axes merged into one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.arrays.blocked import planes_of
from ptxloom.diagnosis.origins.packed import first_bits, unit_bits_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.sums.terms import Terms
    from ptxloom.machine.results.provenance import TracedArray

_SEVERAL: Final = 3  # axes, of which a matrix has two
_MOST: Final = 96  # readings
_MOST_TERMS: Final = 1 << 24  # that are looked at in all of them


class Matrices(NamedTuple):
    """A sum whose factors' arrays are read in one way.

    Attributes:
        terms: Its terms.
        arrays: The first factor's, the second's, and the result's.
        is_open: Whether the order of packed elements is not declared.
        words: For the first and the second factor, the word of its array that holds each element; None if elements are
            words.
    """

    terms: Terms
    arrays: list[TracedArray]
    is_open: bool = False
    words: tuple[Integers | None, Integers | None] = (None, None)


class _Factor(NamedTuple):
    elements: Integers
    array: TracedArray
    is_open: bool = False
    words: Integers | None = None


def matrices_of(terms: Terms, arrays: Sequence[TracedArray]) -> Iterator[Matrices]:
    """A sum with its arrays as they are, and then in the other ways in which they may be matrices.

    Args:
        terms: Its terms, whose factors are of one array each.
        arrays: These, and the result's.
    """
    first, second = (list(_factors(terms.factors[:, side], arrays[side])) for side in (0, 1))
    most = max(min(_MOST, _MOST_TERMS // max(len(terms.result), 1)), 1)
    for number, (left, right) in enumerate(product(first, second)):
        if number >= most:
            return
        factors = terms.factors.copy()
        factors["element"][:, 0], factors["element"][:, 1] = left.elements, right.elements
        made = [left.array, right.array, arrays[2]]
        yield Matrices(terms._replace(factors=factors), made, left.is_open or right.is_open, (left.words, right.words))


def _factors(origins: NDArray[Any], array: TracedArray) -> Iterator[_Factor]:
    """The elements of a factor under each reading of its array."""
    own, first = 8 * array.dtype.itemsize, first_bits(origins)
    bits = unit_bits_of(first, own)
    per = own // bits
    units = origins["element"] * per + first // bits
    of_units = np.arange(array.nbytes // array.dtype.itemsize * per) // per
    words = of_units if per > 1 else None
    yield _Factor(units, _shaped(array, (*array.shape[:-1], array.shape[-1] * per)), words=words)
    if per == 1 and sum(extent > 1 for extent in array.shape) < _SEVERAL:
        return
    for plane in planes_of(array, bits):
        if words is not None:
            words = np.empty_like(of_units)
            words[plane.flat(np.arange(len(words)))] = of_units
        shaped = _shaped(array, (plane.lines, plane.pitch))
        yield _Factor(plane.flat(units), shaped, per > 1 or plane.is_one_of_several, words)


def _shaped(array: TracedArray, shape: tuple[int, ...]) -> TracedArray:
    """An array with other axes."""
    if shape == array.shape:
        return array
    strides = tuple(int(np.prod(shape[n + 1 :])) for n in range(len(shape)))
    return replace(array, shape=shape, strides=strides)
