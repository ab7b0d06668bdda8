"""The data of one tensor copy: each element's place in the tensor and in shared memory, and the filled elements.

Measured on an H100 and an H200 for tiled and im2col maps with every swizzle and interleave: a row in shared memory is
as wide as the swizzle, even if the box is narrower (slices of an interleaved tensor are without gaps), the swizzle uses
the absolute shared address, and a box has one slice of an interleaved tensor, whatever its extent in that dimension.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.pixels import pixels
from ptxloom.descriptors.swizzling import CHUNK_BYTES, swizzle_mode
from ptxloom.descriptors.tensor_types import swizzle_bytes
from ptxloom.diagnostics import UsageError, must_be, must_be_several
from ptxloom.display import mimebundle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.descriptors.swizzling import SwizzleMode
    from ptxloom.descriptors.tensor_map import TensorMap

COPY_ALIGNMENT: Final = 128
"""The alignment of a tensor copy's shared address."""
INNER_BYTES: Final = 16
"""The inner coordinate must be a multiple of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """The source and destination of one element of a box.

    Attributes:
        index: Its index in the box: by dimension, or channel and pixel.
        coordinate: Its coordinate in the tensor, by dimension.
        inside: Whether it is in the tensor; if not, shared memory gets the fill.
        global_address: The address of the first byte with bits of it; meaningless outside.
        shared_address: Likewise, in bytes.
    """

    index: tuple[int, ...]
    coordinate: tuple[int, ...]
    inside: bool
    global_address: int
    shared_address: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """16 bytes of a row, which a swizzle keeps together.

    Attributes:
        shared_address: Their address in shared memory.
        coordinate: The coordinate of the first element.
        elements: The number of elements.
        inside: The number of them inside the tensor.
    """

    shared_address: int
    coordinate: tuple[int, ...]
    elements: int
    inside: int


@dataclass(frozen=True, slots=True)
class Box:
    """A tensor map's box at a coordinate, and the shared memory that it is copied to or from.

    Attributes:
        map: The tensor map.
        coordinate: The coordinate of its first element, by dimension, as in the instruction.
        shared_address: The start of the copy in shared memory.
        offsets: For im2col: the instruction's offsets, added to W, H and D of every pixel.

    Example:
        >>> from ptxloom.descriptors import encode_tiled
        >>> made = encode_tiled("FLOAT16", 0x1000, (60, 30), (128,), (64, 8), swizzle="128B")
        >>> place = Box(made, (0, 28), 0x400).place((8, 1))
        >>> hex(place.global_address), hex(place.shared_address), place.inside
        ('0x1e90', '0x480', True)
    """

    map: TensorMap
    coordinate: tuple[int, ...]
    shared_address: int = 0
    offsets: tuple[int, ...] = ()

    _repr_mimebundle_ = mimebundle

    def __post_init__(self) -> None:
        count = self.map.rank - 2 if self.map.im2col is not None else 0
        must_be_several("coordinate", self.coordinate, "numbers")
        if len(self.coordinate) != self.map.rank:
            raise UsageError("coordinate", self.coordinate, f"{self.map.rank} numbers, one for each dimension")
        if len(self.offsets) not in (0, count):
            raise UsageError("offsets", self.offsets, f"{count} numbers" if count else "left out for a tiled map")
        must_be(int, "shared_address", self.shared_address, "an address")

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of elements: by dimension, or channels and pixels."""
        return self.map.counts

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return self.counts[0] * self.map.box_bits // 8

    @property
    def pitch_bytes(self) -> int:
        """The distance between rows in shared memory; slices of an interleaved tensor have no gaps."""
        span = swizzle_bytes(self.map.swizzle) if self.map.interleave == "none" else 0
        return max(self.row_bytes, span)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return prod(self.counts[1:])

    @property
    def padding_bytes(self) -> int:
        """The unused bytes after a row."""
        return self.pitch_bytes - self.row_bytes

    @property
    def mode(self) -> SwizzleMode:
        """The swizzle of shared memory."""
        return swizzle_mode(self.map.swizzle)

    @property
    def begins_within_pattern(self) -> bool:
        """Whether the copy does not start at the start of the swizzle's pattern."""
        return bool(self.mode.swizzle.bits and self.shared_address % self.mode.alignment_bytes)

    @property
    def shared_bytes(self) -> int:
        """The bytes from the first row in shared memory to the end of the last one's padding."""
        return self.rows * self.pitch_bytes

    @property
    def filled(self) -> int:
        """The number of elements outside the tensor."""
        of, extents = self.map, self.map.global_dim
        if of.im2col is None:
            inside = prod(
                sum(0 <= start + step * at < extent for at in range(count))
                for start, step, count, extent in zip(self.coordinate, of.steps, self.counts, extents, strict=True)
            )
        else:
            first = 0 if of.interleave != "none" else 1  # dimension 0 holds channels, if slices do not
            inside = sum(_within(at[first:], extents[first:]) for at in self._pixels())
            inside *= sum(0 <= self.coordinate[0] + at < extents[0] for at in range(self.counts[0])) if first else 1
        return prod(self.counts) - inside

    def place(self, index: Sequence[int]) -> Place:
        """One element of the box.

        Args:
            index: By dimension, or channel and pixel.
        """
        if self.map.im2col is None:
            return self._place(tuple(index), self._tiled(index))
        return self._place(tuple(index), self._pixels()[index[1]])

    def places(self) -> Iterator[Place]:
        """Every element, the first index fastest."""
        columns = None if self.map.im2col is None else self._pixels()
        for index in _indices(self.counts):
            yield self._place(index, self._tiled(index) if columns is None else columns[index[1]])

    def row(self, number: int) -> tuple[Chunk, ...]:
        """A row of the box in pieces of 16 bytes, in the tensor's order.

        Args:
            number: Its number, from 0; by dimension, dimension 1 the fastest, or by pixel.
        """
        outer: list[int] = []
        for count in self.counts[1:]:
            number, here = divmod(number, count)
            outer.append(here)
        return tuple(self._chunk(byte, outer) for byte in range(0, self.row_bytes, CHUNK_BYTES))

    def _chunk(self, byte: int, outer: Sequence[int]) -> Chunk:
        """The piece that starts at a byte of a row; a slice of 32 bytes is two pieces."""
        bits = self.map.box_bits
        first, within = divmod(8 * byte, bits)
        count = max(1, 8 * CHUNK_BYTES // bits)
        held = [self.place((at, *outer)) for at in range(first, first + count)]
        low = min(place.shared_address for place in held)  # halves may be exchanged
        return Chunk(low ^ within // 8, held[0].coordinate, count, sum(place.inside for place in held))

    def _place(self, index: tuple[int, ...], at: tuple[int, ...]) -> Place:
        of = self.map
        if of.im2col is not None:
            at = (at[0] + index[0], *at[1:])
        inside = _within(at, of.global_dim)
        outer = sum(here * stride for here, stride in zip(at[1:], of.global_strides, strict=True))
        source = of.global_address + at[0] * of.element_bits // 8 + outer
        row, extent = 0, 1
        for here, count in zip(index[1:], self.counts[1:], strict=True):
            row += here * extent
            extent *= count
        target = self.shared_address + row * self.pitch_bytes + self._within_row(index[0])
        return Place(index, at, inside, source, self.mode(target))

    def _within_row(self, element: int) -> int:
        """The offset of an element in a row of shared memory, in bytes; 16 of a padded type have 16 bytes."""
        if not self.map.type.is_padded:
            return element * self.map.box_bits // 8
        chunk, within = divmod(element, CHUNK_BYTES)
        return chunk * CHUNK_BYTES + within * self.map.element_bits // 8

    def _tiled(self, index: Sequence[int]) -> tuple[int, ...]:
        """The coordinate of an element of a tiled box."""
        steps = self.map.steps
        return tuple(start + here * step for start, here, step in zip(self.coordinate, index, steps, strict=True))

    def _pixels(self) -> tuple[tuple[int, ...], ...]:
        """The coordinate of each pixel's first channel."""
        assert self.map.im2col is not None  # noqa: S101 - callers have checked
        return pixels(self.map, self.map.im2col, tuple(self.coordinate), tuple(self.offsets))


def _within(coordinate: Sequence[int], extents: Sequence[int]) -> bool:
    return all(0 <= at < extent for at, extent in zip(coordinate, extents, strict=True))


def _indices(counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every index, the first one fastest."""
    if not counts:
        yield ()
        return
    for outer in _indices(counts[1:]):
        for inner in range(counts[0]):
            yield (inner, *outer)
