"""Arrays that launch files describe: made here, within a budget of memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.diagnostics import PtxloomError
from ptxloom.fragments.number_types import is_complex, is_float

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class NoFill(PtxloomError):  # noqa: N818 - reads as the rest of the sentence it is part of
    """A table does not make an array; the message is the rest of a sentence."""


def filled(source: str, shape: tuple[int, ...], dtype: np.dtype[Any], table: Mapping[str, Any]) -> NDArray[Any]:
    """An array.

    Args:
        source: How it is filled, a key of `launch_keys.FILLS`.
        shape: Its extents, for which there is room.
        dtype: Its type.
        table: The other keys.

    Raises:
        NoFill: The limits hold no number of the type.
    """
    with np.errstate(all="ignore"):  # what is too large for the type is infinite, as in C
        return _filled(np.random.default_rng(table.get("seed", 0)), source, shape, dtype, table)


def _filled(
    rng: np.random.Generator, source: str, shape: tuple[int, ...], dtype: np.dtype[Any], table: Mapping[str, Any]
) -> NDArray[Any]:
    match source:
        case "empty":  # no number, where there is one for that
            return np.full(math.prod(shape) * dtype.itemsize, 0xFF, np.uint8).view(dtype).reshape(shape)
        case "zeros" | "ones":
            return np.full(shape, int(source == "ones"), dtype)
        case "arange":
            return np.arange(math.prod(shape)).astype(dtype).reshape(shape)
        case "normal" | "random" if source == "normal" or is_float(dtype) or is_complex(dtype):
            return rng.standard_normal(shape).astype(dtype)
        case "uniform" if is_float(dtype) or is_complex(dtype):
            return _uniform(rng, shape, dtype, table)
        case _:
            return _integers(rng, shape, dtype, table)


def _uniform(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], table: Mapping[str, Any]
) -> NDArray[Any]:
    low, high = (float(table.get(key, other)) + 0.0 for key, other in (("low", 0), ("high", 1)))  # -0.0 is 0.0
    if not (low <= high and math.isfinite(high - low)):
        raise NoFill(f"has low = {low:g} and high = {high:g}; the first must be the smaller, both finite")
    return rng.uniform(low, high, shape).astype(dtype)


def _integers(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], table: Mapping[str, Any]
) -> NDArray[Any]:
    """Whole numbers, also in floating-point types, where the default limits are numbers that the type holds exactly."""
    whole = not (is_float(dtype) or is_complex(dtype))
    least, greatest = _range(dtype) if whole else (-4, 4)
    low, high = table.get("low", least), table.get("high", greatest)
    for value in (low, high):
        if not (math.isfinite(value) and float(value).is_integer() and (not whole or least <= value <= greatest)):
            allowed = f"from {least} to {greatest}, as the type holds" if whole else "a whole one"
            raise NoFill(f"has the limit {value!r}; it must be {allowed}")
    if not low <= high or not (whole or max(abs(low), abs(high)) < 1 << 63):
        raise NoFill(f"has low = {low} and high = {high}; the first must be the smaller, both within 64 bits")
    drawn = dtype if dtype.kind in "iu" else np.dtype(np.int64)
    return rng.integers(int(low), int(high), shape, drawn, endpoint=True).astype(dtype)


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest of an integer type."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    bits = int(dtype.name.lstrip("uint"))  # of ml_dtypes
    return (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
