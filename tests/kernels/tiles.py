"""An array that a kernel copies tile by tile: a kernel argument that becomes a tensor map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels.case import Array

#: `CUtensorMapDataType` by NumPy's name of the type; bf16 and narrow floats travel as integers of their size.
DATA_TYPES = {"uint8": 0, "uint16": 1, "int32": 3, "float16": 6, "float32": 7}
SWIZZLE_128B = 3  # of `CUtensorMapSwizzle`


@dataclass(frozen=True, slots=True)
class Tiles:
    """A row-major array of two dimensions under a tensor map, its tiles swizzled by 128 bytes.

    Args:
        array: What the map describes.
        box: Rows and columns of a tile; a row has 128 bytes.
    """

    array: Array
    box: tuple[int, int]

    @property
    def data_type(self) -> int:
        """The element's `CUtensorMapDataType`."""
        return DATA_TYPES[self.array.dtype.name]


def array_of(argument: Any) -> Any:
    """What an argument leaves to be compared: its array, if it is one under a map."""
    return argument.array if isinstance(argument, Tiles) else argument
