"""Paths: the instructions that a byte has passed, numbered; and the tags of changed values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import length, part, u32, u64
from ptxloom.machine.runtime.provenance.nodes import node_tag, tag_hash
from ptxloom.machine.runtime.structs.trail import (
    BITS,
    BYTE_BITS,
    COMPUTED,
    CONVERTED,
    EXACT,
    KIND,
    MIXED,
    ORIGIN,
    PATH_FIELD,
    PATH_LIMIT,
    PATH_SHIFT,
    PATH_STEPS,
    PLACE_SHIFT,
    RECENT,
    TWICE,
    WRITTEN,
    Trail,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

LONG = 16  # tags from which on it pays to look whether all are of_one_path


def moved_tag(trail: Trail, site: u32, tag: u64) -> u64:
    """The tag of a byte that an instruction has moved."""
    if tag == 0:
        return 0
    key = ((tag >> PATH_SHIFT & PATH_LIMIT - 1) << 32 | u64(site)) + 1
    if trail.last_step != key:
        trail.last_path = u64(find_step(trail, key))
        trail.last_step = key
    return tag & ~(PATH_FIELD | TWICE) | trail.last_path << PATH_SHIFT


def path_after(trail: Trail, site: u32, before: u64) -> u64:
    """The path of a byte after an instruction, from the path before; both in the form of a tag."""
    return u64(find_step(trail, ((before >> PATH_SHIFT) << 32 | u64(site)) + 1)) << PATH_SHIFT


def move_run(trail: Trail, site: u32, into: Slice[u64], out: Slice[u64], count: u32) -> None:
    """The tags of bytes side by side that an instruction moves."""
    mine = part(into, 0, count)
    theirs = part(out, 0, count)
    if count >= LONG and of_one_path(theirs, count) != 0:
        step_run(mine, theirs, count, path_after(trail, site, theirs[0] & PATH_FIELD))
        return
    before: u64 = 1  # no path stands so in a tag
    after: u64 = 0
    for n in range(count):
        tag = theirs[n]
        if tag != 0:
            if tag & PATH_FIELD != before:
                before = tag & PATH_FIELD
                after = path_after(trail, site, before)
            tag = tag & ~(PATH_FIELD | TWICE) | after
        mine[n] = tag


def of_one_path(tags: Slice[u64], count: u32) -> u32:
    """1 if tags side by side are of one kind that has an origin, and all have come by one path."""
    known = part(tags, 0, count)
    first = known[0]
    if first == 0 or first & KIND == WRITTEN:
        return 0
    unlike: u64 = 0
    for n in range(count):
        unlike = unlike | known[n] ^ first
    return u32(unlike & (KIND | PATH_FIELD) == 0)


def step_run(into: Slice[u64], out: Slice[u64], count: u32, path: u64) -> None:
    """Such tags, after an instruction that leads to a path."""
    mine = part(into, 0, count)
    theirs = part(out, 0, count)
    for n in range(count):
        mine[n] = theirs[n] & ~(PATH_FIELD | TWICE) | path


def find_step(trail: Trail, key: u64) -> u32:
    """The path that one comes to by a step (`KnownStep`)."""
    recent = trail.recent[key & RECENT - 1]
    if recent.key != key:
        recent.path = known_step(trail, key)
        recent.key = key
    return recent.path


def known_step(trail: Trail, key: u64) -> u32:
    """The same, of any step that was made before."""
    known = trail.known
    last = length(known) - 1
    slot = tag_hash(key) & last
    probes: u64 = 0
    while known[slot].key != 0 and probes < length(known):
        if known[slot].key == key:
            return known[slot].path
        slot = slot + 1 & last
        probes = probes + 1
    path = make_path(trail, u32(key - 1 >> 32), u32(key - 1))
    if trail.known_count < length(known) >> 1:
        trail.known_count = trail.known_count + 1
        known[slot].key = key
        known[slot].path = path
    return path


def make_path(trail: Trail, before: u32, site: u32) -> u32:
    """The path that continues another one; in a loop, the path of the first iteration."""
    at = before
    steps: u32 = 0
    while at != 0 and steps < PATH_STEPS:
        if trail.paths[at].site == site:
            return at
        at = trail.paths[at].before
        steps = steps + 1
    if steps >= PATH_STEPS or trail.path_count >= length(trail.paths):
        return before
    path = trail.path_count
    trail.path_count = path + 1
    trail.paths[path].before = before
    trail.paths[path].site = site
    return u32(path)


def value_tag(trail: Trail, site: u32, tags: Slice[u64], at: u32, count: u32) -> u64:
    """The tag of a value of `count` bytes: of its first that has an origin, if others that have one follow it."""
    first: u64 = 0
    start: u32 = 0
    ended: u32 = 0  # once a byte of no origin has come after it
    for n in range(count):
        tag = tags[at + n]
        if first == 0:
            first = tag
            start = n
        elif tag == 0:
            ended = 1
        elif ended != 0 or (tag ^ first + u64(n - start)) & ~PATH_FIELD != 0:
            return node_tag(trail, MIXED, site, first, tag, 0)
    return first


def is_part(tags: Slice[u64], at: u32, count: u32) -> u32:
    """1 if some of a value's bytes have an origin, and others do not: what is about to be unpacked."""
    some: u32 = 0
    none: u32 = 0
    for n in range(count):
        if tags[at + n] == 0:
            none = 1
        else:
            some = 1
    return some & none


def converted_tag(trail: Trail, site: u32, tag: u64, bit: u32) -> u64:
    """The tag of a value that an instruction has made of one other, from a bit of it on."""
    if tag & KIND == EXACT:
        tag = CONVERTED | tag & PATH_FIELD | (tag & ORIGIN) << PLACE_SHIFT | u64(bit) << BYTE_BITS
    elif tag & KIND == BITS:
        first = ((tag & ORIGIN) >> BYTE_BITS) + (tag & 7)
        tag = CONVERTED | tag & PATH_FIELD | first << BYTE_BITS
    return moved_tag(trail, site, tag)


def bits_tag(trail: Trail, site: u32, tag: u64, lowest: u32) -> u64:
    """The tag of a byte of which an instruction keeps some bits, the lowest of which is this one, or changes some."""
    kind = tag & KIND
    if tag == 0:
        return 0
    if kind == EXACT or kind == BITS:  # noqa: PLR1714, SIM109 - native code has no sets
        tag = window_tag(tag)
        tag = tag & ~7 | max(tag & 7, u64(lowest))
    else:
        return node_tag(trail, COMPUTED, site, tag, 0, 0)
    return moved_tag(trail, site, tag)


def shifted_tag(trail: Trail, site: u32, low: u64, high: u64, by: u32, upwards: u32) -> u64:
    """The tag of a byte of the upper bits of one byte, from `by` (1 to 7) on, and above them lower bits of the next.

    If these do not belong together, the byte counts as the part of it that is likely to be kept: in shifts `upwards`
    the bits of the next.
    """
    first = window_tag(low)
    second = window_tag(high)
    if first | second == 0:
        return 0
    if first & KIND != BITS and second & KIND != BITS:
        return node_tag(trail, COMPUTED, site, low, high, 0)
    if first != 0 and second != 0 and first + (8 << BYTE_BITS) != second:
        if upwards != 0:
            first = 0
        else:
            second = 0
    kept: u64 = 0
    if first & KIND == BITS:
        kept = first & 7
        kept = kept - min(kept, u64(by))
        first = first + (u64(by) << BYTE_BITS)
    elif second & KIND == BITS:
        kept = min((second & 7) + u64(8 - by), 7)
        first = second - (u64(8 - by) << BYTE_BITS)
    else:
        return node_tag(trail, COMPUTED, site, low, high, 0)
    return moved_tag(trail, site, first & ~7 | kept)


def element_tag(tag: u64, bit: u32) -> u64:
    """The tag of a byte that holds an element of fewer bits alone, which starts at a bit of the byte it was in."""
    window = window_tag(tag)
    if window & KIND != BITS:
        return tag
    return window + (u64(bit) << BYTE_BITS)


def window_tag(tag: u64) -> u64:
    """A byte as the bits that it holds; a tag that is not a byte of memory stays as it is."""
    if tag & KIND == EXACT:
        return BITS | tag & PATH_FIELD | (tag & ORIGIN) << PLACE_SHIFT
    return tag


def put_value(tags: Slice[u64], at: u32, count: u32, tag: u64) -> None:
    """Set the tags of a value of `count` bytes to the tag of its first one."""
    for n in range(count):
        tags[at + n] = tag + u64(n) if tag != 0 else 0
