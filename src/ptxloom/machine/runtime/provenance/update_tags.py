"""Tags of values combined with memory, of tensors' rows, and of arguments and results of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, fill, part, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.provenance.memory_tags import copy_tags, read_tags, write_tags
from ptxloom.machine.runtime.provenance.nodes import node_tag
from ptxloom.machine.runtime.provenance.paths import moved_tag, put_value, value_tag
from ptxloom.machine.runtime.provenance.register_heads import tags_of
from ptxloom.machine.runtime.state import GLOBAL, SHARED, Warp
from ptxloom.machine.runtime.structs.trail import COMPUTED, TWICE
from ptxloom.machine.runtime.tensor_boxes.model import SHIFTS, TensorCopy
from ptxloom.machine.runtime.tensor_boxes.swizzle import chunk_place, pieces_of
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def update_tags(
    w: Warp,
    site: u32,
    lanes: u32,
    addresses: Ptr[u64],
    offset: u64,
    space: u32,
    size: u32,
    place: u32,
    room: u32,
    source: u32,
    source_size: u32,
    replaces: u32,
) -> None:
    """Lanes combine a register with memory, one after the other; another register takes the old values.

    A size of 0: there is no such register, or it has no origin. With `replaces`, memory takes the value unchanged.
    """
    trail = w.launch.trail
    stage = part(trail.stage, 0, size)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            at = addresses[lane] + offset
            read_tags(w, site, lane, at, space, size, stage)
            old = value_tag(trail, site, stage, 0, size)
            new: u64 = 0
            if source_size != 0:
                taken = min(size, source_size)
                new = value_tag(trail, site, tags_of(w, source, source_size), lane * source_size, taken)
            if replaces == 0 and old | new != 0:
                new = node_tag(trail, COMPUTED, site, old, new, 0)
            if room != 0:
                into = part(tags_of(w, place, room), lane * room, room)
                fill(into, 0)
                copy(into, stage, 8 * u64(min(size, room)))
            put_value(stage, 0, size, moved_tag(trail, site, new))
            write_tags(w, site, lane, at, space, size, stage, 0)


@watching
def combined_tags(w: Warp, site: u32, lane: u32, at: u64, space: u32, size: u32, each: u32) -> None:
    """A copy combines what it moves with bytes in memory, values of `each` bytes: they are computed."""
    stage = part(w.launch.trail.stage, 0, 16)
    for n in range(16):
        stage[n] = COMPUTED + u64(n & each - 1)
    for start in range(0, size, 16):
        spend(w, 1)
        count = min(size - start, 16)
        write_tags(w, site, lane, at + u64(start), space, count, stage, 0)


@watching
def bulk_tags(
    w: Warp,
    site: u32,
    lane: u32,
    target: u64,
    target_space: u32,
    source: u64,
    source_space: u32,
    size: u32,
    combines: u32,
) -> None:
    """A lane copies a stretch, or combines it with what is there (values of 4 bytes, for all that is known here)."""
    if combines != 0:
        combined_tags(w, site, lane, target, target_space, size, 4)
    else:
        copy_tags(w, site, lane, target, target_space, source, source_space, size, size)


@watching
def blank_row_tags(w: Warp, t: TensorCopy) -> None:
    """Clear the tags of the values for elements outside a tensor."""
    fill(part(w.launch.trail.stage, 0, t.taken_bytes), 0)


@watching
def fetch_row_tags(w: Warp, site: u32, lane: u32, at: u64, low: u64, size: u64) -> None:
    """Stage the tags of a fetched row of a tensor, up to a byte of it."""
    read_tags(w, site, lane, at, GLOBAL, u32(size), part(w.launch.trail.stage, low, size))


@watching
def put_row_tags(w: Warp, site: u32, lane: u32, t: TensorCopy, at: u64, number: u64) -> None:
    """Move the row's tags to its place in a box in shared memory."""
    for piece in range(pieces_of(t)):
        offset = u64(piece * t.piece)
        place = chunk_place(t, at, number, offset)
        write_tags(w, site, lane, at + place, SHARED, t.piece, part(w.launch.trail.stage, offset, t.piece), 0)


@watching
def take_row_tags(w: Warp, site: u32, lane: u32, t: TensorCopy, at: u64, number: u64) -> None:
    """Stage the tags of a row of a box in shared memory."""
    for piece in range(pieces_of(t)):
        offset = u64(piece * t.piece)
        place = chunk_place(t, at, number, offset)
        read_tags(w, site, lane, at + place, SHARED, t.piece, part(w.launch.trail.stage, offset, t.piece))


@watching
def send_row_tags(w: Warp, site: u32, lane: u32, t: TensorCopy, at: u64, size: u64, combines: u32) -> None:
    """Move the row's tags to a tensor in global memory, or combine them."""
    if combines != 0:
        combined_tags(w, site, lane, at, GLOBAL, u32(size), 1 << (u32(SHIFTS >> u64(4 * t.kind)) & 15))
    else:
        write_tags(w, site, lane, at, GLOBAL, u32(size), part(w.launch.trail.stage, 0, size), TWICE)


@watching
def frame_tags(w: Warp, lanes: u32, target: u32, source: u32, size: u32) -> None:
    """Move the tags of an argument or a result between frames."""
    tags = w.local_tags
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            frame = u64(lane) * w.local_bytes + u64(w.sp[lane])
            copy(part(tags, frame + u64(target), size), part(tags, frame + u64(source), size), 8 * u64(size))
