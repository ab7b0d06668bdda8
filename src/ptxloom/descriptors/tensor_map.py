"""TensorMap: the meaning of the 128 bytes of a `CUtensorMap`, and their encoding.

The parameters are those of `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col`; so are the checks. The position of
each word in the 128 bytes was determined on an H200 (driver 580); for features of sm_100, from ptxas's code for
`tensormap.replace`.
"""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.swizzling import swizzle_mode
from ptxloom.descriptors.tensor_types import (
    DATA_TYPES,
    INTERLEAVES,
    L2_PROMOTIONS,
    OOB_FILLS,
    SWIZZLE_BITS,
    DataType,
    data_type,
)
from ptxloom.diagnostics import UsageError
from ptxloom.display import mimebundle

if TYPE_CHECKING:
    from collections.abc import Sequence

MAP_BYTES: Final = 128
MOST_RANK: Final = 5
_WORDS: Final = struct.Struct("<32I")
_SWIZZLE_MASK: Final = 3 << 13 | 3 << 19 | 1 << 22
CORNER_BITS: Final = {3: 16, 4: 8, 5: 5}
"""By rank: the bits of a corner of the bounding box in each dimension."""


@dataclass(frozen=True, slots=True)
class Im2col:
    """The parameters of `cuTensorMapEncodeIm2col` in place of a box.

    Attributes:
        pixel_box_lower_corner: The start in pixels, relative to the tensor's start: W, H, D.
        pixel_box_upper_corner: Likewise, relative to the tensor's end.
        channels_per_pixel: The number of elements of C.
        pixels_per_column: The number of pixels.
    """

    pixel_box_lower_corner: tuple[int, ...]
    pixel_box_upper_corner: tuple[int, ...]
    channels_per_pixel: int
    pixels_per_column: int


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A tensor in global memory and the box that TMA copies of it.

    Dimensions are in the driver's order: the first is the one along which elements are contiguous.

    Attributes:
        data_type: Such as "FLOAT16".
        global_address: The address of the tensor.
        global_dim: The number of elements, by dimension.
        global_strides: The strides in bytes, of all dimensions but the first.
        box_dim: The elements that a copy spans, by dimension; empty for im2col.
        element_strides: The step between the elements that a copy takes, by dimension.
        interleave: "none", "16B" or "32B".
        swizzle: "none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B" or "96B".
        l2_promotion: "none", "64B", "128B" or "256B".
        oob_fill: The fill outside the tensor: "none" (zeros) or "nan".
        im2col: The parameters in place of a box; None for a tiled map.

    Example:
        >>> from ptxloom.descriptors import encode_tiled
        >>> made = encode_tiled("FLOAT16", 0x1000, (64, 32), (128,), (64, 8), swizzle="128B")
        >>> read = TensorMap.from_bytes(made.to_bytes())
        >>> print(read, read.box_dim, read.transaction_bytes)
        tiled map of 32x64 FLOAT16 at 0x1000 (64, 8) 1024
    """

    data_type: str
    global_address: int
    global_dim: tuple[int, ...]
    global_strides: tuple[int, ...]
    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...]
    interleave: str = "none"
    swizzle: str = "none"
    l2_promotion: str = "none"
    oob_fill: str = "none"
    im2col: Im2col | None = None

    _repr_mimebundle_ = mimebundle

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.global_dim)

    @property
    def type(self) -> DataType:
        """The elements' type."""
        return data_type(self.data_type)

    @property
    def element_bytes(self) -> int:
        """The bytes from one element of the first dimension to the next: a slice's, if the tensor is interleaved."""
        return INTERLEAVES[self.interleave] or self.type.element_bytes

    @property
    def element_bits(self) -> int:
        """The bits from one element of the first dimension to the next, likewise."""
        return 8 * INTERLEAVES[self.interleave] or self.type.bits

    @property
    def box_bits(self) -> int:
        """The same in shared memory, where 16 elements of a padded type fill 16 bytes."""
        return 8 * INTERLEAVES[self.interleave] or self.type.box_bits

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of copied elements: by dimension, or channels (one slice, if interleaved) and pixels."""
        if self.im2col is not None:
            channels = self.im2col.channels_per_pixel if self.interleave == "none" else 1
            return channels, self.im2col.pixels_per_column
        counts = [-(-extent // step) for extent, step in zip(self.box_dim, self.steps, strict=True)]
        if self.interleave != "none":
            counts[self.slice_dimension] = 1  # whatever the box is: recorded on an H100
        return tuple(counts)

    @property
    def slice_dimension(self) -> int:
        """The dimension of an interleaved tensor that counts slices, of which a copy takes one."""
        return self.rank - 2

    @property
    def first_coordinate(self) -> tuple[int, ...]:
        """The start of the tensor's first box: for im2col the lower corner."""
        if self.im2col is None:
            return (0,) * self.rank
        lower = self.im2col.pixel_box_lower_corner
        return (*lower, 0, 0) if self.interleave != "none" else (0, *lower, 0)

    @property
    def steps(self) -> tuple[int, ...]:
        """The step between copied elements, by dimension; that of dimension 0 counts only in interleaved tensors."""
        first = self.element_strides[0] if self.interleave != "none" else 1
        return first, *self.element_strides[1:]

    @property
    def transaction_bytes(self) -> int:
        """The bytes that a copy counts on its mbarrier: all elements of the box, even those outside the tensor.

        Padding does not count (CUTLASS's collectives rely on this).
        """
        return prod(self.counts) * self.element_bits // 8

    @property
    def encoded_box_bytes(self) -> int:
        """The size of the box for the encoder, which divides by strides without rounding up."""
        if self.im2col is not None:
            return self.im2col.channels_per_pixel * self.im2col.pixels_per_column * self.type.box_bits // 8
        counts = prod(n // step for n, step in zip(self.box_dim, self.element_strides, strict=True))
        return counts * self.type.box_bits // 8

    def to_bytes(self) -> bytes:
        """The 128 bytes."""
        words = [0] * 32
        words[0], words[1] = self.global_address & 0xFFFFFFFF, self.global_address >> 32
        words[2] = self._kinds()
        for place, stride in enumerate(self.global_strides):
            words[3 + place] = stride >> 4 & 0xFFFFFFFF
            words[7] |= (stride >> 36 & 0xF) << 4 * place
        for place, extent in enumerate(self.global_dim):
            words[8 + place] = extent - 1
        words[13] = sum((step - 1) << 3 * place for place, step in enumerate(self.element_strides))
        if self.im2col is None:
            words[13] |= (self.box_dim[0] - 1) << 24
            words[14] = sum((extent - 1) << 8 * place for place, extent in enumerate(self.box_dim[1:]))
        else:
            words[13] |= (self.im2col.channels_per_pixel - 1) << 24
            words[14] = _packed_corners(self.im2col, self.rank)
            words[15] = self.im2col.pixels_per_column - 1
        words[16] = self.encoded_box_bytes
        words[18] = swizzle_mode(self.swizzle).alignment_bytes
        return _WORDS.pack(*words)

    def _kinds(self) -> int:
        """Word 2: the fields that do not depend on the dimension."""
        kind = self.type
        return (
            int(self.im2col is not None)
            | self.rank - 1 << 4
            | kind.code << 7
            | list(INTERLEAVES).index(self.interleave) << 11
            | SWIZZLE_BITS[self.swizzle]
            | OOB_FILLS.index(self.oob_fill) << 15
            | int(kind.rounds) << 16
            | L2_PROMOTIONS.index(self.l2_promotion) << 17
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> TensorMap:
        """Read 128 bytes, as the hardware does: bits that it ignores are ignored here.

        Args:
            data: The bytes of a `CUtensorMap`.

        Returns:
            The map; if the driver made it, its `to_bytes` are these again.

        Raises:
            UsageError: They are not 128, or hold values that no map can have.
        """
        if len(data) != MAP_BYTES:
            raise UsageError("data", f"{len(data)} bytes", f"the {MAP_BYTES} bytes of a CUtensorMap")
        words: tuple[int, ...] = _WORDS.unpack(data)
        kinds = words[2]
        rank = (kinds >> 4 & 7) + 1
        interleave = kinds >> 11 & 3
        if rank > MOST_RANK or interleave >= len(INTERLEAVES):
            raise UsageError(
                "word 2", f"0x{kinds:08x}", "of a map of 1 to 5 dimensions, interleaved by 0, 16 or 32 bytes"
            )
        box0 = (words[13] >> 24) + 1
        im2col = _unpacked(words, rank, box0) if kinds & 1 else None
        return cls(
            _type_of(kinds),
            words[0] | words[1] << 32,
            tuple(extent + 1 for extent in words[8 : 8 + rank]),
            tuple((words[3 + i] | (words[7] >> 4 * i & 0xF) << 32) << 4 for i in range(rank - 1)),
            () if im2col else (box0, *((words[14] >> 8 * i & 0xFF) + 1 for i in range(rank - 1))),
            tuple((words[13] >> 3 * i & 7) + 1 for i in range(rank)),
            list(INTERLEAVES)[interleave],
            _swizzle_of(kinds),
            L2_PROMOTIONS[kinds >> 17 & 3],
            OOB_FILLS[kinds >> 15 & 1],
            im2col,
        )

    def __str__(self) -> str:
        extent = "x".join(map(str, reversed(self.global_dim)))
        return f"{'im2col' if self.im2col else 'tiled'} map of {extent} {self.data_type} at 0x{self.global_address:x}"


def _swizzle_of(kinds: int) -> str:
    """The swizzle in word 2."""
    held = kinds & _SWIZZLE_MASK
    for name, bits in SWIZZLE_BITS.items():
        if bits == held:
            return name
    legal = "of a swizzle that there is: bits 19 and 20 keep more than 16 bytes together where 13 and 14 say 128 bytes"
    raise UsageError("word 2", f"0x{kinds:08x}", legal)


def _type_of(kinds: int) -> str:
    """The data type in word 2."""
    code, rounds = kinds >> 7 & 0xF, bool(kinds >> 16 & 1)
    for kind in DATA_TYPES.values():
        if (kind.code, kind.rounds) == (code, rounds):
            return kind.name
    raise UsageError("word 2", f"0x{kinds:08x}", f"of a type that is copied; type {code} in bits 7 to 10 is not one")


def _packed_corners(im2col: Im2col, rank: int) -> int:
    """Word 14 of an im2col map: the lower corner from bit 0, the upper one from bit 16."""
    bits = CORNER_BITS[rank]
    mask = (1 << bits) - 1
    lower = sum((at & mask) << bits * i for i, at in enumerate(im2col.pixel_box_lower_corner))
    upper = sum((at & mask) << bits * i for i, at in enumerate(im2col.pixel_box_upper_corner))
    return lower | upper << 16


def _unpacked(words: Sequence[int], rank: int, channels: int) -> Im2col:
    """The im2col parameters of a map."""
    if rank not in CORNER_BITS:
        raise UsageError("word 2", f"0x{words[2]:08x}", f"of 3 to 5 dimensions for im2col; here are {rank}")
    lower, upper = (_signed_fields(half, rank) for half in (words[14] & 0xFFFF, words[14] >> 16))
    return Im2col(lower, upper, channels, words[15] % 1024 + 1)


def _signed_fields(half: int, rank: int) -> tuple[int, ...]:
    """One corner."""
    bits = CORNER_BITS[rank]
    sign = 1 << bits - 1
    return tuple(((half >> bits * i & (1 << bits) - 1) ^ sign) - sign for i in range(rank - 2))
