"""`tcgen05.cp` and `tcgen05.shift`: moves to tensor memory from shared memory, and within it (PTX ISA 9.7.16.9).

Rows of 16 or 32 bytes lie in shared memory as those of a factor that is stored along k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import address, copy, part, u8, u32, u64, view
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.memory.lane_access import fault
from ptxloom.machine.runtime.memory.matrix_layout import ROW_BYTES, factor_place
from ptxloom.machine.runtime.provenance.tensor_tags import put_word, shift_row_tags, stage_piece
from ptxloom.machine.runtime.racecheck.pending_products import keep_factor
from ptxloom.machine.runtime.racecheck.tensor_accesses import (
    COPIES,
    LAST_ROWS,
    SHIFTS,
    add_lanes,
    begin_touch,
    clear_lanes,
    touch_tensor,
)
from ptxloom.machine.runtime.state import OUT_OF_BOUNDS, SHARED, TENSOR, Cta, Warp
from ptxloom.machine.runtime.tensor_cores.marks import mark_word, missing_word
from ptxloom.machine.runtime.tensor_cores.model import BAD_LANE, QUARTER_LANES, TENSOR_LANES
from ptxloom.machine.runtime.tensor_cores.ownership import holds_columns
from ptxloom.machine.runtime.tensor_memory.allocation import has_peer, illegal
from ptxloom.machine.runtime.tensor_memory.factors import bad_descriptor, unpack, watch_factor

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

ONCE, APART, BESIDE, ALL, QUARTERED = range(5)  # where rows go: see `lane_of`
SHIFT_COLUMNS = 8
CENTRED = 2  # the bit of a byte at which an element of 4 bits begins


def copies_of(way: u32) -> u32:
    """The number of lanes that receive a row."""
    if way == ALL:
        return 4
    return 2 if way == APART or way == BESIDE else 1  # noqa: PLR1714, SIM109 - native code has no sets


def lane_of(way: u32, row: u32, number: u32) -> u32:
    """The lane of one of the copies of a row."""
    if way == APART:  # `.warpx2::02_13`
        return row + 64 * number
    if way == BESIDE:  # `.warpx2::01_23`
        return row % 32 + 64 * (row // 32) + 32 * number
    if way == ALL:  # `.warpx4`
        return row + 32 * number
    if way == QUARTERED:  # `.4x256b`
        return 32 * row
    return row


def copy_rows(
    w: Warp,
    lanes: u32,
    targets: Ptr[u32],
    sources: Ptr[u64],
    chunk: Annotated[Slice[u8], "16"],
    rows: u32,
    parts: u32,
    way: u32,
    bits: u32,
    pair: u32,
    site: u32,
) -> u32:
    """Copy rows of some lanes' descriptors, in each CTA of a pair from its own shared memory; 1 after a fault."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            if pair != 0 and has_peer(w, site, 1 << lane) == 0:
                return 1
            w.worker.job.lane = lane
            if bad_descriptor(w, sources[lane], 0, 0, site) != 0:
                return 1
            begin_touch(w, lane, LAST_ROWS if way == QUARTERED else COPIES, 0, site)
            for number in range(2):
                if number > pair:
                    break
                cta = w.cta.peers[w.cta.rank & ~pair | number].cta
                if copy_to(w, cta, targets[lane], sources[lane], chunk, rows, parts, way, bits, site) != 0:
                    return 1
    return 0


def copy_to(
    w: Warp,
    cta: Cta,
    taddr: u32,
    descriptor: u64,
    chunk: Slice[u8],
    rows: u32,
    parts: u32,
    way: u32,
    bits: u32,
    site: u32,
) -> u32:
    """The same in one CTA."""
    memory = cta.tensor
    column = taddr & 0xFFFF
    lane = taddr >> 16
    if holds_columns(memory, column, 4 * parts) == 0:
        fault(w, OUT_OF_BOUNDS, site, w.worker.job.lane, u64(taddr), TENSOR, 16 * parts, 1)
        return 1
    if lane + lane_of(way, rows - 1, copies_of(way) - 1) >= TENSOR_LANES:
        return illegal(w, BAD_LANE, site, 1 << w.worker.job.lane, u64(taddr))
    assert rows <= TENSOR_LANES
    assert parts <= 2
    touch_copied(w, cta, lane, column, rows, parts, way)
    keep_factor(w, cta, w.worker.job.lane, descriptor, 0, (rows + 7) // 8, parts, min(rows, 8), 0, site)
    for row in range(rows):
        for piece in range(parts):
            at = factor_place(descriptor, u64(row // 8), u64(piece), row % 8, 0)
            if within(at, ROW_BYTES, w.shared_bytes) == 0:
                fault(w, OUT_OF_BOUNDS, site, w.worker.job.lane, at, SHARED, ROW_BYTES, 0)
                return 1
            copy(chunk, part(cta.shared, at, ROW_BYTES), ROW_BYTES)
            watch_factor(w, cta, at, u32(ROW_BYTES), site)
            stage_piece(w, cta, at, bits, site)
            if bits != 0:
                unpack(chunk, ROW_BYTES, bits, CENTRED if bits == 4 else 0)
            words = view(u32, chunk)
            for word in range(4):
                for number in range(copies_of(way)):
                    index = (column + 4 * piece + word) * TENSOR_LANES + lane + lane_of(way, row, number)
                    memory.words[index] = words[word]
                    put_word(w, cta, index, word)
                    if address(w.written) != 0:
                        mark_word(memory, index)
    return 0


@watching
def touch_copied(w: Warp, cta: Cta, lane: u32, column: u32, rows: u32, parts: u32, way: u32) -> None:
    """Report to racecheck where rows go."""
    clear_lanes(w)
    for row in range(rows):
        for number in range(copies_of(way)):
            add_lanes(w, lane + lane_of(way, row, number), 1)
    touch_tensor(w, cta, column, 4 * parts, 1)


def shift_rows(w: Warp, lanes: u32, targets: Ptr[u32], pair: u32, site: u32) -> u32:
    """`tcgen05.shift.down`: of 32 lanes each takes what the next one has, but the last; 1 after a fault."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            if pair != 0 and has_peer(w, site, 1 << lane) == 0:
                return 1
            w.worker.job.lane = lane
            begin_touch(w, lane, SHIFTS, 0, site)
            for number in range(2):
                if number > pair:
                    break
                cta = w.cta.peers[w.cta.rank & ~pair | number].cta
                if shift_in(w, cta, targets[lane], site) != 0:
                    return 1
    return 0


def shift_in(w: Warp, cta: Cta, taddr: u32, site: u32) -> u32:
    """The same in one CTA."""
    memory = cta.tensor
    column = taddr & 0xFFFF
    first = taddr >> 16
    if holds_columns(memory, column, SHIFT_COLUMNS) == 0:
        fault(w, OUT_OF_BOUNDS, site, w.worker.job.lane, u64(taddr), TENSOR, 4 * SHIFT_COLUMNS, 1)
        return 1
    if first >= TENSOR_LANES or first % QUARTER_LANES != 0:
        return illegal(w, BAD_LANE, site, 1 << w.worker.job.lane, u64(taddr))
    clear_lanes(w)
    add_lanes(w, first, QUARTER_LANES)
    touch_tensor(w, cta, column, SHIFT_COLUMNS, 1)
    for index in range(SHIFT_COLUMNS):
        start = (column + index) * TENSOR_LANES + first
        shift_row_tags(w, cta, start, site)
        for row in range(QUARTER_LANES - 1):
            memory.words[start + row] = memory.words[start + row + 1]
            if address(w.written) != 0:
                if missing_word(memory, start + row + 1) == 0:
                    mark_word(memory, start + row)
                else:
                    memory.written[start + row >> 5] = memory.written[start + row >> 5] & ~(1 << (start + row & 31))
    return 0
