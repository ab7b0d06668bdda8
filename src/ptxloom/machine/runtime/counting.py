"""The cost of a warp's access to memory, counted natively: wavefronts of shared memory, sectors of global memory.

The rules are those of `banks.report` (a property test compares the two). An access whose 32 addresses are those
of an earlier one moved by a constant costs the same, so each instruction keeps a few patterns of addresses, and code
(`instruments/profile.py`) counts how often each comes back; only new patterns come here. The run-time functions of bulk
copies count their bytes themselves.
"""

from __future__ import annotations

from typing import Annotated, Final

from ptxloom.machine.native import language
from ptxloom.machine.native.language import Array, Ptr, address, copy, fill, length, popcount, trailing_zeros, u32, u64
from ptxloom.machine.runtime.memory.lane_access import find_span
from ptxloom.machine.runtime.state import (
    GLOBAL,
    LOCAL_WINDOW,
    SHARED,
    SHARED_WINDOW,
    WINDOW_BYTES,
    Warp,
)

PATTERNS: Final = 8  # kept for each instruction
MERGES: Final = 1  # a rule: phases may be served in pairs
ALONE: Final = 2  # a rule: lanes share no data, as in an atomic operation
TWICE: Final = 4  # a rule: wavefronts are taken twice
SECTOR_SHIFT: Final = 5  # a sector is 32 bytes
APART_SHIFT: Final = 37  # spans are 40 bytes apart in their table: shifted by this, they are a terabyte apart
TURN_BITS: Final = 5  # beside a sector: which of 32 lanes that name one address


class AccessPattern:
    """The addresses of an access, its cost, and how often it occurred, moved or not."""

    addresses: Annotated[Array[u64], 32]
    words: Annotated[Array[u32], 32]  # the same, as the 32-bit addresses of shared memory
    start: u64  # addresses of this memory may move; 0 and 0 if no addresses may
    end: u64
    hits: u64
    last: u64  # the first active lane's address when it came last
    mask: u32
    wavefronts: u32
    ideal: u32
    sectors: u32
    ideal_sectors: u32


PATTERN_BYTES: Final = language.record(AccessPattern).size


class CounterSlot:
    """The counters of one instruction's accesses."""

    current: u64  # address of the pattern that came last
    next: u32  # the pattern that is replaced next
    kinds: u32  # how many patterns came new
    wavefronts: u64  # of patterns that have given way, as the next three
    ideal: u64
    sectors: u64
    ideal_sectors: u64
    wanted: Annotated[Array[u64], 32]
    seen: Annotated[Array[u64], 32]
    counts: Annotated[Array[u32], 32]
    patterns: Annotated[Array[AccessPattern], PATTERNS]


def count_moved(w: Warp, site: u32, global_bytes: u64, shared_bytes: u64) -> None:
    """Count bytes that a bulk copy has read or written, if the profile is on."""
    if length(w.moved) != 0:
        w.moved[2 * site] = w.moved[2 * site] + global_bytes
        w.moved[2 * site + 1] = w.moved[2 * site + 1] + shared_bytes


def count_stretch(w: Warp, site: u32, space: u32, size: u32) -> None:
    """Count bytes of one state space."""
    if space == SHARED:
        count_moved(w, site, 0, u64(size))
    else:
        count_moved(w, site, u64(size), 0)


def meet(
    w: Warp, slot: CounterSlot, addresses: Ptr[u64], mask: u32, size: u32, phase_lanes: u32, rules: u32, space: u32
) -> None:
    """Count an access that does not match the current pattern.

    Args:
        w: The warp.
        slot: The instruction's.
        addresses: 32 of them, in the state space's form.
        mask: The lanes that take part, at least one.
        size: Bytes a lane.
        phase_lanes: The number of lanes that shared memory serves together.
        rules: MERGES, ALONE and TWICE, as far as they hold.
        space: SHARED, GLOBAL or GENERIC.
    """
    first = trailing_zeros(mask)
    for index in range(PATTERNS):
        known = slot.patterns[index]
        if known.mask == mask and same(known, addresses, mask, first, space) != 0:
            known.hits = known.hits + 1
            known.last = addresses[first]
            slot.current = address(known)
            return
    pattern = make_room(slot)
    for lane in range(32):
        pattern.addresses[lane] = addresses[lane]
        pattern.words[lane] = u32(addresses[lane])
    pattern.mask = mask
    pattern.hits = 1
    pattern.last = addresses[first]
    pattern.start = 0
    pattern.end = 0
    shared = lanes_in_shared(addresses, mask, space)
    pattern.wavefronts = 0
    pattern.ideal = 0
    if shared != 0:
        count_wavefronts(slot, pattern, shared, size, phase_lanes, rules)
    count_sectors(w, slot, pattern, mask & ~shared, size, space, rules)
    if shared == mask:
        pattern.start = addresses[first] & ~u64(WINDOW_BYTES - 1)
        pattern.end = pattern.start + WINDOW_BYTES
    slot.current = address(pattern)
    slot.kinds = slot.kinds + 1


def same(known: AccessPattern, addresses: Ptr[u64], mask: u32, first: u32, space: u32) -> u32:
    """1 if the addresses are the pattern's, all moved by a distance that does not change the cost."""
    by = addresses[first] - known.addresses[first]
    low: u64 = 31
    if space == SHARED:
        low = 3
    if by & low != 0 or addresses[first] < known.start or addresses[first] >= known.end:
        return 0
    for lane in range(32):
        if mask >> lane & 1 != 0 and addresses[lane] - known.addresses[lane] != by:
            return 0
    return 1


def make_room(slot: CounterSlot) -> AccessPattern:
    """A pattern to overwrite, after adding its costs to the slot's. The first one is kept for the worst conflicts."""
    if slot.kinds == 0:
        slot.next = 1
        return slot.patterns[0]
    pattern = slot.patterns[slot.next]
    slot.next = slot.next % (PATTERNS - 1) + 1
    worst = slot.patterns[0]
    if pattern.wavefronts - pattern.ideal > worst.wavefronts - worst.ideal:
        settle_pattern(slot, worst)
        copy(worst, pattern, PATTERN_BYTES)
        pattern.hits = 0
    else:
        settle_pattern(slot, pattern)
    return pattern


def settle_pattern(slot: CounterSlot, pattern: AccessPattern) -> None:
    """Add the costs of a pattern so far to the slot."""
    slot.wavefronts = slot.wavefronts + pattern.hits * u64(pattern.wavefronts)
    slot.ideal = slot.ideal + pattern.hits * u64(pattern.ideal)
    slot.sectors = slot.sectors + pattern.hits * u64(pattern.sectors)
    slot.ideal_sectors = slot.ideal_sectors + pattern.hits * u64(pattern.ideal_sectors)
    pattern.hits = 0


def lanes_in_shared(addresses: Ptr[u64], mask: u32, space: u32) -> u32:
    """The lanes whose addresses are in shared memory."""
    if space == SHARED:
        return mask
    if space == GLOBAL:
        return 0
    found: u32 = 0
    for lane in range(32):
        at = addresses[lane]
        if mask >> lane & 1 != 0 and at >= SHARED_WINDOW and at < SHARED_WINDOW + WINDOW_BYTES:
            found = found | 1 << lane
    return found


def count_wavefronts(
    slot: CounterSlot, pattern: AccessPattern, mask: u32, size: u32, phase_lanes: u32, rules: u32
) -> None:
    """Count wavefronts, and those that would remain without conflicts."""
    shift = max(trailing_zeros(size), 2)
    for lane in range(32):
        slot.wanted[lane] = pattern.addresses[lane] >> u64(shift)
    lanes = phase_lanes
    if rules & MERGES != 0 and (partners(slot, mask, 1) != 0 or partners(slot, mask, 2) != 0):
        lanes = 2 * phase_lanes
    phase: u32 = 0
    while phase < 32:
        passes = distinct(slot, mask, phase, lanes, 128 >> shift, rules)
        pattern.wavefronts = pattern.wavefronts + passes
        pattern.ideal = pattern.ideal + min(passes, 1)
        phase = phase + lanes
    if rules & TWICE != 0:
        pattern.wavefronts = 2 * pattern.wavefronts
        pattern.ideal = 2 * pattern.ideal


def partners(slot: CounterSlot, mask: u32, distance: u32) -> u32:
    """1 if every active lane's partner at a distance is inactive or accesses the same unit."""
    for lane in range(32):
        other = lane ^ distance
        if mask >> lane & mask >> other & 1 != 0 and slot.wanted[lane] != slot.wanted[other]:
            return 0
    return 1


def distinct(slot: CounterSlot, mask: u32, first: u32, lanes: u32, banks: u32, rules: u32) -> u32:
    """The largest number of distinct units that lanes access in one bank; with ALONE, the largest number of lanes."""
    assert lanes <= 32
    fill(slot.counts, 0)
    most: u32 = 0
    for index in range(lanes):
        lane = first + index
        if mask >> lane & 1 != 0:
            want = slot.wanted[lane]
            bank = u32(want) & (banks - 1)
            count = slot.counts[bank]
            other = u32(slot.seen[bank] != want and (count == 1 or is_new(slot, mask, first, lane) != 0))
            if count == 0 or rules & ALONE != 0 or other != 0:
                slot.seen[bank] = want
                slot.counts[bank] = count + 1
                most = max(most, count + 1)
    return most


def is_new(slot: CounterSlot, mask: u32, first: u32, lane: u32) -> u32:
    """1 if no lane from `first` to before `lane` accesses the same unit."""
    assert lane <= 32
    other = lane
    while other > first:
        other = other - 1
        if mask >> other & 1 != 0 and slot.wanted[other] == slot.wanted[lane]:
            return 0
    return 1


def count_sectors(
    w: Warp, slot: CounterSlot, pattern: AccessPattern, mask: u32, size: u32, space: u32, rules: u32
) -> None:
    """Count distinct sectors of 32 bytes. An array starts a sector, as every piece of device memory does.

    In an atomic operation (ALONE) lanes with the same address are served in separate rounds, together with lanes at
    other addresses, and each round counts its sectors.
    """
    sectors: u32 = 0
    apart: u32 = 0
    counted: u32 = 0
    start: u64 = 0
    end: u64 = 0
    base: u64 = 0
    pieces: u32 = 0
    for lane in range(32):
        at = pattern.addresses[lane]
        if mask >> lane & 1 != 0 and (at < LOCAL_WINDOW or space == GLOBAL):
            if at < start or at >= end:
                found = find_span(w.launch, at)
                pieces = pieces + 1
                base = address(found) << APART_SHIFT
                start = at
                end = at + 1
                if length(found) != 0:
                    start = found[0].start
                    end = found[0].end
            turn: u32 = 0
            if rules & ALONE != 0:
                turn = same_before(pattern, counted, lane)
            slot.wanted[lane] = base + ((at - start) >> SECTOR_SHIFT << TURN_BITS) + u64(turn)
            other = is_new(slot, counted, 0, lane)
            sectors = sectors + other
            if turn == 0:
                apart = apart + other
            counted = counted | 1 << lane
    pattern.sectors = sectors
    pattern.ideal_sectors = min(apart, (popcount(counted) * size + 31) >> SECTOR_SHIFT)
    if pieces == 1 and counted == mask:
        pattern.start = start
        pattern.end = end


def same_before(pattern: AccessPattern, mask: u32, lane: u32) -> u32:
    """The number of earlier lanes with the same address."""
    found: u32 = 0
    for other in range(32):
        if other < lane and mask >> other & 1 != 0 and pattern.addresses[other] == pattern.addresses[lane]:
            found = found + 1
    return found
