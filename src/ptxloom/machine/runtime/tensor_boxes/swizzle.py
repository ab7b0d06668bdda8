"""Where the rows of a box lie in shared memory: 16 bytes change places by the bits of their own address."""

from __future__ import annotations

from ptxloom.machine.native.language import u64
from ptxloom.machine.runtime.tensor_boxes.model import CHUNK_BYTES, TensorCopy


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


def row_room(t: TensorCopy) -> u64:
    """How many bytes these are."""
    return max(t.row_bytes, u64(t.chunk_mask + 1) * CHUNK_BYTES)
