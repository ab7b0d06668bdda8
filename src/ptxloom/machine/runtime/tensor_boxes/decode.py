"""The 128 bytes of a tensor map, taken apart (as `cuTensorMapEncodeTiled` and `...Im2col` make them for sm_90).

Any bytes may come: what is no tensor map has a reason, and counts stay within what their bits can say.
"""

from __future__ import annotations

from ptxloom.machine.native.language import i8, i16, i32, i64, u8, u16, u32, u64
from ptxloom.machine.runtime.tensor_boxes.model import (
    BF16,
    FEW_DIMENSIONS,
    MOST_DIMENSIONS,
    PART_OF_CHUNK,
    SHIFTS,
    WIDER_THAN_SWIZZLE,
    WRONG_INTERLEAVE,
    WRONG_RANK,
    WRONG_TYPE,
    TensorCopy,
)


def decode(t: TensorCopy) -> u32:
    """What the words of a map mean; why they are no map, or 0."""
    head = t.words[2]
    t.base = u64(t.words[0]) | u64(t.words[1]) << 32
    t.in_columns = head & 1
    t.rank = (head >> 4 & 7) + 1
    t.kind = head >> 7 & 15
    t.interleave = head >> 11 & 3
    swizzle = head >> 13 & 3
    t.chunk_mask = (1 << swizzle) - 1
    t.fills_nan = head >> 15 & 1
    t.rounds = head >> 16 & 1
    if t.rank > MOST_DIMENSIONS:
        return WRONG_RANK
    if t.kind > BF16:
        return WRONG_TYPE
    if t.interleave > 2:
        return WRONG_INTERLEAVE
    if (t.in_columns | t.interleave) != 0 and t.rank < 3:
        return FEW_DIMENSIONS
    return decode_rows(t, 16 << swizzle)


def decode_rows(t: TensorCopy, span: u32) -> u32:
    """How long rows are, and how the other dimensions lie; `span` is as wide as the swizzle."""
    shift = u64(SHIFTS) >> u64(4 * t.kind) & 15
    first: u32 = 1
    if t.interleave != 0:
        first = 0
        t.element = 16 * i64(t.interleave)
        t.row_bytes = u64(t.element)
        t.inner_bytes = t.element
    else:
        t.element = 1 << i64(shift)
        t.row_bytes = u64((t.words[13] >> 24) + 1) << shift
        t.inner_bytes = (i64(t.words[8]) + 1) * t.element
    t.pitch = t.row_bytes
    if t.row_bytes & 15 != 0:
        return PART_OF_CHUNK
    if t.chunk_mask != 0 and t.interleave == 0:
        if t.row_bytes > u64(span):
            return WIDER_THAN_SWIZZLE
        t.pitch = u64(span)
    t.outer = t.rank - first
    for place in range(t.outer):
        dimension = place + first
        t.sizes[place] = i64(t.words[8 + dimension]) + 1
        t.strides[place] = t.row_bytes if dimension == 0 else stride_of(t, dimension)
        t.steps[place] = i64(t.words[13] >> 3 * dimension & 7) + 1
        t.shifts[place] = 0
    return 0


def stride_of(t: TensorCopy, dimension: u32) -> u64:
    """The bytes from one element of a dimension, any but the first, to the next."""
    low = u64(t.words[2 + dimension])
    high = u64(t.words[7] >> 4 * (dimension - 1) & 15)
    return (high << 32 | low) << 4


def box_size(t: TensorCopy, dimension: u32) -> u32:
    """How far a box of a tile reaches in a dimension; of an interleaved tensor it has one slice, whatever it says."""
    if t.interleave != 0 and dimension == t.rank - 2:
        return 1
    if dimension == 0:
        return (t.words[13] >> 24) + 1
    return (t.words[14] >> 8 * (dimension - 1) & 255) + 1


def corner(t: TensorCopy, place: u32, upper: u32) -> i64:
    """A corner of the bounding box of im2col in a spatial dimension: signed, fewer bits the more there are."""
    word = t.words[14]
    if t.rank == 3:
        return i64(i16(u16(word >> 16 * upper)))
    if t.rank == 4:
        return i64(i8(u8(word >> 16 * upper + 8 * place)))
    return i64(i32(word >> 16 * upper + 5 * place << 27) >> 27)
