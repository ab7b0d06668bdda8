"""Nodes: the inputs of computed values. Each is kept once, so that equal values have one number.

A node is found by its newest source: the node with the highest number, else the element that lies highest in global
memory. The first that is made of it stands in a table, `Trail.made`. What is made of a source of which nothing has been
made yet is new, without a search: as sums are, whose every step is made of the one before, and what lanes make of
elements of their own. All other nodes are found by a hash of what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import fill, length, part, u32, u64
from ptxloom.machine.runtime.structs.trail import (
    BITS,
    BYTE_BITS,
    COMPUTED,
    CONVERTED,
    ELEMENT_SHIFT,
    EXACT,
    KIND_SHIFT,
    MIXED,
    ORIGIN,
    PLACE_SHIFT,
    PRODUCT,
    WRITTEN,
    Node,
    Trail,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

PLACES = 1 << (EXACT >> KIND_SHIFT) | 1 << (CONVERTED >> KIND_SHIFT) | 1 << (BITS >> KIND_SHIFT)  # kinds, a bit each
NODES = 1 << (COMPUTED >> KIND_SHIFT) | 1 << (MIXED >> KIND_SHIFT)
SOURCES = PLACES | NODES
SHIFTS = (  # by how much the origin of each kind is shifted to number what it names, a byte each
    0x3F | ELEMENT_SHIFT << 8 * (EXACT >> KIND_SHIFT) | BYTE_BITS << 8 * (COMPUTED >> KIND_SHIFT)
    | BYTE_BITS << 8 * (MIXED >> KIND_SHIFT) | PLACE_SHIFT + ELEMENT_SHIFT << 8 * (CONVERTED >> KIND_SHIFT)
    | PLACE_SHIFT + ELEMENT_SHIFT << 8 * (BITS >> KIND_SHIFT) | 0x3F << 8 * (PRODUCT >> KIND_SHIFT)
    | 0x3F << 8 * (WRITTEN >> KIND_SHIFT)
)  # fmt: skip
FEWEST = 1 << 13  # slots that are used at first: small launches touch no more


def tag_hash(key: u64) -> u64:
    """Hash a key."""
    once = (key ^ key >> 32) * 0x9E3779B97F4A7C15
    return once ^ once >> 29


def node_hash(site: u32, first: u64, second: u64, third: u64) -> u64:
    """Hash an instruction and its three sources."""
    mixed = first * 0xBF58476D1CE4E5B9 + second * 0x94D049BB133111EB + third * 0xD6E8FEB86659FD93
    return tag_hash(mixed ^ u64(site) << 40)


def standing(trail: Trail, tag: u64) -> u64:
    """Where what a tag names stands in `Trail.made`: words of global memory, and then nodes; 0 if it names neither."""
    kind = tag >> KIND_SHIFT
    number = (tag & ORIGIN) >> (SHIFTS >> 8 * kind & 63)
    before = trail.made_words if NODES >> kind & 1 != 0 else 0
    return number + before + (SOURCES >> kind & 1)


def newest_source(trail: Trail, first: u64, second: u64, third: u64) -> u64:
    """Where the newest of three sources stands; 0 if there is none."""
    newest = max(standing(trail, first), standing(trail, second))
    newest = max(newest, standing(trail, third))
    return newest if newest < length(trail.made) else 0


def find_newest(trail: Trail, xs: Slice[u64], ys: Slice[u64], zs: Slice[u64]) -> None:
    """Where the newest of each of 32 lanes' sources stands."""
    newest = part(trail.newest, 0, 32)
    fill(newest, 0)
    note_newest(trail, xs)
    note_newest(trail, ys)
    note_newest(trail, zs)
    for lane in range(32):
        newest[lane] = newest[lane] if newest[lane] < length(trail.made) else 0


def note_newest(trail: Trail, sources: Slice[u64]) -> None:
    """Of one source of each lane: where the newest stands, this one or those before."""
    newest = part(trail.newest, 0, 32)
    known = part(sources, 0, 32)
    for lane in range(32):
        newest[lane] = max(newest[lane], standing(trail, known[lane]))


def is_made_of(known: Node, site: u32, first: u64, second: u64, third: u64) -> u32:
    """1 if a node stands for an instruction's result from three sources."""
    same = known.sources[0] ^ first | known.sources[1] ^ second | known.sources[2] ^ third
    return u32(known.site == site) & u32(same == 0)


def put_node(new: Node, site: u32, first: u64, second: u64, third: u64) -> None:
    """Fill in a node."""
    new.site = site
    new.sources[0] = first
    new.sources[1] = second
    new.sources[2] = third


def node_tag(trail: Trail, kind: u64, site: u32, first: u64, second: u64, third: u64) -> u64:
    """The tag of a value computed from up to three values (COMPUTED), or of the contents of one (MIXED)."""
    return newest_tag(trail, kind, site, first, second, third, newest_source(trail, first, second, third))


def newest_tag(trail: Trail, kind: u64, site: u32, first: u64, second: u64, third: u64, newest: u64) -> u64:
    """The same, once it is known where the newest source stands."""
    nodes = trail.nodes
    number = trail.node_count
    if number >= length(nodes):
        return kind
    if newest != 0:
        made = trail.made[newest]
        if made == 0:
            trail.made[newest] = u32(number)
            put_node(nodes[number], site, first, second, third)
            trail.node_count = number + 1
            return kind | number << BYTE_BITS
        if is_made_of(nodes[made], site, first, second, third) != 0:
            return kind | u64(made) << BYTE_BITS
    if 2 * trail.slots_taken >= trail.slots_used:
        use_more(trail)
    slots = part(trail.slots, 0, trail.slots_used)
    last = length(slots) - 1
    hash_ = node_hash(site, first, second, third)
    slot = hash_ & last
    wanted = hash_ >> 32 << 32
    looked: u64 = 0
    while slots[slot] != 0 and looked < length(slots):
        found = slots[slot]
        if (found ^ wanted) >> 32 == 0 and is_made_of(nodes[u32(found)], site, first, second, third) != 0:
            return kind | u64(u32(found)) << BYTE_BITS
        slot = slot + 1 & last
        looked = looked + 1
    slots[slot] = wanted | number
    trail.slots_taken = trail.slots_taken + 1
    trail.node_count = number + 1
    put_node(nodes[number], site, first, second, third)
    return kind | number << BYTE_BITS


def make_nodes(trail: Trail, site: u32, xs: Slice[u64], ys: Slice[u64], zs: Slice[u64], out: Slice[u64]) -> u32:
    """1 if what 32 lanes compute is new, as nothing has been made yet of their newest sources: their tags are made.

    So it is where each lane's newest source (`find_newest`) comes after that of the lane before: nodes that lanes have
    made together, or elements side by side.
    """
    first = part(xs, 0, 32)
    second = part(ys, 0, 32)
    third = part(zs, 0, 32)
    into = part(out, 0, 32)
    newest = part(trail.newest, 0, 32)
    number = trail.node_count
    wrong = u64(newest[0] == 0)
    for lane in range(31):
        wrong = wrong | u64(newest[lane] >= newest[lane + 1])
    if wrong != 0 or number + 32 > length(trail.nodes):
        return 0
    known = part(trail.made, 0, length(trail.made))
    made: u32 = 0
    for lane in range(32):
        made = made | known[newest[lane]]
    if made != 0:
        return 0
    new = part(trail.nodes, number, 32)
    for lane in range(32):
        put_node(new[lane], site, first[lane], second[lane], third[lane])
        known[newest[lane]] = u32(number) + lane
        into[lane] = COMPUTED | (number + u64(lane)) << BYTE_BITS
    trail.node_count = number + 32
    return 1


def fetch_slots(trail: Trail, site: u32, xs: Slice[u64], ys: Slice[u64], zs: Slice[u64]) -> None:
    """Prefetch the slots of what 32 lanes compute, which are far apart, so that there is only one wait."""
    if trail.slots_used == 0:
        return
    first = part(xs, 0, 32)
    second = part(ys, 0, 32)
    third = part(zs, 0, 32)
    slots = part(trail.slots, 0, trail.slots_used)
    last = length(slots) - 1
    hashes = part(trail.stage, 0, 32)
    into = part(trail.stage, 32, 32)
    for lane in range(32):
        hashes[lane] = node_hash(site, first[lane], second[lane], third[lane])
    for lane in range(32):
        into[lane] = slots[hashes[lane] & last]


def use_more(trail: Trail) -> None:
    """Use the first slots, later all of them: at first half of them are free, in the end a tenth."""
    used = trail.slots_used
    if used >= length(trail.slots):
        return
    used = min(FEWEST, length(trail.slots)) if used == 0 else length(trail.slots)
    trail.slots_used = used
    slots = part(trail.slots, 0, used)
    fill(slots, 0)
    nodes = part(trail.nodes, 0, trail.node_count)
    number: u64 = 1
    while number < length(nodes):
        known = nodes[number]
        newest = newest_source(trail, known.sources[0], known.sources[1], known.sources[2])
        if newest == 0 or u64(trail.made[newest]) != number:
            hash_ = node_hash(known.site, known.sources[0], known.sources[1], known.sources[2])
            put_slot(slots, hash_, number)
        number = number + 1


def put_slot(table: Slice[u64], hash_: u64, number: u64) -> None:
    """A node that is not among them comes to the next free slot."""
    slots = part(table, 0, length(table))
    last = length(slots) - 1
    slot = hash_ & last
    looked: u64 = 0
    while slots[slot] != 0 and looked < length(slots):
        slot = slot + 1 & last
        looked = looked + 1
    slots[slot] = hash_ >> 32 << 32 | number
