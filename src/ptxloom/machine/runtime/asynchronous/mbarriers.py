"""Mbarrier objects in shared memory (PTX ISA 9.7.13.15): arrivals and bytes that complete a phase.

The 64 bits are opaque to a program; here: arrivals that every phase expects (20 bits), arrivals still missing in this
one (20), bytes still missing (21, signed), a bit that marks `.layout::v1`, one that marks an initialised object, and
the phase's parity. A state token is the object as it was before the arrival.

`.layout::v1` adds a report that keeps the conditional phase from advancing. Nothing in ptxloom makes such a report, so
primary and conditional phases advance together, as they always do with `.layout::v0`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.language import address, u8, u32, u64, view
from ptxloom.machine.runtime.memory.lane_access import fault, place, refuse
from ptxloom.machine.runtime.racecheck.sync_places import arrive_at, complete_phase, start_phases, wait_at
from ptxloom.machine.runtime.racecheck.vector_clocks import released
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    GENERIC,
    INVALID,
    OVERRUN,
    SHARED,
    SHARED_WINDOW,
    UNINITIALISED,
    WINDOW_BYTES,
    WRONG_SPACE,
    Warp,
)
from ptxloom.machine.runtime.warps.reconvergence import pause

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice

INIT, INVAL, INIT_V1, EXPECT, COMPLETE, ARRIVE, DROP, ARRIVE_EXPECT, DROP_EXPECT, TEST, TEST_PARITY, LAYOUT = range(12)

LIMIT: Final = (1 << 20) - 1  # of counts
LIMIT_V1: Final = (1 << 9) - 1  # of counts, with `.layout::v1`
BYTES: Final = (1 << 21) - 1  # the field of bytes
V1: Final = 1 << 61
VALID: Final = 1 << 62
PHASE: Final = 1 << 63


def mbarrier(  # noqa: C901, PLR0912 - one lane after the other
    w: Warp,
    mask: u32,
    addresses: Ptr[u64],
    values: Ptr[u64],
    results: Ptr[u64],
    operation: u32,
    space: u32,
    site: u32,
    relaxed: u32,
) -> u32:
    """Do one operation lane by lane; `values` is its count, bytes, token or parity. Returns 1 after a fault.

    `results` receives the token of an arrival, or 1 if a phase has completed. Lanes that must wait yield.
    `relaxed` is 1 for operations that order only with fences, 2 for those that never order anything.
    """
    waits: u32 = 0
    passed: u32 = 0  # lanes that have seen a phase complete, all at
    passed_at: u64 = 0  # this mbarrier
    watched = u32(address(w.shadow) != 0 and relaxed < 2)
    releases: u32 = 0
    if watched != 0 and operation >= COMPLETE and operation < TEST:
        releases = 1
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = place_object(w, lane, addresses[lane], space, 8, site)
            host = address(found)
            if host == 0:
                return 1
            barrier = view(u64, found)
            results[lane] = barrier[0]
            if releases != 0:
                arrive_at(w, lane, host, relaxed)
            elif address(w.shadow) != 0 and operation < EXPECT:
                start_phases(w, host)
            kind = act(w, barrier, operation, values[lane])
            if kind != 0:
                fault(w, kind, site, lane, addresses[lane], space, 8, 0)
                return 1
            if operation >= TEST:
                results[lane] = has_completed(barrier[0], operation, values[lane])
            if operation >= TEST and operation < LAYOUT:
                waits = waits | remember_answer(w, lane, host, results[lane], site)
                if results[lane] != 0 and watched != 0:
                    if host != passed_at and passed != 0:
                        wait_at(w, passed, passed_at, relaxed)
                        passed = 0
                    passed_at = host
                    passed = passed | 1 << lane
    if passed != 0:
        wait_at(w, passed, passed_at, relaxed)
    if releases != 0:
        released(w)
    if waits != 0:
        pause(w)
    return 0


def mbarriers_of(
    w: Warp,
    mask: u32,
    addresses: Ptr[u64],
    values: Ptr[u64],
    results: Ptr[u64],
    ctas: Ptr[u32],
    operation: u32,
    site: u32,
    relaxed: u32,
) -> u32:
    """Do one operation at the same place of each CTA of the cluster that a lane's mask names; 1 after a fault."""
    for cta in range(32):
        here: u32 = 0
        for lane in range(32):
            if mask >> lane & ctas[lane] >> cta & 1 != 0:
                here = here | 1 << lane
                window = u64(cta + 1) << CLUSTER_SHIFT
                addresses[lane] = addresses[lane] & ~(u64(255) << CLUSTER_SHIFT) | window
        if here != 0 and mbarrier(w, here, addresses, values, results, operation, SHARED, site, relaxed) != 0:
            return 1
    return 0


def remember_answer(w: Warp, lane: u32, host: u64, completed: u64, site: u32) -> u32:
    """Record the mbarrier at which an instruction makes a lane wait; returns 1 if it does."""
    w.asking = w.asking & ~(1 << lane)
    if completed != 0:
        return 0
    w.asking = w.asking | 1 << lane
    w.awaited[lane] = host
    w.awaiting[lane] = site
    return 1


def place_object(w: Warp, lane: u32, at: u64, space: u32, size: u32, site: u32) -> Slice[u8]:
    """The bytes of an mbarrier, or of another object in shared memory; empty after a fault."""
    if space == GENERIC and at & ~u64(WINDOW_BYTES - 1) != SHARED_WINDOW:
        return refuse(w, WRONG_SPACE, site, lane, at, space, size, 1)
    return place(w, lane, at, space, size, 1, site)


def act(  # noqa: C901, PLR0911 - one case an operation
    w: Warp, barrier: Slice[u64], operation: u32, value: u64
) -> u32:
    """Change one mbarrier; returns the kind of fault, or 0."""
    if operation == INIT:
        if value == 0 or value > LIMIT:
            return INVALID
        barrier[0] = VALID | value << 20 | value
        return 0
    if operation == INIT_V1:
        if value == 0 or value > LIMIT_V1:
            return INVALID
        barrier[0] = VALID | V1 | value << 20 | value
        return 0
    if operation == INVAL:
        barrier[0] = 0
        return 0
    if barrier[0] & VALID == 0:
        return UNINITIALISED
    if operation == EXPECT:
        return change(w, barrier, 0, 0, value)
    if operation == COMPLETE:
        return change(w, barrier, 0, 0, -value)
    if operation == ARRIVE:
        return change(w, barrier, value, 0, 0)
    if operation == DROP:
        return change(w, barrier, value, value, 0)
    if operation == ARRIVE_EXPECT:
        return change(w, barrier, 1, 0, value)
    if operation == DROP_EXPECT:
        return change(w, barrier, 1, 1, value)
    return 0


def describe(value: int) -> str:
    """An mbarrier in words: what its phase still waits for. Plain Python, for reports.

    Example:
        >>> describe(VALID | 2 << 20 | 3)
        'its phase 0 lacks 2 of 3 arrivals'
    """
    arrivals, lacking = missing(value)
    lacks = [f"{arrivals} of {value & LIMIT} arrivals"] * bool(arrivals)
    lacks += [f"{lacking:,} bytes"] * bool(lacking)
    return f"its phase {value >> 63} lacks {' and '.join(lacks)}" if value & VALID else "it is no longer initialised"


def missing(value: int) -> tuple[int, int]:
    """The missing arrivals and bytes of an mbarrier; negative if there were too many. Plain Python."""
    lacking = value >> 40 & BYTES
    return value >> 20 & LIMIT, lacking - ((lacking & BYTES + 1 >> 1) << 1)


def has_completed(now: u64, operation: u32, value: u64) -> u64:
    """1 if the phase of a token, or the last one of a parity, has completed, or if it has the layout of a number."""
    if operation == LAYOUT:
        return u64((now >> 61 & 1) == value)
    parity = value & 1
    if operation == TEST:
        parity = value >> 63
    return now >> 63 ^ parity


def change(w: Warp, barrier: Slice[u64], arrivals: u64, dropped: u64, expected: u64) -> u32:
    """Count arrivals, permanently dropped threads, and additional expected bytes; returns the kind of fault, or 0."""
    now = barrier[0]
    count = now & LIMIT
    pending = now >> 20 & LIMIT
    if arrivals > pending or dropped > count:
        return OVERRUN
    pending = pending - arrivals
    count = count - dropped
    missing = (now >> 40) + expected & BYTES
    phase = now & (PHASE | V1)
    if pending == 0 and missing == 0:
        phase = phase ^ PHASE
        pending = count
        w.worker.spins = 0
        if address(w.shadow) != 0:
            complete_phase(w, address(barrier))
    barrier[0] = phase | VALID | missing << 40 | pending << 20 | count
    return 0


def complete_at(w: Warp, found: Slice[u8], count: u64) -> u32:
    """Complete bytes of a copy at the mbarrier in some bytes; 1 if they do not hold an mbarrier."""
    barrier = view(u64, found)
    if barrier[0] & VALID == 0:
        return 1
    return change(w, barrier, 0, 0, -count)
