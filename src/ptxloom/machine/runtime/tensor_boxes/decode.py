"""Decodes the 128 bytes of a tensor map (as `cuTensorMapEncodeTiled` and `...Im2col` make them).

What sm_90 has was read off an H200. Of the fields that came with sm_100 (types of 4 and 6 bits, what a swizzle keeps
together, 96 bytes) the bits are those that ptxas sets for `tensormap.replace`; what they do is the manual's (5.5).

Any bytes may come: what is not a tensor map has a reason, and counts stay within what their bits can say.
"""

from __future__ import annotations

from ptxloom.machine.native.language import i8, i16, i32, i64, u8, u16, u32, u64
from ptxloom.machine.runtime.tensor_boxes.model import (
    B4_PADDED,
    B6_PADDED,
    BF16,
    CHUNK_BYTES,
    FEW_DIMENSIONS,
    MOST_DIMENSIONS,
    PADDED_ELEMENTS,
    PART_OF_CHUNK,
    SHIFTS,
    WIDER_THAN_SWIZZLE,
    WRONG_ATOM,
    WRONG_INTERLEAVE,
    WRONG_PADDING,
    WRONG_RANK,
    WRONG_TYPE,
    TensorCopy,
)


def decode(t: TensorCopy, is_newer: u32) -> u32:
    """What the words of a map mean; why they are not a map, or 0. Bits that came with sm_100 count if `is_newer`."""
    head = t.words[2]
    t.base = u64(t.words[0]) | u64(t.words[1]) << 32
    t.in_columns = head & 1
    t.rank = (head >> 4 & 7) + 1
    t.kind = head >> 7 & 15
    t.interleave = head >> 11 & 3
    t.fills_nan = head >> 15 & 1
    t.rounds = head >> 16 & 1
    if t.rank > MOST_DIMENSIONS:
        return WRONG_RANK
    if t.kind > B6_PADDED or (t.kind > BF16 and is_newer == 0):
        return WRONG_TYPE
    if t.interleave > 2:
        return WRONG_INTERLEAVE
    if (t.in_columns | t.interleave) != 0 and t.rank < 3:
        return FEW_DIMENSIONS
    span = decode_swizzle(t, head >> 13 & 3, (head >> 19 & 3) * is_newer, (head >> 22 & 1) * is_newer)
    return WRONG_ATOM if span == 0 else decode_rows(t, span)


def decode_swizzle(t: TensorCopy, swizzle: u32, atom: u32, is_96: u32) -> u32:
    """What changes places, and how wide a row is; 0 if more than 16 bytes stay together but not in 128."""
    t.chunk_mask = (1 << swizzle) - 1
    t.atom_shift = 4
    t.flips = 0
    if is_96 != 0:
        t.chunk_mask = 1
        return 96 if swizzle | atom == 0 else 0
    if atom != 0:
        if swizzle != 3:
            return 0
        t.chunk_mask = 1 if atom == 3 else 3
        t.atom_shift = 6 if atom == 3 else 5
        t.flips = u32(atom == 2)
    return 16 << swizzle


def element_bits(kind: u32) -> u32:
    """The width of a type's elements in bits."""
    if kind > BF16:
        return 6 if kind == B6_PADDED else 4
    return 8 << u32(u64(SHIFTS) >> u64(4 * kind) & 15)


def decode_rows(t: TensorCopy, span: u32) -> u32:
    """How long rows are, and how the other dimensions lie; `span` is as wide as the swizzle."""
    bits = element_bits(t.kind)
    count = (t.words[13] >> 24) + 1
    first: u32 = 1
    t.packed = CHUNK_BYTES
    if t.kind >= B4_PADDED:
        t.packed = 2 * bits
        if t.interleave != 0 or t.flips != 0 or (count != PADDED_ELEMENTS and (t.kind != B6_PADDED or count != 64)):
            return WRONG_PADDING
    t.piece = 8 if t.flips != 0 else t.packed
    if t.interleave != 0:
        first = 0
        t.element = 128 * i64(t.interleave)
        t.taken_bytes = 16 * u64(t.interleave)
        t.inner_bytes = i64(t.taken_bytes)
    else:
        t.element = i64(bits)
        t.taken_bytes = u64(count * bits >> 3)
        t.inner_bytes = (i64(t.words[8]) + 1) * t.element + 7 >> 3
    t.row_bytes = t.taken_bytes // u64(t.packed) * CHUNK_BYTES
    t.pieces = u32(t.taken_bytes) // t.piece
    t.pitch = t.row_bytes
    if t.taken_bytes % u64(t.packed) != 0 or count * bits & 7 != 0:
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
