"""Companions of A and B in tensor memory: the scales of their blocks, and the metadata of a sparse A.

PTX ISA 9.7.16.10.7 and 9.7.16.10.8. A word has four scales of a row, bytes from the lowest up; the instruction
descriptor selects those of a product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.hazards import note_access
from ptxloom.machine.runtime.memory.lane_access import fault
from ptxloom.machine.runtime.racecheck.tensor_accesses import add_lanes, clear_lanes, touch_tensor
from ptxloom.machine.runtime.state import OUT_OF_BOUNDS, TENSOR, UNWRITTEN, Cta, Warp
from ptxloom.machine.runtime.tensor_cores.marks import missing_word
from ptxloom.machine.runtime.tensor_cores.model import (
    BAD_SCALE,
    QUARTER_LANES,
    SCALES_OF_WORD,
    TENSOR_LANES,
    TensorJob,
    TensorPlan,
)
from ptxloom.machine.runtime.tensor_cores.ownership import holds_columns
from ptxloom.machine.runtime.tensor_cores.places import scale_pitch, scale_word
from ptxloom.machine.runtime.tensor_memory.allocation import illegal

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

ADDRESS = 0x3FFFFFFF  # of scales: the bits above name a byte, and are not looked at
BY_ROW, BY_HALVES = (
    1,
    2,
)  # how metadata lie: 64 bits a row; those of two rows, eight lanes apart for the upper half of k


def reach_columns(w: Warp, cta: Cta, taddr: u32, columns: u32, site: u32) -> u32:
    """1 if columns are allocated; else the fault is noted."""
    if holds_columns(cta.tensor, taddr & 0xFFFF, columns) != 0:
        return 1
    fault(w, OUT_OF_BOUNDS, site, w.worker.job.lane, u64(taddr), TENSOR, 4 * columns, 0)
    return 0


def tensor_word(w: Warp, cta: Cta, at: u32, taddr: u32, site: u32) -> u32:
    """Read a word, which must have been written."""
    if address(w.written) != 0 and missing_word(cta.tensor, at) != 0:
        note_access(w, UNWRITTEN, site, w.worker.job.lane, u64(taddr), TENSOR, 4, 0)
    return cta.tensor.words[at]


def bring_scales(
    w: Warp, cta: Cta, plan: TensorPlan, into: Slice[u64], rows: u32, told: u32, first: u32, split: u32, site: u32
) -> u32:
    """The scales of all rows of A, or columns of B, from the byte `first` on; 1 after a fault.

    Args:
        w: Who issues the product.
        cta: Whose tensor memory it is.
        plan: The product.
        into: A word a row.
        rows: How many.
        told: The address.
        first: The byte of the first scale.
        split: Rows from which on the scales lie 64 lanes further; 0 if no rows do.
        site: The instruction.
    """
    taddr = told & ADDRESS
    if first % plan.scale_step != 0:
        return illegal(w, BAD_SCALE, site, 1 << w.worker.job.lane, u64(first))
    words = (first + plan.scales + SCALES_OF_WORD - 1) // SCALES_OF_WORD
    lines = rows if split == 0 else split
    pitch = scale_pitch(rows, split)
    columns = (lines + QUARTER_LANES - 1) // QUARTER_LANES
    if words > 1:
        columns = columns + pitch * (words - 1)
    if reach_columns(w, cta, taddr, columns, site) == 0:
        return 1
    clear_lanes(w)
    add_lanes(w, 0, TENSOR_LANES)
    touch_tensor(w, cta, taddr & 0xFFFF, columns, 0)
    base = (taddr & 0xFFFF) * TENSOR_LANES
    for row in range(rows):
        at = base + scale_word(row, split)
        bits = u64(tensor_word(w, cta, at, taddr, site))
        if words > 1:
            more = at + pitch * TENSOR_LANES
            bits = bits | u64(tensor_word(w, cta, more, taddr, site)) << 32
        into[row] = bits >> u64(8 * first)
    return 0


@watching
def touch_rows(w: Warp, cta: Cta, plan: TensorPlan, base: u32, column: u32, columns: u32) -> None:
    """Report to racecheck that a product reads columns in the lanes of its rows, from a lane on."""
    clear_lanes(w)
    for tile in range(plan.a_tiles):
        if base + plan.a_lanes[tile] <= TENSOR_LANES - 16:
            add_lanes(w, base + plan.a_lanes[tile], 16)
    touch_tensor(w, cta, column, columns, 0)


def bring_metadata(w: Warp, cta: Cta, plan: TensorPlan, job: TensorJob, taddr: u32, selector: u32, site: u32) -> u32:
    """The metadata of a CTA's rows, four bits a chunk; 1 after a fault."""
    column = taddr & 0xFFFF
    if plan.metadata == BY_HALVES:
        column = column + selector
    if reach_columns(w, cta, column, 3 - plan.metadata, site) == 0:
        return 1
    touch_rows(w, cta, plan, taddr >> 16, column, 3 - plan.metadata)
    base = column * TENSOR_LANES + (taddr >> 16)
    for tile in range(plan.a_tiles):
        start = base + plan.a_lanes[tile]
        for row in range(16):
            if plan.metadata == BY_ROW:
                low = u64(tensor_word(w, cta, start + row, taddr, site))
                job.metadata[tile * 16 + row] = (
                    low | u64(tensor_word(w, cta, start + row + TENSOR_LANES, taddr, site)) << 32
                )
            else:
                shift = row // 8 * 16
                low = u64(tensor_word(w, cta, start + row % 8, taddr, site) >> shift & 0xFFFF)
                high = u64(tensor_word(w, cta, start + row % 8 + 8, taddr, site) >> shift & 0xFFFF)
                job.metadata[tile * 16 + row] = low | high << 16
    return 0
