"""What loops cost that a kernel makes long: taken from the budget of its warp, so that the clock is looked at in time.

Compiled code takes from that budget whenever it goes back. What a tool does for a single instruction may take as long
as a thousand ways back: it spends in its loops, by steps of about ten nanoseconds, and the warp yields at its next
way back. Where even one instruction of each warp would take too long, the scheduler does not wait for all of them.
"""

from __future__ import annotations

from typing import Final

from ptxloom.machine.native.language import i32, u32
from ptxloom.machine.native.standalone import standalone
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.turns import BUDGET, STEP_COST

# Elements of loops that are done in a step, as powers of two.
PLAIN: Final = 3  # looked at one by one
QUICK: Final = 6  # joined as vectors


def spend(w: Warp, steps: u32) -> None:
    """Take some steps of a loop from the budget of the warp for which it goes."""
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
