"""Tags of registers: moved byte by byte, exchanged between lanes, and computed from others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, part, u32, u64
from ptxloom.machine.runtime.provenance.nodes import fetch_slots, find_newest, make_nodes, newest_tag, node_tag
from ptxloom.machine.runtime.provenance.paths import converted_tag, is_part, move_run, put_value, value_tag
from ptxloom.machine.runtime.provenance.register_heads import (
    FULL,
    ROUGH,
    bytes_after_head,
    form_of,
    give_heads,
    heads_of,
    is_rough,
    may_give,
    may_give_part,
    step_heads,
    tags_of,
)
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.trail import BITS, COMPUTED, KIND

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


def move_tags(
    w: Warp, site: u32, lanes: u32, place: u32, room: u32, at: u32, source: u32, size: u32, first: u32, count: u32
) -> None:
    """Move `count` bytes of a register, from `first` on, to another register."""
    trail = w.launch.trail
    known = min(bytes_after_head(w, source, size), count)
    if at + first == 0 and known != 0:
        may: u32 = 0
        if count == room:  # noqa: SIM108 - native code would do both
            may = may_give(w, lanes, place, room, known)
        else:
            may = may_give_part(w, lanes, place, room, known)
        if may != 0:
            stage = part(trail.stage, 0, 32)
            step_heads(trail, site, lanes, heads_of(w, source), stage)
            give_heads(w, lanes, place, stage)
            return
    into = tags_of(w, place, room)
    out = tags_of(w, source, size)
    if lanes == FULL and room == size and count == size:
        move_run(trail, site, into, out, 32 * size)
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            mine = part(into, lane * room + at, count)
            move_run(trail, site, mine, part(out, lane * size + first, count), count)


def shuffle_tags(w: Warp, site: u32, lanes: u32, place: u32, source: u32, from_: Ptr[u32]) -> None:
    """Move the tags of a 4-byte register between lanes."""
    trail = w.launch.trail
    known = bytes_after_head(w, source, 4)
    if known != 0 and may_give(w, lanes, place, 4, known) != 0:
        moved = part(trail.stage, 0, 32)
        given = part(trail.stage, 32, 32)
        step_heads(trail, site, FULL, heads_of(w, source), moved)
        for lane in range(32):
            given[lane] = moved[from_[lane] & 31]
        give_heads(w, lanes, place, given)
        return
    stage = part(trail.stage, 0, 128)
    move_run(trail, site, stage, tags_of(w, source, 4), 128)
    into = tags_of(w, place, 4)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            copy(part(into, 4 * lane, 4), part(stage, 4 * (from_[lane] & 31), 4), 32)


def stage_register(w: Warp, site: u32, source: u32) -> None:
    """Stage the tags of a register of 4 bytes."""
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
    trail = w.launch.trail
    has = u32(at + first == 0 and bytes_after_head(w, source, size) != 0)
    if has != 0 and may_give_part(w, lanes, place, room, count) != 0:
        heads = heads_of(w, source)
        given = part(trail.stage, 0, 32)
        for lane in range(32):
            if lanes >> lane & 1 != 0:
                given[lane] = converted_tag(trail, site, heads[lane], bit)
        give_heads(w, lanes, place, given)
        return
    into = tags_of(w, place, room)
    out = tags_of(w, source, size)
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
    """Tag each part of a register as computed from those of up to three others (size 0: no register).

    What `unpacks` turns bits of an element into an element, among bits of no origin: `(x & 15 | 0x6400) - 1024.0`.
    """
    trail = w.launch.trail
    rough = is_rough(w, a, a_size) | is_rough(w, b, b_size) | is_rough(w, c, c_size)
    if rough != 0 and lanes == FULL and parts == 1 and trail.node_count >= trail.node_limit:
        form_of(w, place)[0] = ROUGH
        return
    has = has_heads(w, a, a_size) & has_heads(w, b, b_size) & has_heads(w, c, c_size)
    if parts == 1 and has != 0 and may_give(w, lanes, place, room, room) != 0:
        compute_heads(w, site, lanes, place, unpacks, a, a_size, b, b_size, c, c_size)
        return
    into = tags_of(w, place, room)
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


def has_heads(w: Warp, place: u32, size: u32) -> u32:
    """1 if a register has heads, or is not there."""
    if size == 0:
        return 1
    return u32(bytes_after_head(w, place, size) != 0)


def heads_or_nothing(w: Warp, place: u32, size: u32) -> Slice[u64]:
    """The heads of a register; zeros if it is not there."""
    if size == 0:
        return part(w.launch.trail.zeros, 0, 32)
    return heads_of(w, place)


def compute_heads(
    w: Warp,
    site: u32,
    lanes: u32,
    place: u32,
    unpacks: u32,
    a: u32,
    a_size: u32,
    b: u32,
    b_size: u32,
    c: u32,
    c_size: u32,
) -> None:
    """The same of registers that have heads, one value a lane."""
    trail = w.launch.trail
    xs = heads_or_nothing(w, a, a_size)
    ys = heads_or_nothing(w, b, b_size)
    zs = heads_or_nothing(w, c, c_size)
    into = heads_of(w, place)
    if trail.node_count >= trail.node_limit:
        if lanes == FULL and have_origins(xs, ys, zs) != 0:
            form_of(w, place)[0] = ROUGH
        else:
            compute_rough_heads(lanes, into, xs, ys, zs)
        return
    partial = u32(a_size != 0 and bytes_after_head(w, a, a_size) < a_size)
    find_newest(trail, xs, ys, zs)
    if lanes == FULL and unpacks & partial == 0 and make_nodes(trail, site, xs, ys, zs, into) != 0:
        return
    fetch_slots(trail, site, xs, ys, zs)
    newest = part(trail.newest, 0, 32)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            first = xs[lane]
            others = ys[lane] | zs[lane]
            tag: u64 = 0
            single = unpacks != 0 and others == 0 and first != 0
            if single and (partial != 0 or first & KIND == BITS):
                tag = converted_tag(trail, site, first, 0)
            elif first | others != 0:
                tag = newest_tag(trail, COMPUTED, site, first, ys[lane], zs[lane], newest[lane])
            into[lane] = tag


def have_origins(xs: Slice[u64], ys: Slice[u64], zs: Slice[u64]) -> u32:
    """1 if of three values of each lane one has an origin."""
    least: u64 = 1
    for lane in range(32):
        least = min(least, xs[lane] | ys[lane] | zs[lane])
    return u32(least != 0)


def compute_rough_heads(lanes: u32, out: Slice[u64], xs: Slice[u64], ys: Slice[u64], zs: Slice[u64]) -> None:
    """Some lanes compute a value of three, of which there is no room to say more."""
    into = part(out, 0, 32)
    for lane in range(32):
        some = 0 - min(xs[lane] | ys[lane] | zs[lane], 1) & COMPUTED
        into[lane] = some if lanes >> lane & 1 != 0 else into[lane]


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
    if lanes == FULL and each == 4 and a_size == 4 and b_size == 4 and c_size == 4:
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
