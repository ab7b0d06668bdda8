"""Nodes: the inputs of computed values. Each is kept once, so that equal values have one number.

A node is found by its newest source, if one of its sources is a node: the first that is made of it stands there. A node
of which nothing has been made is no source of any other, so what is made of it is new, without a search: as in sums,
whose every step is made of the one before. All other nodes are found by a hash of what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import fill, length, part, u32, u64
from ptxloom.machine.runtime.structs.trail import BYTE_BITS, COMPUTED, KIND, MIXED, ORIGIN, Node, Trail

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

FEWEST = 1 << 13  # slots that are used at first: small launches touch no more


def tag_hash(key: u64) -> u64:
    """Hash a key."""
    once = (key ^ key >> 32) * 0x9E3779B97F4A7C15
    return once ^ once >> 29


def node_hash(site: u32, first: u64, second: u64, third: u64) -> u64:
    """Hash an instruction and its three sources."""
    mixed = first * 0xBF58476D1CE4E5B9 + second * 0x94D049BB133111EB + third * 0xD6E8FEB86659FD93
    return tag_hash(mixed ^ u64(site) << 40)


def node_of(tag: u64) -> u64:
    """The number of the node that a tag names; 0 if it names none, or the one for which there was no room."""
    kind = tag & KIND
    names = kind == COMPUTED or kind == MIXED  # noqa: PLR1714 - native code has no sets
    return (tag & ORIGIN) >> BYTE_BITS if names else 0


def newest_source(first: u64, second: u64, third: u64) -> u64:
    """The number of the newest node among three sources; 0 if there is none."""
    newest = max(node_of(first), node_of(second))
    return max(newest, node_of(third))


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
    return hashed_tag(trail, kind, site, first, second, third, node_hash(site, first, second, third))


def hashed_tag(trail: Trail, kind: u64, site: u32, first: u64, second: u64, third: u64, hash_: u64) -> u64:
    """The same, once their `node_hash` is known."""
    nodes = trail.nodes
    number = trail.node_count
    if number >= length(nodes):
        return kind
    newest = newest_source(first, second, third)
    if newest != 0 and newest < number:
        made = nodes[newest].first_made
        if made == 0:
            nodes[newest].first_made = u32(number)
            put_node(nodes[number], site, first, second, third)
            trail.node_count = number + 1
            return kind | number << BYTE_BITS
        if is_made_of(nodes[made], site, first, second, third) != 0:
            return kind | u64(made) << BYTE_BITS
    if 2 * trail.slots_taken >= trail.slots_used:
        use_more(trail)
    slots = part(trail.slots, 0, trail.slots_used)
    last = length(slots) - 1
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

    So it is where the sources are of ascending numbers, as those are that lanes have made together.
    """
    first = part(xs, 0, 32)
    second = part(ys, 0, 32)
    third = part(zs, 0, 32)
    into = part(out, 0, 32)
    newest = part(trail.newest, 0, 32)
    number = trail.node_count
    for lane in range(32):
        newest[lane] = newest_source(first[lane], second[lane], third[lane])
    wrong = u64(newest[0] == 0) | u64(newest[31] >= number)
    for lane in range(31):
        wrong = wrong | u64(newest[lane] >= newest[lane + 1])
    if wrong != 0 or number + 32 > length(trail.nodes):
        return 0
    nodes = part(trail.nodes, 0, number)
    made: u32 = 0
    for lane in range(32):
        made = made | nodes[newest[lane]].first_made
    if made != 0:
        return 0
    new = part(trail.nodes, number, 32)
    for lane in range(32):
        put_node(new[lane], site, first[lane], second[lane], third[lane])
        nodes[newest[lane]].first_made = u32(number) + lane
        into[lane] = COMPUTED | (number + u64(lane)) << BYTE_BITS
    trail.node_count = number + 32
    return 1


def fetch_slots(trail: Trail, hashes: Slice[u64], out: Slice[u64]) -> None:
    """Prefetch the slots of 32 hashes, which are far apart, so that there is only one wait."""
    if trail.slots_used == 0:
        return
    slots = part(trail.slots, 0, trail.slots_used)
    last = length(slots) - 1
    known = part(hashes, 0, 32)
    into = part(out, 0, 32)
    for lane in range(32):
        into[lane] = slots[known[lane] & last]


def use_more(trail: Trail) -> None:
    """Use the first slots, later all of them: at first half of them are free, in the end a tenth."""
    used = trail.slots_used
    if used >= length(trail.slots):
        return
    fill(part(trail.slots, 0, used), 0)
    used = min(FEWEST, length(trail.slots)) if used == 0 else length(trail.slots)
    trail.slots_used = used
    slots = part(trail.slots, 0, used)
    nodes = part(trail.nodes, 0, trail.node_count)
    number: u64 = 1
    while number < length(nodes):
        known = nodes[number]
        newest = newest_source(known.sources[0], known.sources[1], known.sources[2])
        if newest >= number or u64(nodes[newest].first_made) != number:
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
