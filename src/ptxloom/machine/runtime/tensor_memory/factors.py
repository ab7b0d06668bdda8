"""Factors of `tcgen05.mma`, brought to where the tensor cores' code takes them (PTX ISA 9.7.16.4, 9.7.16.10).

What the code takes is tiles: registers of a warp, 128 bytes each, as `mma` has them. A register is a core matrix, eight
lines of 16 bytes. Of a factor whose lines lie next to each other, a tile is its columns, one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, copy, fill, nothing, part, u8, u32, u64, view
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.initcheck.slow_path import read_lane
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.memory.lane_access import fault
from ptxloom.machine.runtime.memory.matrix_layout import (
    ATOM_32B,
    NEXT_IS_ADDRESS,
    ROW_BYTES,
    SWIZZLE_128B,
    factor_place,
)
from ptxloom.machine.runtime.racecheck.happens_before import me, stamp_of
from ptxloom.machine.runtime.racecheck.proxies import check_fence
from ptxloom.machine.runtime.racecheck.race_report import tell_end
from ptxloom.machine.runtime.racecheck.slow_path import check
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, OUT_OF_BOUNDS, SHARED, Cta, Warp
from ptxloom.machine.runtime.tensor_cores.model import (
    BAD_ATOM,
    BAD_LEADING,
    BAD_SWIZZLE,
    REGISTER_BYTES,
    TENSOR_LANES,
    TensorJob,
    TensorMemory,
    TensorPlan,
)
from ptxloom.machine.runtime.tensor_cores.places import is_cleared
from ptxloom.machine.runtime.tensor_memory.allocation import illegal

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


WIDE_PARTS = 3  # of 16 bytes, where K is 96


def bad_descriptor(w: Warp, descriptor: u64, parts: u32, across: u32, site: u32) -> u32:
    """1 after noting a descriptor that a matrix cannot have: of its swizzle, or of rows that go on where they cannot.

    Args:
        w: Whose instruction it is.
        descriptor: Of shared memory.
        parts: Of 16 bytes along k.
        across: Bytes of an element whose lines lie next to each other; 0 where k does.
        site: The instruction.
    """
    mode = descriptor >> 61
    circular = parts == WIDE_PARTS and across == 0 and mode == SWIZZLE_128B and descriptor >> 49 & 7 == 0
    if descriptor & NEXT_IS_ADDRESS != 0 and not circular:
        return illegal(w, BAD_LEADING, site, 1 << w.worker.job.lane, descriptor)
    if mode == 3 or mode == 5 or mode == 7:  # noqa: PLR1714 - native code has no sets
        return illegal(w, BAD_SWIZZLE, site, 1 << w.worker.job.lane, descriptor)
    if (mode == ATOM_32B) != (across == 4):
        return illegal(w, BAD_ATOM, site, 1 << w.worker.job.lane, descriptor)
    return 0


@watching
def watch_factor(w: Warp, cta: Cta, at: u64, size: u32, site: u32) -> None:
    """Report to racecheck and initcheck bytes of a CTA of the pair that a lane's product or copy reads."""
    lane = w.worker.job.lane
    place = at
    if address(cta) != address(w.cta):
        place = at | u64(cta.rank + 1) << CLUSTER_SHIFT
    if address(w.shadow) != 0:
        stamp = stamp_of(w, site)
        if cta.shadow.ended != 0 and cta.shadow.first != w.shadow.first:
            tell_end(w, cta.shadow, me(w, lane), u32(at), size, stamp)
        check(w, cta.shadow, lane, u32(at), size, stamp, 0, nothing(u64), 1)
        check_fence(w, lane, place, SHARED, size, stamp)
    if address(w.written) != 0:
        read_lane(w, lane, place, SHARED, size, site)


def gather_lines(
    w: Warp,
    cta: Cta,
    descriptor: u64,
    into: Slice[u8],
    lines: u32,
    parts: u32,
    halves: u32,
    moved: u32,
    site: u32,
) -> u32:
    """A factor that is stored along k: `lines` core matrices down, `halves` of them to a tile; 1 after a fault.

    The first `moved` lines are skipped.
    """
    shared = cta.shared
    for line in range(lines):
        for column in range(parts):
            target = ((line // halves * parts + column) * halves + line % halves) * REGISTER_BYTES
            core = part(into, u64(target), REGISTER_BYTES)
            for row in range(8):
                from_line = line * 8 + row + moved
                at = factor_place(descriptor, u64(from_line >> 3), u64(column), from_line & 7, 0)
                if within(at, ROW_BYTES, w.shared_bytes) == 0:
                    fault(w, OUT_OF_BOUNDS, site, w.worker.job.lane, at, SHARED, ROW_BYTES, 0)
                    return 1
                copy(part(core, u64(row) * ROW_BYTES, ROW_BYTES), part(shared, at, ROW_BYTES), ROW_BYTES)
                watch_factor(w, cta, at, ROW_BYTES, site)
    return 0


def gather_columns(
    w: Warp,
    cta: Cta,
    descriptor: u64,
    into: Slice[u8],
    lines: u32,
    parts: u32,
    halves: u32,
    element: u32,
    moved: u32,
    site: u32,
) -> u32:
    """A factor whose lines lie next to each other: a tile is its columns, one after the other; 1 after a fault."""
    shared = cta.shared
    width = 8 * halves * element  # of a column of a tile
    depth = parts * ROW_BYTES // element
    size = min(width, ROW_BYTES) if moved == 0 else element
    for tile in range(lines // halves):
        for k in range(depth):
            target = (tile * depth + k) * width
            for piece in range(width // size):
                along = tile * width + piece * size + moved * element
                at = factor_place(descriptor, u64(along // ROW_BYTES), u64(k // 8), k % 8, 1) + u64(along % ROW_BYTES)
                if within(at, u64(size), w.shared_bytes) == 0:
                    fault(w, OUT_OF_BOUNDS, site, w.worker.job.lane, at, SHARED, size, 0)
                    return 1
                found = part(shared, at, u64(size))
                copy(part(into, u64(target + piece * size), u64(size)), found, u64(size))
                watch_factor(w, cta, at, size, site)
    return 0


def gather_tensor(
    memory: TensorMemory,
    column: u32,
    tiles: Slice[u32],
    into: Slice[u8],
    count: u32,
    parts: u32,
    base: u32,
    shifts: u32,
) -> None:
    """A from tensor memory: tiles of 16 rows, each from its lane on; a row is the next lane's if A `shifts`."""
    last = base + tiles[count - 1] + 15
    for tile in range(count):
        for word in range(parts * 4):
            for row in range(16):
                target = ((tile * parts + word // 4) * 2 + row // 8) * 32 + row % 8 * 4 + word % 4
                lane = min(base + tiles[tile] + row + shifts, last)
                view(u32, into)[target] = memory.words[(column + word) * TENSOR_LANES + lane]


def unpack(into: Slice[u8], count: u32, bits: u32, shift: u32) -> None:
    """Elements of 4 or 6 bits, 16 of them in the first 8 or 12 of 16 bytes, each to a byte of its own."""
    for chunk in range(count // 16):
        piece = part(into, u64(chunk) * 16, 16)
        words = view(u64, piece)
        low = words[0]
        high = words[1]
        for index in range(16):
            at = index * bits
            value = low >> u64(at & 63) if at < 64 else high >> u64(at & 63)
            if at < 64 and at + bits > 64:
                value = value | high << u64(64 - at)
            piece[index] = u8((value & (1 << u64(bits)) - 1) << u64(shift))


def turn_signs(into: Slice[u8], count: u32, bits: u32) -> None:
    """Negate the elements of some bytes."""
    words = view(u32, into)
    for index in range(count // 4):
        words[index] = words[index] ^ bits


def clear_columns(plan: TensorPlan, into: Slice[u8], mask: u64) -> None:
    """Take columns of B as zeros."""
    for column in range(8 * plan.b_tiles):
        if is_cleared(plan, mask, column) != 0:
            clear_column(plan, into, column)


def clear_column(plan: TensorPlan, into: Slice[u8], column: u32) -> None:
    """Zeros to a column of B."""
    tile = u64(column // 8 * plan.b_parts) * REGISTER_BYTES
    if plan.b_across == 0:
        for piece in range(plan.b_parts):
            fill(part(into, tile + u64(piece * REGISTER_BYTES + column % 8 * 16), 16), 0)
    else:
        size = plan.b_across
        for k in range(plan.b_parts * 16 // size):
            fill(part(into, tile + u64((k * 8 + column % 8) * size), u64(size)), 0)


def keep_lanes(job: TensorJob, disabled: Slice[u32], column: u32, columns: u32, rank: u32, back: u32) -> None:
    """Keep D where lanes are not to be written, and put it back."""
    if address(disabled) == 0:
        return
    for lane in range(128):
        if disabled[rank * 4 + lane // 32] >> (lane & 31) & 1 != 0:
            for index in range(columns):
                at = (column + index) * TENSOR_LANES + lane
                if back == 0:
                    job.kept[index * TENSOR_LANES + lane] = job.memory.words[at]
                else:
                    job.memory.words[at] = job.kept[index * TENSOR_LANES + lane]
