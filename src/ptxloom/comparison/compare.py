"""Compare an array with its reference."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ptxloom.comparison import rounding
from ptxloom.comparison.model import Comparison, Difference, Downgrade, Reference, Tolerance
from ptxloom.comparison.moves import moves
from ptxloom.comparison.places import places
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.fragments.number_types import is_complex, is_float, is_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.comparison.model import Pattern
    from ptxloom.comparison.rounding import Precision

    Array = NDArray[Any]


def compare(
    got: Array,
    wanted: Array | Reference,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    name: str = "the array",
    precision: Precision | None = None,
    grid: tuple[int, ...] = (),
) -> Comparison:
    """Compare every element of an array with its expected value.

    NaN is right where NaN is expected, and an infinity where the same infinity is. Without a tolerance, integers must
    be equal, and floating-point numbers may differ by what rounding can explain.

    Args:
        got: The array.
        wanted: The expected array, of the same shape.
        rtol: The relative difference allowed for each element; if only `atol` is given, 0. Both 0: equal bits.
        atol: The absolute difference allowed; if only `rtol` is given, 0.
        name: The array's name in the report.
        precision: The types in which the values were computed; by default float32, or float64 for an array of these.
            Sums in a coarser type than the array's are not tolerated: they are a `Downgrade`.
        grid: The grid of the launch, so that the tile of a CTA is reported as one.

    Returns:
        What differs, how much, and in what pattern.

    Raises:
        UsageError: The arrays cannot be compared.

    Example:
        >>> ones = np.ones((4, 4), np.float32)
        >>> compare(ones, ones * (1 + 1e-6)).passed, compare(ones, ones * 1.5).patterns[0].sentence
        (True, 'every element')
    """
    must_be(np.ndarray, name, got, "a NumPy array")
    reference = wanted if isinstance(wanted, Reference) else Reference(np.asarray(wanted), rtol, atol)
    must_compare(name, got, reference)
    own = precision or rounding.assumed(got.dtype)
    wanted_in = own.behind(got.dtype, reference.accumulate)
    judge = _Judge(got, reference, _tolerance(got.dtype, reference, wanted_in), wanted_in)
    found = judge.comparison(name, grid)
    return found if found.passed or own == wanted_in else replace(found, downgrade=_downgrade(judge, own))


def differing(got: Array, reference: Reference, *, precision: Precision | None = None) -> NDArray[np.bool_]:
    """Which elements of an array `compare` calls wrong: the same verdict, without a report.

    Args:
        got: The array.
        reference: What it should be, of the same shape.
        precision: As in `compare`.

    Example:
        >>> differing(np.array([1, 2]), Reference(np.array([1, 3]))).tolist()
        [False, True]
    """
    wanted_in = (precision or rounding.assumed(got.dtype)).behind(got.dtype, reference.accumulate)
    return _Judge(got, reference, _tolerance(got.dtype, reference, wanted_in), wanted_in).held().wrong


def _downgrade(judge: _Judge, own: Precision) -> Downgrade | None:
    """The sums of a kernel that are coarser than they should be, if that alone explains what differs."""
    wanted = judge.reference
    if not judge.tolerance.sums or (wanted.error is not None and wanted.coarse_error is None):
        return None
    coarse = replace(wanted, error=None if wanted.error is None else wanted.coarse_error)
    again = _Judge(judge.got, coarse, replace(judge.tolerance, sums=own.sums), own).comparison("", ())
    if not again.passed or again.largest is None:
        return None
    return Downgrade(own.sums, judge.precision.sums, again.largest.allowed)


def must_compare(name: str, got: Array, reference: Reference) -> None:
    """Refuse arrays that cannot be compared.

    Raises:
        UsageError: With the reason.
    """
    wanted = reference.array
    if wanted.shape != got.shape:
        raise UsageError(f"the shape of {reference.against}", list(wanted.shape), f"{list(got.shape)}, that of {name}")
    for tolerance, value in (("rtol", reference.rtol), ("atol", reference.atol)):
        if value is not None and not (isinstance(value, (int, float)) and value >= 0 and isfinite(value)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(tolerance, value, "a number from 0 up")
    numbers = is_number(got.dtype) and is_number(wanted.dtype) and is_complex(got.dtype) == is_complex(wanted.dtype)
    if not numbers and got.dtype != wanted.dtype:
        raise UsageError(f"the type of {reference.against}", wanted.dtype.name, f"{got.dtype}, that of {name}")


def _tolerance(dtype: np.dtype[Any], reference: Reference, precision: Precision) -> Tolerance:
    if reference.rtol is not None or reference.atol is not None:
        return Tolerance(float(reference.rtol or 0), float(reference.atol or 0))
    if not is_float(dtype) and not is_complex(dtype):
        return Tolerance(0.0, 0.0)
    terms = reference.terms if reference.error is not None else rounding.UNKNOWN_TERMS
    return Tolerance(sums=precision.sums, terms=terms)


class _Held(NamedTuple):
    """Each element's actual and expected value, their distance, the allowed distance, and whether it is wrong."""

    got: Array
    wanted: Array
    error: Array
    allowed: Array
    wrong: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    got: Array
    reference: Reference
    tolerance: Tolerance
    precision: Precision

    def held(self) -> _Held:
        """Compare the elements with their expected values."""
        wanted = self.reference.array
        got = wide(self.got)
        values = wide(wanted) if is_number(wanted.dtype) else got
        with np.errstate(all="ignore"):  # of infinities
            error = np.abs(got - values)
            allowed = self._allowed(values)
            exact = self.tolerance.is_exact
            wrong = self._differs_in_bits() if exact else _differs(got, values, error, allowed)
        return _Held(got, values, error, allowed, wrong)

    def comparison(self, name: str, grid: tuple[int, ...]) -> Comparison:
        got, values, error, allowed, wrong = self.held()
        lost = wrong & np.isnan(got) & ~np.isnan(values)
        infinite = wrong & np.isinf(got) & ~np.isinf(values)
        return Comparison(
            name,
            self.reference.against,
            self.got.dtype.name,
            self.got.shape,
            self.tolerance,
            int(wrong.sum()),
            int(lost.sum()),
            int(infinite.sum()),
            self._difference(_first(wrong), error, allowed),
            self._difference(_largest(error, wrong), error, allowed),
            self._patterns(got, values, allowed, wrong, grid),
        )

    def _allowed(self, wanted: Array) -> Array:
        rtol, atol = self.tolerance.rtol, self.tolerance.atol
        if rtol is not None and atol is not None:
            allowed: Array = atol + rtol * np.abs(wanted)
            return allowed
        return rounding.allowed(self.got.dtype, wanted, self.reference.error, self.precision, self.tolerance.terms)

    def _differs_in_bits(self) -> NDArray[np.bool_]:
        wanted = self.reference.array
        wanted = wanted if wanted.dtype == self.got.dtype else wanted.astype(self.got.dtype)
        if not self.got.size or not self.got.dtype.itemsize:
            return np.zeros(self.got.shape, np.bool_)
        first, second = (np.frombuffer(one.tobytes(), np.uint8).reshape(one.size, -1) for one in (self.got, wanted))
        different: NDArray[np.bool_] = (first != second).any(axis=1).reshape(self.got.shape)
        return different

    def _difference(self, at: int | None, error: Array, allowed: Array) -> Difference | None:
        if at is None or not is_number(self.got.dtype):
            return None
        index = tuple(int(n) for n in np.unravel_index(at, self.got.shape))
        got, wanted = (_number(one.reshape(-1)[at]) for one in (self.got, self.reference.array))
        return Difference(index, got, wanted, float(error.flat[at]), float(allowed.flat[at]))

    def _patterns(
        self, got: Array, wanted: Array, allowed: Array, wrong: NDArray[np.bool_], grid: tuple[int, ...]
    ) -> tuple[Pattern, ...]:
        if not wrong.any() or wrong.ndim == 0:
            return ()
        numbers = wrong & np.isfinite(got)
        return (*places(wrong, grid), *moves(got, wanted, allowed, numbers if numbers.any() else wrong))


def _differs(got: Array, wanted: Array, error: Array, allowed: Array) -> NDArray[np.bool_]:
    """Which elements are too far apart; a NaN must be where one is expected."""
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    near = np.isfinite(got) & np.isfinite(wanted) & (error <= allowed)
    different: NDArray[np.bool_] = ~(same | near)
    return different


def _first(wrong: NDArray[np.bool_]) -> int | None:
    return int(np.argmax(wrong)) if wrong.any() else None


def _largest(error: Array, wrong: NDArray[np.bool_]) -> int | None:
    """The element that differs most, among those that are wrong if any is."""
    asked = np.where(np.isfinite(error) & (wrong | ~wrong.any()), error, -1.0)
    return int(np.argmax(asked)) if asked.size and float(asked.max()) >= 0 else None


def wide(array: Array) -> Array:
    """Numbers in double precision; zeros for other types."""
    if not is_number(array.dtype):
        return np.zeros(array.shape)
    return array.astype(np.complex128 if is_complex(array.dtype) else np.float64)


def _number(value: Any) -> complex:
    """A number of Python: an integer if it is one."""
    if is_complex(value.dtype):
        return complex(value)
    return float(value) if is_float(value.dtype) else int(value)
