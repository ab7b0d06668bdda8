"""Tags of registers: moved from one to another byte by byte, exchanged between lanes, and made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, fill, part, u32, u64
from ptxloom.machine.runtime.provenance.memory_tags import tags_of
from ptxloom.machine.runtime.provenance.paths import converted_tag, is_part, move_run, node_tag, put_value, value_tag
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.trail import BITS, COMPUTED, KIND

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


def clear_tags(w: Warp, lanes: u32, place: u32, room: u32, at: u32, count: u32) -> None:
    """Bytes of a register are of no origin."""
    into = tags_of(w, place, room)
    if lanes == 0xFFFFFFFF and count == room:
        fill(into, 0)
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            fill(part(into, lane * room + at, count), 0)


def move_tags(
    w: Warp, site: u32, lanes: u32, place: u32, room: u32, at: u32, source: u32, size: u32, first: u32, count: u32
) -> None:
    """Move `count` bytes of a register, from `first` on, to another register."""
    into = tags_of(w, place, room)
    out = tags_of(w, source, size)
    trail = w.launch.trail
    if lanes == 0xFFFFFFFF and room == size and count == size:
        move_run(trail, site, into, out, 32 * size)
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            mine = part(into, lane * room + at, count)
            move_run(trail, site, mine, part(out, lane * size + first, count), count)


def shuffle_tags(w: Warp, site: u32, lanes: u32, place: u32, source: u32, from_: Ptr[u32]) -> None:
    """Each lane takes the register of another one, 4 bytes."""
    trail = w.launch.trail
    stage = part(trail.stage, 0, 128)
    move_run(trail, site, stage, tags_of(w, source, 4), 128)
    into = tags_of(w, place, 4)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            copy(part(into, 4 * lane, 4), part(stage, 4 * (from_[lane] & 31), 4), 32)


def stage_register(w: Warp, site: u32, source: u32) -> None:
    """Put aside the tags of a register of 4 bytes."""
    trail = w.launch.trail
    move_run(trail, site, part(trail.stage, 0, 128), tags_of(w, source, 4), 128)


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
    """Each part of a register is made of those of up to three others (size 0: no register).

    What `unpacks` turns bits of an element into an element, among bits of no origin: `(x & 15 | 0x6400) - 1024.0`.
    """
    into = tags_of(w, place, room)
    trail = w.launch.trail
    if trail.node_count >= trail.node_limit:
        compute_roughly(w, lanes, place, room, parts, a, a_size, b, b_size, c, c_size)
        return
    each = room // parts
    xs = tags_of(w, a, a_size)
    ys = tags_of(w, b, b_size)
    zs = tags_of(w, c, c_size)
    x_size = a_size // parts
    y_size = b_size // parts
    z_size = c_size // parts
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            assert parts <= 32
            for n in range(lane * parts, lane * parts + parts):
                first = value_tag(trail, site, xs, n * x_size, x_size)
                second = value_tag(trail, site, ys, n * y_size, y_size)
                third = value_tag(trail, site, zs, n * z_size, z_size)
                tag: u64 = 0
                single = unpacks != 0 and second | third == 0
                if single and (first & KIND == BITS or is_part(xs, n * x_size, x_size) != 0):
                    tag = converted_tag(trail, site, first, 0)
                elif first | second | third != 0:
                    tag = node_tag(trail, COMPUTED, site, first, second, third)
                put_value(into, n * each, each, tag)


def compute_roughly(
    w: Warp,
    lanes: u32,
    place: u32,
    room: u32,
    parts: u32,
    a: u32,
    a_size: u32,
    b: u32,
    b_size: u32,
    c: u32,
    c_size: u32,
) -> None:
    """The same when there is no room for what values are made of: only that they are."""
    into = tags_of(w, place, room)
    each = room // parts
    if lanes == 0xFFFFFFFF and each == 4 and a_size == 4 and b_size == 4 and c_size == 4:
        compute_words(part(into, 0, 128), tags_of(w, a, 4), tags_of(w, b, 4), tags_of(w, c, 4))
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            some: u64 = 0
            if a_size != 0:
                some = some | tags_of(w, a, a_size)[lane * a_size]
            if b_size != 0:
                some = some | tags_of(w, b, b_size)[lane * b_size]
            if c_size != 0:
                some = some | tags_of(w, c, c_size)[lane * c_size]
            if some != 0:
                some = COMPUTED
            for n in range(lane * parts, lane * parts + parts):
                put_value(into, n * each, each, some)


def compute_words(out: Slice[u64], a: Slice[u64], b: Slice[u64], c: Slice[u64]) -> None:
    """The same of 32 lanes' words."""
    into = part(out, 0, 128)
    xs = part(a, 0, 128)
    ys = part(b, 0, 128)
    zs = part(c, 0, 128)
    for lane in range(32):
        at = 4 * lane
        some = min(xs[at] | ys[at] | zs[at], 1)
        into[at] = some * COMPUTED
        into[at + 1] = some * (COMPUTED + 1)
        into[at + 2] = some * (COMPUTED + 2)
        into[at + 3] = some * (COMPUTED + 3)
