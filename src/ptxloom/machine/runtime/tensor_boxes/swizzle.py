"""Where the rows of a box lie in shared memory: 16 bytes change places by the bits of their own address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, part, u8, u32, u64, view
from ptxloom.machine.runtime.tensor_boxes.model import CHUNK_BYTES, TensorCopy, TensorRow

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def box_bytes(t: TensorCopy) -> u64:
    """What a box takes in shared memory, in whole patterns of its swizzle."""
    pattern = u64(t.chunk_mask + 1) * CHUNK_BYTES
    return t.rows * t.pitch + pattern - 1 & ~(pattern - 1)


def chunk_place(t: TensorCopy, start: u64, number: u64, offset: u64) -> u64:
    """Where 16 bytes of a row lie in a box that starts at an address of shared memory, from that start on."""
    at = start + number * t.pitch + offset
    return (at ^ (at >> 7 & u64(t.chunk_mask)) << 4) - start


def row_place(t: TensorCopy, number: u64) -> u64:
    """Where the bytes begin among which the chunks of a row lie, from the start of the box on."""
    return number * t.pitch & ~(u64(t.chunk_mask + 1) * CHUNK_BYTES - 1)


def rows_bytes(t: TensorCopy, count: u64) -> u64:
    """What the first rows of a box reach over in shared memory, in whole patterns of its swizzle."""
    return row_place(t, count - 1) + row_room(t)


def row_room(t: TensorCopy) -> u64:
    """How many bytes these are."""
    return max(t.row_bytes, u64(t.chunk_mask + 1) * CHUNK_BYTES)


def take_row(r: TensorRow, t: TensorCopy, room: Slice[u8], start: u64, number: u64) -> None:
    """The row that is to go, out of the bytes at `row_place`."""
    if t.chunk_mask == 0:
        copy(view(u8, r.bytes), room, t.row_bytes)
        return
    before = row_place(t, number)
    for offset in range(0, u32(t.row_bytes), CHUNK_BYTES):
        source = part(room, chunk_place(t, start, number, u64(offset)) - before, CHUNK_BYTES)
        copy(part(r.bytes, offset, CHUNK_BYTES), source, CHUNK_BYTES)
