"""What the CTAs of a grid know of each other through fences and flags in global memory, in scopes beyond a cluster.

A thread that makes a strong write behind a fence (or with `.release`) publishes at the flag what it knows, of its own
cluster and of others: a row of ticks, one for each thread of the grid, or for several where that would be too many.
The lanes that make a strong read before a fence (or with `.acquire`) learn this clock; others of their cluster know it
once they are ordered behind those lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, copy, fill, length, part, trailing_zeros, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.racecheck.fence_records import fence_record_of
from ptxloom.machine.runtime.racecheck.happens_before import is_known, me, owner_of
from ptxloom.machine.runtime.racecheck.shared_flags import (
    ACQUIRE,
    LOADS,
    RELEASE,
    STORES,
    flag_place,
    has_released,
    last_fence,
    publish_at_flag,
)
from ptxloom.machine.runtime.racecheck.tick_rows import join
from ptxloom.machine.runtime.racecheck.vector_clocks import release
from ptxloom.machine.runtime.state import GENERIC, GLOBAL, SHARED_WINDOW, Warp
from ptxloom.machine.runtime.structs.histories import Flag, GridHistory
from ptxloom.machine.runtime.structs.shadow import (
    CLUSTER_SCOPE,
    FEW_CLOCKS,
    FEW_FLAGS,
    GPU_SCOPE,
    LEARNED_CLOCKS,
    RELEASED,
    HappensBefore,
    LearnedClock,
)
from ptxloom.machine.runtime.turns import PLAIN, QUICK, spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


def is_taught(w: Warp, lane: u32, cluster: u32, thread: u32, tick: u32) -> u32:
    """1 if what a thread of another cluster did at a tick precedes what a lane does now."""
    order = w.shadow.order
    if address(order.taught) == 0:
        return 0
    if order.grid.lost != 0:
        return 1
    column = cluster * order.grid.share + (thread >> order.grid.shift)
    if order.informed != 0 and order.taught[column] >= tick:
        return 1
    for number in range(order.clock_count):
        spend(w, 1)
        if row_of_learned(order, number)[column] >= tick and is_learnt(w, lane, order.learned_clocks[number]) != 0:
            return 1
    return 0


def is_learnt(w: Warp, lane: u32, learned: LearnedClock) -> u32:
    """1 if a lane knows what lanes of its cluster have learnt."""
    if learned.tick == 0:
        return 0
    if learned.tick > w.shadow.order.clock:
        return 1  # the clock has been set back since
    thread = me(w, lane)
    left = learned.lanes
    if learned.warp == thread // 32 and left >> lane & 1 != 0:
        return 1
    while left != 0:
        if is_known(w, thread, learned.warp * 32 + trailing_zeros(left), learned.tick) != 0:
            return 1
        left = left & left - 1
    return 0


def row_of_learned(order: HappensBefore, number: u32) -> Slice[u32]:
    """The row of a learned clock."""
    return part(order.learnt, u64(number) * u64(order.grid.columns), order.grid.columns)


def row_of_flag(grid: GridHistory, number: u32) -> Slice[u32]:
    """What a flag publishes."""
    return part(grid.rows, u64(number) * u64(grid.columns), grid.columns)


@watching
def fence_grid(w: Warp, lanes: u32, does: u32, total: u32) -> None:
    """A fence of a scope wider than a cluster; `total` ones are `fence.sc`. If it acquires, relaxed reads are good now.

    A `fence.sc` behind a relaxed read by another thread knows, too, what was published behind a `fence.sc`: that one
    comes before this one, or the read would have seen what comes after it.
    """
    order = w.shadow.order
    if address(order.taught) == 0:
        return
    if does & ACQUIRE != 0:
        believe(w, lanes)
    if total != 0:
        for lane in range(32):
            if lanes >> lane & 1 != 0:
                order.fences_total[me(w, lane)] = order.clock
        believe_others(w, lanes)


def believe(w: Warp, lanes: u32) -> None:
    """Lanes acquire what their relaxed reads have seen."""
    order = w.shadow.order
    for number in range(order.clock_count):
        learned = order.learned_clocks[number]
        if learned.tick == 0 and learned.warp == me(w, 0) // 32 and learned.lanes & lanes != 0:
            others = learned.lanes & ~lanes
            learned.lanes = learned.lanes & lanes
            learned.tick = order.clock
            if others != 0:
                learn(w, others, row_of_learned(order, number), 0, learned.seen, learned.pure)


def believe_others(w: Warp, lanes: u32) -> None:
    """Lanes know from now on what relaxed reads before them have seen of what was published behind a `fence.sc`."""
    order = w.shadow.order
    for number in range(order.clock_count):
        behind = lanes_behind(w, lanes, order.learned_clocks[number])
        if behind != 0:
            room = row_of_learned(order, LEARNED_CLOCKS)
            fill(room, 0)
            join(w, room, row_of_learned(order, number))
            learn(w, behind, room, 1, order.clock, 1)


def lanes_behind(w: Warp, lanes: u32, learned: LearnedClock) -> u32:
    """The lanes that come behind a relaxed read of what was published behind a `fence.sc`, and do not know it yet."""
    if learned.pure == 0:
        return 0
    found: u32 = 0
    for lane in range(32):
        if lanes >> lane & 1 != 0 and is_learnt(w, lane, learned) == 0:
            left = learned.lanes
            while left != 0:
                reader = learned.warp * 32 + trailing_zeros(left)
                if is_known(w, me(w, lane), reader, learned.seen) != 0:
                    found = found | 1 << lane
                left = left & left - 1
    return found


@watching
def flag_grid(w: Warp, addresses: Ptr[u64], lanes: u32, space: u32, does: u32, scope: u32) -> None:
    """Strong accesses of lanes to flags in global memory."""
    order = w.shadow.order
    if address(order.taught) == 0:
        return
    left = lanes
    while left != 0:
        at = addresses[trailing_zeros(left)]
        group: u32 = 0
        for lane in range(32):
            if left >> lane & 1 != 0 and addresses[lane] == at:
                group = group | 1 << lane
        left = left & ~group
        if space == GLOBAL or (space == GENERIC and at < SHARED_WINDOW):
            meet_flag(w, group, flag_place(w, at, space), does, scope)


def meet_flag(w: Warp, lanes: u32, host: u64, does: u32, scope: u32) -> None:
    """Lanes learn what a flag publishes, then publish."""
    order = w.shadow.order
    grid = order.grid
    found = find_flag(grid, host, 0)
    linked: u32 = 0
    if found < grid.limit:
        linked = is_linked(w, grid.flags[found], scope)
    if does & LOADS != 0 and linked != 0:
        known = does & ACQUIRE
        if scope < GPU_SCOPE:
            known = 0  # no acquire for other clusters, but a fence behind it may be one
        learn(w, lanes, row_of_flag(grid, found), known, order.clock, grid.flags[found].pure)
    if does & STORES == 0:
        return
    if found < grid.limit:
        if does & LOADS == 0 or linked == 0:
            forget_row(grid, found)  # who reads this store does not read those before it
        wrote(w, grid.flags[found], scope)
    for lane in range(32):
        if lanes >> lane & 1 != 0 and scope >= GPU_SCOPE:
            publish_at(w, lane, host, does, scope)


def is_linked(w: Warp, flag: Flag, scope: u32) -> u32:
    """1 if who wrote a flag last and a warp that accesses it in a scope are in each other's scope."""
    both = min(scope, flag.scope)
    if both >= GPU_SCOPE:
        return 1
    if flag.cluster != owner_of(w):
        return 0
    return u32(both >= CLUSTER_SCOPE or flag.rank == w.cta.rank)


def wrote(w: Warp, flag: Flag, scope: u32) -> None:
    """A warp has written a flag."""
    flag.scope = scope
    flag.cluster = owner_of(w)
    flag.rank = w.cta.rank


def publish_at(w: Warp, lane: u32, host: u64, does: u32, scope: u32) -> None:
    """A lane writes a flag: it publishes what came before its last fence, or before it released at this flag."""
    order = w.shadow.order
    thread = me(w, lane)
    when = last_fence(w, lane, host, does, GPU_SCOPE)
    if when <= order.started:
        return
    found = find_flag(order.grid, host, 1)
    if found >= order.grid.limit:
        return
    flag = order.grid.flags[found]
    wrote(w, flag, scope)
    total = u32(does & RELEASE == 0 and order.fences_total[thread] >= when)
    flag.pure = flag.pure & total
    fill(order.room, 0)
    base = w.shadow.base
    if total != 0:
        # what others have fenced, and the barriers since, count for a `fence.sc`
        release(w, 1 << lane, order.room, when)
    else:
        publish_at_flag(w, lane, host, does, GPU_SCOPE, order.room)
        base = last_base(w, lane, host, does)
    publish(w, row_of_flag(order.grid, found), base, when)


def last_base(w: Warp, lane: u32, host: u64, does: u32) -> u32:
    """The base of the CTA at the fence up to which a lane's write to a flag publishes."""
    order = w.shadow.order
    if does & RELEASE != 0:
        return w.shadow.base
    thread = me(w, lane)
    base = fence_record_of(order, thread, GPU_SCOPE).base
    if has_released(order, thread, host, GPU_SCOPE) != 0:
        base = max(base, fence_record_of(order, thread, RELEASED).base)
    return base


def forget_row(grid: GridHistory, number: u32) -> None:
    """Clear a flag, so that it publishes nothing."""
    fill(row_of_flag(grid, number), 0)
    grid.flags[number].pure = 1


def forget_flag(grid: GridHistory, at: u64) -> None:
    """A weak store replaces the flag: its value is not read as one."""
    found = find_flag(grid, at & ~u64(3), 0)
    if found < grid.limit:
        forget_row(grid, found)


def learn(w: Warp, lanes: u32, row: Slice[u32], known: u32, seen: u32, pure: u32) -> None:
    """Lanes of a warp have read a flag; they know what it says only when a fence follows, unless they acquire."""
    order = w.shadow.order
    for number in range(order.clock_count):
        learned = order.learned_clocks[number]
        if learned.warp == me(w, 0) // 32 and learned.lanes == lanes and (learned.tick == 0) == (known == 0):
            if teaches_more(w, row_of_learned(order, number), row) == 0:
                return
            if known == 0:
                join(w, row_of_learned(order, number), row)
                learned.seen = seen
                learned.pure = learned.pure & pure
                return
    if order.clock_count == LEARNED_CLOCKS:
        forget_learned(w)
    fresh = order.clock_count
    order.clock_count = fresh + 1
    learned = order.learned_clocks[fresh]
    learned.warp = me(w, 0) // 32
    learned.lanes = lanes
    learned.seen = seen
    learned.pure = pure
    learned.tick = 0
    if known != 0:
        learned.tick = order.clock
    own = row_of_learned(order, fresh)
    fill(own, 0)
    join(w, own, row)


def teaches_more(w: Warp, known: Slice[u32], row: Slice[u32]) -> u32:
    """1 if a row contains more than what is known."""
    spend(w, u32(length(row)) >> QUICK)
    more: u32 = 0
    for column in range(u32(min(length(known), length(row)))):
        more = more | u32(row[column] > known[column])
    return more


def forget_learned(w: Warp) -> None:
    """Let the whole cluster know what a complete barrier lets all know; else the oldest learned clock."""
    order = w.shadow.order
    kept: u32 = 0
    for number in range(order.clock_count):
        learned = order.learned_clocks[number]
        if w.launch.members == 1 and learned.tick != 0 and learned.tick <= w.shadow.base:
            teach(w, number)
        else:
            move_learned(w, number, kept)
            kept = kept + 1
    if kept == LEARNED_CLOCKS:
        order.limits = order.limits | FEW_CLOCKS
        teach(w, 0)
        for number in range(1, LEARNED_CLOCKS):
            move_learned(w, number, number - 1)
        kept = LEARNED_CLOCKS - 1
    order.clock_count = kept


def teach(w: Warp, number: u32) -> None:
    """All threads of the cluster know what a learned clock holds."""
    order = w.shadow.order
    join(w, order.taught, row_of_learned(order, number))
    order.taught_at = order.clock
    order.informed = 1


def move_learned(w: Warp, number: u32, to: u32) -> None:
    """Put a learned clock in another place, which is not behind it."""
    order = w.shadow.order
    if number == to:
        return
    learned = order.learned_clocks[number]
    place = order.learned_clocks[to]
    place.warp = learned.warp
    place.lanes = learned.lanes
    place.tick = learned.tick
    place.seen = learned.seen
    place.pure = learned.pure
    row = row_of_learned(order, number)
    spend(w, u32(length(row)) >> QUICK)
    copy(row_of_learned(order, to), row, 4 * length(row))


def publish(w: Warp, row: Slice[u32], base: u32, when: u32) -> None:
    """Put into a flag's row what is known, as the order's room says, up to a base of the CTA and a tick of its own."""
    s = w.shadow
    order = s.order
    grid = order.grid
    first = u32(w.cta.index) * grid.share
    spend(w, order.threads >> PLAIN)
    for thread in range(order.threads):
        if thread - s.first < s.warps * 32 and base > order.started:
            order.room[thread] = max(order.room[thread], base)
        column = first + (thread >> grid.shift)
        row[column] = max(row[column], order.room[thread])
        grid.told[column] = max(grid.told[column], order.room[thread])
    if order.informed != 0 and when >= order.taught_at:
        join(w, row, order.taught)
    for number in range(order.clock_count):
        if was_learnt(order, order.learned_clocks[number]) != 0:
            join(w, row, row_of_learned(order, number))


def was_learnt(order: HappensBefore, learned: LearnedClock) -> u32:
    """1 if a learned clock is part of what the order's room says is known."""
    if learned.tick == 0:
        return 0
    left = learned.lanes
    while left != 0:
        if order.room[learned.warp * 32 + trailing_zeros(left)] >= learned.tick:
            return 1
        left = left & left - 1
    return 0


def find_flag(grid: GridHistory, key: u64, make: u32) -> u32:
    """The number of the flag at a host address; the limit if there is no such flag."""
    slot = u32((key >> 2) * 0x9E3779B97F4A7C15 >> 40) % grid.limit
    for _probe in range(grid.limit):
        if grid.flags[slot].key == key:
            return slot
        if grid.flags[slot].key == 0:
            if make == 0:
                return grid.limit
            grid.flags[slot].key = key
            grid.flags[slot].pure = 1
            return slot
        slot = (slot + 1) % grid.limit
    if make != 0:
        grid.lost = 1
        grid.limits = grid.limits | FEW_FLAGS
    return grid.limit
