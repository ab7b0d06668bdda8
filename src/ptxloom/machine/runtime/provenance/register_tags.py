"""Tags of registers: moved from one to another byte by byte, exchanged between lanes, and made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, part, u32, u64
from ptxloom.machine.runtime.provenance.memory_tags import tags_of
from ptxloom.machine.runtime.provenance.paths import converted_tag, is_part, moved_tag, node_tag, put_value, value_tag
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.trail import BITS, COMPUTED, KIND

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def clear_tags(w: Warp, lanes: u32, place: u32, room: u32, at: u32, count: u32) -> None:
    """Bytes of a register are of no origin."""
    into = tags_of(w, place, room)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(lane * room + at, lane * room + at + count):
                into[n] = 0


def move_tags(
    w: Warp, site: u32, lanes: u32, place: u32, room: u32, at: u32, source: u32, size: u32, first: u32, count: u32
) -> None:
    """So many bytes of a register from one on come to lie in another register."""
    into = tags_of(w, place, room)
    out = tags_of(w, source, size)
    trail = w.launch.trail
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(count):
                into[lane * room + at + n] = moved_tag(trail, site, out[lane * size + first + n])


def shuffle_tags(w: Warp, site: u32, lanes: u32, place: u32, source: u32, from_: Ptr[u32]) -> None:
    """Each lane takes the register of another one, 4 bytes."""
    trail = w.launch.trail
    stage = part(trail.stage, 0, 128)
    copy(stage, tags_of(w, source, 4), 1024)
    into = tags_of(w, place, 4)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(4):
                into[4 * lane + n] = moved_tag(trail, site, stage[4 * (from_[lane] & 31) + n])


def stage_register(w: Warp, site: u32, source: u32) -> None:
    """Put aside the tags of a register of 4 bytes."""
    trail = w.launch.trail
    out = tags_of(w, source, 4)
    for n in range(128):
        trail.stage[n] = moved_tag(trail, site, out[n])


def convert_tags(
    w: Warp,
    site: u32,
    lanes: u32,
    place: u32,
    room: u32,
    at: u32,
    count: u32,
    source: u32,
    size: u32,
    first: u32,
    used: u32,
    bit: u32,
) -> None:
    """A value of `used` bytes of a register, from a bit on, is converted to one of `count` bytes of another."""
    into = tags_of(w, place, room)
    out = tags_of(w, source, size)
    trail = w.launch.trail
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            tag = value_tag(trail, site, out, lane * size + first, used)
            put_value(into, lane * room + at, count, converted_tag(trail, site, tag, bit))


def compute_tags(
    w: Warp,
    site: u32,
    lanes: u32,
    place: u32,
    room: u32,
    parts: u32,
    unpacks: u32,
    a: u32,
    a_size: u32,
    b: u32,
    b_size: u32,
    c: u32,
    c_size: u32,
) -> None:
    """Each part of a register is made of those of up to three others (size 0: there is none).

    What `unpacks` makes an element of bits of it among others that have no origin: `(x & 15 | 0x6400) - 1024.0`.
    """
    into = tags_of(w, place, room)
    trail = w.launch.trail
    each = room // parts
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(parts):
                first: u64 = 0
                second: u64 = 0
                third: u64 = 0
                part_of: u32 = 0
                if a_size != 0:
                    size = a_size // parts
                    at = lane * a_size + n * size
                    first = value_tag(trail, site, tags_of(w, a, a_size), at, size)
                    part_of = is_part(tags_of(w, a, a_size), at, size)
                if b_size != 0:
                    size = b_size // parts
                    second = value_tag(trail, site, tags_of(w, b, b_size), lane * b_size + n * size, size)
                if c_size != 0:
                    size = c_size // parts
                    third = value_tag(trail, site, tags_of(w, c, c_size), lane * c_size + n * size, size)
                tag: u64 = 0
                if unpacks != 0 and second | third == 0 and (part_of != 0 or first & KIND == BITS):
                    tag = converted_tag(trail, site, first, 0)
                elif first | second | third != 0:
                    tag = node_tag(trail, COMPUTED, site, first, second, third)
                put_value(into, lane * room + n * each, each, tag)
