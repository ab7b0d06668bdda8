"""The places of a box's rows in shared memory: 16 bytes change places by the bits of their own address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import copy, part, u8, u32, u64, view
from ptxloom.machine.runtime.tensor_boxes.model import CHUNK_BYTES, MOST_PIECES, TensorCopy, TensorRow

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def pattern_bytes(t: TensorCopy) -> u64:
    """The bytes among which pieces change places."""
    return u64(t.chunk_mask + 1) << u64(t.atom_shift)


def box_bytes(t: TensorCopy) -> u64:
    """The size of a box in shared memory, in whole patterns of its swizzle."""
    pattern = pattern_bytes(t)
    return t.rows * t.pitch + pattern - 1 & ~(pattern - 1)


def is_plain(t: TensorCopy) -> u32:
    """1 if a row has the same layout in a box as in the tensor."""
    return u32(t.chunk_mask == 0 and t.packed == CHUNK_BYTES)


def pieces_of(t: TensorCopy) -> u32:
    """The number of pieces of a row."""
    assert t.pieces <= MOST_PIECES
    return t.pieces


def chunk_place(t: TensorCopy, start: u64, number: u64, offset: u64) -> u64:
    """Where a piece of a row lies in a box that starts at an address of shared memory, from that start on.

    `offset` counts bytes of the tensor, a multiple of `t.piece`.
    """
    at = start + number * t.pitch + offset
    if t.packed != CHUNK_BYTES:
        at = start + number * t.pitch + offset // u64(t.packed) * CHUNK_BYTES
    return (at ^ (at >> 7 & u64(t.chunk_mask)) << u64(t.atom_shift) ^ (at >> 7 & u64(t.flips)) << 3) - start


def row_place(t: TensorCopy, number: u64) -> u64:
    """Where the bytes begin among which the chunks of a row lie, from the start of the box on."""
    return number * t.pitch & ~(pattern_bytes(t) - 1)


def rows_bytes(t: TensorCopy, count: u64) -> u64:
    """What the first rows of a box reach over in shared memory, in whole patterns of its swizzle."""
    return row_place(t, count - 1) + row_room(t)


def row_room(t: TensorCopy) -> u64:
    """The number of bytes from `row_place` on."""
    return t.row_bytes + pattern_bytes(t) - 1 & ~(pattern_bytes(t) - 1)


def take_row(r: TensorRow, t: TensorCopy, room: Slice[u8], start: u64, number: u64) -> None:
    """The row that is to go, out of the bytes at `row_place`."""
    if is_plain(t) != 0:
        copy(view(u8, r.bytes), room, t.row_bytes)
        return
    before = row_place(t, number)
    for piece in range(pieces_of(t)):
        offset = u64(piece * t.piece)
        place = chunk_place(t, start, number, offset) - before
        if t.piece == CHUNK_BYTES:
            copy(part(r.bytes, offset, CHUNK_BYTES), part(room, place, CHUNK_BYTES), CHUNK_BYTES)
        elif t.packed != CHUNK_BYTES:
            pack_sixes(part(r.bytes, offset, 12), part(room, place, CHUNK_BYTES))
        else:
            copy(part(r.bytes, offset, 8), part(room, place, 8), 8)


def pack_sixes(into: Annotated[Slice[u8], "12"], source: Annotated[Slice[u8], "16"]) -> None:
    """The low 6 bits of 16 bytes, side by side."""
    for place in range(4):
        bits: u32 = 0
        for n in range(4):
            bits = bits | u32(source[4 * place + n] & 63) << 6 * n
        for n in range(3):
            into[3 * place + n] = u8(bits >> 8 * n & 255)
