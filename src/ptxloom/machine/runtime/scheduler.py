"""Which lanes run next: divergence, convergence and the scheduler of CTAs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import (
    address,
    fill,
    invoke,
    lanes,
    lanes_above,
    lanes_equal,
    lowest,
    set_lanes,
    trailing_zeros,
    u32,
    u64,
    view,
)
from ptxloom.machine.runtime.arrivals import settle_all
from ptxloom.machine.runtime.hazards import note, note_elsewhere
from ptxloom.machine.runtime.initcheck.poison import is_clean
from ptxloom.machine.runtime.initcheck.slow_path import start_marks
from ptxloom.machine.runtime.launch_queue import draw, next_cluster, place_cluster
from ptxloom.machine.runtime.places import warp_at
from ptxloom.machine.runtime.racecheck.async_operations import start_watch
from ptxloom.machine.runtime.state import (
    BLOCKED,
    BUDGET,
    DEADLOCK,
    DIVERGENT,
    DONE,
    EXITED,
    GONE,
    MISSING,
    NONE,
    ROTATION,
    SLICE,
    SLICE_ROUNDS,
    STARVED,
    STOPPED,
    SWITCH,
    WANT_CTA,
    WANT_MASKED,
    WANT_POISONED,
    YIELD,
    YIELD_COST,
    Cta,
    Warp,
    Worker,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr

# -- lanes


def place_lanes(w: Warp, lanes: u32, block: u32) -> None:
    """Put lanes before a block."""
    set_lanes(w.pcs, lanes, block)


def choose(w: Warp) -> u32:
    """Pick the lanes that run next: those at the smallest block number, or in turn; gives a block or NONE.

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
    place_lanes(w, taken, target)
    place_lanes(w, w.mask & ~taken, following)
    return choose(w)


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
    """The budget is spent on the way to `block`: gives a block to go on with, or NONE to yield."""
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
    """The lanes wait for somebody else: give way at the next loop iteration, and cost the scheduler little."""
    w.budget = 0
    w.worker.paused = 1


def converge(w: Warp, block: u32, site: u32, kind: u32) -> u32:
    """Wait at a warp-synchronous instruction (in block `block`); each running lane names its members in the scratch.

    A lane goes on when every live lane among its members is here. Gives `block` if all running lanes go on (lanes that
    waited here join them), another block to run meanwhile, or NONE. A hazard of `kind` is noted (0: none) when lanes
    have to go on without members that wait elsewhere. DIVERGENT is the kind of `.aligned` instructions, at which
    hardware does not wait: their lanes go on as soon as no other lane of the warp can run.
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
    if kind == DIVERGENT:
        w.hasty = w.hasty | here & ~ready
    w.starved = 0
    w.register_changes = 0
    w.register_trail = 0
    fill(w.awaited, 0)
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


def force(w: Warp) -> u32:
    """Nothing in the warp can run: let lanes go on that only wait for each other; gives them.

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


def place_of(w: Warp, lane: u32) -> u32:
    """Where a lane is, as an event's `place` says it: 0 if it has exited."""
    if w.live >> lane & 1 == 0:
        return 0
    if w.blocked & ~w.sync_blocked & 1 << lane != 0 and w.pcs[lane] != 0:
        return 2 * (w.pcs[lane] - 1) + 2  # at the end of the block before: it waits for more than its warp
    return 2 * w.pcs[lane] + 1


def release_synchronised(w: Warp) -> None:
    """Lanes that wait for others of the warp look again: somebody exited."""
    w.blocked = w.blocked & ~w.sync_blocked
    w.sync_blocked = 0


# -- scheduler


def start_warp(w: Warp, mask: u32) -> None:
    """Set a warp up with these lanes."""
    w.mask = mask
    w.live = mask
    w.blocked = 0
    w.sync_blocked = 0
    w.passing = 0
    w.forced = 0
    w.hasty = 0
    w.waited = 0
    w.starved = 0
    w.present = mask
    w.reducing = 0
    w.cluster_arrived = 0
    w.cluster_waiting = 0
    w.cluster_passed = 0
    w.pc = w.launch.entry
    w.pending = NONE
    w.budget = BUDGET
    w.rotate = 0
    w.instructions = 0
    w.traced = 0
    if w.launch.has_calls != 0:
        fill(w.sp, 0)
        fill(w.depth, 0)
        fill(w.stack, 0)


def start_cta(cta: Cta, index: u64) -> None:
    """Set a resident place up for its CTA of cluster `index` of the grid."""
    launch = cta.launch
    cta.index = index
    cta.running = 1
    cta.live_warps = launch.warps
    cta.live_threads = launch.threads
    cta.turn = 0
    place_cluster(launch, index, cta.ctaid)
    member = cta.rank
    cta.ctaid[0] = cta.ctaid[0] + member % launch.cluster[0]
    member = member // launch.cluster[0]
    cta.ctaid[1] = cta.ctaid[1] + member % launch.cluster[1]
    cta.ctaid[2] = cta.ctaid[2] + member // launch.cluster[1]
    fill(cta.shared, 0)
    if cta.waiting != 0:
        fill(cta.barriers, 0)
    cta.waiting = 0
    if address(cta.shadow) != 0:
        start_watch(cta)
    if launch.poison_bytes != 0:
        start_marks(cta)
    cta.cluster_arrived = 0
    cta.refused = 0
    left = launch.threads
    for number in range(launch.warps):
        mask: u32 = NONE
        if left < 32:
            mask = (1 << left) - 1
        else:
            left = left - 32
        start_warp(warp_at(cta, number), mask)


def run_warp(w: Warp) -> u32:
    """Run a warp until it exits, waits, yields or needs somebody."""
    launch = w.launch
    if w.mask == 0 and choose(w) == NONE:
        return BLOCKED
    status: u32 = SWITCH
    while status == SWITCH:
        code = launch.masked
        if w.mask == 0xFFFFFFFF:
            code = launch.full
        if w.poisoned != 0 and w.resume == 0 and is_clean(w) != 0:
            w.poisoned = 0
        if w.poisoned != 0:
            code = launch.poisoned
            if code == 0:
                return WANT_POISONED
        if code == 0:
            return WANT_MASKED
        status = invoke(code, w)
    return status


def run_cta(cta: Cta) -> u32:  # noqa: C901 - one loop, compiled as a whole
    """One round over the warps of a CTA: DONE, BLOCKED (no warp could run), YIELD, or what needs Python."""
    launch = cta.launch
    worker = cta.worker
    progress: u32 = BLOCKED
    spun: u32 = 0
    offset: u32 = 0
    stride: u32 = 1
    if launch.seed != 0:
        chance = draw(worker)
        offset = u32(chance >> 33) % launch.warps
        if chance >> 63 != 0:
            stride = launch.warps - 1
    for _count in range(launch.warps):
        offset = offset % launch.warps
        w = warp_at(cta, offset)
        offset = offset + stride
        if w.live & ~w.blocked != 0:
            status = run_warp(w)
            worker.instructions = worker.instructions + w.instructions
            w.instructions = 0
            if status == DONE:
                cta.live_warps = cta.live_warps - 1
                if progress == BLOCKED:
                    progress = DONE
            elif status == YIELD:
                spun = 1
                if launch.stop != 0:
                    return STOPPED
            elif status == BLOCKED:
                if progress == BLOCKED:
                    progress = DONE
            else:
                worker.service_warp = w.index
                worker.service_cta = address(cta)
                return status
    if spun != 0:
        return YIELD
    return progress


def is_free(worker: Worker, slot: u32) -> u32:
    """Whether no CTA of the cluster at a place runs."""
    for member in range(worker.launch.members):
        if worker.ctas[slot + member].cta.running != 0:
            return 0
    return 1


def run_worker(worker: Worker) -> u32:  # noqa: C901, PLR0912 - one loop, compiled as a whole
    """Run CTAs until the grid is done, or something needs Python."""
    launch = worker.launch
    while True:
        if launch.stop != 0:
            return STOPPED
        busy: u32 = 0
        spinning: u32 = 0
        moved: u32 = 0
        if worker.slice <= 0:
            worker.slice = SLICE_ROUNDS
            return SLICE
        for slot in range(worker.cta_count):
            cta = worker.ctas[slot].cta
            if cta.rank == 0 and (slot == 0 or busy == spinning) and is_free(worker, slot) != 0:
                index = next_cluster(launch)
                if index < launch.total:
                    for member in range(launch.members):
                        start_cta(worker.ctas[slot + member].cta, index)
            if cta.running != 0:
                busy = busy + 1
                status = run_cta(cta)
                worker.slice = worker.slice - 1
                if status == YIELD:
                    spinning = spinning + 1
                    if worker.paused == 0:
                        worker.slice = worker.slice - YIELD_COST
                        worker.spins = worker.spins + YIELD_COST
                    worker.paused = 0
                elif status == BLOCKED:
                    spinning = spinning + 1
                elif status != DONE:
                    return status
                if status != BLOCKED:
                    moved = 1
                if cta.live_warps == 0:
                    cta.running = 0
                    moved = 1
                    spinning = 0
                    worker.spins = 0
        if busy == 0:
            return DONE
        if moved == 0:
            return DEADLOCK
        if spinning == busy and busy == worker.cta_count and launch.next < launch.total:
            worker.spins = worker.spins + 1
            if worker.spins > worker.patience:
                worker.spins = 0
                return WANT_CTA
