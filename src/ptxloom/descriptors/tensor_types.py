"""The enumerations of tensor maps, by the names of the CUDA driver API (`CUtensorMapDataType` and its like)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ptxloom.descriptors.swizzling import swizzle_mode
from ptxloom.diagnostics import UsageError


@dataclass(frozen=True, slots=True)
class DataType:
    """What a tensor's elements are.

    Attributes:
        name: Without `CU_TENSOR_MAP_DATA_TYPE_`, such as "FLOAT16".
        code: In the map.
        element_bytes: How wide an element is.
        is_float: Whether what is outside can be filled with NaN.
        rounds: Whether what is loaded is rounded to tf32.
    """

    name: str
    code: int
    element_bytes: int
    is_float: bool = False
    rounds: bool = False


DATA_TYPES: Final[dict[str, DataType]] = {
    kind.name: kind
    for kind in (
        DataType("UINT8", 0, 1),
        DataType("UINT16", 1, 2),
        DataType("UINT32", 2, 4),
        DataType("INT32", 3, 4),
        DataType("UINT64", 4, 8),
        DataType("INT64", 5, 8),
        DataType("FLOAT16", 6, 2, is_float=True),
        DataType("FLOAT32", 7, 4, is_float=True),
        DataType("FLOAT64", 9, 8, is_float=True),
        DataType("BFLOAT16", 10, 2, is_float=True),
        DataType("FLOAT32_FTZ", 8, 4, is_float=True),
        DataType("TFLOAT32", 7, 4, is_float=True, rounds=True),
        DataType("TFLOAT32_FTZ", 8, 4, is_float=True, rounds=True),
    )
}
"""By name, in the order of the driver's enumeration."""
INTERLEAVES: Final[dict[str, int]] = {"none": 0, "16B": 16, "32B": 32}
"""The bytes of a slice, which takes the place of an element."""
SWIZZLES: Final[tuple[str, ...]] = ("none", "32B", "64B", "128B")
"""In the order of their codes."""
L2_PROMOTIONS: Final[tuple[str, ...]] = ("none", "64B", "128B", "256B")
OOB_FILLS: Final[tuple[str, ...]] = ("none", "nan")
"""Zeros, or `NAN_REQUEST_ZERO_FMA`: 0x7ff7 in every 16 bits."""


def data_type(name: str) -> DataType:
    """The data type of a name.

    Raises:
        UsageError: There is none, or none on sm_90.
    """
    found = DATA_TYPES.get(name)
    if found is None:
        raise UsageError("data_type", name, f"one of {', '.join(DATA_TYPES)}")
    return found


def swizzle_bytes(name: str) -> int:
    """How wide a row is in shared memory; 0 without a swizzle."""
    return 0 if name == "none" else swizzle_mode(name).span_bytes
