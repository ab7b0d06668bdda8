"""Tags of memory: found beside the bytes of an access, taken to registers by loads and given by stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, copy, fill, length, nothing, part, u32, u64, view
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.bounds import within
from ptxloom.machine.runtime.memory import find_span, holds, space_at
from ptxloom.machine.runtime.places import registers, warp_at
from ptxloom.machine.runtime.provenance.paths import LONG, element_tag, of_one_path, path_after, step_run
from ptxloom.machine.runtime.spans import Span
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    CONST,
    GENERIC,
    GLOBAL,
    LOCAL,
    SHARED,
    SHARED_WINDOW,
    WINDOW_BYTES,
    Cta,
    Warp,
)
from ptxloom.machine.runtime.trail import BIT_SHIFT, EXACT, KIND, PATH_FIELD, STAGE, TWICE, UNPACKED, WRITTEN, Trail
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


def tags_of(w: Warp, place: u32, size: u32) -> Slice[u64]:
    """The tags of a register of `size` bytes a lane, lane by lane."""
    return view(u64, registers(w, w.launch.tags + 8 * place, 256 * size))


@watching
def start_tags(cta: Cta) -> None:
    """Reset the tags of a CTA's shared and local memory and registers."""
    fill(cta.tags, 0)
    if address(cta.tensor_tags) != 0:
        fill(cta.tensor_tags.tags, 0)
    launch = cta.launch
    for number in range(launch.warps):
        w = warp_at(cta, number)
        fill(registers(w, launch.tags, launch.tag_bytes), 0)
        fill(w.local_tags, 0)


def is_far(at: u64, space: u32) -> u32:
    """1 if an address is one of global memory, or of constants."""
    if space == GENERIC:
        return u32(at < SHARED_WINDOW)
    return u32(space == GLOBAL or space == CONST)  # noqa: PLR1714, SIM109 - native code has no sets


def near_tags(w: Warp, lane: u32, at: u64, space: u32, size: u64) -> Slice[u64]:
    """The tags of bytes of shared or local memory; empty if these do not exist."""
    named = space_at(at, space)
    offset = at & WINDOW_BYTES - 1
    if named == LOCAL:
        if within(offset, size, w.local_bytes) == 0:
            return nothing(u64)
        return part(w.local_tags, u64(lane) * w.local_bytes + offset, size)
    inside = offset & (1 << CLUSTER_SHIFT) - 1
    if named != SHARED or within(inside, size, w.shared_bytes) == 0:
        return nothing(u64)
    rank = offset >> CLUSTER_SHIFT
    if rank == 0:
        return part(w.cta.tags, inside, size)
    if rank > u64(w.launch.members):
        return nothing(u64)
    return part(w.cta.peers[rank - 1].cta.tags, inside, size)


def span_of(w: Warp, at: u64, size: u64) -> Slice[Span]:
    """The piece of global memory that holds some bytes, or nothing."""
    spans = find_span(w.launch, at)
    if length(spans) == 0 or holds(spans[0], at, size) == 0:
        return nothing(Span)
    return spans


def span_tags(span: Span, at: u64, size: u64) -> Slice[u64]:
    """The tags of bytes of a piece of global memory; empty if no byte of it ever changes."""
    if length(span.tags) == 0:
        return nothing(u64)
    return part(span.tags, at - span.start, size)


def read_tags(w: Warp, site: u32, lane: u32, at: u64, space: u32, size: u32, out: Slice[u64]) -> None:
    """The tags of bytes in memory, as an instruction that reads them finds them."""
    trail = w.launch.trail
    into = part(out, 0, size)
    if is_far(at, space) == 0:
        found_run(trail, site, into, near_tags(w, lane, at, space, u64(size)), size, 0)
        return
    spans = span_of(w, at, u64(size))
    if length(spans) == 0:
        fill(into, 0)
        return
    own = EXACT | path_after(trail, site, 0) | spans[0].origin + (at - spans[0].start)
    if length(spans[0].tags) != 0:
        found_run(trail, site, into, span_tags(spans[0], at, u64(size)), size, own)
        return
    for n in range(size):
        into[n] = own + u64(n)


def found_run(trail: Trail, site: u32, out: Slice[u64], tags: Slice[u64], size: u32, own: u64) -> None:
    """The tags of bytes in memory as they are found; of those without, from `own` on, if that is not 0."""
    into = part(out, 0, size)
    if length(tags) == 0:
        fill(into, 0)
        return
    known = part(tags, 0, size)
    if size >= LONG and of_one_path(known, size) != 0:
        step_run(into, known, size, path_after(trail, site, known[0] & PATH_FIELD))
        return
    before: u64 = 1  # no path stands so in a tag
    after: u64 = 0
    for n in range(size):
        tag = known[n]
        if tag == 0:
            if own != 0:
                tag = own + u64(n)
        elif tag & KIND == WRITTEN:
            tag = 0
        else:
            if tag & PATH_FIELD != before:
                before = tag & PATH_FIELD
                after = path_after(trail, site, before)
            tag = tag & ~(PATH_FIELD | TWICE) | after
        into[n] = tag


def write_tags(w: Warp, site: u32, lane: u32, at: u64, space: u32, size: u32, given: Slice[u64], again: u64) -> None:
    """The tags of bytes that an instruction writes to memory; `again` as in `give_run`."""
    trail = w.launch.trail
    if is_far(at, space) == 0:
        give_run(trail, site, near_tags(w, lane, at, space, u64(size)), given, size, 0)
        return
    spans = span_of(w, at, u64(size))
    if length(spans) != 0:
        give_run(trail, site, span_tags(spans[0], at, u64(size)), given, size, again)


def give_run(trail: Trail, site: u32, tags: Slice[u64], given: Slice[u64], size: u32, again: u64) -> None:
    """Bytes in memory take tags; `again` is added to those that have been written before."""
    if length(tags) == 0:
        return
    into = part(tags, 0, size)
    new = part(given, 0, size)
    before: u64 = 1  # no path stands so in a tag
    after: u64 = 0
    for n in range(size):
        tag = new[n]
        if tag == 0:
            tag = WRITTEN
        if tag & PATH_FIELD != before:
            before = tag & PATH_FIELD
            after = path_after(trail, site, before)
        tag = tag & ~(PATH_FIELD | TWICE) | after
        if into[n] != 0:
            tag = tag | again
        into[n] = tag


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
    into = tags_of(w, place, room)
    if lanes == 0xFFFFFFFF and space == SHARED and size == room:
        low = load_half(w, site, addresses, offset, size, into, 0)
        if low & load_half(w, site, addresses, offset, size, into, 16) != 0:
            return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            mine = part(into, lane * room + first, room - first)
            read_tags(w, site, lane, addresses[lane] + offset, space, size, part(mine, 0, size))
            fill(part(mine, size, room - first - size), 0)


def load_half(w: Warp, site: u32, addresses: Ptr[u64], offset: u64, size: u32, out: Slice[u64], first: u32) -> u32:
    """1 if half a warp loads bytes of shared memory side by side, or all lanes the same: their tags are loaded."""
    start = addresses[first]
    apart: u64 = 0
    gaps: u64 = 0
    for n in range(16):
        step = addresses[first + n] - start
        apart = apart | step
        gaps = gaps | step ^ u64(n * size)
    at = start + offset & WINDOW_BYTES - 1
    trail = w.launch.trail
    into = part(out, first * size, 16 * size)
    if gaps == 0 and within(at, u64(16 * size), w.shared_bytes) != 0:
        found_run(trail, site, into, part(w.cta.tags, at, 16 * size), 16 * size, 0)
        return 1
    if apart == 0 and within(at, u64(size), w.shared_bytes) != 0:
        found_run(trail, site, into, part(w.cta.tags, at, size), size, 0)
        for n in range(1, 16):
            copy(part(into, n * size, size), part(into, 0, size), 8 * u64(size))
        return 1
    return 0


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
    out = tags_of(w, place, room)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            mine = part(out, lane * room + first, size)
            write_tags(w, site, lane, addresses[lane] + offset, space, size, mine, TWICE)


def store_nothing(w: Warp, site: u32, lanes: u32, addresses: Ptr[u64], offset: u64, space: u32, size: u32) -> None:
    """Lanes store bytes of no origin."""
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
        for n in range(count):
            stage[n] = 0
        if start < take:
            some = min(take - start, 16)
            read_tags(w, site, lane, source + u64(start), source_space, some, part(stage, 0, some))
        write_tags(w, site, lane, target + u64(start), target_space, count, stage, TWICE)


def stage_rows(w: Warp, site: u32, lanes: u32, rows: u32, addresses: Ptr[u64], space: u32, size: u32) -> None:
    """Put aside the tags of the rows of matrices, 16 for each."""
    stage = w.launch.trail.stage
    for row in range(rows):
        mine = part(stage, 16 * row, 16)
        for n in range(16):
            mine[n] = 0
        if lanes >> row & 1 != 0:
            read_tags(w, site, row, addresses[row], space, size, part(mine, 0, size))


def unstage_rows(w: Warp, site: u32, lanes: u32, rows: u32, addresses: Ptr[u64], space: u32, size: u32) -> None:
    """Move to rows of memory the tags that were put aside for them."""
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
    """The same of a register of no origin."""
    trail = w.launch.trail
    map_ = part(trail.maps, start, 128)
    for n in range(128):
        if map_[n] < STAGE:
            trail.stage[map_[n]] = 0
