"""`tcgen05.commit` publishes what the agents of threads have done at mbarriers (PTX ISA 9.7.16.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import trailing_zeros, u32, u64
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.racecheck.happens_before import me
from ptxloom.machine.runtime.racecheck.pending_products import thread_column
from ptxloom.machine.runtime.racecheck.shared_flags import flag_place
from ptxloom.machine.runtime.racecheck.sync_places import find_sync
from ptxloom.machine.runtime.racecheck.tick_rows import at_row
from ptxloom.machine.runtime.state import CLUSTER_SHIFT, NONE, Warp
from ptxloom.machine.runtime.structs.shadow import SYNCS

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


@watching
def commit_tensor(w: Warp, lanes: u32, addresses: Ptr[u64], space: u32, multicast: u32, ctas: Ptr[u32]) -> None:
    """An mbarrier reports the end of all that lanes have issued; if multicast, those at its place in some CTAs do."""
    left = lanes
    while left != 0:
        lane = trailing_zeros(left)
        left = left & left - 1
        if multicast == 0:
            publish_commit(w, lane, addresses[lane], space)
        else:
            for cta in range(32):
                if ctas[lane] >> cta & 1 != 0:
                    at = addresses[lane] & ~(u64(255) << CLUSTER_SHIFT) | u64(cta + 1) << CLUSTER_SHIFT
                    publish_commit(w, lane, at, space)


def publish_commit(w: Warp, lane: u32, at: u64, space: u32) -> None:
    """The same at one place: what a lane's agent has done, behind `tcgen05.fence::before_thread_sync`, which it is."""
    order = w.shadow.order
    column = thread_column(w, lane)
    host = flag_place(w, at, space)
    if host == 0 or column == NONE:
        return
    sync = find_sync(order, host, 1)
    if sync >= SYNCS:
        return
    row = at_row(order.arriving, order, sync)
    row[order.threads + column] = order.clock
    if order.tensor != 0:
        warps = order.threads // 32
        row[order.tensor + warps + column] = order.clock
        row[order.tensor + me(w, lane) // 32] = order.clock
