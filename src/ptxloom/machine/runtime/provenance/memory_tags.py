"""Tags of memory, beside its bytes: loads move them to registers, stores set them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, fill, length, part, u8, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.memory.lane_access import space_at
from ptxloom.machine.runtime.memory.places import registers, warp_at
from ptxloom.machine.runtime.provenance.global_tags import (
    is_changed,
    is_far,
    load_values,
    read_global_tags,
    span_of,
    store_values,
    write_global_tags,
)
from ptxloom.machine.runtime.provenance.paths import element_tag, moved_tag, path_after
from ptxloom.machine.runtime.provenance.register_heads import (
    EMPTY,
    FULL,
    bytes_after_head,
    form_of,
    give_heads,
    heads_of,
    may_hold_heads,
    tags_of,
)
from ptxloom.machine.runtime.provenance.shared_words import (
    load_word_rows,
    load_word_tags,
    read_shared_tags,
    start_words,
    store_word_tags,
    write_shared_tags,
)
from ptxloom.machine.runtime.provenance.tag_words import WORD, found_tag, given_tag
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, GLOBAL, LOCAL, SHARED, WINDOW_BYTES, Cta, Warp
from ptxloom.machine.runtime.structs.trail import BIT_SHIFT, EXACT, STAGE, TWICE, UNPACKED
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


@watching
def start_tags(cta: Cta) -> None:
    """Reset the tags of a CTA's shared and local memory and registers."""
    start_words(cta)
    if address(cta.tensor_tags) != 0:
        fill(cta.tensor_tags.tags, 0)
    launch = cta.launch
    for number in range(launch.warps):
        w = warp_at(cta, number)
        fill(registers(w, launch.tag_forms, launch.tag_form_bytes), EMPTY)
        fill(w.local_tags, 0)


def read_tags(w: Warp, site: u32, lane: u32, at: u64, space: u32, size: u32, out: Slice[u64]) -> None:
    """The tags of bytes in memory after a read by an instruction."""
    trail = w.launch.trail
    into = part(out, 0, size)
    named = space_at(at, space)
    offset = at & WINDOW_BYTES - 1
    inside = offset & (1 << CLUSTER_SHIFT) - 1
    if is_far(at, space) != 0:
        read_global_tags(w, site, at, size, into)
    elif named == LOCAL and within(offset, u64(size), w.local_bytes) != 0:
        known = part(w.local_tags, u64(lane) * w.local_bytes + offset, size)
        for n in range(size):
            into[n] = found_tag(trail, site, known[n])
    elif named == SHARED and has_shared(w, offset, size) != 0:
        read_shared_tags(trail, site, shared_owner(w, offset), inside, size, into)
    else:
        fill(into, 0)


def write_tags(w: Warp, site: u32, lane: u32, at: u64, space: u32, size: u32, given: Slice[u64], again: u64) -> None:
    """Set the tags of bytes that an instruction writes to memory; `again` as in `write_global_tags`."""
    trail = w.launch.trail
    named = space_at(at, space)
    offset = at & WINDOW_BYTES - 1
    inside = offset & (1 << CLUSTER_SHIFT) - 1
    if is_far(at, space) != 0:
        write_global_tags(w, site, at, size, given, again)
    elif named == LOCAL and within(offset, u64(size), w.local_bytes) != 0:
        known = part(w.local_tags, u64(lane) * w.local_bytes + offset, size)
        for n in range(size):
            known[n] = given_tag(trail, site, given[n])
    elif named == SHARED and has_shared(w, offset, size) != 0:
        write_shared_tags(trail, site, shared_owner(w, offset), inside, size, given)


def has_shared(w: Warp, offset: u64, size: u32) -> u32:
    """1 if bytes exist in the shared memory of the warp's CTA or of another one of the cluster."""
    rank = offset >> CLUSTER_SHIFT
    inside = offset & (1 << CLUSTER_SHIFT) - 1
    return within(inside, u64(size), w.shared_bytes) & u32(rank <= u64(w.launch.members))


def shared_owner(w: Warp, offset: u64) -> Cta:
    """The CTA that owns them."""
    rank = offset >> CLUSTER_SHIFT
    if rank == 0:
        return w.cta
    return w.cta.peers[rank - 1].cta


def load_tags(
    w: Warp,
    site: u32,
    lanes: u32,
    addresses: Ptr[u64],
    offset: u64,
    space: u32,
    size: u32,
    place: u32,
    room: u32,
    first: u32,
) -> None:
    """Lanes load `size` bytes to a register of `room` bytes, from one of them on; higher bytes have no origin."""
    if first == 0 and may_hold_heads(w, lanes, place, room, size) != 0:
        found: u32 = 0
        if space == SHARED and size == WORD:
            if lanes == FULL:
                found = load_word_rows(w, site, addresses, offset)
            if found == 0:
                found = load_word_tags(w, site, lanes, addresses, offset)
        elif space == GLOBAL:
            found = load_values(w, site, lanes, addresses, offset, size)
        if found != 0:
            if lanes != FULL:
                heads_of(w, place)
            form_of(w, place)[0] = u8(size)
            give_heads(w, lanes, place, part(w.launch.trail.stage, 0, 32))
            return
    into = tags_of(w, place, room)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            mine = part(into, lane * room + first, room - first)
            read_tags(w, site, lane, addresses[lane] + offset, space, size, part(mine, 0, size))
            fill(part(mine, size, room - first - size), 0)


def store_tags(
    w: Warp,
    site: u32,
    lanes: u32,
    addresses: Ptr[u64],
    offset: u64,
    space: u32,
    size: u32,
    place: u32,
    room: u32,
    first: u32,
) -> None:
    """Lanes store `size` bytes of a register of `room` bytes, from one of them on."""
    if first == 0 and bytes_after_head(w, place, room) >= size:
        given: u32 = 0
        if space == SHARED and size == WORD:
            given = store_word_tags(w, site, lanes, addresses, offset, heads_of(w, place))
        elif space == GLOBAL:
            given = store_values(w, site, lanes, addresses, offset, size, heads_of(w, place))
        if given != 0:
            return
    out = tags_of(w, place, room)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            mine = part(out, lane * room + first, size)
            write_tags(w, site, lane, addresses[lane] + offset, space, size, mine, TWICE)


def store_nothing(w: Warp, site: u32, lanes: u32, addresses: Ptr[u64], offset: u64, space: u32, size: u32) -> None:
    """Lanes store bytes of no origin."""
    given: u32 = 0
    if space == SHARED and size == WORD:
        given = store_word_tags(w, site, lanes, addresses, offset, w.launch.trail.zeros)
    elif space == GLOBAL:
        given = store_values(w, site, lanes, addresses, offset, size, w.launch.trail.zeros)
    if given != 0:
        return
    none = part(w.launch.trail.stage, 0, size)
    for n in range(size):
        none[n] = 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            write_tags(w, site, lane, addresses[lane] + offset, space, size, none, TWICE)


@watching
def copy_tags(
    w: Warp, site: u32, lane: u32, target: u64, target_space: u32, source: u64, source_space: u32, take: u32, size: u32
) -> None:
    """A lane copies `take` bytes in memory, and zeros up to `size`."""
    stage = part(w.launch.trail.stage, 0, 16)
    for start in range(0, size, 16):
        spend(w, 1)
        count = min(size - start, 16)
        given: u32 = 0
        if source_space == GLOBAL and target_space == SHARED and start + count <= take:
            given = copy_far_words(w, site, target + u64(start), source + u64(start), count)
        if given != 0:
            continue
        for n in range(count):
            stage[n] = 0
        if start < take:
            some = min(take - start, 16)
            read_tags(w, site, lane, source + u64(start), source_space, some, part(stage, 0, some))
        write_tags(w, site, lane, target + u64(start), target_space, count, stage, TWICE)


def copy_far_words(w: Warp, site: u32, target: u64, source: u64, size: u32) -> u32:
    """1 if bytes of global memory that the kernel has not written are copied to words of the CTA's shared memory."""
    trail = w.launch.trail
    inside = target & WINDOW_BYTES - 1
    words = part(w.cta.word_tags, 0, length(w.cta.word_tags))
    if (inside | u64(size)) % WORD != 0 or within(inside, u64(size), length(words) * WORD) == 0:
        return 0
    spans = span_of(w, source, u64(size))
    if length(spans) == 0:
        return 0
    own = EXACT | path_after(trail, site, 0) | spans[0].origin + (source - spans[0].start)
    if length(spans[0].tags) != 0 and is_changed(trail, own, size) != 0:
        return 0
    into = part(words, inside // WORD, size // WORD)
    tag = moved_tag(trail, site, own)
    for n in range(size // WORD):
        into[n] = tag + u64(n * WORD)
    return 1


def stage_rows(w: Warp, site: u32, lanes: u32, rows: u32, addresses: Ptr[u64], space: u32, size: u32) -> None:
    """Stage the tags of the rows of matrices, 16 for each."""
    stage = w.launch.trail.stage
    for row in range(rows):
        mine = part(stage, 16 * row, 16)
        for n in range(16):
            mine[n] = 0
        if lanes >> row & 1 != 0:
            read_tags(w, site, row, addresses[row], space, size, part(mine, 0, size))


def unstage_rows(w: Warp, site: u32, lanes: u32, rows: u32, addresses: Ptr[u64], space: u32, size: u32) -> None:
    """Move the staged tags to rows of memory."""
    assert rows <= 32
    stage = w.launch.trail.stage
    for row in range(rows):
        if lanes >> row & 1 != 0:
            write_tags(w, site, row, addresses[row], space, size, part(stage, 16 * row, size), TWICE)


def gather_tags(w: Warp, lanes: u32, start: u64, place: u32) -> None:
    """A register of 4 bytes takes stored tags, selected by a map for each of its bytes."""
    into = tags_of(w, place, 4)
    trail = w.launch.trail
    map_ = part(trail.maps, start, 128)
    some: u32 = 0
    for n in range(128):
        some = some | map_[n]
    if lanes == FULL and some & UNPACKED == 0:
        for n in range(128):
            named = map_[n] & (1 << BIT_SHIFT) - 1
            known = trail.stage[named & STAGE - 1]
            into[n] = known if named < STAGE else 0
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(4 * lane, 4 * lane + 4):
                at = map_[n]
                tag: u64 = 0
                if at & (1 << BIT_SHIFT) - 1 < STAGE:
                    tag = trail.stage[at & STAGE - 1]
                if at & UNPACKED != 0:
                    tag = element_tag(tag, at >> BIT_SHIFT & 7)
                into[n] = tag


def scatter_tags(w: Warp, start: u64, place: u32) -> None:
    """Store the tags of a register of 4 bytes, at places from a map for each of its bytes."""
    out = tags_of(w, place, 4)
    trail = w.launch.trail
    map_ = part(trail.maps, start, 128)
    for n in range(128):
        at = map_[n]
        if at < STAGE:
            trail.stage[at] = out[n]


def scatter_nothing(w: Warp, start: u64) -> None:
    """The same for a register without an origin."""
    trail = w.launch.trail
    map_ = part(trail.maps, start, 128)
    for n in range(128):
        if map_[n] < STAGE:
            trail.stage[map_[n]] = 0
