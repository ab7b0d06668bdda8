"""Values with the error to expect from a kernel's arithmetic."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.comparison import rounding
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.fragments.number_types import is_complex, is_float

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ptxloom.comparison.rounding import Precision

    Array = NDArray[Any]

MOST_ELEMENTS: Final = 1 << 27
"""Elements that an expression may make at a step; each takes 16 bytes."""
MOST_PRODUCTS: Final = 1 << 37
"""Products that a matrix product may take."""
_EXACT: Final = float(1 << 53)  # below it, double precision holds every integer


class NoQuantity(PtxloomError):  # noqa: N818 - reads as the rest of the sentence it is part of
    """Two values cannot be combined; the message is the end of a sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """Numbers, and the error to expect from a kernel that computes them.

    Attributes:
        value: In double precision; integers as int64, which wraps as the kernel's do.
        error: The error to be expected of each, or one for all.
        terms: The length of the longest sum in it.
        eps: The relative spacing of the type that it is stored in; 0 for computed values and integers.
        precision: What the kernel computes in.
    """

    value: Array
    error: Array
    terms: int
    eps: float
    precision: Precision

    @classmethod
    def of(cls, value: Array, precision: Precision) -> Quantity:
        """The quantity of an array argument."""
        if is_complex(value.dtype):
            kind: type[Any] = np.complex128
        else:
            kind = np.float64 if is_float(value.dtype) else np.int64
        return cls(value.astype(kind), np.zeros(()), 0, rounding.eps_of(value.dtype), precision)

    @property
    def is_integer(self) -> bool:
        """Whether it holds integers, which are never rounded."""
        return self.value.dtype.kind == "i"

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the value."""
        return self.value.shape

    def made(self, value: Array, error: Array, *others: Quantity, terms: int = 0) -> Quantity:
        """The quantity computed from this and others, rounded once more unless it is an integer."""
        if value.dtype.kind == "b":
            value = value.astype(np.int64)
        exact = value.dtype.kind == "i"
        error = np.zeros(()) if exact else error + self.precision.eps / 2 * np.abs(value)
        longest = max(terms, self.terms, *(one.terms for one in others)) if others else max(terms, self.terms)
        return Quantity(value, error, longest, 0.0 if exact else 2.0**-52, self.precision)

    def plus(self, other: Quantity) -> Quantity:
        """The sum."""
        self._fits(other, "+")
        return self.made(self.value + other.value, self.error + other.error, other)

    def minus(self, other: Quantity) -> Quantity:
        """The difference."""
        self._fits(other, "-")
        return self.made(self.value - other.value, self.error + other.error, other)

    def times(self, other: Quantity) -> Quantity:
        """The product, element by element."""
        self._fits(other, "*")
        error = np.abs(self.value) * other.error + np.abs(other.value) * self.error
        return self.made(self.value * other.value, error, other)

    def over(self, other: Quantity) -> Quantity:
        """The quotient."""
        self._fits(other, "/")
        value = self.value / other.value
        return self.made(value, (self.error + np.abs(value) * other.error) / np.abs(other.value), other)

    def negative(self) -> Quantity:
        """With the other sign."""
        return replace(self, value=-self.value)

    def transposed(self) -> Quantity:
        """With the last two axes exchanged."""
        if self.value.ndim < 2:
            return self
        error = self.error.swapaxes(-1, -2) if self.error.ndim >= 2 else self.error
        return replace(self, value=self.value.swapaxes(-1, -2), error=error)

    def product(self, other: Quantity) -> Quantity:
        """The matrix product."""
        self._multiplies(other)
        if self.is_integer and other.is_integer:
            return self.made(_integer_product(self.value, other.value), np.zeros(()), other, terms=self.shape[-1])
        (left, left_error), (right, right_error) = self._as_factor(), other._as_factor()
        value = left @ right
        first, second = np.abs(left), np.abs(right)
        squares = np.sqrt((first * first) @ (second * second))
        terms = self.shape[-1]
        error = left_error @ second + first @ right_error + rounding.of_sum(self.precision.eps, terms, value, squares)
        return self.made(value, error, other, terms=terms)

    def _as_factor(self) -> tuple[Array, Array]:
        """Value and error, rounded to the type that factors have if that is coarser; integers as numbers."""
        value = self.value.astype(np.float64) if self.is_integer else self.value
        error = np.broadcast_to(self.error, value.shape)
        if self.eps < self.precision.factor_eps and not self.is_integer:
            error = error + self.precision.factor_eps / 2 * np.abs(value)
        return value, error

    def _multiplies(self, other: Quantity) -> None:
        first, second = self.shape, other.shape
        if not first or not second or first[-1] != second[-2 if len(second) > 1 else 0]:
            raise NoQuantity(f"cannot multiply matrices of shapes {list(first)} and {list(second)}")
        try:
            outer = np.broadcast_shapes(first[:-2], second[:-2])
        except ValueError:
            raise NoQuantity(f"cannot multiply matrices of shapes {list(first)} and {list(second)}") from None
        shape = (*outer, *first[-2:-1], *(second[-1:] if len(second) > 1 else ()))
        must_have_room(shape)
        if prod(shape) * first[-1] > MOST_PRODUCTS:
            raise NoQuantity(f"takes {prod(shape) * first[-1]:,} products; {MOST_PRODUCTS:,} are the most")

    def _fits(self, other: Quantity, sign: str) -> None:
        try:
            must_have_room(np.broadcast_shapes(self.shape, other.shape))
        except ValueError:
            raise NoQuantity(f"cannot take {list(self.shape)} {sign} {list(other.shape)}: the shapes differ") from None


def must_have_room(shape: tuple[int, ...]) -> None:
    """Refuse an array that would be too large.

    Raises:
        NoQuantity: It is too large; the text says how large.
    """
    if prod(shape) > MOST_ELEMENTS:
        raise NoQuantity(f"would have {prod(shape):,} elements; {MOST_ELEMENTS:,} are the most")


def _integer_product(left: Array, right: Array) -> Array:
    """The product of integers, modulo 2**64; computed in floating point, which is faster, where that is exact."""
    largest = [float(np.max(np.abs(one.astype(np.float64)), initial=0.0)) for one in (left, right)]
    if largest[0] * largest[1] * left.shape[-1] < _EXACT:
        return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64)
    product: Array = left @ right
    return product


def elementwise(of: Quantity, function: Callable[[Array], Array], slope: Callable[[Array, Array], Array]) -> Quantity:
    """A function of each number.

    Args:
        of: The numbers.
        function: Maps a number to its value.
        slope: Maps number and value to the derivative there.
    """
    value = function(of.value)
    return of.made(value, of.error * np.abs(slope(of.value, value)))
