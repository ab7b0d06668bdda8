"""What loops cost that a kernel makes long: taken from the budget of its warp, so that the clock is looked at in time.

A loop in compiled code takes from that budget whenever it goes back. What a tool does for one instruction may take as
long as a thousand of these; `spend` lets the warp give way at its next way back.
"""

from __future__ import annotations

from ptxloom.machine.native.language import i32, u32
from ptxloom.machine.runtime.state import BUDGET, STEP_COST, Warp


def spend(w: Warp, steps: u32) -> None:
    """Take some steps of a loop from the budget of the warp for which it goes."""
    w.budget = max(w.budget - i32(STEP_COST * min(steps, BUDGET // STEP_COST)), 0)
