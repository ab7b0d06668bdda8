"""The enumerations of tensor maps, by the names of the CUDA driver API (`CUtensorMapDataType` and its like)."""

from __future__ import annotations

from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.swizzling import swizzle_mode
from ptxloom.diagnostics import UsageError


@dataclass(frozen=True, slots=True)
class DataType:
    """A type of a tensor's elements.

    Attributes:
        name: The name without `CU_TENSOR_MAP_DATA_TYPE_`, such as "FLOAT16".
        code: Its code in the map.
        bits: The width of an element in the tensor.
        is_float: Whether elements outside can be filled with NaN.
        rounds: Whether loads are rounded to tf32.
        is_padded: Whether 16 elements take 16 bytes of shared memory, whose last bytes are unused.
    """

    name: str
    code: int
    bits: int
    is_float: bool = False
    rounds: bool = False
    is_padded: bool = False

    @property
    def element_bytes(self) -> int:
        """The bytes that hold an element: one, for elements that share a byte."""
        return max(1, self.bits // 8)

    @property
    def box_bits(self) -> int:
        """The width of an element in shared memory, padding included."""
        return 8 if self.is_padded else self.bits

    @property
    def is_narrow(self) -> bool:
        """Whether elements share a byte: types that came with sm_100."""
        return self.bits < 8

    @property
    def unit_bytes(self) -> int:
        """The alignment of address and strides."""
        return 32 if self.is_padded else 16


DATA_TYPES: Final[dict[str, DataType]] = {
    kind.name: kind
    for kind in (
        DataType("UINT8", 0, 8),
        DataType("UINT16", 1, 16),
        DataType("UINT32", 2, 32),
        DataType("INT32", 3, 32),
        DataType("UINT64", 4, 64),
        DataType("INT64", 5, 64),
        DataType("FLOAT16", 6, 16, is_float=True),
        DataType("FLOAT32", 7, 32, is_float=True),
        DataType("FLOAT64", 9, 64, is_float=True),
        DataType("BFLOAT16", 10, 16, is_float=True),
        DataType("FLOAT32_FTZ", 8, 32, is_float=True),
        DataType("TFLOAT32", 7, 32, is_float=True, rounds=True),
        DataType("TFLOAT32_FTZ", 8, 32, is_float=True, rounds=True),
        DataType("16U4_ALIGN8B", 11, 4),
        DataType("16U4_ALIGN16B", 12, 4, is_padded=True),
        DataType("16U6_ALIGN16B", 13, 6, is_padded=True),
    )
}
"""By name, in the order of the driver's enumeration; those of 4 and 6 bits are sm_100's, not run on silicon by us."""
INTERLEAVES: Final[dict[str, int]] = {"none": 0, "16B": 16, "32B": 32}
"""The bytes of a slice, which takes the place of an element."""
SWIZZLES: Final[tuple[str, ...]] = (
    "none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B",
)  # fmt: skip
"""In the order of the driver's enumeration: those with an atom are sm_100's."""
SWIZZLE_BITS: Final[dict[str, int]] = {
    **{name: code << 13 for code, name in enumerate(SWIZZLES[:4])},
    **{name: 3 << 13 | code << 19 for code, name in enumerate(SWIZZLES[4:], 1)},
    "96B": 1 << 22,
}
"""The bits of word 2 for it; for those that came after sm_90, as ptxas sets them for `tensormap.replace`."""
NARROW_SINCE: Final = 100
"""The first architecture with types of 4 and 6 bits, and with swizzles that keep more than 16 bytes together."""
PADDED_ELEMENTS: Final = 128
"""The number of elements of a padded type in a row of a box."""
PADDED_SWIZZLES: Final = {
    "16U4_ALIGN16B": ("none", "128B", "128B_ATOM_32B"),
    "16U6_ALIGN16B": ("none", "128B", "128B_ATOM_32B", "128B_ATOM_64B"),
}  # fmt: skip
"""By padded type: the swizzles that the driver allows with it."""
L2_PROMOTIONS: Final[tuple[str, ...]] = ("none", "64B", "128B", "256B")
OOB_FILLS: Final[tuple[str, ...]] = ("none", "nan")
"""Zeros, or `NAN_REQUEST_ZERO_FMA`: 0x7ff7 in every 16 bits."""


def data_type(name: str) -> DataType:
    """The data type with a name.

    Raises:
        UsageError: There is no such type.
    """
    found = DATA_TYPES.get(name)
    if found is None:
        raise UsageError("data_type", name, f"one of {', '.join(DATA_TYPES)}")
    return found


def swizzle_bytes(name: str) -> int:
    """The width of a row in shared memory; 0 without a swizzle."""
    return 0 if name == "none" else swizzle_mode(name).span_bytes
