"""Observation order: which writes of a place a strong read has seen (PTX ISA 8.9.2), and what follows.

A write that a read has seen, at once or through atomic operations between the two, precedes in causality order whatever
the read precedes (8.9.5). The write need not be a release for that, nor the read an acquire; but only this write is
ordered, nothing that its thread did before.

The writes of a place are counted. A chain is a write and the atomic operations that have seen each other behind it, so
that a read sees writes of consecutive numbers: from the start of the chain up to the last.
"""

from __future__ import annotations

from ptxloom.machine.native.language import address, popcount, trailing_zeros, u32
from ptxloom.machine.runtime.racecheck.happens_before import are_morally_strong, first_of, me
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.histories import WRITES, AccessTrace, CurrentAccess
from ptxloom.machine.runtime.structs.shadow import SITE, SIZES
from ptxloom.machine.runtime.turns import spend


def last_number(t: AccessTrace) -> u32:
    """The number of the last write that a trace stands for; of a read: of the last one before it."""
    if t.does != WRITES:
        return t.number
    return t.number + popcount(t.made) - 1


def number_of_lane(t: AccessTrace, lane: u32) -> u32:
    """The number of a lane's write."""
    return t.number + popcount(t.made & (1 << lane) - 1)


def chain_of(t: AccessTrace) -> u32:
    """The number of the write at which the chain of a trace's last write starts."""
    return t.seen if t.seen != 0 else last_number(t)


def observe(w: Warp, lane: u32, access: CurrentAccess, first: AccessTrace) -> None:
    """Find the last write of a place, and the write that precedes a reading access in observation order."""
    access.number = 0
    access.seen = 0
    here = first
    while address(here) != 0:
        spend(w, 1)
        t = here
        if t.owner != 0 and t.does == WRITES and last_number(t) > access.number:
            access.number = last_number(t)
            access.seen = 0
            if access.reads != 0 and is_read_from(w, lane, access, t) != 0:
                access.seen = chain_of(t)
        here = t.next


def is_read_from(w: Warp, lane: u32, access: CurrentAccess, t: AccessTrace) -> u32:
    """1 if a read of a write is one of observation order: they are morally strong, or of one thread and of one size."""
    if are_morally_strong(w, access.stamp, t) != 0:
        return 1
    sizes = (w.launch.strengths[access.stamp & SITE] ^ w.launch.strengths[t.stamp & SITE]) & SIZES
    mine = u32(t.owner == access.owner and first_of(w, t) == me(w, 0))
    return u32(mine != 0 and t.lanes >> lane & 1 != 0 and sizes == 0)


def sees(r: AccessTrace, lanes: u32, number: u32) -> u32:
    """1 if the read of any of some lanes that left a trace comes behind a write in observation order."""
    if r.seen == 0 or r.seen > number:
        return 0
    if r.does != WRITES:
        return u32(lanes != 0 and number <= r.number)
    left = lanes
    while left != 0:
        if number < number_of_lane(r, trailing_zeros(left)):
            return 1
        left = left & left - 1
    return 0
