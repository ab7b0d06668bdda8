"""What tools do for single instructions may be long: the clock and Ctrl-C are looked at meanwhile, too."""

from __future__ import annotations

from typing import Final

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.machine.launch import worker

CHECKS: Final = ("racecheck", "racecheck:global")
THREADS: Final = 1024
_KERNEL: Final = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>; .shared .align 128 .b8 tile[4096];
  ld.param.u64 %d1, [out]; mov.u32 %r1, 0; mov.u32 %r0, %tid.x; mov.u32 %r4, tile; shl.b32 %r5, %r0, 2;
  add.u32 %r5, %r5, %r4;
L: {code}
  add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, {rounds}; @%p bra L;
  ret;
}}
"""
# What is done, and how often: far less often than the ways back that a warp may take before it lets others run.
COSTLY: Final = {
    "a word of global memory": ("ld.global.u32 %r2, [%d1]; st.global.u32 [%d1], %r2;", 60),
    "an atomic in global memory": ("atom.global.add.u32 %r2, [%d1], 1;", 600),
    "a flag in global memory": ("atom.acq_rel.gpu.global.add.u32 %r2, [%d1], 1;", 60),
    "an atomic in shared memory": ("atom.shared.add.u32 %r2, [%r4], 1; ld.volatile.shared.u32 %r3, [%r4];", 100),
    "copies that nobody waits for": ("cp.async.ca.shared.global [%r5], [%d1], 4;", 200),
    "a bulk copy a lane": ("cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r4], 4096;", 1),
}


class Clock:
    """A clock that goes on by one whenever it is looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def check(self) -> None:
        """Look at it."""
        self.looks += 1


@pytest.mark.parametrize(("code", "rounds"), COSTLY.values(), ids=COSTLY)
def test_the_clock_is_looked_at_while_a_tool_works(code: str, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(worker.interrupts, "check", clock.check)
    kernel = pl.kernel(pl.parse(_KERNEL.format(code=code, rounds=rounds)), "k")
    kernel.launch(1, THREADS, [np.zeros(1024, np.uint32)], checks=CHECKS, threads=1)
    clock.looks = 0
    kernel.launch(1, THREADS, [np.zeros(1024, np.uint32)], checks=CHECKS, threads=1)
    assert clock.looks > 1
