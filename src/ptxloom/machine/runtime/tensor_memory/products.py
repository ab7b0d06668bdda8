"""`tcgen05.mma`: one thread's product for its CTA or for a pair, made at once (PTX ISA 9.7.16.10).

Only wrong programs can observe that it is asynchronous on hardware, and the tools report those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.isa.tensor_products import TENSOR_KINDS
from ptxloom.machine.native.language import address, invoke, part, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.hazards import note, note_access
from ptxloom.machine.runtime.memory.lane_access import fault
from ptxloom.machine.runtime.memory.matrix_layout import ROW_BYTES
from ptxloom.machine.runtime.provenance.tensor_products import give_result, note_tensor_product
from ptxloom.machine.runtime.racecheck.pending_products import keep_factor
from ptxloom.machine.runtime.racecheck.tensor_accesses import (
    PRODUCTS,
    add_lanes,
    begin_touch,
    clear_lanes,
    drop_lanes,
    touch_tensor,
)
from ptxloom.machine.runtime.state import EMPTY_COLLECTOR, OUT_OF_BOUNDS, TENSOR, UNWRITTEN, Cta, Warp
from ptxloom.machine.runtime.tensor_cores.marks import mark_lanes, missing_lanes_of
from ptxloom.machine.runtime.tensor_cores.model import (
    A_SCALES,
    B_SCALES,
    BAD_LANE,
    DESCRIPTOR,
    FROM_TENSOR,
    LEFT,
    MAKES_MASK,
    MASK,
    METADATA,
    REGISTER_BYTES,
    RIGHT,
    SCALED,
    SHIFTED,
    SPARSE,
    TARGET,
    TENSOR_COLUMNS,
    TENSOR_LANES,
    TensorJob,
    TensorPlan,
)
from ptxloom.machine.runtime.tensor_cores.ownership import holds_columns
from ptxloom.machine.runtime.tensor_cores.places import split_of
from ptxloom.machine.runtime.tensor_memory.allocation import has_peer, illegal
from ptxloom.machine.runtime.tensor_memory.companions import bring_metadata, bring_scales, touch_rows
from ptxloom.machine.runtime.tensor_memory.factors import (
    bad_descriptor,
    clear_columns,
    gather_columns,
    gather_lines,
    gather_tensor,
    keep_lanes,
    turn_signs,
    unpack,
)
from ptxloom.machine.runtime.turns import spend
from ptxloom.machine.runtime.warps.reconvergence import choose, place_lanes

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

SCALE_IDS = 0x60000030  # bits of a block-scaled descriptor that choose bytes: no matter of the code
SELECTOR = 3
STEPS = 20  # of a tile
NEGATIONS = 3 << 13
INTEGERS = TENSOR_KINDS.index("i8")
SHAPE = 0x1F7E0000  # M and N of a descriptor
KIND_SHIFT, SCALE_SHIFT = 8, 16
DISCARDS, FILLS, USES, USES_LAST = range(4)  # what is done with a collector buffer
SERVICE = 4  # what Python is asked for


def key_of(descriptor: u32, facts: u32) -> u64:
    """The key of a product's plan."""
    kept = descriptor & ~u32(SCALE_IDS if facts & SCALED != 0 else SELECTOR)
    if facts >> KIND_SHIFT & 255 != INTEGERS:  # which cannot be negated
        kept = kept & ~u32(NEGATIONS)
    return u64(facts) << 32 | u64(kept)


def scale_code(vector: str) -> int:
    """The number of a scale vector among `facts`. This is plain Python, for code that is made."""
    return int(vector.removesuffix("X") or 0)


def plan_of(w: Warp, key: u64) -> u32:
    """The number of the plan that has a key; the count of plans if no plan has it."""
    launch = w.launch
    count = launch.plan_count
    for number in range(count):
        if launch.plans[number].key == key:
            return number
    return count


def want_plan(w: Warp, lanes: u32, descriptors: Ptr[u64], facts: u32, service: u32, site: u32) -> u32:
    """1 if a lane's product needs a missing plan: Python then makes it, and the lanes execute the instruction again."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            key = key_of(u32(descriptors[lane]), facts)
            if plan_of(w, key) == w.launch.plan_count:
                worker = w.worker
                worker.wanted = key
                worker.service = service
                worker.service_lanes = lanes
                worker.service_site = site
                return 1
    return 0


def come_again(w: Warp, block: u32) -> None:
    """Send the lanes back to the start of a block."""
    place_lanes(w, w.mask, block)
    choose(w)


def multiply(
    w: Warp,
    lanes: u32,
    operands: Annotated[Slice[u64], "256"],
    disabled: Annotated[Slice[u32], "8"],
    adding: u32,
    power: u32,
    facts: u32,
    site: u32,
) -> u32:
    """The products of some lanes, one after the other; 1 after a fault.

    Args:
        w: Whose they are.
        lanes: Which.
        operands: Of each lane D, A, B, the instruction descriptor, metadata, both scales and the mask.
        disabled: Lanes of tensor memory that are not written; nothing if all are.
        adding: The lanes whose D is added.
        power: What D is multiplied with before.
        facts: What the instruction is.
        site: Its number.
    """
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            job = w.worker.job
            job.number = plan_of(w, key_of(u32(operands[DESCRIPTOR * 32 + lane]), facts))
            plan = w.launch.plans[job.number]
            job.plan = plan
            job.adds = adding >> lane & 1
            job.power = power
            job.lane = lane
            if product(w, plan, job, operands, lane, disabled, facts, site) != 0:
                return 1
    return 0


def collect(w: Warp, lanes: u32, buffer: u32, does: u32, site: u32) -> None:
    """Lanes use collector buffers (bits of `buffer`), keep a factor there, or leave them empty (9.7.16.10.9)."""
    if lanes == 0:
        return
    memory = w.cta.tensor
    if does >= USES and memory.collected & buffer == 0:
        note(w, EMPTY_COLLECTOR, site, lanes, 0, 0)
    memory.collected = memory.collected & ~buffer
    if does != DISCARDS and does != USES_LAST:  # noqa: PLR1714 - native code has no sets
        memory.collected = memory.collected | buffer


def product(
    w: Warp,
    plan: TensorPlan,
    job: TensorJob,
    operands: Slice[u64],
    lane: u32,
    disabled: Slice[u32],
    facts: u32,
    site: u32,
) -> u32:
    """One product: B from all CTAs, then for each its rows of A, and its D."""
    target = u32(operands[TARGET * 32 + lane])
    descriptor = u32(operands[DESCRIPTOR * 32 + lane])
    mask = operands[MASK * 32 + lane]
    if plan.ctas == 2 and has_peer(w, site, 1 << lane) == 0:
        return 1
    shape = descriptor & SHAPE | facts >> KIND_SHIFT & 255 | facts & SPARSE
    begin_touch(w, lane, PRODUCTS, u64(target) << 32 | u64(shape), site)
    if bring_right(w, plan, job, operands[RIGHT * 32 + lane], descriptor >> 13, mask, site) != 0:
        return 1
    for rank in range(plan.ctas):
        cta = w.cta.peers[w.cta.rank & ~(plan.ctas - 1) | rank].cta
        if bring_left(w, cta, plan, job, operands[LEFT * 32 + lane], descriptor >> 13, facts, site) != 0:
            return 1
        if bring_beside(w, cta, plan, job, operands, lane, facts, site) != 0:
            return 1
        if place_result(w, cta, plan, job, target, site) != 0:
            return 1
        if address(cta.tensor_tags) != 0:
            note_tensor_product(w, cta, plan, job, operands, facts, site)
        add_product(w, cta, plan, job, target, disabled, rank, site)
        if address(cta.tensor_tags) != 0:
            give_result(w, cta, plan, job, disabled, rank)
    return 0


def bring_beside(
    w: Warp,
    cta: Cta,
    plan: TensorPlan,
    job: TensorJob,
    operands: Slice[u64],
    lane: u32,
    facts: u32,
    site: u32,
) -> u32:
    """The metadata of a CTA's rows of A, their scales, and those of all columns of B; 1 after a fault."""
    descriptor = u32(operands[DESCRIPTOR * 32 + lane])
    if facts & SPARSE != 0:
        meta = u32(operands[METADATA * 32 + lane])
        if bring_metadata(w, cta, plan, job, meta, descriptor & SELECTOR, site) != 0:
            return 1
    if facts & SCALED == 0:
        return 0
    a = u32(operands[A_SCALES * 32 + lane])
    if bring_scales(w, cta, plan, job.a_scales, 16 * plan.a_tiles, a, descriptor >> 29 & 3, 0, site) != 0:
        return 1
    columns = 8 * plan.b_tiles
    split = split_of(plan)
    b = u32(operands[B_SCALES * 32 + lane])
    return bring_scales(w, cta, plan, job.b_scales, columns, b, descriptor >> 4 & 3, split, site)


def bring_right(w: Warp, plan: TensorPlan, job: TensorJob, descriptor: u64, negated: u32, mask: u64, site: u32) -> u32:
    """B: each CTA has its share of the columns, that of the even rank first; 1 after a fault."""
    if bad_descriptor(w, descriptor, plan.b_parts, plan.b_across, site) != 0:
        return 1
    tiles = plan.b_tiles // plan.ctas
    share = u64(tiles * plan.b_parts) * REGISTER_BYTES
    moved = u32(mask >> 56 & 63)
    for rank in range(plan.ctas):
        cta = w.cta.peers[w.cta.rank & ~(plan.ctas - 1) | rank].cta
        into = part(job.b, u64(rank) * share, share)
        watch_lines(w, cta, job.lane, descriptor, tiles, plan.b_parts, plan.b_across, moved, site)
        if plan.b_across == 0:
            if gather_lines(w, cta, descriptor, into, tiles, plan.b_parts, 1, moved, site) != 0:
                return 1
        elif gather_columns(w, cta, descriptor, into, tiles, plan.b_parts, 1, plan.b_across, moved, site) != 0:
            return 1
    size = plan.b_tiles * plan.b_parts * REGISTER_BYTES
    if plan.b_packed != 0:
        unpack(job.b, size, plan.b_packed, plan.b_shift)
    if negated >> 1 & 1 != 0:
        turn_signs(job.b, size, plan.b_sign)
    if mask & MAKES_MASK != 0:
        clear_columns(plan, job.b, mask)
    return 0


@watching
def watch_lines(
    w: Warp, cta: Cta, lane: u32, descriptor: u64, lines: u32, parts: u32, across: u32, moved: u32, site: u32
) -> None:
    """Report to racecheck a factor in shared memory that is read from now on: core matrices down, and along k."""
    if across == 0:
        keep_factor(w, cta, lane, descriptor, moved // 8, lines, parts, 8, 0, site)
    else:
        first = moved * across // u32(ROW_BYTES)
        along = lines * 8 * across // u32(ROW_BYTES)
        keep_factor(w, cta, lane, descriptor, first, along, parts * u32(ROW_BYTES) // across // 8, 8, 1, site)


def bring_left(
    w: Warp, cta: Cta, plan: TensorPlan, job: TensorJob, left: u64, negated: u32, facts: u32, site: u32
) -> u32:
    """A CTA's rows of A; 1 after a fault."""
    size = plan.a_tiles * plan.a_parts * 2 * REGISTER_BYTES
    lines = 2 * plan.a_tiles
    if facts & FROM_TENSOR != 0:
        if bring_tensor(w, cta, plan, job, u32(left), facts // SHIFTED & 1, site) != 0:
            return 1
    else:
        if bad_descriptor(w, left, plan.a_parts, plan.a_across, site) != 0:
            return 1
        watch_lines(w, cta, job.lane, left, lines, plan.a_parts, plan.a_across, 0, site)
        if plan.a_across == 0:
            if gather_lines(w, cta, left, job.a, lines, plan.a_parts, 2, 0, site) != 0:
                return 1
        elif gather_columns(w, cta, left, job.a, lines, plan.a_parts, 2, plan.a_across, 0, site) != 0:
            return 1
        if plan.a_packed != 0:
            unpack(job.a, size, plan.a_packed, plan.a_shift)
    if negated & 1 != 0:
        turn_signs(job.a, size, plan.a_sign)
    return 0


def bring_tensor(w: Warp, cta: Cta, plan: TensorPlan, job: TensorJob, taddr: u32, shifts: u32, site: u32) -> u32:
    """The same from tensor memory."""
    column = taddr & 0xFFFF
    memory = cta.tensor
    base = taddr >> 16
    if holds_columns(memory, column, plan.a_columns) == 0:
        fault(w, OUT_OF_BOUNDS, site, w.worker.job.lane, u64(taddr), TENSOR, 4 * plan.a_columns, 0)
        return 1
    if base + plan.a_lanes[plan.a_tiles - 1] + 16 > TENSOR_LANES:
        return illegal(w, BAD_LANE, site, 1 << w.worker.job.lane, u64(taddr))
    touch_rows(w, cta, plan, base, column, plan.a_columns)
    if address(w.written) != 0:
        for tile in range(plan.a_tiles):
            for word in range(plan.a_columns):
                at = (column + word) * TENSOR_LANES + base + plan.a_lanes[tile]
                if missing_lanes_of(memory, at, 16) != 0:
                    note_access(w, UNWRITTEN, site, w.worker.job.lane, u64(taddr), TENSOR, 4 * plan.a_columns, 0)
    gather_tensor(memory, column, plan.a_lanes, job.a, plan.a_tiles, plan.a_parts, base, shifts)
    return 0


def place_result(w: Warp, cta: Cta, plan: TensorPlan, job: TensorJob, target: u32, site: u32) -> u32:
    """Where a CTA's D lies; 1 after a fault."""
    column = target & 0xFFFF
    lane = target >> 16
    memory = cta.tensor
    if holds_columns(memory, column, plan.d_columns) == 0:
        fault(w, OUT_OF_BOUNDS, site, w.worker.job.lane, u64(target), TENSOR, 4 * plan.d_columns, 1)
        return 1
    if lane + plan.d_lanes > TENSOR_LANES:
        return illegal(w, BAD_LANE, site, 1 << w.worker.job.lane, u64(target))
    job.memory = memory
    job.base = column * TENSOR_LANES + lane
    return 0


def add_product(
    w: Warp,
    cta: Cta,
    plan: TensorPlan,
    job: TensorJob,
    target: u32,
    disabled: Slice[u32],
    rank: u32,
    site: u32,
) -> None:
    """Multiply a CTA's rows, into its D."""
    column = target & 0xFFFF
    touch_result(w, cta, plan, job, disabled, rank)
    if address(w.written) != 0:
        watch_result(w, plan, job, target, site)
    keep_lanes(job, disabled, column, plan.d_columns, rank, 0)
    assert plan.place_count == u64(plan.a_tiles * plan.b_tiles)
    assert column + plan.d_columns <= TENSOR_COLUMNS
    code = plan.code
    invoke(code, job)
    keep_lanes(job, disabled, column, plan.d_columns, rank, 1)
    spend(w, plan.a_tiles * plan.b_tiles * STEPS)


@watching
def touch_result(w: Warp, cta: Cta, plan: TensorPlan, job: TensorJob, disabled: Slice[u32], rank: u32) -> None:
    """Report D to racecheck: the lanes of its tiles, except for those that are not written."""
    clear_lanes(w)
    for tile in range(u32(plan.place_count)):
        add_lanes(w, (job.base + plan.places[tile]) % TENSOR_LANES, 16)
    if address(disabled) != 0:
        for quarter in range(4):
            drop_lanes(w, quarter, disabled[rank * 4 + quarter])
    touch_tensor(w, cta, job.base // TENSOR_LANES, plan.d_columns, 1)


def watch_result(w: Warp, plan: TensorPlan, job: TensorJob, target: u32, site: u32) -> None:
    """Initcheck's look at D: what is added has to be written, and it is afterwards."""
    missing: u32 = 0
    for tile in range(u32(plan.place_count)):
        for column in range(8):
            at = job.base + plan.places[tile] + column * TENSOR_LANES
            missing = missing | missing_lanes_of(job.memory, at, 16)
            mark_lanes(job.memory, at, 16)
    if job.adds != 0 and missing != 0:
        note_access(w, UNWRITTEN, site, w.worker.job.lane, u64(target), TENSOR, 4 * plan.d_columns, 0)
