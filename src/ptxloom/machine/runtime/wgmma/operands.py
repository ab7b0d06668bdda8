"""Factors of `wgmma` in shared memory, brought to a warp; reads are reported to tools (PTX ISA 9.7.15.5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native.language import address, copy, part, u8, u32, u64
from ptxloom.machine.runtime.initcheck.slow_path import read_lane
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.memory.lane_access import fault
from ptxloom.machine.runtime.memory.matrix_layout import ROW_BYTES, core_start, row_at, swizzled, width_shift
from ptxloom.machine.runtime.racecheck.happens_before import stamp_of
from ptxloom.machine.runtime.racecheck.pending_products import keep_product
from ptxloom.machine.runtime.racecheck.proxies import check_row
from ptxloom.machine.runtime.state import OUT_OF_BOUNDS, SHARED, Warp

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

CORE_BYTES: Final = 128


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
    assert lines <= 64
    for line in range(lines):
        for column in range(parts):
            start = core_start(descriptor, u64(first + line), u64(column), across)
            target = part(into, u64(line * parts + column) * CORE_BYTES, CORE_BYTES)
            for row in range(8):
                at = swizzled(descriptor, start + u64(row) * pitch)
                if within(at, ROW_BYTES, w.shared_bytes) == 0:
                    fault(w, OUT_OF_BOUNDS, site, 0, at, SHARED, ROW_BYTES, 0)
                    return 1
                copy(part(target, u64(row) * ROW_BYTES, ROW_BYTES), part(w.shared, at, ROW_BYTES), ROW_BYTES)
    if address(w.shadow) != 0 or address(w.written) != 0:
        watch_operand(w, descriptor, first, lines, parts, across, site)
    return 0


def watch_operand(w: Warp, descriptor: u64, first: u32, lines: u32, parts: u32, across: u32, site: u32) -> None:
    """Report to racecheck and initcheck a factor that a warp reads from now on, until its group is waited for."""
    stamp: u32 = 0
    if address(w.shadow) != 0:
        stamp = stamp_of(w, site)
        keep_product(w, descriptor, first, lines, parts, across, stamp)
    fine: u64 = 0
    assert parts <= 64
    for line in range(lines):
        for column in range(parts):
            for row in range(8):
                at = row_at(descriptor, u64(first + line), u64(column), across, row)
                if address(w.shadow) != 0:
                    fine = check_row(w, u32(at), ROW_BYTES, stamp, fine)
                if address(w.written) != 0:
                    read_lane(w, 0, at, SHARED, ROW_BYTES, site)
