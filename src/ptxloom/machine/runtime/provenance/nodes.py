"""Nodes: what values were made from. Each is kept once, so that equal values have one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import fill, length, part, u32, u64
from ptxloom.machine.runtime.structs.trail import BYTE_BITS, Trail

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

FEWEST = 1 << 13  # slots that are used at first: small launches touch no more
GROWTH = 3  # bits


def tag_hash(key: u64) -> u64:
    """A hash."""
    once = (key ^ key >> 32) * 0x9E3779B97F4A7C15
    return once ^ once >> 29


def node_hash(site: u32, first: u64, second: u64, third: u64) -> u64:
    """A hash of what an instruction makes of three values."""
    mixed = first * 0xBF58476D1CE4E5B9 + second * 0x94D049BB133111EB + third * 0xD6E8FEB86659FD93
    return tag_hash(mixed ^ u64(site) << 40)


def node_tag(trail: Trail, kind: u64, site: u32, first: u64, second: u64, third: u64) -> u64:
    """The tag of a value computed from up to three values (COMPUTED), or of the contents of one (MIXED)."""
    return hashed_tag(trail, kind, site, first, second, third, node_hash(site, first, second, third))


def hashed_tag(trail: Trail, kind: u64, site: u32, first: u64, second: u64, third: u64, hash_: u64) -> u64:
    """The same, once their `node_hash` is known."""
    nodes = trail.nodes
    number = trail.node_count
    if number >= length(nodes):
        return kind
    if 2 * number >= trail.slots_used:
        use_more(trail)
    slots = part(trail.slots, 0, trail.slots_used)
    last = length(slots) - 1
    slot = hash_ & last
    wanted = hash_ >> 32 << 32
    looked: u64 = 0
    while slots[slot] != 0 and looked < length(slots):
        found = slots[slot]
        if (found ^ wanted) >> 32 == 0:
            known = nodes[u32(found)]
            same = known.site == site and known.sources[0] == first
            if same and known.sources[1] == second and known.sources[2] == third:
                return kind | u64(u32(found)) << BYTE_BITS
        slot = slot + 1 & last
        looked = looked + 1
    slots[slot] = wanted | number
    trail.node_count = number + 1
    new = nodes[number]
    new.site = site
    new.sources[0] = first
    new.sources[1] = second
    new.sources[2] = third
    return kind | number << BYTE_BITS


def fetch_slots(trail: Trail, hashes: Slice[u64], out: Slice[u64]) -> None:
    """Have the slots of 32 hashes at hand: they lie far apart, and this waits for them but once."""
    if trail.slots_used == 0:
        return
    slots = part(trail.slots, 0, trail.slots_used)
    last = length(slots) - 1
    known = part(hashes, 0, 32)
    into = part(out, 0, 32)
    for lane in range(32):
        into[lane] = slots[known[lane] & last]


def use_more(trail: Trail) -> None:
    """Use more of the slots, as long as there are any: so half of them are free, or a tenth where all are used."""
    used = trail.slots_used
    if used >= length(trail.slots):
        return
    if used != 0:
        fill(part(trail.slots, 0, used), 0)
        used = used << GROWTH
    used = min(max(used, FEWEST), length(trail.slots))
    trail.slots_used = used
    slots = part(trail.slots, 0, used)
    number: u64 = 1
    while number < trail.node_count and number < length(trail.nodes):
        known = trail.nodes[number]
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
