"""Matrix products: where their operands come from, noted element by element, and the tags of what they give."""

from __future__ import annotations

from ptxloom.machine.native.language import part, u32, u64
from ptxloom.machine.runtime.provenance.memory_tags import tags_of
from ptxloom.machine.runtime.provenance.moments import cta_number, place_among
from ptxloom.machine.runtime.provenance.paths import put_value, value_tag
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.trail import BYTE_BITS, COMPUTED, PRODUCT, SLOT_BITS


def begin_product(w: Warp, site: u32, lanes: u32, tags: u32) -> None:
    """A warp is about to execute a product whose operands take so many tags, which follow one by one."""
    trail = w.launch.trail
    trail.recording = 0
    if trail.warps >> w.index & 1 == 0:
        return
    index = cta_number(w.cta)
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
    event.start = trail.pool_count


def note_operand(w: Warp, site: u32, place: u32, room: u32, each: u32) -> None:
    """Note the elements of `each` bytes that a register holds."""
    trail = w.launch.trail
    if trail.recording == 0:
        return
    count = 32 * (room // each)
    into = part(trail.pool, trail.pool_count, count)
    trail.pool_count = trail.pool_count + u64(count)
    event = trail.events[trail.recording - 1]
    event.tags = event.tags + u64(count)
    out = tags_of(w, place, room)
    for n in range(count):
        into[n] = value_tag(trail, site, out, n * each, each)


def note_nothing(w: Warp, count: u32) -> None:
    """Note so many elements of no origin."""
    trail = w.launch.trail
    if trail.recording != 0:
        trail.pool_count = trail.pool_count + u64(count)
        event = trail.events[trail.recording - 1]
        event.tags = event.tags + u64(count)


def give_product(w: Warp, lanes: u32, place: u32, room: u32, each: u32, slot: u32) -> None:
    """A register takes elements of the product, the first of lane 0 with this number."""
    trail = w.launch.trail
    into = tags_of(w, place, room)
    parts = room // each
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(parts):
                tag: u64 = COMPUTED
                if trail.recording != 0:
                    tag = PRODUCT | (trail.recording - 1 << SLOT_BITS | u64(slot + lane * parts + n)) << BYTE_BITS
                put_value(into, lane * room + n * each, each, tag)
