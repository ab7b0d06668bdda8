"""Whose turn it is: how warps hand control back, and how long they run before others do."""

from __future__ import annotations

from typing import Final

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
YIELD_COST: Final = 16
YIELD_ROUNDS: Final = 128  # of a slice: a budget of calls can take seconds, and the clock is looked at between slices
PATIENCE: Final = 64  # `worker.spins` before more CTAs are admitted

# Every way back costs a warp some of its budget, so that no warp can go on for ever without a look at the others and at
# `launch.stop`: a branch backwards, less a call (recursion ends, and its lanes should come back together), and a little
# whatever else goes by way of `dispatch`.
LOOP_COST: Final = 1 << 12
CALL_COST: Final = LOOP_COST >> 6
DISPATCH_COST: Final = 1
STEP_COST: Final = LOOP_COST >> 4  # of a loop that a tool makes for one instruction (`spending`)
ROUND_STEPS: Final = 1 << 20  # after which a round over the warps of a CTA is cut short
BUDGET: Final = LOOP_COST << 12  # before a warp lets others run
STARVED: Final = 1 << 12  # budgets that other lanes may spend while some wait at an `.aligned` instruction
ROTATION: Final = LOOP_COST << 9  # before waiting lanes of a diverged warp get their turn
