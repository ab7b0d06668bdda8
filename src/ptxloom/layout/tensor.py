"""A tensor without its memory: where it starts, and its layout (CuTe: Tensor)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.layout.core import Coordinate, Layout, Slice
from ptxloom.layout.swizzle import ComposedLayout

if TYPE_CHECKING:
    from ptxloom.layout.composition import Tiler


@dataclass(frozen=True, slots=True)
class Tensor:
    """An offset and a layout: the coordinate c is the element at offset + layout(c).

    Slicing and tiling keep the offset of what was fixed, which a layout alone cannot.

    Attributes:
        offset: Where the first element is.
        layout: The layout of the others from there.

    Example:
        >>> row = Tensor(100, Layout((8, 4), (1, 8))).slice(3, None)
        >>> print(row, row(2))
        103 + 4:8 119
    """

    offset: int
    layout: Layout | ComposedLayout

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self.layout.size

    def __call__(self, *coordinate: Coordinate) -> int:
        """The offset of the element at a coordinate."""
        return self.offset + self.layout(*coordinate)

    def offsets(self) -> list[int]:
        """The offset of every element, in order of the 1-D index."""
        return [self.offset + value for value in self.layout.offsets()]

    def slice(self, *coordinate: Slice) -> Tensor:
        """The elements whose coordinate agrees with the given one, None leaving a mode open.

        Args:
            coordinate: An integer for each mode that is fixed, None for one that is left.

        Returns:
            A tensor over the modes that are left.
        """
        where = coordinate[0] if len(coordinate) == 1 else coordinate
        match self.layout:
            case Layout():
                return Tensor(self.offset + self.layout(_closed(where)), self.layout.slice(where))
            case ComposedLayout(outer, offset, inner):
                return Tensor(self.offset, ComposedLayout(outer, offset + inner(_closed(where)), inner.slice(where)))

    def tile(self, tiler: Tiler, coordinate: Coordinate) -> Tensor:
        """The tile at a coordinate of the grid into which `tiler` divides the tensor (CuTe: local_tile).

        Args:
            tiler: The tile's shape, or a layout for each mode.
            coordinate: Which tile; None leaves a mode of the grid open.

        Returns:
            The tile, and the open modes of the grid behind it.

        Example:
            >>> print(Tensor(0, Layout((16, 16), (1, 16))).tile((4, 8), (2, 1)))
            136 + (4,8):(1,16)
        """
        from ptxloom.layout.tiling import zipped_divide  # noqa: PLC0415 - tensors stand below the tilings

        match self.layout:
            case Layout():
                divided: Layout | ComposedLayout = zipped_divide(self.layout, tiler)
            case ComposedLayout(outer, offset, inner):
                divided = ComposedLayout(outer, offset, zipped_divide(inner, tiler))
        return Tensor(self.offset, divided).slice(None, coordinate)

    def __str__(self) -> str:
        return f"{self.offset} + {self.layout}"


def _closed(where: Slice) -> Coordinate:
    """The first coordinate that agrees with a slice: its open modes at 0."""
    match where:
        case None:
            return 0
        case int():
            return where
        case tuple():
            return tuple(_closed(inner) for inner in where)
