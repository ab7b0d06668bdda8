"""Unwritten bits of registers: loaded from memory, stored to it, and reported when they are used.

Initcheck's poison of a register is laid out as the register (32 lanes side by side; a predicate: a mask), after the
registers of the warp; a bit is 1 if it is unwritten. The sources of all registers follow, 24 bytes for 4 of poison: the
load that found the bits unwritten, and its address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import address, copy, fill, length, part, trailing_zeros, u8, u16, u32, u64, view
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.hazards import entry, fill_access
from ptxloom.machine.runtime.initcheck.slow_path import (
    UNWRITTEN_BYTE,
    WRITTEN,
    address_behind,
    first_unwritten,
    plane_of,
    space_behind,
    unwritten_bytes,
)
from ptxloom.machine.runtime.memory.lane_access import find_span
from ptxloom.machine.runtime.memory.places import register_bytes, registers, source_at
from ptxloom.machine.runtime.state import (
    COMPUTED,
    GLOBAL,
    LOADED,
    LOCAL,
    MOVED,
    NONE,
    SHARED,
    SOURCE_BYTES,
    SOURCE_SIZE,
    UNWRITTEN,
    UNWRITTEN_REGISTER,
    PoisonSource,
    Warp,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


@watching
def is_clean(w: Warp) -> u32:
    """1 if every bit of every register counts as written."""
    words = view(u64, registers(w, w.launch.poison, w.launch.poison_bytes))
    seen: u64 = 0
    for at in range(u32(length(words))):
        seen = seen | words[at]
    return 1 if seen == 0 else 0


def poison_of(w: Warp, place: u32, size: u32) -> Slice[u8]:
    """The poison of a register of `size` bytes a lane (0: a predicate)."""
    return registers(w, w.launch.poison + place, register_bytes(size))


def source_of(w: Warp, place: u32) -> PoisonSource:
    """The source of a register."""
    return source_at(w, w.launch.poison + w.launch.poison_bytes + SOURCE_BYTES * place)


def lanes_of(w: Warp, place: u32, size: u32) -> u32:
    """The lanes in which some of a register's `size` bytes (0: a predicate) are poison."""
    held = poison_of(w, place, size)
    if size == 0:
        return view(u32, held)[0]
    found: u32 = 0
    for lane in range(32):
        for byte in range(size):
            if held[lane * size + byte] != WRITTEN:
                found = found | 1 << lane
    return found


@watching
def inherit(w: Warp, target: u32, place: u32, size: u32, lanes: u32, done: u32) -> None:
    """Give a register the source of another one, if that is poison in some of these lanes.

    `done` says what was done to its bits: LOADED if the value is copied unchanged.
    """
    if lanes_of(w, place, size) & lanes == 0:
        return
    mine = source_of(w, target)
    theirs = source_of(w, place)
    mine.site = theirs.site
    mine.lane = theirs.lane
    mine.space = theirs.space
    mine.size = theirs.size
    mine.raw = min(theirs.raw, u16(done))
    mine.address = theirs.address
    if theirs.site == 0 and theirs.address == 0:
        mine.address = u64(place) + 1


@watching
def come_from(w: Warp, target: u32) -> None:
    """Set a register's source to what the last load found, if anything."""
    if w.source[0].site != 0:
        copy(source_of(w, target), w.source[0], SOURCE_SIZE)


@watching
def load_poison(
    w: Warp,
    out: Annotated[Slice[u8], "32 * size * parts"],
    addresses: Ptr[u64],
    lanes: u32,
    space: u32,
    size: u32,
    parts: u32,
    used: u32,
    site: u32,
) -> u32:
    """The poison of what lanes load, laid out as `move_lanes` does; returns the lanes that have any.

    `used` has a bit for each byte that the load uses.
    """
    found: u32 = 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            marks = plane_of(w, lane, addresses[lane], size * parts, space)
            missing: u32 = 0
            first: u32 = 0
            assert size * parts <= 64
            for at in range(size * parts):
                bits: u8 = WRITTEN
                if length(marks) != 0 and used >> at & 1 != 0:
                    bits = marks[at]
                if bits != WRITTEN:
                    if missing == 0:
                        first = at
                    missing = missing + 1
                out[(at // size * 32 + lane) * size + at % size] = bits
            if missing != 0:
                if found == 0:
                    remember(w, site, lane, addresses[lane] + u64(first), space, missing)
                found = found | 1 << lane
    return found


def remember(w: Warp, site: u32, lane: u32, at: u64, space: u32, missing: u32) -> None:
    """Record what a load has found."""
    source = w.source[0]
    source.site = site + 1
    source.lane = lane
    source.space = space_behind(at, space)
    source.address = address_behind(at, space)
    source.size = u16(missing)
    source.raw = u16(COMPUTED if was_computed(w, source.space, source.address) != 0 else LOADED)


def was_computed(w: Warp, space: u32, at: u64) -> u32:
    """1 if a computed value in shared or local memory may be poison: where such poison was stored."""
    if space == LOCAL:
        return w.local_computed
    return u32(space == SHARED and at >= u64(w.cta.computed_from) and at < u64(w.cta.computed_to))


def keep_computed(w: Warp, space: u32, at: u64) -> None:
    """Record that a byte of shared or local memory receives computed poison."""
    if space == LOCAL:
        w.local_computed = 1
    elif space == SHARED and at < u64(w.launch.shared_bytes):
        w.cta.computed_from = min(w.cta.computed_from, u32(at))
        w.cta.computed_to = max(w.cta.computed_to, u32(at) + 1)


@watching
def forget_source(w: Warp) -> None:
    """Forget what the last load found."""
    w.source[0].site = 0


@watching
def find_poison(
    w: Warp, addresses: Ptr[u64], offset: u64, lanes: u32, space: u32, size: u32, wide: u32, site: u32
) -> None:
    """Record where the first lane reads unwritten bytes, unless an earlier place is recorded.

    Addresses have 32 bits unless they are `wide`.
    """
    narrow = view(u32, addresses)
    for lane in range(32):
        if lanes >> lane & 1 != 0 and w.source[0].site == 0:
            at = addresses[lane] + offset
            if wide == 0:
                at = u64(narrow[lane]) + offset
            marks = plane_of(w, lane, at, size, space)
            missing = unwritten_bytes(marks)
            if missing != 0:
                remember(w, site, lane, at + first_unwritten(marks), space, missing)


@watching
def is_computed(w: Warp, place: u32, size: u32, lanes: u32) -> u32:
    """1 if a register is poison in some of these lanes, and has been computed with since it was loaded."""
    return u32(lanes_of(w, place, size) & lanes != 0 and source_of(w, place).raw == COMPUTED)


@watching
def store_poison(
    w: Warp,
    values: Annotated[Slice[u8], "32 * size * parts"],
    addresses: Ptr[u64],
    lanes: u32,
    space: u32,
    size: u32,
    parts: u32,
    moved: u32,
    computed: u32,
) -> u64:
    """Store the poison of lanes, laid out as the values of `move_lanes`.

    `moved` has a bit for each byte that is stored, `computed` one for each value that was computed with poison. Memory
    that is invisible to the host receives the poison, and so does unwritten memory if the value is only copied. Returns
    the lanes that make other poison visible to the host: in the lower half those that store to written memory, in the
    upper half those that store to unwritten memory, which counts as written from now on.
    """
    given: u64 = 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            at = addresses[lane]
            seen = is_seen(w, at, space)
            marks = plane_of(w, lane, at, size * parts, space)
            assert size * parts <= 64
            for byte in range(size * parts):
                if moved >> byte & 1 != 0:
                    bits = values[(byte // size * 32 + lane) * size + byte % size]
                    if length(marks) != 0:
                        marks[byte] = bits
                        if bits != WRITTEN and computed >> byte // size & 1 != 0:
                            if seen != 0:
                                marks[byte] = WRITTEN
                                given = given | u64(1) << u64(32 + lane)
                            else:
                                keep_computed(w, space_behind(at, space), address_behind(at, space) + u64(byte))
                    elif seen != 0 and bits != WRITTEN:
                        given = given | u64(1) << u64(lane)
    return given


def is_seen(w: Warp, at: u64, space: u32) -> u32:
    """1 if the host sees what is stored at an address: in global memory, except for the device heap."""
    if space_behind(at, space) != GLOBAL:
        return 0
    found = find_span(w.launch, at)
    return u32(length(found) == 0 or address(found[0].heap) == 0)


@watching
def note_given(w: Warp, site: u32, given: u64, place: u32, size: u32, stored: u32, use: u32) -> None:
    """Report lanes that store `stored` bytes of a poisoned register where the host sees them, as in `store_poison`.

    A value that is only copied may be a struct with padding: a byte, or a partly written word, is not reported.
    """
    lanes = u32(given)
    if source_of(w, place).raw == COMPUTED:
        note_use(w, site, lanes | u32(given >> 32), place, size, use)
    elif source_of(w, place).raw == MOVED:
        note_use(w, site, lanes, place, size, use)
    elif stored > 1:
        held = poison_of(w, place, size)
        whole: u32 = 0
        for lane in range(32):
            all_: u32 = 1
            for byte in range(stored):
                if held[lane * size + byte] != UNWRITTEN_BYTE:
                    all_ = 0
            whole = whole | all_ << lane
        note_use(w, site, lanes & whole, place, size, use)


@watching
def note_use(w: Warp, site: u32, lanes: u32, place: u32, size: u32, use: u32) -> None:
    """Report the lanes that use a poisoned register; it counts as written from now on."""
    found = lanes_of(w, place, size) & lanes
    if found == 0:
        return
    source = source_of(w, place)
    if source.site == 0:
        index = entry(w, UNWRITTEN_REGISTER, site, NONE)
        if index < w.worker.event_limit:
            event = w.worker.events[index]
            event.mask = found
            event.lane = NONE
            event.place = 0
            event.other = u32(source.address) - 1 if source.address != 0 else place
    else:
        index = entry(w, UNWRITTEN, site, source.site - 1)
        if index < w.worker.event_limit:
            event = w.worker.events[index]
            fill_access(event, trailing_zeros(found), source.address, source.space, u32(source.size), use)
            event.mask = found
            event.second_warp = w.index
            event.second_lane = source.lane
    clear_poison(w, place, size, found)


@watching
def clear_poison(w: Warp, place: u32, size: u32, lanes: u32) -> None:
    """Mark a register as written in some lanes."""
    held = poison_of(w, place, size)
    if size == 0:
        mask = view(u32, held)
        mask[0] = mask[0] & ~lanes
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            fill(part(held, lane * size, size), WRITTEN)


@watching
def overwhelm(w: Warp, place: u32, size: u32, lanes: u32) -> None:
    """Mark a register as poison in some lanes."""
    held = poison_of(w, place, size)
    if size == 0:
        mask = view(u32, held)
        mask[0] = mask[0] | lanes
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            fill(part(held, lane * size, size), UNWRITTEN_BYTE)
