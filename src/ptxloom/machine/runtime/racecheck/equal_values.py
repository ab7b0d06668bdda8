"""Stores and copies of values that global memory already holds: the order of two such accesses does not matter."""

from __future__ import annotations

from ptxloom.machine.native.language import address, length, u32, u64
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.memory.lane_access import find_span, holds
from ptxloom.machine.runtime.memory.places import span_bytes, stored_byte
from ptxloom.machine.runtime.racecheck.global_order import is_near
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.histories import AccessTrace, CurrentAccess
from ptxloom.machine.runtime.structs.spans import Span
from ptxloom.machine.runtime.turns import spend


def copies_same(access: CurrentAccess, span: Span, at: u64, end: u64) -> u32:
    """1 if memory already holds what the current copy writes there: copies are made one after the other."""
    for number in range(u32(end - at)):
        if span_bytes(span, at + u64(number), 1)[0] != access.copied[at + u64(number) - access.start]:
            return 0
    return 1


def stores_same(w: Warp, lane: u32, at: u64, end: u64) -> u32:
    """1 if the current access, a store, writes values that some bytes already hold."""
    access = w.shadow.order.access
    found = find_span(w.launch, at)
    if length(found) == 0 or holds(found[0], at, end - at) == 0:
        return 0
    if address(access.copied) != 0:
        return copies_same(access, found[0], at, end)
    if address(access.values) == 0:
        return 0
    for number in range(u32(end - at)):
        spend(w, 1)
        apart = u32(at - access.addresses[lane] - access.offset) + number
        if stored_byte(access.values, access.part, lane, apart) != span_bytes(found[0], at + u64(number), 1)[0]:
            return 0
    return 1


def is_same_value(w: Warp, lane: u32, span: Span, t: AccessTrace, racing: u32, at: u64, size: u32) -> u32:
    """1 if a store writes the same values to some bytes as another one did."""
    access = w.shadow.order.access
    if address(access.copied) != 0:
        return copies_same(access, span, at, at + u64(size))
    if address(access.values) == 0:
        return 0
    for number in range(size):
        apart = u32(at - access.addresses[lane] - access.offset) + number
        mine = stored_byte(access.values, access.part, lane, apart)
        theirs = span_bytes(span, at + u64(number), 1)[0]
        if is_near(w, t) != 0 and t.stamp == access.stamp:  # the very same instruction
            theirs_at = at + u64(number) - access.addresses[racing] - access.offset
            if within(theirs_at, 1, u64(access.size)) == 0:  # it was there when the instruction ran before
                return 0
            theirs = stored_byte(access.values, access.part, racing, u32(theirs_at))
        if mine != theirs:
            return 0
    return 1
