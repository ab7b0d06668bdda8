"""The layout of a matrix in shared memory, by its matrix descriptor (PTX ISA 9.7.15.5.1).

A matrix is made of core matrices, eight rows of 16 bytes. The pitch of a core matrix's rows is the width of the
swizzle, so that as many core matrices as fit in it are side by side; the descriptor states the distance to further
ones. The swizzle exchanges the 16-byte pieces of 128 bytes, by the address itself.
"""

from __future__ import annotations

from typing import Final

from ptxloom.machine.native.language import u32, u64

ROW_BYTES: Final = 16
NEXT_IS_ADDRESS: Final = (
    1 << 52
)  # the leading offset is where rows of 128 bytes go on, of `tcgen05` with a k of 48 bytes
SWIZZLE_128B: Final = 2  # of `tcgen05`
ATOM_32B: Final = 1  # the swizzle of 128 bytes that moves 32 at a time, of `tcgen05` alone


def width_shift(descriptor: u64) -> u64:
    """The log2 of the swizzle's width: 16 (none), 128, 64 or 32 bytes."""
    mode = descriptor >> 62
    return 4 if mode == 0 else 8 - mode


def core_start(descriptor: u64, line: u64, column: u64, across: u32) -> u64:
    """The start of a core matrix before it is swizzled: the `line`-th along M or N, the `column`-th along k.

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
    return start + beside * stride + (along >> shift) * leading + (along & (1 << shift) - 1) * ROW_BYTES


def swizzled(descriptor: u64, at: u64) -> u64:
    """The swizzled place of 16 bytes, from their address without a swizzle."""
    mask = (1 << width_shift(descriptor) - 4) - 1
    return at ^ ((at >> 7) - (descriptor >> 49 & 7) & mask) << 4


def row_at(descriptor: u64, line: u64, column: u64, across: u32, row: u32) -> u64:
    """The address of a row of a core matrix."""
    return swizzled(descriptor, core_start(descriptor, line, column, across) + (u64(row) << width_shift(descriptor)))


def factor_place(descriptor: u64, line: u64, column: u64, row: u32, across: u32) -> u64:
    """The address of 16 bytes: `row_at`, plus for `tcgen05` factors of 32 bits and rows that continue elsewhere."""
    if descriptor & NEXT_IS_ADDRESS != 0:
        return swizzled(descriptor, circular_start(descriptor, line, column) + (u64(row) << 7))
    if descriptor >> 61 != ATOM_32B:
        return row_at(descriptor, line, column, across, row)
    start = (descriptor & 0x3FFF) << 4
    leading = (descriptor >> 16 & 0x3FFF) << 4
    stride = (descriptor >> 32 & 0x3FFF) << 4
    k = column * 8 + u64(row)
    at = start + (line >> 3) * leading + (line & 7) * ROW_BYTES + (k & 3) * 128 + (k >> 2) * stride
    return at ^ (at >> 2 & 0x60)


def circular_start(descriptor: u64, line: u64, column: u64) -> u64:
    """`core_start` if a row of 128 bytes continues at an address of its own, in a ring's next buffer (9.7.16.4.1)."""
    start = (descriptor & 0x3FFF) << 4
    stride = (descriptor >> 32 & 0x3FFF) << 4
    along = (start >> 4 & 7) + column
    row = start & ~u64(127) if along < 8 else (descriptor >> 16 & 0x3FFF) << 4
    return row + line * stride + (along & 7) * ROW_BYTES


def is_invertible(descriptor: u64, lines: u64, across: u32) -> u32:
    """1 if `holds_piece` can decide membership in a factor: its core matrices follow each other without overlap."""
    if descriptor & NEXT_IS_ADDRESS != 0 or descriptor >> 61 == ATOM_32B:
        return 0
    return u32(distance(descriptor, lines, across) >= 8 << width_shift(descriptor))


def distance(descriptor: u64, lines: u64, across: u32) -> u64:
    """The distance of lines of core matrices, or of groups that fill a swizzle's width; huge if there is only one."""
    shift = width_shift(descriptor) - 4
    if across == 0 or shift == 0:
        return (descriptor >> 32 & 0x3FFF) << 4
    if lines <= 1 << shift:
        return 1 << 32
    return (descriptor >> 16 & 0x3FFF) << 4


def holds_piece(descriptor: u64, first: u32, lines: u32, columns: u32, rows: u32, across: u32, at: u64) -> u32:
    """1 if 16 aligned bytes are a row of an invertible factor: of lines from `first` on, `rows` of each core matrix."""
    start = (descriptor & 0x3FFF) << 4
    leading = (descriptor >> 16 & 0x3FFF) << 4
    stride = (descriptor >> 32 & 0x3FFF) << 4
    shift = width_shift(descriptor) - 4
    wide = across != 0 and shift != 0  # as many lines as fit in the swizzle's width are side by side
    side = (1 << shift) - 1
    step = distance(descriptor, u64(first + lines), across)
    plain = swizzled(descriptor, at)
    assert columns <= 64
    for column in range(columns):
        before = start + u64(column) * stride
        if across != 0 and shift == 0:
            before = start + u64(column) * leading
        elif across == 0:
            before = start + (u64(column) >> shift) * leading + (u64(column) & side) * ROW_BYTES
        if plain >= before:
            group = (plain - before) // step
            rest = plain - before - group * step
            line = group
            if wide:
                line = (group << shift) + (rest >> 4 & side)
                rest = rest & ~(side << 4)
            row = rest >> width_shift(descriptor)
            whole = rest == row << width_shift(descriptor) and row < u64(rows)
            if whole and line >= u64(first) and line < u64(first + lines):
                return 1
    return 0


def factor_low(descriptor: u64) -> u64:
    """A lower bound of a factor's addresses: a swizzle moves bytes within 128."""
    start = ((descriptor & 0x3FFF) << 4) & ~u64(127)
    if descriptor & NEXT_IS_ADDRESS != 0:
        start = min(start, (descriptor >> 16 & 0x3FFF) << 4 & ~u64(127))
    return start


def factor_high(descriptor: u64, lines: u64, columns: u64, across: u32) -> u64:
    """An upper bound of the addresses of a factor's first lines and columns of core matrices."""
    start = (descriptor & 0x3FFF) << 4
    leading = (descriptor >> 16 & 0x3FFF) << 4
    stride = (descriptor >> 32 & 0x3FFF) << 4
    shift = width_shift(descriptor) - 4
    along = lines if across != 0 else columns
    beside = columns if across != 0 else lines
    if descriptor & NEXT_IS_ADDRESS != 0:
        last = max(start, leading) + lines * stride
    elif descriptor >> 61 == ATOM_32B:
        last = start + (lines >> 3) * leading + (columns << 1) * stride
    elif across != 0 and shift == 0:
        last = start + beside * leading + along * stride
    else:
        last = start + beside * stride + (along >> shift) * leading
    return last + 2048  # the rows of a core matrix, and what a swizzle's width adds
