"""Swizzle<B,M,S>: XOR some bits of an offset into others; and layouts seen through one (CuTe: ComposedLayout)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import must_be
from ptxloom.display import mimebundle
from ptxloom.layout.errors import LayoutError

if TYPE_CHECKING:
    from ptxloom.layout.core import Coordinate, Layout


@dataclass(frozen=True, slots=True)
class Swizzle:
    """Bits [M+S, M+S+B) of an offset are XORed into bits [M, M+B); with S negative, the other way up.

    A swizzle is its own inverse, and linear over F2.

    Attributes:
        bits: B, how many bits change; 0 is the identity.
        base: M, how many low bits stay together.
        shift: S, the distance between the two groups; at least B in size, so that they do not overlap.

    Example:
        >>> [Swizzle(2, 0, 3)(8 * i) for i in range(4)]
        [0, 9, 18, 27]
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        for number in (self.bits, self.base, self.shift):
            must_be(int, "swizzle", number, "three whole numbers B, M and S")
        if self.bits < 0 or self.base < 0:
            raise LayoutError(f"{self} is not a swizzle: B and M cannot be negative")
        if abs(self.shift) < self.bits:
            raise LayoutError(f"{self} is not a swizzle: |S| must be at least B, or the two groups of bits overlap")

    def __call__(self, offset: Any) -> Any:
        """The swizzled offset; arrays work as integers do."""
        source = ((1 << self.bits) - 1) << (self.base + max(self.shift, 0))
        picked = offset & source
        return offset ^ (picked >> self.shift if self.shift >= 0 else picked << -self.shift)

    @property
    def span(self) -> int:
        """The period: offsets equal modulo `span` are swizzled alike."""
        return 1 << (self.base + abs(self.shift) + self.bits)

    def __str__(self) -> str:
        return f"Sw<{self.bits},{self.base},{self.shift}>"


@dataclass(frozen=True, slots=True)
class ComposedLayout:
    """A layout seen through an outer function: coordinate c goes to outer(offset + inner(c)).

    Attributes:
        outer: What is applied last.
        offset: Where the inner layout starts.
        inner: What takes the coordinates.

    Example:
        >>> from ptxloom.layout import Layout, composition
        >>> swizzled = composition(Swizzle(3, 0, 3), Layout((8, 8), (8, 1)))
        >>> [swizzled(row, 0) for row in range(8)]
        [0, 9, 18, 27, 36, 45, 54, 63]
    """

    outer: Swizzle | Layout
    offset: int
    inner: Layout

    _repr_mimebundle_ = mimebundle

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return self.inner.size

    @property
    def cosize(self) -> int:
        """One more than the largest value."""
        return max(self.offsets()) + 1

    def __call__(self, *coordinate: Coordinate) -> int:
        """The value at a coordinate."""
        return self.outer(self.offset + self.inner(*coordinate))

    def at(self, *coordinate: Any) -> Any:
        """The values at arrays of coordinates, as `Layout.at`.

        Args:
            coordinate: One array of 1-D indices, or one for each mode.

        Returns:
            An array of values.
        """
        moved = self.inner.at(*coordinate) + self.offset
        return self.outer(moved) if isinstance(self.outer, Swizzle) else self.outer.at(moved)

    def offsets(self) -> list[int]:
        """Every value, in order of the 1-D index."""
        return [self.outer(self.offset + value) for value in self.inner.offsets()]

    def __str__(self) -> str:
        return f"{self.outer} o {self.offset} o {self.inner}"
