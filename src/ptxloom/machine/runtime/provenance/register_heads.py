"""Tags of registers, of each byte or of each lane: most hold one value a lane, whose bytes follow from its first.

A register's form says how many bytes of each lane follow from the tag of the first, the lane's head; those behind them
are of no origin. So 32 tags stand for a register, at the start of its place. Of form 0 each byte has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import copy, fill, part, u8, u32, u64, view
from ptxloom.machine.runtime.memory.places import registers
from ptxloom.machine.runtime.provenance.paths import moved_tag, path_after
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.trail import COMPUTED, KIND, PATH_FIELD, TWICE, WRITTEN, Trail

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

ALL = 255  # the form of a register all of whose bytes follow, of whatever size
EMPTY = 254  # likewise, and it has no heads, all would be 0: nothing of an origin has been given to it
ROUGH = 253  # likewise, all would be COMPUTED: of each lane's value it is known that it was computed, and no more
FULL = 0xFFFFFFFF


def form_of(w: Warp, place: u32) -> Slice[u8]:
    """The form of a register."""
    return registers(w, w.launch.tag_forms + place // 32, 1)


def heads_of(w: Warp, place: u32) -> Slice[u64]:
    """The heads of a register, if it has any."""
    heads = part(view(u64, registers(w, w.launch.tags + 8 * place, 256)), 0, 32)
    form = form_of(w, place)
    if form[0] >= ROUGH and form[0] != ALL:
        same: u64 = 0
        if form[0] == ROUGH:
            same = COMPUTED
        form[0] = ALL
        for lane in range(32):
            heads[lane] = same
    return heads


def is_rough(w: Warp, place: u32, size: u32) -> u32:
    """1 if of a register (of size 0: one that is not there) it is known that each lane's value was computed."""
    return u32(size != 0 and form_of(w, place)[0] == ROUGH)


def bytes_after_head(w: Warp, place: u32, size: u32) -> u32:
    """How many bytes of each lane of a register of `size` bytes follow from a head; 0 if each has its own tag."""
    return min(u32(form_of(w, place)[0]), size)


def tags_of(w: Warp, place: u32, size: u32) -> Slice[u64]:
    """The tags of a register of `size` bytes a lane, lane by lane; from now on each has its own."""
    tags = view(u64, registers(w, w.launch.tags + 8 * place, 256 * size))
    form = form_of(w, place)
    count = min(u32(form[0]), size)
    if form[0] == EMPTY:
        form[0] = 0
        fill(tags, 0)
    elif count != 0:
        heads_of(w, place)
        form[0] = 0
        for n in range(32):
            lane = 31 - n
            head = tags[lane]
            for byte in range(size):
                tags[lane * size + byte] = byte_after(head, byte, count)
    return tags


def byte_after(head: u64, byte: u32, count: u32) -> u64:
    """The tag of a byte of a value of which `count` bytes follow from a head."""
    if byte < count and head != 0:
        return head + u64(byte)
    return 0


def may_hold_heads(w: Warp, lanes: u32, place: u32, size: u32, count: u32) -> u32:
    """1 if lanes of a register may take heads from which `count` bytes follow: all lanes do, or others are alike."""
    form = u32(form_of(w, place)[0])
    if lanes == FULL or min(form, size) == count:
        return 1
    return u32(form != 0) & is_clear(heads_of(w, place))


def may_give(w: Warp, lanes: u32, place: u32, size: u32, count: u32) -> u32:
    """The same; the register is of that form from now on."""
    if may_hold_heads(w, lanes, place, size, count) == 0:
        return 0
    heads_of(w, place)
    form_of(w, place)[0] = u8(count)
    return 1


def may_give_part(w: Warp, lanes: u32, place: u32, size: u32, count: u32) -> u32:
    """The same where only `count` bytes are given: those behind them have to be of no origin."""
    if count >= size:
        return may_give(w, lanes, place, size, size)
    if form_of(w, place)[0] == 0 or is_clear(heads_of(w, place)) == 0:
        return 0
    form_of(w, place)[0] = u8(count)
    return 1


def is_clear(heads: Slice[u64]) -> u32:
    """1 if no lane has an origin."""
    known = part(heads, 0, 32)
    some: u64 = 0
    for lane in range(32):
        some = some | known[lane]
    return u32(some == 0)


def give_heads(w: Warp, lanes: u32, place: u32, given: Slice[u64]) -> None:
    """Lanes of a register take heads."""
    into = heads_of(w, place)
    new = part(given, 0, 32)
    if lanes == FULL:
        copy(into, new, 256)
        return
    for lane in range(32):
        into[lane] = new[lane] if lanes >> lane & 1 != 0 else into[lane]


def step_heads(trail: Trail, site: u32, lanes: u32, given: Slice[u64], out: Slice[u64]) -> None:
    """The heads of lanes after an instruction that moves them; of other lanes nothing that is to be used."""
    heads = part(given, 0, 32)
    into = part(out, 0, 32)
    if lanes == 0 or step_alike(trail, site, heads, into) != 0:
        return
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            into[lane] = moved_tag(trail, site, heads[lane])


def step_alike(trail: Trail, site: u32, given: Slice[u64], out: Slice[u64]) -> u32:
    """1 if all heads are of one kind that has an origin, and all have come by one path: those after an instruction."""
    heads = part(given, 0, 32)
    into = part(out, 0, 32)
    first = heads[0]
    kind = first & KIND
    unlike: u64 = 0
    for lane in range(32):
        unlike = unlike | heads[lane] ^ first
    if unlike & (KIND | PATH_FIELD) != 0:
        return 0
    if kind == 0 or kind == WRITTEN:  # noqa: PLR1714 - native code has no sets
        return 0
    path = path_after(trail, site, first & PATH_FIELD)
    for lane in range(32):
        into[lane] = heads[lane] & ~(PATH_FIELD | TWICE) | path
    return 1


def clear_tags(w: Warp, lanes: u32, place: u32, room: u32, at: u32, count: u32) -> None:
    """Bytes of a register are of no origin."""
    form = form_of(w, place)
    if lanes == FULL and count == room:
        form[0] = EMPTY
        return
    if form[0] != 0 and at >= min(u32(form[0]), room):
        return
    if form[0] != 0 and at == 0 and count >= min(u32(form[0]), room):
        heads = heads_of(w, place)
        for lane in range(32):
            heads[lane] = 0 if lanes >> lane & 1 != 0 else heads[lane]
        return
    into = tags_of(w, place, room)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            fill(part(into, lane * room + at, count), 0)
