"""Paths: through which instructions a byte came, each path a number; and nodes: what values were made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import length, u32, u64
from ptxloom.machine.runtime.trail import (
    BYTE_BITS,
    CONVERTED,
    EXACT,
    KIND,
    MIXED,
    ORIGIN,
    PATH_FIELD,
    PATH_LIMIT,
    PATH_SHIFT,
    PATH_STEPS,
    TWICE,
    WRITTEN,
    Trail,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def moved_tag(trail: Trail, site: u32, tag: u64) -> u64:
    """The tag of a byte that an instruction has moved."""
    if tag == 0:
        return 0
    key = ((tag >> PATH_SHIFT & PATH_LIMIT - 1) << 32 | u64(site)) + 1
    if trail.last_step != key:
        trail.last_path = u64(find_step(trail, key))
        trail.last_step = key
    return tag & ~(PATH_FIELD | TWICE) | trail.last_path << PATH_SHIFT


def found_tag(trail: Trail, site: u32, tag: u64) -> u64:
    """The same of a byte that was found in memory."""
    if tag & KIND == WRITTEN:
        return 0
    return moved_tag(trail, site, tag)


def find_step(trail: Trail, key: u64) -> u32:
    """The path that one comes to by a step (`KnownStep`)."""
    known = trail.known
    last = length(known) - 1
    slot = tag_hash(key) & last
    while known[slot].key != 0:
        if known[slot].key == key:
            return known[slot].path
        slot = slot + 1 & last
    path = make_path(trail, u32(key - 1 >> 32), u32(key - 1))
    if trail.known_count < length(known) >> 1:
        trail.known_count = trail.known_count + 1
        known[slot].key = key
        known[slot].path = path
    return path


def make_path(trail: Trail, before: u32, site: u32) -> u32:
    """The path that goes on from another one; of a loop, the way that was there when it came by first."""
    at = before
    steps: u32 = 0
    while at != 0:
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


def tag_hash(key: u64) -> u64:
    """A hash."""
    once = (key ^ key >> 32) * 0x9E3779B97F4A7C15
    return once ^ once >> 29


def node_tag(trail: Trail, kind: u64, site: u32, first: u64, second: u64, third: u64) -> u64:
    """The tag of what an instruction has made of up to three values (COMPUTED), or of what lies in one (MIXED)."""
    nodes = trail.nodes
    bucket = tag_hash(tag_hash(tag_hash(u64(site) ^ first) ^ second) ^ third) & length(trail.buckets) - 1
    at = trail.buckets[bucket]
    while at != 0:
        known = nodes[at]
        same = known.site == site and known.sources[0] == first
        if same and known.sources[1] == second and known.sources[2] == third:
            return kind | u64(at) << BYTE_BITS
        at = known.next
    if trail.node_count >= length(nodes):
        return kind
    number = trail.node_count
    trail.node_count = number + 1
    new = nodes[number]
    new.site = site
    new.next = trail.buckets[bucket]
    new.sources[0] = first
    new.sources[1] = second
    new.sources[2] = third
    trail.buckets[bucket] = u32(number)
    return kind | number << BYTE_BITS


def value_tag(trail: Trail, site: u32, tags: Slice[u64], at: u32, count: u32) -> u64:
    """The tag of a value of so many bytes: of its first, if the others follow it, or are of no origin from one on."""
    first = tags[at]
    whole: u32 = 1  # while every byte has followed the first one
    for n in range(1, count):
        tag = tags[at + n]
        if tag == 0:
            whole = 0
        elif whole == 0 or (tag ^ first + u64(n)) & ~PATH_FIELD != 0:
            return node_tag(trail, MIXED, site, first, tag, 0)
    return first


def converted_tag(trail: Trail, site: u32, tag: u64) -> u64:
    """The tag of a value that an instruction has made of one other."""
    if tag & KIND == EXACT:
        tag = CONVERTED | tag & PATH_FIELD | (tag & ORIGIN) << BYTE_BITS
    return moved_tag(trail, site, tag)


def put_value(tags: Slice[u64], at: u32, count: u32, tag: u64) -> None:
    """Give a value of so many bytes the tag of its first one."""
    for n in range(count):
        tags[at + n] = tag + u64(n) if tag != 0 else 0
