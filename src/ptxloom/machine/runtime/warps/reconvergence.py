"""Which lanes of a warp run next: divergence and reconvergence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import (
    lanes,
    lanes_above,
    lanes_equal,
    lowest,
    set_lanes,
    trailing_zeros,
    u32,
    view,
)
from ptxloom.machine.native.standalone import seldom
from ptxloom.machine.runtime.hazards import note, note_elsewhere
from ptxloom.machine.runtime.state import DIVERGENT, EXITED, GONE, MISSING, NONE, Warp
from ptxloom.machine.runtime.turns import BUDGET, ROTATION, STARVED
from ptxloom.machine.runtime.warps.arrivals import settle_all

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def place_lanes(w: Warp, lanes: u32, block: u32) -> None:
    """Put lanes before a block."""
    set_lanes(w.pcs, lanes, block)


def choose(w: Warp) -> u32:
    """Pick the lanes that run next: those at the smallest block number, or in turn; returns a block or NONE.

    `w.rotate` asks for the group after the current block in cyclic order, which then runs undisturbed.
    """
    runnable = w.live & ~w.blocked
    if runnable == 0 and w.sync_blocked != 0:
        runnable = force(w)
    if runnable == 0:
        w.mask = 0
        return NONE
    chosen = lowest(w.pcs, runnable)
    if w.rotate != 0:
        later = runnable & lanes_above(w.pcs, w.pc)
        if later != 0:
            chosen = lowest(w.pcs, later)
    mask = runnable & lanes_equal(w.pcs, chosen)
    pending = lowest(w.pcs, runnable & ~mask)
    w.mask = mask
    w.pc = chosen
    w.pending = NONE if w.rotate != 0 else pending
    if runnable != mask:
        w.budget = min(w.budget, ROTATION)
    w.rotate = 0
    return chosen


def go(w: Warp, block: u32) -> u32:
    """The running lanes go to a block, but others wait at it or before it."""
    place_lanes(w, w.mask, block)
    return choose(w)


def diverge(w: Warp, taken: u32, target: u32, following: u32) -> u32:
    """Some running lanes take a branch, the rest fall through."""
    rest = w.mask & ~taken
    place_lanes(w, taken, target)
    place_lanes(w, rest, following)
    if w.mask != w.live & ~w.blocked or w.rotate != 0 or target == following or taken == 0 or rest == 0:
        return choose(w)
    chosen = min(target, following)  # as `choose` picks if no other lanes can run
    w.mask = taken if target < following else rest
    w.pc = chosen
    w.pending = max(target, following)
    w.budget = min(w.budget, ROTATION)
    return chosen


def scatter(w: Warp, lanes: u32) -> u32:
    """Running lanes go where `scratch` (32 block numbers) says, lane by lane."""
    blocks = view(u32, w.scratch)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            w.pcs[lane] = blocks[lane]
    return choose(w)


def leave(w: Warp, lanes: u32, following: u32, site: u32) -> u32:
    """Lanes exit at an instruction; the rest of the running lanes goes on at `following`."""
    rest = w.mask & ~lanes
    w.live = w.live & ~lanes
    place_lanes(w, rest, following)
    settle_all(w, lanes, site)
    release_synchronised(w)
    return choose(w)


def leave_whole(w: Warp, site: u32) -> None:
    """All running lanes exit at an instruction, and no other lane of the warp can run."""
    w.live = w.live & ~w.mask
    settle_all(w, w.mask, site)
    w.mask = 0


def tick(w: Warp, block: u32) -> u32:
    """The budget is spent on the way to `block`: returns a block to go on with, or NONE to yield."""
    w.pc = block
    if w.launch.stop != 0:
        place_lanes(w, w.mask, block)
        return NONE
    if w.mask != w.live & ~w.blocked:
        place_lanes(w, w.mask, block)
        w.rotate = 1
        w.budget = ROTATION
        w.worker.random = w.worker.random + 1
        if w.worker.random & 15 != 0:
            return choose(w)
        w.mask = 0  # the next round starts with those whose turn it is
        return NONE
    w.budget = BUDGET
    place_lanes(w, w.mask, block)
    if w.sync_blocked & w.hasty != 0 and w.worker.paused == 0:
        w.starved = w.starved + 1
        if w.starved > STARVED:
            force(w)
            return choose(w)
    return NONE


def pause(w: Warp) -> None:
    """The lanes wait for other threads: yield at the next loop iteration, and cost the scheduler little."""
    w.budget = 0
    w.worker.paused = 1


def converge(w: Warp, block: u32, site: u32, kind: u32, hasty: u32) -> u32:
    """Wait at a warp-synchronous instruction (in block `block`); each running lane names its members in the scratch.

    A lane goes on when every live lane among its members is here. Returns `block` if all running lanes go on (lanes
    that waited join them), another block to run meanwhile, or NONE. A hazard of `kind` is noted (0: none) when lanes
    have to go on without members that wait elsewhere. At `.aligned` instructions lanes are `hasty`: hardware does not
    wait there, and they go on as soon as no other lane of the warp can run.
    """
    named = lanes(view(u32, w.scratch))
    if w.mask & ~w.passing == 0:
        go_on(w, named[trailing_zeros(w.mask)], site, kind)
        return block
    arrive(w, named)
    here = w.mask
    for lane in range(32):
        if w.sync_blocked >> lane & 1 != 0 and w.pcs[lane] == block:
            here = here | 1 << lane
    ready: u32 = 0
    for lane in range(32):
        if here >> lane & 1 != 0 and w.members[lane] & w.live & ~here == 0:
            ready = ready | 1 << lane
    w.sync_blocked = (w.sync_blocked | here) & ~ready
    w.blocked = (w.blocked | here) & ~ready
    w.waited = (w.waited | here) & ~ready
    w.hasty = w.hasty & ~here
    if hasty != 0:
        w.hasty = w.hasty | here & ~ready
    w.starved = 0
    if ready == here:
        w.mask = here
        w.pc = block
        return block
    place_lanes(w, w.mask, block)
    w.passing = w.passing | ready
    return choose(w)


def arrive(w: Warp, named: Ptr[u32]) -> None:
    """Keep whom each running lane waits for, and who lived when it first came."""
    for lane in range(32):
        if w.mask >> lane & 1 != 0:
            w.members[lane] = named[lane]
            if w.waited >> lane & 1 == 0:
                w.witnesses[lane] = w.live


def note_absent(w: Warp, site: u32) -> None:
    """Note that lanes of the warp have exited before an instruction that wants the whole warp, or never were."""
    gone = w.present & ~w.live
    if gone != 0:
        lived: u32 = 0
        for lane in range(32):
            if w.mask >> lane & 1 != 0:
                lived = lived | w.witnesses[lane]
        if gone & lived != 0:  # they went another way, then exited
            note(w, DIVERGENT, site, w.mask, 0, gone & lived)
        if gone & ~lived != 0:
            note(w, EXITED, site, w.mask, 0, gone & ~lived)
    if w.present != 0xFFFFFFFF:
        note(w, MISSING, site, w.mask, 0, ~w.present)


def note_gone(w: Warp, site: u32) -> None:
    """Note that running lanes name members (in the scratch) that have exited."""
    named = lanes(view(u32, w.scratch))
    gone: u32 = 0
    for lane in range(32):
        if w.mask >> lane & 1 != 0:
            gone = gone | named[lane]
    gone = gone & w.present & ~w.live
    if gone != 0:
        note(w, GONE, site, w.mask, 0, gone)


def go_on(w: Warp, members: u32, site: u32, kind: u32) -> None:
    """The running lanes pass a warp-synchronous instruction that they have waited at."""
    missing = members & w.live & ~w.mask
    if kind != 0 and missing != 0 and w.forced & w.mask != 0:
        note_elsewhere(w, kind, site, w.mask, 0, missing, w.elsewhere[trailing_zeros(missing)])
    w.passing = w.passing & ~w.mask
    w.forced = w.forced & ~w.mask
    w.waited = w.waited & ~w.mask


@seldom
def force(w: Warp) -> u32:
    """If nothing in the warp can run: release lanes that only wait for each other; returns them.

    First those at `.aligned` instructions; else those whose members all wait at warp-synchronous ones.
    """
    stuck = w.sync_blocked & w.hasty
    if stuck == 0:
        for lane in range(32):
            if w.sync_blocked >> lane & 1 != 0 and w.members[lane] & w.live & ~w.sync_blocked == 0:
                stuck = stuck | 1 << lane
    for lane in range(32):
        w.elsewhere[lane] = place_of(w, lane)
    w.sync_blocked = w.sync_blocked & ~stuck
    w.blocked = w.blocked & ~stuck
    w.hasty = w.hasty & ~stuck
    w.passing = w.passing | stuck
    w.forced = w.forced | stuck
    return stuck


@seldom
def place_of(w: Warp, lane: u32) -> u32:
    """Where a lane is, as in an event's `place`: 0 if it has exited."""
    if w.live >> lane & 1 == 0:
        return 0
    if w.blocked & ~w.sync_blocked & 1 << lane != 0 and w.pcs[lane] != 0:
        return 2 * (w.pcs[lane] - 1) + 2  # at the end of the block before: it waits for more than its warp
    return 2 * w.pcs[lane] + 1


def release_synchronised(w: Warp) -> None:
    """Lanes that wait for others of the warp look again: a lane exited."""
    w.blocked = w.blocked & ~w.sync_blocked
    w.sync_blocked = 0
