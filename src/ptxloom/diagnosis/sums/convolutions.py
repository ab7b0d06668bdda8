"""Sums of products as convolutions: the pixel of the result and the tap of the weights determine the image's element.

The extents of the three arrays determine step, dilation and padding, as far as several do not fit; of these the
likeliest are taken. A kernel that takes the taps in reverse order is one of another convention.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.packed import first_bits, unit_bits_of
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.sums.laws import ROLES, Broken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.diagnosis.sums.terms import Terms
    from ptxloom.machine.results.provenance import TracedArray

_STEPS: Final = range(1, 5)  # and dilations
_SAMPLES: Final = 20_000
_LIKELY: Final = 0.6  # of the terms, that must agree, if several ways fit the extents
_MOST_TAPS: Final = 1 << 22  # of all results

Index = tuple["Integers", ...]


class Axis(NamedTuple):
    """How the image's index along an axis follows from pixel and tap.

    Attributes:
        pixel: The axis of the result; -1: it does not depend on the result.
        tap: The axis of the weights; -1: likewise.
        step: The index grows by this from pixel to pixel.
        gap: The index grows by this from tap to tap.
        padding: This is subtracted from the index.
    """

    pixel: int
    tap: int
    step: int = 1
    gap: int = 1
    padding: int = 0

    def fits(self, extent: int, taps: int, pixels: int, behind: int) -> bool:
        """Whether an image that is padded by a number of elements behind its end has that number of pixels."""
        return (extent + self.padding + behind - self.gap * (taps - 1) - 1) // self.step + 1 == pixels

    def paddings(self, extent: int, taps: int, pixels: int) -> range:
        """The paddings that fit with one behind the end: each shorter than what the taps span."""
        most = self.gap * (taps - 1)
        both = self.step * (pixels - 1) + most + 1 - extent  # at least; at most by a step less one more
        return range(max(both - most, 0), min(both + self.step - 1, most) + 1)

    def at(self, pixels: Index, taps: Index) -> Integers:
        """The index in the image that belongs to pixels and taps; an index outside the image is padding."""
        start = self.step * pixels[self.pixel] if self.pixel >= 0 else np.zeros(len(pixels[0]), np.int64)
        return start + (self.gap * taps[self.tap] if self.tap >= 0 else 0) - self.padding


class Convolution(NamedTuple):
    """Three arrays, read as a convolution.

    Attributes:
        side: Which factor is the image, 0 or 1.
        axes: How its index follows, along each of its axes.
        shared: Axes that the weights have in common with the result, as pairs: the weights' axis, the result's axis.
        shapes: The image's shape, the weights' and the result's.
        number: The weights' array.
    """

    side: int
    axes: tuple[Axis, ...]
    shared: tuple[tuple[int, int], ...]
    shapes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    number: int

    @property
    def is_plain(self) -> bool:
        """Whether the image is padded equally on both sides; otherwise unintended steps may fit the extents."""
        image, weights, result = self.shapes
        return all(
            axis.fits(image[n], weights[axis.tap], result[axis.pixel], axis.padding)
            for n, axis in enumerate(self.axes)
            if min(axis.pixel, axis.tap) >= 0
        )

    def wanted(self, result: Integers, weights: Integers) -> tuple[Index, Truth]:
        """The image's index that belongs to elements of the result and of the weights, and whether it is inside."""
        pixels, taps = np.unravel_index(result, self.shapes[2]), np.unravel_index(weights, self.shapes[1])
        found = tuple(axis.at(pixels, taps) for axis in self.axes)
        inside = np.ones(len(result), np.bool_)
        for index, extent in zip(found, self.shapes[0], strict=True):
            inside &= (index >= 0) & (index < extent)
        return found, inside


class Convolved(NamedTuple):
    """A sum that was read as a convolution.

    Attributes:
        way: How it was read.
        wrong: What is wrong.
    """

    way: Convolution
    wrong: tuple[Broken, ...]


def convolved(terms: Terms, arrays: Sequence[TracedArray]) -> Convolved | None:
    """A sum as a convolution, with its errors; None if its arrays do not form one, or the intention is unknown.

    Args:
        terms: Its terms; the factors on each side come from one array.
        arrays: The arrays of the factors, and the result's.
    """
    packed = any(
        unit_bits_of(first_bits(terms.factors[:, side]), own) < own
        for side, own in ((side, 8 * arrays[side].dtype.itemsize) for side in (0, 1))
    )
    way = _likeliest(terms, arrays) if len(terms.result) and not packed else None
    if way is None:
        return None
    weights = terms.factors["element"][:, 1 - way.side].astype(np.int64)
    taps, pixels = np.unravel_index(weights, way.shapes[1]), np.unravel_index(terms.result, way.shapes[2])
    if any((taps[tap] != pixels[pixel]).any() for tap, pixel in way.shared):
        return None  # the error is in the weights' rows, which plain readings find
    image = np.unravel_index(terms.factors["element"][:, way.side].astype(np.int64), way.shapes[0])
    wanted, _ = way.wanted(terms.result, weights)
    if all((one == other).all() for one, other in zip(image, wanted, strict=True)):
        once = _once(terms, way, weights)
        return Convolved(way, () if once is None else (once,))
    wrong = _misplaced(_Taken(image, wanted, taps, pixels), way, weights)
    return None if wrong is None else Convolved(way, (wrong,))


class _Taken(NamedTuple):
    """The index of each term in the image, the index that belongs there, and those of the weights and the result."""

    held: Index
    wanted: Index
    taps: Index
    pixels: Index

    @property
    def apart(self) -> list[Truth]:
        """Along each axis of the image, which terms use another place than they should."""
        return [one != other for one, other in zip(self.held, self.wanted, strict=True)]


def _misplaced(taken: _Taken, way: Convolution, weights: Integers) -> Broken | None:
    """The error of terms that use wrong elements; None if the weights may be in an order of their own."""
    wrong = np.logical_or.reduce(taken.apart)
    unused = 1 - len(np.unique(weights)) / prod(way.shapes[1])
    there, meant = (
        len(np.unique(np.ravel_multi_index(one, way.shapes[0], mode="clip"))) for one in (taken.held, taken.wanted)
    )
    if unused and there >= meant:
        return _of_weights(way, taken.taps, wrong, unused)
    if _is_own_order(way, taken, weights):
        return None
    pixels = any(axis.pixel >= 0 and one.any() for axis, one in zip(way.axes, taken.apart, strict=True))
    return _broken("rows" if pixels else "k", _named(way, taken), way.side, wrong)


def padded(terms: Terms, slid: Convolved) -> Terms:
    """A sum without the weights' elements that are multiplied by padding, a constant from outside the image."""
    way = slid.way
    own = terms.addends["array"] == way.number
    _, inside = way.wanted(terms.added[own], terms.addends["element"][own].astype(np.int64))
    own[own] = ~inside
    return terms._replace(added=terms.added[~own], addends=terms.addends[~own])


def _broken(law: str, named: Named, side: int, wrong: Truth) -> Broken:
    return Broken(law, named, ROLES[side], wrong, int(np.count_nonzero(wrong)), len(wrong), proved=False)


def _likeliest(terms: Terms, arrays: Sequence[TracedArray]) -> Convolution | None:
    """The reading under which most terms agree."""
    some = np.unique(np.linspace(0, len(terms.result) - 1, min(len(terms.result), _SAMPLES)).astype(np.int64))
    tries: list[tuple[float, bool, Convolution]] = []
    for side in (0, 1):
        shapes = arrays[side].shape, arrays[1 - side].shape, arrays[2].shape
        image, weights = (terms.factors["element"][some, one].astype(np.int64) for one in (side, 1 - side))
        numbers = (image, weights, terms.result[some])
        index = [np.unravel_index(one, shape) for one, shape in zip(numbers, shapes, strict=True)]
        for axes in _axes(index, shapes):
            for shared in _shared(axes, shapes):
                sharing = [_share(index[1][tap], index[2][pixel]) for tap, pixel in shared]
                places = [_share(held, axis.at(index[2], index[1])) for held, axis in zip(index[0], axes, strict=True)]
                ties = [one for one, axis in zip(places, axes, strict=True) if min(axis.pixel, axis.tap) < 0] + sharing
                is_tied = 1 in ties and all(one in (0, 1) for one in ties)
                way = Convolution(side, axes, shared, shapes, arrays[1 - side].number)
                tries.append((sum(sharing + places) / len(sharing + places), is_tied, way))
    best = max(tries, key=lambda one: one[0], default=None)
    if best is None or not (best[0] >= _LIKELY or (len(tries) == 1 and best[1])):
        return None
    return None if _is_reversed(best[2], terms) else best[2]


def _share(held: Integers, other: Integers) -> float:
    return np.count_nonzero(held == other) / len(held)


def _axes(index: Sequence[Index], shapes: tuple[tuple[int, ...], ...]) -> Iterator[tuple[Axis, ...]]:
    """The ways in which the image's axes may follow from the others' by their extents."""
    image, weights, result = shapes
    choices: list[list[Axis]] = []
    for number, extent in enumerate(image):
        own = [Axis(pixel, -1) for pixel, other in enumerate(result) if other == extent]
        own += [Axis(-1, tap) for tap, other in enumerate(weights) if other == extent]
        for pixel, tap in product(range(len(result)), range(len(weights))):
            own += _sliding(index, number, (pixel, tap), (extent, weights[tap], result[pixel]))
        choices.append(own)
    for axes in product(*choices):
        pixels, taps = ([one for axis in axes if (one := axis[n]) >= 0] for n in (0, 1))
        slides = any(min(axis.pixel, axis.tap) >= 0 for axis in axes)
        if slides and len(set(pixels)) == len(pixels) and len(set(taps)) == len(taps):
            yield axes


def _sliding(index: Sequence[Index], number: int, by: tuple[int, int], extents: tuple[int, int, int]) -> list[Axis]:
    """The likeliest step, dilation and padding that fit the extents of all three; empty if none does."""
    (pixel, tap), (extent, taps, pixels) = by, extents
    if not 1 < taps < extent:
        return []  # a sum over all of an axis does not slide along it
    tries: list[tuple[int, Axis]] = []
    for gap, step in product(_STEPS, _STEPS):
        plain = Axis(pixel, tap, step, gap)
        paddings = plain.paddings(extent, taps, pixels)
        if paddings:
            apart = plain.at(index[2], index[1]) - index[0][number] - paddings.start
            counts = np.bincount(apart[(apart >= 0) & (apart < len(paddings))], minlength=1)
            tries.append((int(counts.max()), plain._replace(padding=paddings[int(np.argmax(counts))])))
    return [max(tries, key=lambda one: one[0])[1]] if tries else []


def _shared(axes: tuple[Axis, ...], shapes: tuple[tuple[int, ...], ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    """The ways in which the weights' other axes may be those of the result: all that the image lacks are among them."""
    _, weights, result = shapes
    rest = [tap for tap in range(len(weights)) if tap not in {axis.tap for axis in axes}]
    lacking = set(range(len(result))) - {axis.pixel for axis in axes}
    slides = {axis.pixel for axis in axes if min(axis.pixel, axis.tap) >= 0}
    choices = [
        [pixel for pixel, extent in enumerate(result) if extent == weights[tap] and pixel not in slides] for tap in rest
    ]
    for pixels in product(*choices):
        if lacking <= set(pixels) and len(set(pixels)) == len(pixels):
            yield tuple(zip(rest, pixels, strict=True))


def _is_reversed(way: Convolution, terms: Terms) -> bool:
    """Whether all taps are taken in reverse order."""
    taps = list(np.unravel_index(terms.factors["element"][:, 1 - way.side].astype(np.int64), way.shapes[1]))
    for axis in way.axes:
        if min(axis.pixel, axis.tap) >= 0:
            taps[axis.tap] = way.shapes[1][axis.tap] - 1 - taps[axis.tap]
    turned = np.asarray(np.ravel_multi_index(tuple(taps), way.shapes[1]), np.int64)
    wanted, _ = way.wanted(terms.result, turned)
    held = np.unravel_index(terms.factors["element"][:, way.side].astype(np.int64), way.shapes[0])
    return all((one == other).all() for one, other in zip(held, wanted, strict=True))


def _is_own_order(way: Convolution, taken: _Taken, weights: Integers) -> bool:
    """Whether elements of the weights correspond to taps one to one: then they are in an order of their own."""
    stands = list(taken.taps)
    for number, axis in enumerate(way.axes):
        if axis.tap < 0:
            if taken.apart[number].any():
                return False
            continue
        start = axis.step * taken.pixels[axis.pixel] if axis.pixel >= 0 else 0
        tap, rest = np.divmod(taken.held[number] + axis.padding - start, axis.gap)
        if rest.any() or (tap < 0).any() or (tap >= way.shapes[1][axis.tap]).any():
            return False
        stands[axis.tap] = tap
    other = np.ravel_multi_index(tuple(stands), way.shapes[1])
    pairs = np.unique(np.stack((weights, other)), axis=1)
    return len(np.unique(pairs[0])) == pairs.shape[1] == len(np.unique(pairs[1]))


def _of_weights(way: Convolution, taps: Index, wrong: Truth, unused: float) -> Broken:
    """Elements of the weights that are used in place of others, which are never multiplied."""
    stuck = [n for n, (one, extent) in enumerate(zip(taps, way.shapes[1], strict=True)) if len(np.unique(one)) < extent]
    word = "column" if stuck and stuck[0] == len(taps) - 1 else "row"
    detail = f"some stand for others: {unused:.0%} of the elements are never multiplied"
    return _broken("k", Named(f"{word}s-repeated", detail, 2), 1 - way.side, wrong)


def _named(way: Convolution, taken: _Taken) -> Named:
    """What is wrong with the place in the image, along the first axis that is wrong."""
    held, wanted, apart, by = taken.held, taken.wanted, taken.apart, (taken.pixels, taken.taps)
    numbers = [number for number, one in enumerate(apart) if one.any()]
    number, steps = numbers[0], 1 + len(numbers)
    axis = way.axes[number]
    slides = [n for n, one in enumerate(way.axes) if min(one.pixel, one.tap) >= 0]
    word = "column" if number == (slides[-1] if number in slides else len(way.axes) - 1) else "row"
    distances = np.unique((held[number] - wanted[number])[apart[number]])
    if len(numbers) == 1 and len(distances) == 1:
        return Named(f"{word}s-shifted", f"some are shifted by {int(distances[0]):+d} {word}s", 2)
    for what, own, count, place in (
        ("pixel", axis.step, axis.pixel, 0), ("tap", axis.gap, axis.tap, 1)
    ):  # fmt: skip
        if len(numbers) > 1 or min(axis.pixel, axis.tap) < 0:
            break
        along = by[place][count]
        for other in range(max(_STEPS) + 1):
            moved = held[number] - wanted[number] - (other - own) * along
            if other != own and (moved == moved[0]).all():
                detail = f"it moves on by {other} from {what} to {what}, not by {own}"
                return Named(f"{word}s-permuted", detail, 2)
    return Named(f"{word}s-permuted", f"{word}s of other pixels or taps are taken", steps)


def _once(terms: Terms, way: Convolution, weights: Integers) -> Broken | None:
    """Every tap inside the image must be multiplied once into each pixel."""
    results = np.unique(terms.result)
    shape = way.shapes[1]
    summed = [n for n in range(len(shape)) if n not in dict(way.shared)]
    count = prod(shape[n] for n in summed)
    if len(results) * count > _MOST_TAPS:
        return None
    taps = [axis.ravel() for axis in np.indices([shape[n] for n in summed])]
    pixels = np.unravel_index(np.repeat(results, count), way.shapes[2])
    index: list[Integers] = [np.zeros(0, np.int64)] * len(shape)
    for n, one in zip(summed, taps, strict=True):
        index[n] = np.tile(one, len(results))
    for tap, pixel in way.shared:
        index[tap] = pixels[pixel]
    meant = np.asarray(np.ravel_multi_index(tuple(index), shape), np.int64)
    result = np.repeat(results, count)
    _, inside = way.wanted(result, meant)
    size = prod(shape)
    wanted = result[inside] * size + meant[inside]
    held, times = np.unique(terms.result * size + weights, return_counts=True)
    missing, twice = np.setdiff1d(wanted, held), held[times > 1]
    everywhere = np.ones(len(weights), np.bool_)
    if len(twice):
        again = np.isin(terms.result * size + weights, twice)
        detail = f"{len(twice):,} taps are multiplied twice"
        return Broken("once", Named("k-twice", detail), "", again, len(twice), len(wanted))
    if len(missing):
        absent = np.unique(np.stack(np.unravel_index(missing % size, shape))[summed], axis=1)
        detail = f"{absent.shape[1]} of {count} taps are not multiplied into every pixel"
        return Broken("once", Named("k-missing", detail), "", everywhere, len(missing), len(wanted), sure=False)
    return None
