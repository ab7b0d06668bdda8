"""Which warps and CTAs run next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import (
    address,
    cycles,
    fill,
    invoke,
    u32,
    u64,
)
from ptxloom.machine.runtime.initcheck.poison import is_clean
from ptxloom.machine.runtime.initcheck.slow_path import start_marks
from ptxloom.machine.runtime.memory.places import forget_freed, warp_at
from ptxloom.machine.runtime.provenance.memory_tags import start_tags
from ptxloom.machine.runtime.provenance.moments import keep_shared
from ptxloom.machine.runtime.racecheck.watch_start import start_watch
from ptxloom.machine.runtime.state import NONE, Cta, Warp, Worker
from ptxloom.machine.runtime.tensor_cores.ownership import start_tensor_memory
from ptxloom.machine.runtime.turns import (
    BLOCKED,
    BUDGET,
    DEADLOCK,
    DONE,
    ROUND_STEPS,
    SLICE,
    SLICE_ROUNDS,
    STOPPED,
    SWITCH,
    WANT_CTA,
    WANT_MASKED,
    WANT_POISONED,
    WANT_WHOLE,
    YIELD,
    YIELD_COST,
    YIELD_ROUNDS,
)
from ptxloom.machine.runtime.warps.launch_queue import draw, next_cluster, place_cluster
from ptxloom.machine.runtime.warps.reconvergence import choose

if TYPE_CHECKING:
    pass


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
    w.group_steps = 0
    w.group_trail = 0
    w.product_groups = 0
    w.product_waiting = 0
    w.product_done = 0
    w.allocating = 0
    w.paired = 0
    w.given = 0
    w.asking = 0
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
    if address(launch.trail) != 0:
        start_tags(cta)
    if address(cta.tensor) != 0:
        start_tensor_memory(cta.tensor)
    cta.cluster_arrived = 0
    cta.refused = 0
    cta.uniform_steps = 0
    left = launch.threads
    for number in range(launch.warps):
        mask: u32 = NONE
        if left < 32:
            mask = (1 << left) - 1
        else:
            left = left - 32
        start_warp(warp_at(cta, number), mask)


def run_warp(w: Warp) -> u32:
    """Run a warp until it exits, waits, yields or needs a service."""
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
            return WANT_WHOLE if w.mask == 0xFFFFFFFF else WANT_MASKED
        status = invoke(code, w)
    return status


def run_cta(cta: Cta) -> u32:  # noqa: C901, PLR0912 - one loop, compiled as a whole
    """One round over the warps of a CTA: DONE, BLOCKED (no warp could run), YIELD, or what needs Python."""
    launch = cta.launch
    worker = cta.worker
    progress: u32 = BLOCKED
    spun: u32 = 0
    offset = cta.turn
    stride: u32 = 1
    if launch.seed != 0:
        chance = draw(worker)
        offset = u32(chance >> 33) % launch.warps
        if chance >> 63 != 0:
            stride = launch.warps - 1
    cta.turn = 0
    for _count in range(launch.warps):
        offset = offset % launch.warps
        if worker.steps > ROUND_STEPS:
            worker.steps = 0
            worker.slice = 0
            worker.paused = 1
            cta.turn = offset
            return YIELD
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
        forget_freed(worker)
        busy: u32 = 0
        spinning: u32 = 0
        moved: u32 = 0
        if worker.slice <= 0:
            worker.slice = SLICE_ROUNDS
            now = cycles()
            if now == 0 or now - worker.looked >= worker.least:
                worker.looked = now
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
                        worker.slice = worker.slice - YIELD_ROUNDS
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
                    if address(launch.trail) != 0:
                        keep_shared(cta, 0)
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
