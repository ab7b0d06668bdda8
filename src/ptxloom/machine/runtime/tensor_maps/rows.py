"""One row of a box: from the tensor to shared memory and back, with its swizzle, its fill and its rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.language import address, copy, fill, invoke, part, u8, u16, u32, u64, view
from ptxloom.machine.runtime.tensor_boxes.model import CHUNK_BYTES, TensorCopy, TensorRow
from ptxloom.machine.runtime.tensor_boxes.swizzle import chunk_place, is_plain, pieces_of

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Code, Slice

NAN_FILL: Final = 0x7FF7
TF32_NAN: Final = 0x7FFFE000


def put_row(r: TensorRow, t: TensorCopy, box: Slice[u8], start: u64, number: u64) -> None:
    """Store the row that has come into a box that starts at an offset in shared memory."""
    if is_plain(t) != 0:
        copy(part(box, number * t.pitch, t.row_bytes), view(u8, r.bytes), t.row_bytes)
        return
    for piece in range(pieces_of(t)):
        offset = u64(piece * t.piece)
        place = chunk_place(t, start, number, offset)
        if t.piece == CHUNK_BYTES:
            copy(part(box, place, CHUNK_BYTES), part(r.bytes, offset, CHUNK_BYTES), CHUNK_BYTES)
        else:
            copy(part(box, place, t.piece), part(r.bytes, offset, t.piece), u64(t.piece))


def blank_row(r: TensorRow, t: TensorCopy) -> None:
    """Fill a row with the value for elements outside of the tensor."""
    if t.fills_nan == 0:
        fill(r.bytes, 0)
        return
    halves = view(u16, r.bytes)
    for place in range(u32(t.row_bytes) >> 1):
        halves[place] = NAN_FILL


def round_row(r: TensorRow, low: u64, high: u64) -> None:
    """Numbers of 32 bits as tf32: to the nearest, ties to even. What stands for elements outside stays as it is."""
    words = view(u32, r.bytes)
    for place in range(u32(low) >> 2, u32(high) >> 2):
        word = words[place]
        if word & 0x7FFFFFFF > 0x7F800000:
            words[place] = TF32_NAN
        elif word & 0x7F800000 != 0x7F800000:
            words[place] = word + 0xFFF + (word >> 13 & 1) & 0xFFFFE000


def combine_row(r: TensorRow, t: TensorCopy, into: Slice[u8], low: u64, size: u64, combine: Code) -> u32:
    """Combine bytes of the row with those of the tensor; 1 if that cannot be done with its type."""
    r.facts[0] = address(into)
    r.facts[1] = address(part(r.bytes, low, size))
    r.facts[2] = size
    r.facts[3] = u64(t.kind)
    return invoke(combine, r.facts)
