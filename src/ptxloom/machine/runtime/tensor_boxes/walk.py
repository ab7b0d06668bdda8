"""The way of a copy through its tensor: the rows of a tile, or of im2col's columns, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import i64, u32, u64
from ptxloom.machine.runtime.tensor_boxes.decode import box_size, corner
from ptxloom.machine.runtime.tensor_boxes.model import (
    CHUNK_BYTES,
    MOST_ROWS,
    OFFSETS,
    PICKED_ROWS,
    PIXELS_ALONG_WIDTH,
    TensorCopy,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice, i32


def start_walk(t: TensorCopy, coordinates: Slice[i32], lane: u32) -> None:
    """Begin at the coordinates of a lane: number n of it is element 32 n + lane."""
    first: u32 = t.rank - t.outer
    t.inner = 0
    if first != 0:
        t.inner = i64(coordinates[lane]) * t.element
    t.partial = u32(t.inner & 127)
    t.inner = t.inner >> 3
    for place in range(t.outer):
        t.first[place] = i64(coordinates[32 * (place + first) + lane])
    restart(t)
    if t.along_width != 0:
        start_width(t, coordinates, lane)
    elif t.in_columns != 0:
        start_columns(t, coordinates, lane)
    else:
        start_tile(t, first)
    if t.picks != 0:
        t.rows = PICKED_ROWS
        for number in range(PICKED_ROWS):
            t.picked[number] = i64(coordinates[32 * (1 + number) + lane])


def restart(t: TensorCopy) -> None:
    """Go back to the first row."""
    t.number = 0
    for place in range(t.outer):
        t.point[place] = t.first[place]


def start_tile(t: TensorCopy, first: u32) -> None:
    """A dimension ends with the box, and begins anew where it began."""
    t.rows = 1
    for place in range(t.outer):
        step = t.steps[place]
        t.skipped[place] = 0
        count = (i64(box_size(t, place + first)) + step - 1) // step
        t.begins[place] = t.point[place]
        t.ends[place] = t.point[place] + count * step
        t.rows = t.rows * u64(count)


def start_columns(t: TensorCopy, coordinates: Slice[i32], lane: u32) -> None:
    """A spatial dimension ends at the upper corner, and begins anew at the lower one.

    Of an interleaved tensor the slice stays the same; images never end.
    """
    t.rows = u64(t.words[15] & 1023) + 1
    spatial = t.rank - 2
    for place in range(t.outer):
        t.skipped[place] = 0
        if place < spatial:
            t.shifts[place] = i64(u32(coordinates[32 * (OFFSETS + place) + lane]) & offset_mask(t))
            t.begins[place] = corner(t, place, 0)
            t.ends[place] = t.sizes[place] + corner(t, place, 1)
        else:
            t.begins[place] = t.point[place]
            t.ends[place] = t.point[place]
    t.ends[t.outer - 1] = 1 << 40


def start_width(t: TensorCopy, coordinates: Slice[i32], lane: u32) -> None:
    """W ends at the upper corner and begins anew at the lower one, of the next image; H and D stay (PTX ISA 5.5.5)."""
    t.halo = u32(coordinates[32 * OFFSETS + lane]) & 0xFFFF
    t.rows = u64(t.words[15] & 1023) + 1 + u64(t.halo)
    if t.along_width > 1:
        t.rows = PIXELS_ALONG_WIDTH
    for place in range(t.outer):
        t.skipped[place] = 0
        t.begins[place] = t.point[place]
        t.ends[place] = t.point[place] + 1
    t.shifts[0] = i64(u32(coordinates[32 * (OFFSETS + 1) + lane]) & 0xFFFF)
    t.begins[0] = corner(t, 0, 0)
    t.ends[0] = t.sizes[0] + corner(t, 0, 1)
    t.steps[t.outer - 1] = 1  # the stride of the traversal is W's
    t.ends[t.outer - 1] = 1 << 40


def halo_stays(t: TensorCopy) -> u32:
    """1 if the halo of a copy along W ends in the last pixel's image, and so lies behind that (PTX ISA 5.5.5.3).

    Where it would go on behind an image, or after every 32 pixels, the manual's words leave open which pixels it has.
    """
    step = t.steps[0]
    of_first = (t.ends[0] - t.point[0] + step - 1) // step
    of_others = (t.ends[0] - t.begins[0] + step - 1) // step
    count = i64(t.rows) - i64(t.halo)
    if t.along_width > 1 or of_others < 1:
        return 0
    last = t.point[0] + (count - 1) * step
    if count > of_first:
        last = t.begins[0] + (count - of_first - 1) % of_others * step
    return u32(last + i64(t.halo) * step < t.ends[0])


def offset_mask(t: TensorCopy) -> u32:
    """The bits of an offset that count: as many as a corner has."""
    if t.rank == 3:
        return 0xFFFF
    return 0xFF if t.rank == 4 else 0x1F


def keep_inside(t: TensorCopy) -> u64:
    """From now on the walk leaves out what lies outside of the tensor; returns the number of the last row plus one.

    A box may reach 2^40 rows beyond its tensor; rows inside are no more than what they hold in shared memory. Of im2col
    all rows, 1,024 at most, are come by, and of rows that are named.
    """
    if t.in_columns | t.picks != 0:
        return last_row(t)
    weight: u64 = 1
    behind: u64 = 1
    rows: u64 = 1
    for place in range(t.outer):
        step = t.steps[place]
        count = (t.ends[place] - t.begins[place]) // step
        inside = max(min(count, (t.sizes[place] - t.begins[place] + step - 1) // step), 0)
        t.ends[place] = t.begins[place] + inside * step
        t.skipped[place] = u64(count - inside) * weight
        behind = behind + u64(inside - 1) * weight
        weight = weight * u64(count)
        rows = rows * u64(inside)
    t.rows = rows
    return behind if rows != 0 else 0


def last_row(t: TensorCopy) -> u64:
    """The number of the last row that is inside of the tensor, and one; 0 if no row is: the walk comes by all."""
    behind: u64 = 0
    for _row in range(rows_of(t)):
        if is_inside(t) != 0:
            behind = t.number + 1
        next_row(t)
    restart(t)
    return behind


def next_row(t: TensorCopy) -> None:
    """Advance to the next row."""
    t.number = t.number + 1
    if t.picks != 0:
        if t.number < PICKED_ROWS:
            t.point[0] = t.picked[t.number]
        return
    for place in range(t.outer):
        t.point[place] = t.point[place] + t.steps[place]
        if t.point[place] < t.ends[place]:
            return
        t.point[place] = t.begins[place]
        t.number = t.number + t.skipped[place]


def names_negative(t: TensorCopy) -> u32:
    """1 if a row before the first is named."""
    if t.picks != 0:
        for number in range(PICKED_ROWS):
            if t.picked[number] < 0:
                return 1
    return 0


def rows_of(t: TensorCopy) -> u32:
    """The number of rows of the walk, for a box that is known to fit in shared memory."""
    assert t.rows <= MOST_ROWS
    return u32(t.rows)


def is_inside(t: TensorCopy) -> u32:
    """1 if the row is one of the tensor's."""
    for place in range(t.outer):
        at = t.point[place] + t.shifts[place]
        if at < 0 or at >= t.sizes[place]:
            return 0
    return 1


def row_address(t: TensorCopy) -> u64:
    """The address of a row's first byte, whether inside the tensor or not."""
    at = t.base + u64(t.inner)
    for place in range(t.outer):
        at = at + u64(t.point[place] + t.shifts[place]) * t.strides[place]
    return at


def inside_from(t: TensorCopy) -> u64:
    """The first byte of a row that the tensor has; the row's size if it has no such byte."""
    return u64(min(max(0 - t.inner, 0), i64(t.taken_bytes)))


def inside_to(t: TensorCopy) -> u64:
    """The byte behind the last one of a row that the tensor has; 0 if it has no such byte."""
    return u64(min(max(t.inner_bytes - t.inner, 0), i64(t.taken_bytes)))


def stored_bytes(t: TensorCopy) -> u64:
    """How many bytes of a row a store writes: up to the end of the chunk that holds the tensor's last element."""
    return inside_to(t) + CHUNK_BYTES - 1 & ~(CHUNK_BYTES - 1)


def meeting(t: TensorCopy, at: u64, size: u64, writes: u32) -> u64:
    """The first byte of a stretch of memory that a row which the copy reads or writes holds; 0 without such a row."""
    low = inside_from(t)
    high = stored_bytes(t) if writes != 0 else inside_to(t)
    restart(t)
    if low >= high:
        return 0
    for _row in range(rows_of(t)):
        if is_inside(t) != 0:
            start = row_address(t)
            if at < start + high and at + size > start + low:
                return max(at, start + low)
        next_row(t)
    return 0
