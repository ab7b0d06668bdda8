"""Layouts as linear maps over F2, as Triton writes them: where each bit of each input sends the output bits.

A layout is linear where its sizes are powers of two and no two of its steps share a bit, so that adding is XORing; a
swizzle always is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import must_be
from ptxloom.layout.composition import coalesced
from ptxloom.layout.core import Layout, from_modes, make_layout
from ptxloom.layout.errors import LayoutError
from ptxloom.layout.swizzle import ComposedLayout, Swizzle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.layout.inttuple import Mode


@dataclass(frozen=True, slots=True)
class LinearLayout:
    """A map from named inputs to one integer that is linear over F2.

    Attributes:
        bases: For each input, its name and the value of its bits 1, 2, 4, ...; the map XORs those of the bits set.

    Example:
        >>> linear = LinearLayout((("register", (1, 8)), ("lane", (2, 4))))
        >>> linear(register=3, lane=1)
        11
    """

    bases: tuple[tuple[str, tuple[int, ...]], ...]

    def __call__(self, **inputs: int) -> int:
        """The output for the given inputs; those left out are 0."""
        known = dict(self.bases)
        result = 0
        for name, value in inputs.items():
            if name not in known or not 0 <= value < 1 << len(known[name]):
                raise LayoutError(f"{name}={value} is not an input of {self}")
            for bit, basis in enumerate(known[name]):
                result ^= basis if value >> bit & 1 else 0
        return result

    def split(self, **sizes: int) -> Mapping[str, tuple[tuple[int, ...], ...]]:
        """The bases as Triton's LinearLayout takes them, the output split into named dimensions, the first fastest.

        Args:
            sizes: By the name of a dimension of the output, its size, a power of two.

        Returns:
            By the name of an input, its bases, one coordinate a dimension.

        Example:
            >>> LinearLayout((("register", (1, 8)),)).split(dim1=4, dim0=4)
            {'register': ((1, 0), (0, 2))}
        """
        return {name: tuple(_digits(basis, tuple(sizes.values())) for basis in bases) for name, bases in self.bases}

    def to_layout(self) -> Layout | ComposedLayout:
        """The layout, one mode for each input, that is this map; behind a swizzle if no plain one is.

        Raises:
            LayoutError: Neither a layout nor a layout behind one Swizzle<B,M,S> is this map.
        """
        if _additive(self._values()):
            return _unlinked(self)
        for swizzle in _swizzles(max(self._values()).bit_length()):
            inner = LinearLayout(tuple((name, tuple(map(swizzle, bases))) for name, bases in self.bases))
            if _additive(inner._values()):
                return ComposedLayout(swizzle, 0, _unlinked(inner))
        raise LayoutError(f"{self} is not a layout, nor one behind a Swizzle<B,M,S>: its bases overlap")

    def _values(self) -> list[int]:
        return [basis for _, bases in self.bases for basis in bases]

    def __str__(self) -> str:
        return ", ".join(f"{name}: {', '.join(map(str, bases)) or '-'}" for name, bases in self.bases)


def to_linear(layout: Layout | ComposedLayout, *names: str) -> LinearLayout:
    """A layout as a linear map over F2, its top-level modes named.

    Args:
        layout: Every size is a power of two; a swizzle may come first, at offset 0.
        names: One name for each top-level mode; a single name covers all of them.

    Returns:
        The map, which `.to_layout()` turns back.

    Raises:
        LayoutError: The layout is not linear over F2; the message shows where adding is not XORing.

    Example:
        >>> print(to_linear(Layout((8, 4), (4, 1)), "row", "column"))
        row: 4, 8, 16, column: 1, 2
    """
    must_be(Layout | ComposedLayout, "layout", layout, "a Layout, such as Layout((8, 4), (1, 8))")
    match layout:
        case ComposedLayout(Swizzle() as swizzle, 0, inner):
            linear = to_linear(inner, *names)
            return LinearLayout(tuple((name, tuple(map(swizzle, bases))) for name, bases in linear.bases))
        case ComposedLayout():
            raise LayoutError(f"{layout} is not linear over F2: only a swizzle at offset 0 is")
        case Layout():
            inputs = [layout] if len(names) == 1 else list(layout)
    if len(inputs) != len(names):
        raise LayoutError(f"{len(names)} names do not fit {layout}, which has {layout.rank} modes")
    linear = LinearLayout(tuple((name, tuple(_bases(mode))) for name, mode in zip(names, inputs, strict=True)))
    if not _additive([basis for _, bases in linear.bases for basis in bases]):
        raise LayoutError(f"{layout} is not linear over F2: its steps share bits, so adding them carries")
    return linear


def _bases(layout: Layout) -> Iterator[int]:
    for extent, stride in layout.modes:
        if extent & (extent - 1):
            raise LayoutError(f"{layout} is not linear over F2: its mode {extent}:{stride} is not a power of two long")
        if stride < 0 and extent > 1:
            raise LayoutError(f"{layout} is not linear over F2: its mode {extent}:{stride} goes below zero")
        yield from (stride << bit for bit in range(extent.bit_length() - 1))


def _additive(values: list[int]) -> bool:
    """Whether sums of any of the values are their XORs: no bit occurs twice."""
    seen = 0
    for value in values:
        if seen & value:
            return False
        seen |= value
    return True


def _unlinked(linear: LinearLayout) -> Layout:
    """The layout of a map without carries: each input a mode, coalesced."""
    modes: list[Layout] = []
    for _, bases in linear.bases:
        steps: list[Mode] = [(2, basis) for basis in bases]
        modes.append(from_modes(coalesced(steps)))
    return modes[0] if len(modes) == 1 else make_layout(*modes)


def _swizzles(width: int) -> Iterator[Swizzle]:
    """Every swizzle within `width` bits, fewest changed bits first."""
    for bits in range(1, width):
        for shift in range(bits, width):
            for base in range(width - shift):
                yield Swizzle(bits, base, shift)
                yield Swizzle(bits, base, -shift)


def _digits(value: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    digits: list[int] = []
    for size in sizes:
        if size < 1 or size & (size - 1):
            raise LayoutError(f"an output dimension of size {size} is not a power of two")
        digits.append(value % size)
        value //= size
    if value:
        raise LayoutError(f"the output dimensions {sizes} are too small")
    return tuple(digits)
