"""Types of values as rows spell them: `i32`, `float`, `<32 x i32>` (one element per lane), `<64 x half>` (two)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ptxloom.isa.limits import LANES

_SHAPE: Final = re.compile(r"<(\d+) x (\w+)>")
_SUFFIX: Final = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
_BITS: Final = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64}


_cached: Final = lru_cache(1024)  # few types, used by every word


@_cached
def element(type_: str) -> str:
    """The element type of a vector type; a scalar type is its own."""
    found = _SHAPE.fullmatch(type_)
    return found[2] if found else type_


@_cached
def count(type_: str) -> int:
    """The number of elements of a vector type; 0 for a scalar."""
    found = _SHAPE.fullmatch(type_)
    return int(found[1]) if found else 0


@_cached
def width(scalar: str) -> int:
    """The bits of a scalar type."""
    return _BITS[scalar] if scalar in _BITS else int(scalar[1:])


@_cached
def vector(scalar: str, lanes: int = LANES) -> str:
    """The type of `lanes` elements."""
    return f"<{lanes} x {scalar}>"


@_cached
def like(type_: str, scalar: str) -> str:
    """The type of the same shape with other elements."""
    lanes = count(type_)
    return vector(scalar, lanes) if lanes else scalar


@_cached
def integer_like(type_: str) -> str:
    """The integer type of the same shape and width."""
    return like(type_, f"i{width(element(type_))}")


def suffix(type_: str) -> str:
    """The spelling of a type in an intrinsic's name: `v32f32`."""
    scalar, lanes = element(type_), count(type_)
    name = "p0" if scalar == "ptr" else _SUFFIX.get(scalar, scalar)
    return f"v{lanes}{name}" if lanes else name
