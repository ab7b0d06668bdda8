"""Matrix products: the origins of their operands, recorded element by element, and the tags of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, fill, part, u32, u64
from ptxloom.machine.runtime.memory.matrix_layout import row_at
from ptxloom.machine.runtime.provenance.memory_tags import read_tags
from ptxloom.machine.runtime.provenance.moments import cta_number, place_among
from ptxloom.machine.runtime.provenance.paths import put_value, value_tag
from ptxloom.machine.runtime.provenance.register_heads import byte_after, bytes_after_head, heads_of, may_give, tags_of
from ptxloom.machine.runtime.state import SHARED, Cta, Warp
from ptxloom.machine.runtime.structs.trail import BYTE_BITS, COMPUTED, PATH_FIELD, PRODUCT, SLOT_BITS, Trail

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def begin_product(w: Warp, site: u32, lanes: u32, tags: u32) -> None:
    """A warp is about to execute a product whose operands take `tags` tags, which follow one by one."""
    begin_event(w, w.cta, site, lanes, tags)


def begin_event(w: Warp, cta: Cta, site: u32, lanes: u32, tags: u32) -> None:
    """The same of the part of a CTA, which may be the peer of the warp's own."""
    trail = w.launch.trail
    trail.recording = 0
    if trail.warps >> w.index & 1 == 0:
        return
    index = cta_number(cta)
    if place_among(trail.ctas, index) == trail.cta_count:
        return
    if trail.event_count >= trail.event_limit or trail.pool_count + u64(tags) > trail.pool_limit:
        trail.event_missed = trail.event_missed + 1
        return
    event = trail.events[trail.event_count]
    trail.event_count = trail.event_count + 1
    trail.recording = trail.event_count
    event.site = site
    event.warp = w.index
    event.cta = index
    event.lanes = lanes
    event.plan = 0
    event.start = trail.pool_count
    event.tags = 0
    fill(part(trail.pool, trail.pool_count, tags), 0)


def note_operand(w: Warp, site: u32, place: u32, room: u32, each: u32) -> None:
    """Record the elements of `each` bytes that a register holds."""
    trail = w.launch.trail
    if trail.recording == 0:
        return
    count = 32 * (room // each)
    into = part(trail.pool, trail.pool_count, count)
    trail.pool_count = trail.pool_count + u64(count)
    event = trail.events[trail.recording - 1]
    event.tags = event.tags + u64(count)
    known = bytes_after_head(w, place, room)
    if known != 0:
        note_heads(into, heads_of(w, place), room, known, each)
        return
    note_values(trail, site, into, tags_of(w, place, room), count, each)


def note_heads(tags: Slice[u64], heads: Slice[u64], room: u32, known: u32, each: u32) -> None:
    """The same of values of which `known` bytes of each lane follow from its head."""
    parts = room // each
    into = part(tags, 0, 32 * parts)
    out = part(heads, 0, 32)
    if parts == 1:
        copy(into, out, 256)
        return
    for lane in range(32):
        for n in range(parts):
            into[lane * parts + n] = byte_after(out[lane], n * each, known)


def note_values(trail: Trail, site: u32, tags: Slice[u64], out: Slice[u64], count: u32, each: u32) -> None:
    """The tags of contiguous values of `each` bytes."""
    into = part(tags, 0, count)
    known = part(out, 0, count * each)
    if each == 1:
        copy(into, known, 8 * u64(count))
        return
    if each == 2 and count == 64 and note_halves(into, known) != 0:
        return
    for n in range(count):
        at = n * each
        first = known[at]
        apart = known[at + 1] ^ first + 1
        for more in range(2, each):
            apart = apart | known[at + more] ^ first + u64(more)
        if first == 0 or apart & ~PATH_FIELD != 0:
            first = value_tag(trail, site, known, at, each)
        into[n] = first


def note_halves(tags: Slice[u64], out: Slice[u64]) -> u32:
    """1 if two bytes each of 128 belong together: the tags of these 64 values."""
    into = part(tags, 0, 64)
    known = part(out, 0, 128)
    wrong: u64 = 0
    for n in range(64):
        first = known[2 * n]
        wrong = wrong | (known[2 * n + 1] ^ first + 1) & ~PATH_FIELD | u64(first == 0)
        into[n] = first
    return u32(wrong == 0)


def note_factor(w: Warp, site: u32, descriptor: u64, is_a: u32, lines: u32, parts: u32, across: u32, each: u32) -> None:
    """Note the elements of a factor in shared memory: by core matrix and row; of A a warp takes its own rows."""
    trail = w.launch.trail
    if trail.recording == 0:
        return
    assert lines <= 64
    assert parts <= 64
    row_tags = 16 // each
    count = lines * parts * 8 * row_tags
    into = part(trail.pool, trail.pool_count, count)
    trail.pool_count = trail.pool_count + u64(count)
    event = trail.events[trail.recording - 1]
    event.tags = event.tags + u64(count)
    first: u32 = (w.index & 3) * lines if is_a != 0 else 0
    stage = part(trail.stage, 0, 16)
    for line in range(lines):
        for column in range(parts):
            for row in range(8):
                at = row_at(descriptor, u64(first + line), u64(column), across, row)
                read_tags(w, site, 0, at, SHARED, 16, stage)
                start = ((line * parts + column) * 8 + row) * row_tags
                note_values(trail, site, part(into, start, row_tags), stage, row_tags, each)


def note_nothing(w: Warp, count: u32) -> None:
    """Record `count` elements without an origin."""
    trail = w.launch.trail
    if trail.recording != 0:
        trail.pool_count = trail.pool_count + u64(count)
        event = trail.events[trail.recording - 1]
        event.tags = event.tags + u64(count)


def note_descriptor(w: Warp, descriptor: u64) -> None:
    """Note, behind the tags of all operands, how a factor in shared memory is described."""
    trail = w.launch.trail
    if trail.recording != 0:
        part(trail.pool, trail.pool_count, 1)[0] = descriptor
        trail.pool_count = trail.pool_count + 1
        event = trail.events[trail.recording - 1]
        event.tags = event.tags + 1


def give_product(w: Warp, lanes: u32, place: u32, room: u32, each: u32, slot: u32) -> None:
    """Tag a register as elements of the product, starting with this number in lane 0."""
    trail = w.launch.trail
    parts = room // each
    assert parts <= 32
    if parts == 1 and may_give(w, lanes, place, room, room) != 0:
        heads = heads_of(w, place)
        base: u64 = COMPUTED
        step: u64 = 0
        if trail.recording != 0:
            base = PRODUCT | (trail.recording - 1 << SLOT_BITS | u64(slot)) << BYTE_BITS
            step = 1 << BYTE_BITS
        for lane in range(32):
            heads[lane] = base + u64(lane) * step if lanes >> lane & 1 != 0 else heads[lane]
        return
    into = tags_of(w, place, room)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(lane * parts, lane * parts + parts):
                tag: u64 = COMPUTED
                if trail.recording != 0:
                    tag = PRODUCT | (trail.recording - 1 << SLOT_BITS | u64(slot + n)) << BYTE_BITS
                put_value(into, n * each, each, tag)
