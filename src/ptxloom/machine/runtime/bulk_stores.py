"""`st.bulk`: sets regions of shared memory to zero, lane by lane (PTX ISA 9.7.9.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.language import address, fill, part, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.asynchronous.copies import FACTS
from ptxloom.machine.runtime.counting import count_moved
from ptxloom.machine.runtime.initcheck.slow_path import written_lane
from ptxloom.machine.runtime.memory.lane_access import fault, refuse, shared_place
from ptxloom.machine.runtime.provenance.memory_tags import write_tags
from ptxloom.machine.runtime.racecheck.happens_before import stamp_of
from ptxloom.machine.runtime.racecheck.slow_path import store_stretch
from ptxloom.machine.runtime.state import (
    INVALID,
    OUT_OF_BOUNDS,
    SHARED,
    SHARED_WINDOW,
    WINDOW_BYTES,
    WRONG_SPACE,
    Warp,
)
from ptxloom.machine.runtime.turns import spend

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr

MOST_BYTES: Final = 1 << 24
STEP: Final = 1024  # bytes reported to the tools at once: the scratch holds as many zeros


def clear_shared(w: Warp, mask: u32, targets: Ptr[u64], sizes: Ptr[u32], space: u32, site: u32) -> u32:
    """Lanes set regions to zero; 1 after a fault. A size is a multiple of 8."""
    for lane in range(32):
        if mask >> lane & 1 != 0:
            at = targets[lane]
            size = sizes[lane]
            if space != SHARED and at & ~u64(WINDOW_BYTES - 1) != SHARED_WINDOW:
                refuse(w, WRONG_SPACE, site, lane, at, space, size, 1)
                return 1
            if size & 7 != 0 or size > MOST_BYTES:
                fault(w, INVALID, site, lane, at, space, size, 1)
                return 1
            into = shared_place(w, at & (WINDOW_BYTES - 1), u64(size))
            if address(into) == 0 and size != 0:
                fault(w, OUT_OF_BOUNDS, site, lane, at, space, size, 1)
                return 1
            if size != 0:
                watch_clearing(w, lane, at & (WINDOW_BYTES - 1), size, site)
                count_moved(w, site, 0, u64(size))
                fill(into, 0)
    return 0


@watching
def watch_clearing(w: Warp, lane: u32, at: u64, size: u32, site: u32) -> None:
    """Report to the tools that a lane writes zeros."""
    written_lane(w, lane, at, SHARED, size)
    zeros = part(w.scratch, FACTS, STEP)
    fill(zeros, 0)
    for start in range(0, size, STEP):
        spend(w, 1)
        count = min(size - start, STEP)
        if address(w.shadow) != 0:
            store_stretch(w, lane, at + u64(start), count, stamp_of(w, site), part(zeros, 0, u64(count)))
    if address(w.launch.trail) != 0:
        stage = part(w.launch.trail.stage, 0, 16)
        fill(stage, 0)
        for start in range(0, size, 16):
            spend(w, 1)
            write_tags(w, site, lane, at + u64(start), SHARED, min(size - start, 16), stage, 0)
