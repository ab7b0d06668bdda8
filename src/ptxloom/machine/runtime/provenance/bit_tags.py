"""Tags of bytes that are exchanged, shifted and masked within a register, as in unpacking elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import trailing_zeros, u32, u64
from ptxloom.machine.runtime.provenance.nodes import node_tag
from ptxloom.machine.runtime.provenance.paths import bits_tag, moved_tag, shifted_tag
from ptxloom.machine.runtime.provenance.register_heads import byte_after, bytes_after_head, heads_of, tags_of
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.trail import COMPUTED

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def byte_tag(w: Warp, lane: u32, place: u32, size: u32, byte: u32) -> u64:
    """The tag of a byte of a register of a lane; 0 if the register (of size 0) or the byte is not there."""
    if byte >= size:
        return 0
    known = bytes_after_head(w, place, size)
    if known != 0:
        return byte_after(heads_of(w, place)[lane], byte, known)
    return tags_of(w, place, size)[lane * size + byte]


def give_staged(w: Warp, lane: u32, place: u32, room: u32) -> None:
    """Move the staged tags to a lane's register."""
    into = tags_of(w, place, room)
    for n in range(room):
        into[lane * room + n] = w.launch.trail.stage[n]


def permute_tags(
    w: Warp, site: u32, lanes: u32, place: u32, a: u32, a_size: u32, b: u32, b_size: u32, selectors: Ptr[u32]
) -> None:
    """`prmt`: each of 4 bytes is one of 8, or the sign of one."""
    trail = w.launch.trail
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(4):
                chosen = selectors[lane] >> 4 * n & 15
                tag: u64 = 0
                if chosen < 4:
                    tag = byte_tag(w, lane, a, a_size, chosen)
                elif chosen < 8:
                    tag = byte_tag(w, lane, b, b_size, chosen - 4)
                trail.stage[n] = moved_tag(trail, site, tag)
            give_staged(w, lane, place, 4)


def shift_tags(
    w: Warp,
    site: u32,
    lanes: u32,
    place: u32,
    room: u32,
    low: u32,
    low_size: u32,
    high: u32,
    high_size: u32,
    start: u32,
    most: u32,
    upwards: u32,
    back: u32,
    amounts: Ptr[u32],
) -> None:
    """A register takes the bits of two registers side by side, of its own size, from one on.

    Bit `start` less 64 comes first in a lane whose number is 0; others begin that many bits further on, or `back`, but
    at most `most`. If the highest bit of `most` is set, the rest is a mask of the number instead. Bits beyond the
    registers have no origin.
    """
    trail = w.launch.trail
    assert room <= 16
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            amount = amounts[lane]
            if most >> 31 != 0:
                amount = amount & (most & 0x7FFFFFFF)
            elif amount > most:
                amount = most
            by = start + amount
            if back != 0:
                by = start - amount
            for n in range(room):
                first = by + 8 * n
                under = string_tag(w, lane, room, low, low_size, high, high_size, first // 8)
                over = string_tag(w, lane, room, low, low_size, high, high_size, first // 8 + 1)
                if first % 8 == 0:
                    trail.stage[n] = moved_tag(trail, site, under)
                else:
                    trail.stage[n] = shifted_tag(trail, site, under, over, first % 8, upwards)
            give_staged(w, lane, place, room)


def string_tag(w: Warp, lane: u32, room: u32, low: u32, low_size: u32, high: u32, high_size: u32, byte: u32) -> u64:
    """The tag of a byte of two registers of `room` bytes side by side, counted from 8 before the first."""
    if byte < 8:
        return 0
    if byte - 8 < room:
        return byte_tag(w, lane, low, low_size, byte - 8)
    return byte_tag(w, lane, high, high_size, byte - 8 - room)


def mask_tags(
    w: Warp, site: u32, lanes: u32, place: u32, room: u32, source: u32, size: u32, kept: u64, same: u64
) -> None:
    """A register takes the bits of another that are `kept`; those of them that are the `same` are not changed."""
    trail = w.launch.trail
    into = tags_of(w, place, room)
    out = tags_of(w, source, size)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(room):
                tag: u64 = 0
                if n < size:
                    tag = out[lane * size + n]
                bits = u32(kept >> u64(8 * n)) & 255
                if bits == 0:
                    tag = 0
                elif bits == 255 and u32(same >> u64(8 * n)) & 255 == 255:
                    tag = moved_tag(trail, site, tag)
                else:
                    tag = bits_tag(trail, site, tag, trailing_zeros(bits))
                into[lane * room + n] = tag


def join_tags(
    w: Warp,
    site: u32,
    lanes: u32,
    place: u32,
    room: u32,
    a: u32,
    a_size: u32,
    b: u32,
    b_size: u32,
    c: u32,
    c_size: u32,
) -> None:
    """Each byte of a register is made of the same byte of up to three; of one that alone has an origin, its bits."""
    trail = w.launch.trail
    into = tags_of(w, place, room)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            for n in range(room):
                first = byte_tag(w, lane, a, a_size, n)
                second = byte_tag(w, lane, b, b_size, n)
                third = byte_tag(w, lane, c, c_size, n)
                some = u32(first != 0) + u32(second != 0) + u32(third != 0)
                tag: u64 = 0
                if some == 1:
                    tag = bits_tag(trail, site, first | second | third, 0)
                elif some > 1:
                    tag = node_tag(trail, COMPUTED, site, first, second, third)
                into[lane * room + n] = tag
