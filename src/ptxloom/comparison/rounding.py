"""The error allowed in arithmetic, from the rounding of its types.

A sum of n products in a type of relative spacing eps is off by about `eps / 2 * sqrt(n) * (|sum| + |products|)`, where
`|products|` is the root of the sum of their squares: rounding errors have either sign, both in partial sums that grow
and in partial sums that wander. Four times that is allowed, plus the spacing of the result's type.

Sums are expected in a type no coarser than the result's: summing in halves for a float result is more than that float's
rounding. Callers that intend it say so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.fragments.number_types import FLOATS, is_float

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

MARGIN: Final = 4
"""How many times the error to be expected is allowed."""
UNKNOWN_TERMS: Final = 4096
"""The length of sums of which nothing is known."""
_TF32: Final = 2.0 ** -FLOAT_FORMATS["tf32"].fraction  # it is stored in a float32


@dataclass(frozen=True, slots=True)
class Precision:
    """The types that a kernel computes in, as PTX calls them.

    Attributes:
        sums: The type of sums: of the accumulators for tensor cores.
        factors: The type of factors; empty if they are not rounded.
        converts: Whether the kernel itself makes factors, so that they are rounded whatever its arrays hold.

    Example:
        >>> Precision("f32", "tf32").factor_eps
        0.0009765625
    """

    sums: str = "f32"
    factors: str = ""
    converts: bool = False

    @property
    def eps(self) -> float:
        """The relative spacing of sums."""
        return eps_of_type(self.sums)

    def behind(self, dtype: np.dtype[Any], accumulate: str = "") -> Precision:
        """This precision as allowed by default: with sums no coarser than the type of the results.

        Args:
            dtype: The type of the results.
            accumulate: The type that sums may be rounded to, if it is stated.

        Example:
            >>> Precision("f16").behind(np.dtype(np.float32)).sums, Precision("f16").behind(np.dtype(np.float16)).sums
            ('f32', 'f16')
        """
        if accumulate:
            return replace(self, sums=accumulate)
        return replace(self, sums=assumed(dtype).sums) if 0 < eps_of(dtype) < self.eps else self

    def given(self, dtypes: Iterable[np.dtype[Any]]) -> Precision:
        """This precision for arrays of these types: without factors if no array is coarser than that."""
        finest = min((eps for dtype in dtypes if (eps := eps_of(dtype))), default=1.0)
        return self if self.converts or finest < self.factor_eps else Precision(self.sums)

    @property
    def factor_eps(self) -> float:
        """The relative spacing of factors; 0 if they are not rounded."""
        return eps_of_type(self.factors) if self.factors else 0.0


def assumed(dtype: np.dtype[Any]) -> Precision:
    """The precision assumed if only the type of the results is known."""
    return Precision("f64" if 0 < eps_of(dtype) < eps_of_type("f32") else "f32")


def eps_of_type(name: str) -> float:
    """The relative spacing of a floating-point type of PTX."""
    return _TF32 if name == "tf32" else eps_of(np.dtype(FLOATS[name]))


def eps_of(dtype: np.dtype[Any]) -> float:
    """The relative spacing of an array's type; 0 for integers."""
    return float(_finfo(dtype).eps) if is_float(dtype) or dtype.kind == "c" else 0.0


def _finfo(dtype: np.dtype[Any]) -> Any:
    """The properties of a floating-point type, from NumPy or, for its own types, ml_dtypes."""
    plain: Any = np.finfo if dtype.type.__module__ == "numpy" else ml_dtypes.finfo
    return plain(dtype)


def of_sum(eps: float, terms: int, value: NDArray[Any], products: NDArray[Any]) -> NDArray[Any]:
    """The error to be expected of sums.

    Args:
        eps: The relative spacing of the type that they are rounded to.
        terms: The number of terms of each.
        value: The sums.
        products: For each, the root of the sum of its terms' squares.
    """
    error: NDArray[Any] = eps / 2 * np.sqrt(terms) * (np.abs(value) + products)
    return error


def allowed(
    dtype: np.dtype[Any], wanted: NDArray[Any], error: NDArray[Any] | None, precision: Precision, terms: int
) -> NDArray[Any]:
    """The allowed distance of each element from its expected value.

    Args:
        dtype: The type that holds the result.
        wanted: The expected value, in double precision.
        error: The error to be expected of each; None if only the values are known.
        precision: The types that the kernel computes in.
        terms: The length of the sums, where `error` is None.
    """
    magnitude = np.where(np.isfinite(wanted), np.abs(wanted), 0.0)
    if error is None:
        size = float(np.sqrt(np.mean(magnitude * magnitude))) if magnitude.size else 0.0
        error = of_sum(precision.eps, terms, magnitude, np.full_like(magnitude, size)) + precision.factor_eps * size
    spacing = np.maximum(eps_of(dtype) * magnitude, _smallest(dtype))
    near: NDArray[Any] = MARGIN * np.nan_to_num(error, posinf=0.0) + spacing
    return near


def _smallest(dtype: np.dtype[Any]) -> float:
    """The smallest number above 0 that a type holds, which is the spacing of its numbers near 0."""
    return float(_finfo(dtype).smallest_subnormal)
