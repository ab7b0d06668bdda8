"""Matrices in shared memory that `wgmma` multiplies, found by their descriptors (PTX ISA 9.7.15.5.1).

A matrix is made of core matrices, eight rows of 16 bytes. Rows of a core matrix lie as far apart as the swizzle is
wide, so that as many of them stand side by side as fit in it; further ones are a distance away that the descriptor
tells. The swizzle exchanges the 16-byte pieces of 128 bytes, by the address itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native.language import copy, part, u8, u32, u64
from ptxloom.machine.runtime.bounds import within
from ptxloom.machine.runtime.memory import fault
from ptxloom.machine.runtime.state import OUT_OF_BOUNDS, SHARED, Warp

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

CORE_BYTES: Final = 128
_ROW_BYTES: Final = 16


def width_shift(descriptor: u64) -> u64:
    """How wide the swizzle is, as a power of two: 16 (none), 128, 64 or 32 bytes."""
    mode = descriptor >> 62
    return 4 if mode == 0 else 8 - mode


def core_start(descriptor: u64, line: u64, column: u64, across: u32) -> u64:
    """Where a core matrix starts before it is swizzled: the `line`-th along M or N, the `column`-th along k.

    `across` is 1 where the matrix is stored along M or N, 0 where it is stored along k.
    """
    start = (descriptor & 0x3FFF) << 4
    leading = (descriptor >> 16 & 0x3FFF) << 4
    stride = (descriptor >> 32 & 0x3FFF) << 4
    shift = width_shift(descriptor) - 4
    along = line if across != 0 else column
    beside = column if across != 0 else line
    if across != 0 and shift == 0:
        return start + beside * leading + along * stride
    return start + beside * stride + (along >> shift) * leading + (along & (1 << shift) - 1) * _ROW_BYTES


def swizzled(descriptor: u64, at: u64) -> u64:
    """Where 16 bytes lie that would be at an address without a swizzle."""
    mask = (1 << width_shift(descriptor) - 4) - 1
    return at ^ ((at >> 7) - (descriptor >> 49 & 7) & mask) << 4


def gather(
    w: Warp,
    descriptor: u64,
    into: Annotated[Slice[u8], "lines * parts * 128"],
    is_a: u32,
    lines: u32,
    parts: u32,
    across: u32,
    site: u32,
) -> u32:
    """Copy a factor, core matrix after core matrix, those of one line next to each other; 1 after a fault.

    Of A a warp takes its own 16 rows.
    """
    first: u32 = (w.index & 3) * lines if is_a != 0 else 0
    pitch = 1 << width_shift(descriptor)
    for line in range(lines):
        for column in range(parts):
            start = core_start(descriptor, u64(first + line), u64(column), across)
            target = part(into, u64(line * parts + column) * CORE_BYTES, CORE_BYTES)
            for row in range(8):
                at = swizzled(descriptor, start + u64(row) * pitch)
                if within(at, _ROW_BYTES, w.shared_bytes) == 0:
                    fault(w, OUT_OF_BOUNDS, site, 0, at, SHARED, _ROW_BYTES, 0)
                    return 1
                copy(part(target, u64(row) * _ROW_BYTES, _ROW_BYTES), part(w.shared, at, _ROW_BYTES), _ROW_BYTES)
    return 0
