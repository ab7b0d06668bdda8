"""A CTA starts under racecheck: earlier ones no longer matter."""

from __future__ import annotations

from ptxloom.machine.native.language import address, fill, popcount, u32
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.memory.places import warp_at
from ptxloom.machine.runtime.racecheck.happens_before import operation_at
from ptxloom.machine.runtime.racecheck.operation_ends import replace
from ptxloom.machine.runtime.racecheck.pending_products import drop_products
from ptxloom.machine.runtime.racecheck.vector_clocks import begin, forget_touches
from ptxloom.machine.runtime.state import SHARED, Cta
from ptxloom.machine.runtime.turns import spend


@watching
def start_watch(cta: Cta) -> None:
    """A CTA starts: earlier ones no longer matter."""
    drop_operations(cta)
    drop_products(cta)
    forget_touches(cta.shadow)
    begin(cta)
    start_grid(cta)
    for index in range(cta.launch.warps):
        w = warp_at(cta, index)
        w.since = 0
        w.steps = 0
        w.steps_base = cta.shadow.base
        w.acquired = 0
        w.uneven = 0
        w.own = 0
        w.saw = 0
        w.pointed = 0
        w.read_head = 0
        w.read_done = 0


def drop_operations(cta: Cta) -> None:
    """A CTA starts: operations of the one before it are forgotten."""
    if address(cta.shadow.operations) == 0:
        return
    order = cta.shadow.order
    for index in range(cta.launch.warps):
        w = warp_at(cta, index)
        number = w.operation_tail
        while number != w.operation_head:
            spend(w, 1)
            op = operation_at(w, number)
            if op.source_space == SHARED:
                order.reading = order.reading - popcount(op.reads)
            else:
                order.far_reads = order.far_reads - popcount(op.reads)
            op.reads = 0
            if op.target_space == SHARED:
                for lane in range(32):
                    if op.writes >> lane & 1 != 0:
                        replace(w, number, lane, 0)
            else:
                order.far_writes = order.far_writes - popcount(op.writes)
            op.writes = 0
            number = number + 1
        w.operation_head = 0
        w.operation_tail = 0
        fill(w.groups, 0)
        fill(w.bulk_groups, 0)


def start_grid(cta: Cta) -> None:
    """A CTA starts: it knows nothing of other clusters."""
    order = cta.shadow.order
    if address(order.grid) == 0 or cta.rank != 0:
        return
    if order.running != 0:
        order.grid.events = order.grid.events + 1
        order.grid.over[order.running - 1] = order.grid.events
    order.running = u32(cta.index) + 1
    if address(order.taught) == 0:
        return
    if order.informed != 0:
        fill(order.taught, 0)
        order.informed = 0
    order.clock_count = 0
    order.started = order.clock - 1
