"""The types of PTX as NumPy holds them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOATS: Final[dict[str, Any]] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "tf32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}
"""PTX's name -> NumPy's type, or that of ml_dtypes."""
_INTEGERS: Final = {"s": "int", "u": "uint", "b": "uint"}
_NARROW_INTEGER: Final = re.compile(r"u?int[124]")  # of ml_dtypes


@cache
def by_ptx_name() -> dict[str, np.dtype[Any]]:
    """The types of PTX that NumPy or ml_dtypes has.

    Example:
        >>> by_ptx_name()["b16"], by_ptx_name()["e4m3"]
        (dtype('uint16'), dtype(float8_e4m3fn))
    """
    whole = {
        f"{letter}{bits}": np.dtype(f"{kind}{bits}") for letter, kind in _INTEGERS.items() for bits in (8, 16, 32, 64)
    }
    return {**whole, **{name: np.dtype(kind) for name, kind in FLOATS.items()}}


def ptx_name(dtype: np.dtype[Any]) -> str | None:
    """The PTX name of a number type; None if PTX has no such type.

    Example:
        >>> [ptx_name(np.dtype(name)) for name in ("float32", "uint8", "bfloat16", "complex64")]
        ['f32', 'u8', 'bf16', None]
    """
    return next((name for name, known in by_ptx_name().items() if known == dtype), None)


def is_array(value: object) -> TypeGuard[NDArray[Any]]:
    """Whether it is a NumPy array, whatever it holds."""
    return isinstance(value, np.ndarray)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether an array of this type holds floating-point numbers, those of ml_dtypes among them."""
    return dtype.kind == "f" or (not dtype.hasobject and dtype.name.startswith(("float", "bfloat")))


def is_complex(dtype: np.dtype[Any]) -> bool:
    """Whether it holds complex numbers."""
    return dtype.kind == "c" or dtype.name in {"complex32", "bcomplex32"}


def is_number(dtype: np.dtype[Any]) -> bool:
    """Whether it holds numbers of any kind."""
    integer = dtype.kind in "biu" or _NARROW_INTEGER.fullmatch(dtype.name) is not None
    return integer or is_float(dtype) or is_complex(dtype)
