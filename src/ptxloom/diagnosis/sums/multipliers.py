"""Elements by which products are multiplied on their way to a sum: scales of blocks, factors of slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers, Truth

ARRAY_BITS: Final = 40  # of a number of array and element, those of the element
ELEMENT_MASK: Final = (1 << ARRAY_BITS) - 1


class Multipliers(NamedTuple):
    """Elements by which products are multiplied before they are added to a sum.

    Attributes:
        by: (products, 2) array and element in one number; -1: none.
        ways: (products, 2) the paths of these.
    """

    by: Integers
    ways: Integers

    @property
    def arrays(self) -> list[int]:
        """The numbers of the arrays that they are of."""
        codes = np.unique(self.by)
        return np.unique(codes[codes >= 0] >> ARRAY_BITS).tolist()

    def of(self, number: int) -> tuple[Truth, Integers, Integers]:
        """Which products were multiplied by an element of an array, the element, and its path; of two, the last."""
        own = self.by >> ARRAY_BITS == number
        at = np.argmax(own, axis=1)
        rows = np.arange(len(at))
        return own.any(axis=1), self.by[rows, at] & ELEMENT_MASK, self.ways[rows, at]


class Slices(NamedTuple):
    """Matrix products, or chains of them, that are added to elements of an array after they were multiplied.

    Attributes:
        result: (slices,) the flat number of the element that they are added to.
        product: (slices,) the number of the product.
        scales: What each was multiplied by.
    """

    result: Integers
    product: Integers
    scales: Multipliers
