"""Which axes the arrays of a sum of products share: by the declaration, or by most of the terms."""

from __future__ import annotations

from itertools import product
from math import isqrt, prod
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.expectation import Expectation
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.sums.terms import Terms
    from ptxloom.machine.results.provenance import TracedArray

_SAMPLES: Final = 20_000
_OF_RESULT: Final = "mnpq"  # the letters of the result's axes
_LIKELY: Final = 0.6  # the share of terms that must agree on shared axes, if it is not declared what is computed

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Axes:
    """How a sum of products reads its arrays: letters of their axes, as in `einsum`.

    Attributes:
        letters: Those of the first factor, the second, and the result.
        shapes: Likewise their extents.
        stated: Whether the user declared it.
    """

    letters: tuple[str, str, str]
    shapes: tuple[Shape, Shape, Shape]
    stated: bool

    def indices(self, number: int, elements: Integers) -> dict[str, Integers]:
        """The index of elements of an array along each of its letters."""
        found = np.unravel_index(elements, self.shapes[number])
        return dict(zip(self.letters[number], found, strict=True))

    @property
    def summed(self) -> str:
        """The letters that the result lacks: those that are summed."""
        return "".join(dict.fromkeys(one for one in self.letters[0] + self.letters[1] if one not in self.letters[2]))

    @property
    def kept(self) -> tuple[int, ...]:
        """The extents of the result's axes."""
        return tuple(min(self.extents[letter]) for letter in self.letters[2])

    @property
    def fits(self) -> bool:
        """Whether the arrays' extents agree along each letter; a padded last axis may be longer."""
        return all(
            extent == min(self.extents[letter]) or letter == letters[-1]
            for letters, shape in zip(self.letters, self.shapes, strict=True)
            for letter, extent in zip(letters, shape, strict=True)
        )

    @property
    def extents(self) -> dict[str, tuple[int, ...]]:
        """How many indices each letter has, in each array that has it."""
        found: dict[str, tuple[int, ...]] = {}
        for letters, shape in zip(self.letters, self.shapes, strict=True):
            for letter, extent in zip(letters, shape, strict=True):
                found[letter] = (*found.get(letter, ()), extent)
        return found


def axes_of(terms: Terms, arrays: Sequence[TracedArray], expected: Expectation | None) -> Axes | None:
    """The axes of a sum: the declared ones, or those that nearly all terms agree on; None if there are none.

    Args:
        terms: Its terms; all factors of one side come from one array.
        arrays: The first factor's, the second's, and the result's.
        expected: The declaration.
    """
    if expected is not None and expected.is_product:
        return _stated(arrays, expected)
    if arrays[2].number in {array.number for array in arrays[:2]}:
        return None  # in place: what is read may be a result already
    times = np.unique(terms.result, return_counts=True)[1]
    if (times != times[0]).any():
        return None  # no plain product: a band, a triangle, digits of numbers
    chosen = np.unique(np.linspace(0, len(terms.result) - 1, min(len(terms.result), _SAMPLES)).astype(np.int64))
    elements = [terms.factors["element"][chosen, number] for number in (0, 1)] + [terms.result[chosen]]
    found = [one for shapes in _shapes(arrays) if (one := _agreed(elements, shapes)) is not None]
    share, axes = max(found, key=lambda one: one[0], default=(0.0, None))
    return axes if share >= _LIKELY else None


def _stated(arrays: Sequence[TracedArray], expected: Expectation) -> Axes | None:
    """As declared; axes in front of the two that are multiplied are batches, shared by all."""
    own: list[str] = []
    shapes: list[Shape] = []
    for array in arrays:
        said = expected.axes.get(array.name)
        if said is None:
            return None
        ahead = len(array.shape) - len(said)
        if ahead < 0:
            return None
        own.append("xyz"[:ahead] + "".join(said))
        shapes.append(array.shape)
    if len({len(letters) for letters in own}) > 1 or len(own[0]) > 5:
        return None
    axes = Axes((own[0], own[1], own[2]), (shapes[0], shapes[1], shapes[2]), stated=True)
    return axes if all(len(set(some)) == 1 for some in axes.extents.values()) else None


def _shapes(arrays: Sequence[TracedArray]) -> Iterator[tuple[Shape, Shape, Shape]]:
    """The shapes that arrays may have: their own; of flat ones those of three whole matrices."""
    sizes = [prod(array.shape) for array in arrays]
    flat: list[list[Shape]] = [[array.shape] for array in arrays]
    if not all(sizes):
        return
    square = sizes[0] * sizes[1] // sizes[2]
    k = isqrt(square)
    if k and k * k == square and not sizes[0] % k and not sizes[1] % k:
        m, n = sizes[0] // k, sizes[1] // k
        for number, (rows, columns) in enumerate(((m, k), (k, n), (m, n))):
            if len(arrays[number].shape) == 1:
                flat[number] = [(rows, columns), (columns, rows)]
    first, second, third = flat
    yield from product(first, second, third)


def _agreed(elements: Sequence[Integers], shapes: tuple[Shape, Shape, Shape]) -> tuple[float, Axes] | None:
    """The letters under which most terms agree, and their share; each axis of the result is an axis of a factor.

    None for results of more axes than a product has letters for, such as a cache of pages.
    """
    if len(shapes[2]) > len(_OF_RESULT):
        return None
    first, second, result = (_indices(one, shape) for one, shape in zip(elements, shapes, strict=True))
    own = _OF_RESULT[: len(result)]
    tries: list[tuple[float, Axes, bool, float]] = []
    for left in _letterings(shapes[0], own, shapes[2], "kl"):
        summed = "".join(letter for letter in left if letter not in own)
        for right in _letterings(shapes[1], own, shapes[2], summed):
            if not set(own) <= set(left + right) or not set(summed) <= set(right) or not summed:
                continue
            shared: list[tuple[Integers, Integers]] = [
                (factor[letters.index(letter)], other[others.index(letter)])
                for factor, letters, other, others in (
                    (first, left, result, own), (second, right, result, own), (first, left, second, right)
                )
                for letter in letters
                if letter in others
            ]  # fmt: skip
            axes = Axes((left, right, own), shapes, stated=False)
            if axes.fits and not _leaves(axes, (first, second, result)):
                shares = [np.count_nonzero(held == other) / held.size for held, other in shared]
                of_factors = [
                    all(
                        share == 1
                        for share, letter in zip(shares, _shared(left, right, own), strict=True)
                        if letter == n
                    )
                    for n in (0, 1, 2)
                ]
                apart = sum(float(np.abs(held - other).mean()) for held, other in shared)
                tries.append((sum(shares) / len(shares), axes, any(of_factors), -apart))
    if (
        len({one[0] for one in tries}) == 1 and tries[0][2]
    ):  # no other letters fit the extents, and one factor, or the k of both, stands where it should
        return max(tries[0][0], _LIKELY), tries[0][1]
    best = max(tries, key=lambda one: (one[0], one[3]), default=None)  # of two as likely, the one that is less far off
    return best[:2] if best is not None else None


def _leaves(axes: Axes, indices: tuple[list[Integers], ...]) -> bool:
    """Whether most terms are beyond the end of some axis, so that it is not padding."""
    extents = axes.extents
    return any(
        2 * np.count_nonzero(index >= min(extents[letter])) > index.size
        for letters, held in zip(axes.letters, indices, strict=True)
        for letter, index in zip(letters, held, strict=True)
    )


def _shared(left: str, right: str, own: str) -> list[int]:
    """Which factor each shared letter is of that one has in common with the result; 2: of those that both have."""
    return [
        number
        for number, (letters, others) in enumerate(((left, own), (right, own), (left, right)))
        for letter in letters
        if letter in others
    ]


def _indices(elements: Integers, shape: Shape) -> list[Integers]:
    return [axis.astype(np.int64) for axis in np.unravel_index(elements, shape)]


def _letterings(shape: Shape, own: str, result: Shape, summed: str) -> Iterator[str]:
    """The letters that the axes of a factor may have by their extents: the result's, or summed ones in order."""
    choices = [
        [letter for letter, other in zip(own, result, strict=True) if other == extent] + list(summed)
        for extent in shape
    ]
    for letters in product(*choices):
        if len(set(letters)) == len(letters):
            yield "".join(letters)
