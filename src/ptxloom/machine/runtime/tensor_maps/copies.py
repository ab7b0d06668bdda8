"""Copies by tensor maps, lane by lane and made at once (PTX ISA 9.7.9.27.1.2 to 9.7.9.27.1.4).

What an H200 ends as an illegal instruction ends a kernel here, with the reason. Nothing is copied before the map, the
coordinates and the place in shared memory have been judged; the rows of the tensor are judged one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import (
    Code,
    Slice,
    address,
    copy,
    i32,
    i64,
    nothing,
    part,
    trailing_zeros,
    u8,
    u32,
    u64,
    view,
)
from ptxloom.machine.runtime.asynchronous.copies import finish, reach, told_at
from ptxloom.machine.runtime.counting import count_moved
from ptxloom.machine.runtime.memory.lane_access import fault, holds_site, shared_place
from ptxloom.machine.runtime.memory.places import site_bytes
from ptxloom.machine.runtime.provenance.update_tags import (
    blank_row_tags,
    fetch_row_tags,
    put_row_tags,
    send_row_tags,
    take_row_tags,
)
from ptxloom.machine.runtime.racecheck.vector_clocks import released
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    GENERIC,
    GLOBAL,
    ILLEGAL_TENSOR_COPY,
    MISALIGNED,
    NO_TENSOR_MAP,
    NONE,
    OUT_OF_BOUNDS,
    SHARED,
    Warp,
)
from ptxloom.machine.runtime.tensor_boxes.decode import box_size, corner, decode
from ptxloom.machine.runtime.tensor_boxes.model import (
    B4_PADDED,
    BEFORE_START,
    BETWEEN_CHUNKS,
    BETWEEN_PADDED,
    BEYOND_CORNERS,
    BF16,
    BOX_OF_ROWS,
    CHUNK_BYTES,
    CORNERS_OUTSIDE,
    HALO_GOES_ON,
    LOADED_ONLY,
    MAP_BYTES,
    MOST_HALO,
    NO_SUCH_REDUCTION,
    NOT_ALONG_WIDTH,
    OTHER_MODE,
    OTHER_RANK,
    WIDE_HALO,
    TensorCopy,
)
from ptxloom.machine.runtime.tensor_boxes.swizzle import box_bytes, row_place, row_room, rows_bytes, take_row
from ptxloom.machine.runtime.tensor_boxes.walk import (
    halo_stays,
    inside_from,
    inside_to,
    is_inside,
    keep_inside,
    names_negative,
    next_row,
    row_address,
    rows_of,
    start_walk,
    stored_bytes,
)
from ptxloom.machine.runtime.tensor_maps.fields import map_place
from ptxloom.machine.runtime.tensor_maps.rows import blank_row, combine_row, put_row, round_row
from ptxloom.machine.runtime.tensor_maps.watch import (
    begin_copy,
    watch_load,
    watch_map,
    watch_source,
    watch_store,
    watch_target,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr

# The form of an instruction, beside its dimensions:
IN_COLUMNS = 8  # it is one of im2col
PICKS = 16  # it names four rows
NEWER = 64  # it is of a target with the fields that came with sm_100
PAIRED = 32  # the mbarrier may be that of the other CTA of a pair
ALONG_WIDTH = 128  # it walks W alone; twice as much: 128 pixels
BOX_ALIGNMENT = 128


def refuse_copy(w: Warp, kind: u32, reason: u32, site: u32, lane: u32, at: u64) -> u32:
    """Record why the map at an address, or a copy by it, is illegal; returns 1."""
    if w.worker.fault[0].kind == 0:
        w.worker.fault[0].reason = reason
    fault(w, kind, site, lane, at, GENERIC, 0, 0)
    return 1


def prepare(  # noqa: PLR0911 - one case a reason
    w: Warp, lane: u32, at: u64, coordinates: Annotated[Slice[i32], "256"], form: u32, near: u64, site: u32
) -> u32:
    """Read the map at an address and go to the coordinates of a lane; 1 after a fault. `near` is the box's address."""
    t = w.worker.tensor[0]
    found = map_place(w, lane, at, GENERIC, 0, site)
    if address(found) == 0:
        return 1
    watch_map(w, lane, at, site)
    copy(view(u8, t.words), found, MAP_BYTES)
    t.picks = u32(form & PICKS != 0)
    t.along_width = form // ALONG_WIDTH
    reason = decode(t, u32(form & NEWER != 0))
    if reason != 0:
        return refuse_copy(w, NO_TENSOR_MAP, reason, site, lane, at)
    if t.rank != form & 7:
        return refuse_copy(w, ILLEGAL_TENSOR_COPY, OTHER_RANK, site, lane, at)
    if t.in_columns != u32(form & IN_COLUMNS != 0):
        return refuse_copy(w, ILLEGAL_TENSOR_COPY, OTHER_MODE, site, lane, at)
    start_walk(t, coordinates, lane)
    reason = why_not_started(t)
    if reason != 0:
        return refuse_copy(w, ILLEGAL_TENSOR_COPY, reason, site, lane, at)
    unit: u32 = 2 * CHUNK_BYTES if t.packed != CHUNK_BYTES else CHUNK_BYTES
    if t.base & u64(unit - 1) != 0:
        fault(w, MISALIGNED, site, lane, t.base, GLOBAL, unit, 0)
        return 1
    if near & (BOX_ALIGNMENT - 1) != 0:
        fault(w, MISALIGNED, site, lane, near, SHARED, BOX_ALIGNMENT, 0)
        return 1
    return 0


def why_not_started(t: TensorCopy) -> u32:
    """Why no copy can begin at the coordinates; 0 if one can."""
    if t.partial != 0:
        return BETWEEN_CHUNKS
    if t.packed != CHUNK_BYTES and t.inner % i64(t.taken_bytes) != 0:
        return BETWEEN_PADDED
    if t.picks != 0 and box_size(t, 1) != 1:
        return BOX_OF_ROWS
    if t.along_width != 0:
        return why_not_along_width(t)
    if t.in_columns != 0:
        for place in range(t.rank - 2):
            if t.point[place] < t.begins[place] or t.point[place] >= t.ends[place]:
                return BEYOND_CORNERS
    return 0


def why_not_along_width(t: TensorCopy) -> u32:
    """Why W cannot be walked alone; 0 if it can. The first pixel may lie before the bounding box."""
    if t.chunk_mask == 0 or t.flips | t.interleave != 0:
        return NOT_ALONG_WIDTH
    if t.point[0] >= t.ends[0]:
        return BEYOND_CORNERS
    if t.halo > MOST_HALO:
        return WIDE_HALO
    return HALO_GOES_ON if t.halo != 0 and halo_stays(t) == 0 else 0


def load_tensor(
    w: Warp,
    mask: u32,
    targets: Ptr[u64],
    maps: Ptr[u64],
    coordinates: Annotated[Slice[i32], "256"],
    barriers: Ptr[u64],
    ctas: Ptr[u32],
    form: u32,
    site: u32,
) -> u32:
    """Lanes fetch boxes, and report their bytes to mbarriers; 1 after a fault. `ctas` as in `copies.copy_bulk`."""
    for lane in range(32):
        if mask >> lane & 1 != 0:
            left = ctas[lane]
            first: u32 = 1
            while first != 0 or left != 0:
                strip: u64 = 0
                window: u64 = 0
                if left != 0:
                    strip = 255 << CLUSTER_SHIFT
                    window = u64(trailing_zeros(left) + 1) << CLUSTER_SHIFT
                at = targets[lane] & ~strip | window
                barrier = barriers[lane] & ~strip | window
                if left != 0 and form & PAIRED != 0:
                    barrier = of_pair(w, barriers[lane], trailing_zeros(left))
                if prepare(w, lane, maps[lane], coordinates, form, at, site) != 0:
                    return 1
                if load_box(w, lane, at, told_at(w, barrier + 1, 0), first, site) != 0:
                    return 1
                t = w.worker.tensor[0]
                if finish(w, lane, barrier, u32(t.rows * t.taken_bytes), site) != 0:
                    return 1
                first = 0
                left = left & left - 1
    return 0


def of_pair(w: Warp, barrier: u64, cta: u32) -> u64:
    """The mbarrier that learns what a CTA receives: that of its pair's CTA which is even or odd as the address says."""
    named = u32(barrier >> CLUSTER_SHIFT) & 255
    rank = w.cta.rank if named == 0 else named - 1
    return barrier & ~u64(255 << CLUSTER_SHIFT) | u64((cta & ~1 | rank & 1) + 1) << CLUSTER_SHIFT


def load_box(w: Warp, lane: u32, at: u64, told: u64, first: u32, site: u32) -> u32:
    """Fetch a box; 1 after a fault. Of a multicast, `first` marks the one copy that is reported to tools."""
    t = w.worker.tensor[0]
    size = box_bytes(t)
    box = shared_place(w, at & 0xFFFFFFFF, size)
    if address(box) == 0:
        fault(w, OUT_OF_BOUNDS, site, lane, at, SHARED, u32(min(size, 0xFFFFFFFF)), 1)
        return 1
    agent: u32 = NONE
    if first != 0:
        agent = begin_copy(w, lane, site, at, 0, told)
    count_moved(w, site, 0, t.rows * t.taken_bytes)
    for _row in range(rows_of(t)):
        if fetch_row(w, lane, first, agent, site) != 0:
            return 1
        watch_target(w, t, lane, at, t.number, told)
        put_row(w.worker.row[0], t, box, at & ((1 << CLUSTER_SHIFT) - 1), t.number)
        if address(w.launch.trail) != 0:
            put_row_tags(w, site, lane, t, at, t.number)
        next_row(t)
    if address(w.shadow) != 0:
        released(w)
    return 0


def fetch_row(w: Warp, lane: u32, told: u32, agent: u32, site: u32) -> u32:
    """Fetch a row of the tensor, with the fill value for elements outside; 1 after a fault."""
    t = w.worker.tensor[0]
    if address(w.launch.trail) != 0:
        blank_row_tags(w, t)
    low = inside_from(t)
    high = inside_to(t)
    if low >= high or is_inside(t) == 0:
        blank_row(w.worker.row[0], t)
        return 0
    at = row_address(t) + low
    size = high - low
    if holds_site(w.sites[site], at, size) == 0 and reach(w, lane, at, u32(size), 0, site) == 0:
        return 1
    if told != 0:
        watch_load(w, t, lane, at, u32(size), agent, site)
        count_moved(w, site, size, 0)
    if size != t.taken_bytes:
        blank_row(w.worker.row[0], t)
    copy(part(w.worker.row[0].bytes, low, size), site_bytes(w.sites[site], at, size), size)
    if address(w.launch.trail) != 0:
        fetch_row_tags(w, site, lane, at, low, size)
    if t.rounds != 0:
        round_row(w.worker.row[0], low, high)
    return 0


def store_tensor(
    w: Warp,
    mask: u32,
    sources: Ptr[u64],
    maps: Ptr[u64],
    coordinates: Annotated[Slice[i32], "256"],
    form: u32,
    combine: Code,
    site: u32,
) -> u32:
    """Lanes store boxes, or combine them with what is there (`combine`, else 0); 1 after a fault."""
    for lane in range(32):
        if mask >> lane & 1 != 0:
            if prepare(w, lane, maps[lane], coordinates, form, sources[lane], site) != 0:
                return 1
            reason = why_not_stored(w, combine)
            if reason != 0:
                return refuse_copy(w, ILLEGAL_TENSOR_COPY, reason, site, lane, maps[lane])
            if store_box(w, lane, sources[lane], combine, site) != 0:
                return 1
    return 0


def why_not_stored(w: Warp, combine: Code) -> u32:
    """Why a box cannot be stored where loads could fetch one; 0 if it can."""
    t = w.worker.tensor[0]
    if begins_before(t) != 0:
        return BEFORE_START
    if t.kind == B4_PADDED:
        return LOADED_ONLY
    if t.in_columns != 0:
        for dimension in range(min(t.rank - 2, 3)):
            if corner(t, dimension, 0) < 0 or corner(t, dimension, 1) > 0:
                return CORNERS_OUTSIDE
    if combine != 0 and cannot_combine(w, t, combine) != 0:
        return NO_SUCH_REDUCTION
    return 0


def begins_before(t: TensorCopy) -> u32:
    """1 if a coordinate is negative."""
    if t.inner < 0:
        return 1
    for dimension in range(t.outer):
        if t.point[dimension] < 0:
            return 1
    return names_negative(t)


def cannot_combine(w: Warp, t: TensorCopy, combine: Code) -> u32:
    """1 if the type has no such reduction; those of 4 and 6 bits have no reductions."""
    if t.kind > BF16:
        return 1
    return combine_row(w.worker.row[0], t, part(w.worker.row[0].bytes, 0, 0), 0, 0, combine)


def store_box(w: Warp, lane: u32, at: u64, combine: Code, site: u32) -> u32:
    """Store a box; 1 after a fault. Rows end with the chunk that holds the tensor's last element."""
    t = w.worker.tensor[0]
    size = stored_bytes(t)
    behind = keep_inside(t)
    if size == 0:
        behind = 0
    box = nothing(u8)
    if behind != 0:
        taken = rows_bytes(t, behind)
        box = shared_place(w, at & 0xFFFFFFFF, taken)
        if address(box) == 0:
            fault(w, OUT_OF_BOUNDS, site, lane, at, SHARED, u32(min(taken, 0xFFFFFFFF)), 0)
            return 1
        watch_source(w, t, lane, at, size, site)
    begin_copy(w, lane, site, at, u32(combine != 0), 0)
    if behind == 0:
        return 0
    for _row in range(rows_of(t)):
        if is_inside(t) != 0:
            source = part(box, row_place(t, t.number), row_room(t))
            take_row(w.worker.row[0], t, source, at & ((1 << CLUSTER_SHIFT) - 1), t.number)
            if address(w.launch.trail) != 0:
                take_row_tags(w, site, lane, t, at, t.number)
            if send_row(w, lane, row_address(t), size, combine, site) != 0:
                return 1
        next_row(t)
    return 0


def send_row(w: Warp, lane: u32, at: u64, size: u64, combine: Code, site: u32) -> u32:
    """Store bytes of the row in the tensor; 1 after a fault."""
    t = w.worker.tensor[0]
    if reach(w, lane, at, u32(size), 1, site) == 0:
        return 1
    watch_store(w, t, lane, at, u32(size), u32(combine != 0), site)
    count_moved(w, site, size, size)
    into = site_bytes(w.sites[site], at, size)
    if address(w.launch.trail) != 0:
        send_row_tags(w, site, lane, t, at, size, u32(combine != 0))
    if combine != 0:
        combine_row(w.worker.row[0], t, into, 0, size, combine)
    else:
        copy(into, view(u8, w.worker.row[0].bytes), size)
    return 0
