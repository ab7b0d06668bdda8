"""Hazards that do not end a kernel, noted by native code: one record for each kind and instruction, with a count."""

from __future__ import annotations

from ptxloom.machine.native import u32, u64
from ptxloom.machine.runtime.state import Warp


def note(w: Warp, kind: u32, site: u32, lanes: u32, at: u64, other: u32) -> None:
    """Note a hazard of the lanes in `lanes` at an address (0 if there is none).

    `kind` is one of `state`'s event kinds, `other` what its message needs (lanes missing, the other site of a race).
    """
    worker = w.worker
    for index in range(worker.event_count):
        seen = worker.events[index]
        if seen.kind == kind and seen.site == site and seen.other == other:
            seen.count = seen.count + 1
            return
    if worker.event_count >= worker.event_limit:
        return
    event = worker.events[worker.event_count]
    worker.event_count = worker.event_count + 1
    event.kind = kind
    event.site = site
    event.count = 1
    event.mask = lanes
    event.warp = w.index
    event.other = other
    event.address = at
    event.block[0] = w.cta.ctaid[0]
    event.block[1] = w.cta.ctaid[1]
    event.block[2] = w.cta.ctaid[2]
