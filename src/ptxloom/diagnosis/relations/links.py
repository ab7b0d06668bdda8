"""Which axis of an array corresponds to which axis of the result, by the majority of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers

_SAMPLES: Final = 512  # results by which links are chosen
_LIKELY: Final = 0.6

Shape = tuple[int, ...]


class Link(NamedTuple):
    """How the index of an element along an axis follows from that of the result.

    Attributes:
        axis: The axis of the result; -1: the index does not follow from the result's.
        scale: By what that index is multiplied.
    """

    axis: int = -1
    scale: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """How an array corresponds to a result.

    Attributes:
        shape: The shape of the array.
        result: The shape of the result.
        by: A link for each axis of the array.
        stated: Whether the user declared it.
        again: Whether an element is used again besides its sum, as by `softmax`.
    """

    shape: Shape
    result: Shape
    by: tuple[Link, ...]
    stated: bool = False
    again: bool = False

    def base(self, result: Integers) -> Integers:
        """(axes, results) the array index that corresponds to each element of the result; 0 along free axes."""
        index = np.unravel_index(result, self.result)
        none = np.zeros(len(result), np.int64)
        return np.stack([index[link.axis] * link.scale if link.axis >= 0 else none for link in self.by])

    def apart(self, result: Integers, element: Integers) -> Integers:
        """(axes, leaves) the distance of elements from the index that corresponds to their result."""
        return np.stack(np.unravel_index(element, self.shape)) - self.base(result)

    @property
    def free(self) -> tuple[int, ...]:
        """The axes that correspond to no axis of the result."""
        return tuple(number for number, link in enumerate(self.by) if link.axis < 0)


def fitted(result: Integers, element: Integers, shape: Shape, result_shape: Shape) -> Links | None:
    """The links under which most elements agree; None if there are none.

    Args:
        result: (leaves,) the stored elements.
        element: (leaves,) the elements of one array that they were computed from.
        shape: The shape of that array.
        result_shape: The shape of the stored one.
    """
    results = np.unique(result)
    chosen = results[np.unique(np.linspace(0, len(results) - 1, min(len(results), _SAMPLES)).astype(np.int64))]
    own = np.isin(result, chosen)
    result, element = result[own], element[own]
    held, base = np.unravel_index(element, shape), np.unravel_index(result, result_shape)
    links: list[Link] = []
    for axis, extent in enumerate(shape):
        options = [Link(), *_options(axis, len(shape), extent, result_shape)]
        each = np.unique(np.stack((result, held[axis])), axis=1)
        usual = int(np.median(np.unique(each[0], return_counts=True)[1]))
        shares = [_share(held[axis] - (base[one.axis] * one.scale if one.axis >= 0 else 0), usual) for one in options]
        best = int(np.argmax(shares))
        if shares[best] < _LIKELY:
            return None
        links.append(options[best])
    return Links(shape, result_shape, tuple(links))


def _options(axis: int, axes: int, extent: int, result: Shape) -> list[Link]:
    """Axes of the result that an axis may correspond to: those of the same extent, then those at the same place."""
    order = sorted(
        range(len(result)), key=lambda one: (result[one] != extent, (len(result) - one) != (axes - axis), one)
    )
    found: list[Link] = []
    for one in order:
        scales = [1]
        if result[one] and extent > result[one]:
            scales += [scale for scale in {extent // result[one], -(-extent // result[one])} if scale > 1]
        found += [Link(one, scale) for scale in scales]
    return found


def _share(values: Integers, usual: int) -> float:
    """The fraction of values that equal one of the most frequent ones."""
    counts = np.sort(np.unique(values, return_counts=True)[1])[::-1]
    return float(counts[:usual].sum() / max(len(values), 1))
