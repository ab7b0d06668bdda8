"""Products into tensor memory: the origins of their factors' elements, recorded row by row, and the tags of D."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, fill, part, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.matrix_layout import factor_place
from ptxloom.machine.runtime.provenance.memory_tags import read_tags
from ptxloom.machine.runtime.provenance.paths import put_value
from ptxloom.machine.runtime.provenance.product_tags import begin_event, note_descriptor, note_values
from ptxloom.machine.runtime.provenance.tensor_tags import ROW_TAGS, piece_tags
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, SHARED, Cta, Warp
from ptxloom.machine.runtime.structs.trail import BYTE_BITS, COMPUTED, PRODUCT, SLOT_BITS, WORD_TAGS
from ptxloom.machine.runtime.tensor_cores.model import (
    A_SCALES,
    B_SCALES,
    DESCRIPTOR,
    FROM_TENSOR,
    LEFT,
    MAKES_MASK,
    MASK,
    RIGHT,
    SHIFTED,
    TENSOR_LANES,
    TensorJob,
    TensorPlan,
)
from ptxloom.machine.runtime.tensor_cores.places import is_cleared, scale_pitch, scale_word, split_of
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


@watching
def note_tensor_product(
    w: Warp, cta: Cta, plan: TensorPlan, job: TensorJob, operands: Slice[u64], facts: u32, site: u32
) -> None:
    """Note a CTA's part of a product before it is made.

    Its rows of A, all of B, what D holds, the scales of the rows and of all columns, the descriptors of A and B,
    the addresses of the scales.

    Args:
        w: The warp that issues it.
        cta: The CTA.
        plan: The product.
        job: The same, on its way.
        operands: The instruction's operands, for each lane.
        facts: Its facts in the code.
        site: The instruction.
    """
    trail = w.launch.trail
    rows = 16 * plan.a_tiles
    columns = 8 * plan.b_tiles
    tags = rows * (plan.a_parts * ROW_TAGS // plan.a_each) + columns * (plan.b_parts * ROW_TAGS // plan.b_each)
    begin_event(w, cta, site, 1 << job.lane, tags + rows * columns + (rows + columns) * plan.scales + 4)
    if trail.recording == 0:
        return
    trail.events[trail.recording - 1].plan = job.number + 1
    left = operands[LEFT * 32 + job.lane]
    right = operands[RIGHT * 32 + job.lane]
    mask = operands[MASK * 32 + job.lane]
    if facts & FROM_TENSOR != 0:
        note_rows(w, cta, plan, u32(left) >> 16, u32(left) & 0xFFFF, facts // SHIFTED & 1, site)
    else:
        note_lines(w, cta, left, rows, plan.a_parts, plan.a_across, plan.a_each, plan.a_packed, 0, site)
    for rank in range(plan.ctas):
        other = w.cta.peers[w.cta.rank & ~(plan.ctas - 1) | rank].cta
        moved = u32(mask >> 56 & 63)
        share = columns // plan.ctas
        note_lines(w, other, right, share, plan.b_parts, plan.b_across, plan.b_each, plan.b_packed, moved, site)
    if mask & MAKES_MASK != 0:
        leave_out_columns(w, plan, mask)
    note_result(w, cta, plan, job, site)
    if plan.scales != 0:
        told = u32(operands[DESCRIPTOR * 32 + job.lane])
        note_scales(w, cta, plan, rows, u32(operands[A_SCALES * 32 + job.lane]), told >> 29 & 3, 0)
        note_scales(w, cta, plan, columns, u32(operands[B_SCALES * 32 + job.lane]), told >> 4 & 3, split_of(plan))
    note_descriptor(w, left)
    note_descriptor(w, right)
    if plan.scales != 0:
        note_descriptor(w, operands[A_SCALES * 32 + job.lane])
        note_descriptor(w, operands[B_SCALES * 32 + job.lane])


def leave_out_columns(w: Warp, plan: TensorPlan, mask: u64) -> None:
    """Columns of B that are taken as zeros are of no origin: those that were noted last."""
    trail = w.launch.trail
    columns = 8 * plan.b_tiles
    size = plan.b_parts * ROW_TAGS // plan.b_each
    into = part(trail.pool, trail.pool_count - u64(columns * size), columns * size)
    for column in range(columns):
        if is_cleared(plan, mask, column) != 0:
            fill(part(into, column * size, size), 0)


def note_scales(w: Warp, cta: Cta, plan: TensorPlan, rows: u32, taddr: u32, first: u32, split: u32) -> None:
    """Note the scales of rows of A, or columns of B, from the byte `first` of their words on."""
    into = room_of(w, rows * plan.scales)
    tags = cta.tensor_tags.tags
    base = (taddr & 0xFFFF) * TENSOR_LANES
    pitch = scale_pitch(rows, split) * TENSOR_LANES
    for row in range(rows):
        for number in range(plan.scales):
            byte = first + number
            index = base + scale_word(row, split) + byte // WORD_TAGS * pitch
            into[row * plan.scales + number] = tags[index * WORD_TAGS + byte % WORD_TAGS]


def room_of(w: Warp, count: u32) -> Slice[u64]:
    """The next tags of the product that is being noted."""
    trail = w.launch.trail
    into = part(trail.pool, trail.pool_count, count)
    trail.pool_count = trail.pool_count + u64(count)
    event = trail.events[trail.recording - 1]
    event.tags = event.tags + u64(count)
    return into


def note_lines(
    w: Warp,
    cta: Cta,
    descriptor: u64,
    lines: u32,
    parts: u32,
    across: u32,
    each: u32,
    packed: u32,
    moved: u32,
    site: u32,
) -> None:
    """Note the elements of a factor in a CTA's shared memory, line by line along k.

    Args:
        w: The warp that issues the product.
        cta: The CTA with the shared memory.
        descriptor: Its descriptor, which gives the place.
        lines: Rows of A, or columns of B.
        parts: Of 16 bytes along k.
        across: Bytes of an element where lines lie next to each other; 0 where k does.
        each: Bytes of which one tag is noted.
        packed: The bits of elements that are unpacked to bytes, or 0.
        moved: Lines that are skipped.
        site: The instruction.
    """
    trail = w.launch.trail
    line_tags = parts * ROW_TAGS // each
    into = room_of(w, lines * line_tags)
    spend(w, lines * parts)
    found = part(trail.stage, ROW_TAGS, ROW_TAGS)
    if across == 0:
        piece = ROW_TAGS // each
        for line in range(lines):
            beyond = line + moved
            for column in range(parts):
                at = factor_place(descriptor, u64(beyond >> 3), u64(column), beyond & 7, 0)
                piece_tags(w, cta, at, packed, site, found)
                note_values(trail, site, part(into, line * line_tags + column * piece, piece), found, piece, each)
        return
    rank = u64(cta.rank + 1) << CLUSTER_SHIFT
    for line in range(lines):
        along = (line + moved) * across
        for k in range(line_tags):
            at = factor_place(descriptor, u64(along // ROW_TAGS), u64(k // 8), k % 8, 1) + u64(along % ROW_TAGS)
            read_tags(w, site, 0, at | rank, SHARED, across, part(found, 0, across))
            note_values(trail, site, part(into, line * line_tags + k, 1), found, 1, each)


def note_rows(w: Warp, cta: Cta, plan: TensorPlan, base: u32, column: u32, shifts: u32, site: u32) -> None:
    """Note A in tensor memory; a row is the next lane's if A `shifts`."""
    trail = w.launch.trail
    each = plan.a_each
    piece = WORD_TAGS // each
    line_tags = plan.a_columns * piece
    into = room_of(w, 16 * plan.a_tiles * line_tags)
    tags = cta.tensor_tags.tags
    last = base + plan.a_lanes[plan.a_tiles - 1] + 15
    for tile in range(plan.a_tiles):
        for row in range(16):
            lane = min(base + plan.a_lanes[tile] + row + shifts, last)
            for word in range(plan.a_columns):
                at = u64((column + word) * TENSOR_LANES + lane) * WORD_TAGS
                start = (tile * 16 + row) * line_tags + word * piece
                note_values(trail, site, part(into, start, piece), part(tags, at, WORD_TAGS), piece, each)


def note_result(w: Warp, cta: Cta, plan: TensorPlan, job: TensorJob, site: u32) -> None:
    """Note what D holds before the product, if that is added."""
    trail = w.launch.trail
    columns = 8 * plan.b_tiles
    into = room_of(w, 16 * plan.a_tiles * columns)
    if job.adds == 0:
        return
    spend(w, plan.a_tiles * plan.b_tiles)
    tags = cta.tensor_tags.tags
    each = plan.d_each
    for tile in range(u32(plan.place_count)):
        start = tile // plan.b_tiles * 16 * columns + tile % plan.b_tiles * 8
        for column in range(8):
            for row in range(16):
                at = u64(job.base + plan.places[tile] + column * TENSOR_LANES + row) * WORD_TAGS
                mine = part(into, start + row * columns + column, 1)
                note_values(trail, site, mine, part(tags, at, WORD_TAGS), 1, each)


@watching
def give_result(w: Warp, cta: Cta, plan: TensorPlan, job: TensorJob, disabled: Slice[u32], rank: u32) -> None:
    """Tag D as elements of the product, except for lanes that are not written."""
    trail = w.launch.trail
    columns = 8 * plan.b_tiles
    spend(w, plan.a_tiles * plan.b_tiles)
    tags = cta.tensor_tags.tags
    for tile in range(u32(plan.place_count)):
        start = tile // plan.b_tiles * 16 * columns + tile % plan.b_tiles * 8
        for column in range(8):
            for row in range(16):
                index = job.base + plan.places[tile] + column * TENSOR_LANES + row
                if is_disabled(disabled, rank, index % TENSOR_LANES) == 0:
                    tag: u64 = COMPUTED
                    if trail.recording != 0:
                        slot = u64(start + row * columns + column)
                        tag = PRODUCT | (trail.recording - 1 << SLOT_BITS | slot) << BYTE_BITS
                    word = part(tags, u64(index) * WORD_TAGS, WORD_TAGS)
                    put_value(word, 0, WORD_TAGS, 0)
                    put_value(word, 0, plan.d_each, tag)


def is_disabled(disabled: Slice[u32], rank: u32, lane: u32) -> u32:
    """1 if a lane of a CTA's D is not written."""
    if address(disabled) == 0:
        return 0
    return disabled[rank * 4 + lane // 32] >> (lane & 31) & 1
