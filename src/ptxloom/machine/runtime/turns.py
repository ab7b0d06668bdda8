"""Scheduling turns: how warps hand control back, and how long they run before others do.

Compiled code takes from the budget of its warp whenever it goes back. What a tool does for a single instruction may
take as long as a thousand ways back: it spends in its loops, by steps of about ten nanoseconds, and the warp yields at
its next way back. Where even one instruction of each warp would take too long, the scheduler does not wait for all.
"""

from __future__ import annotations

from typing import Final

from ptxloom.machine.native.language import i32, u32
from ptxloom.machine.native.standalone import standalone
from ptxloom.machine.runtime.state import Warp

# How compiled code hands control back to the scheduler, and the scheduler to Python.
DONE: Final = 0  # the warp has exited; the grid is finished
BLOCKED: Final = 1  # no lane can run: all wait
YIELD: Final = 2  # the budget of loop iterations is spent: let others run
SWITCH: Final = 3  # go on in the other variant of the kernel (whole warp, part of a warp)
FAULT: Final = 4  # the kernel ends here: `worker.fault` says why
WANT_MASKED: Final = 5  # the variant for divergent warps is needed and not compiled yet
DEADLOCK: Final = 6  # every warp waits
STOPPED: Final = 7  # `launch.stop` was set
WANT_CTA: Final = 8  # every resident CTA spins: more room is needed to admit another one
SERVICE: Final = 9  # a warp asks Python for something: `worker.service`
SLICE: Final = 10  # Python may look for signals and the clock, then go on
WANT_POISONED: Final = 11  # the variant that follows poison is needed and not compiled yet
WANT_WHOLE: Final = 13  # the variant for whole warps is needed and not compiled yet
LOST: Final = 12  # lanes are at a block that the kernel does not have: a mistake of the machine's

SLICE_ROUNDS: Final = 256
SLICE_CYCLES: Final = 1 << 25  # that a slice takes at least, about 10 ms: Python lets one thread in at a time
YIELD_COST: Final = 16
YIELD_ROUNDS: Final = 128  # of a slice: a budget of calls can take seconds, and the clock is looked at between slices
PATIENCE: Final = 64  # `worker.spins` before more CTAs are admitted

# Every way back costs a warp some of its budget, so that no warp can go on for ever without a look at the others and at
# `launch.stop`: a branch backwards, less a call (recursion ends, and its lanes should come back together), and a little
# whatever else goes by way of `dispatch`.
LOOP_COST: Final = 1 << 12
CALL_COST: Final = LOOP_COST >> 6
DISPATCH_COST: Final = 1
STEP_COST: Final = LOOP_COST >> 4  # of a loop that a tool makes for one instruction (`spend`)
ROUND_STEPS: Final = 1 << 20  # after which a round over the warps of a CTA is cut short
BUDGET: Final = LOOP_COST << 12  # before a warp lets others run
STARVED: Final = 1 << 12  # budgets that other lanes may spend while some wait at an `.aligned` instruction
ROTATION: Final = LOOP_COST << 9  # before waiting lanes of a diverged warp get their turn

# Elements of loops that are done in a step, as powers of two.
PLAIN: Final = 3  # looked at one by one
QUICK: Final = 6  # joined as vectors


def spend(w: Warp, steps: u32) -> None:
    """Charge some steps of a loop to the budget of its warp."""
    cost = i32(STEP_COST * min(steps, BUDGET // STEP_COST))
    if w.budget > cost:
        w.budget = w.budget - cost
    else:
        overspend(w, steps)


@standalone
def overspend(w: Warp, steps: u32) -> None:
    """The budget of a warp is spent: let its worker know of what that took, and of all steps beyond."""
    w.worker.paused = 1  # this is not spinning
    w.worker.steps = w.worker.steps + (min(steps, BUDGET) if w.budget == 0 else BUDGET // STEP_COST)
    w.budget = 0
