"""Waiting for the products of a warpgroup (PTX ISA 9.7.15.7)."""

from __future__ import annotations

from ptxloom.machine.native.language import address, u32
from ptxloom.machine.runtime.racecheck.pending_products import learn_products
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.warps.reconvergence import choose, place_lanes
from ptxloom.machine.runtime.warps.warpgroups import lags


def wait_products(w: Warp, lanes: u32, kept: u32, following: u32) -> u32:
    """`wgmma.wait_group`: lanes go on at `following` once all but the youngest groups are complete; returns a block."""
    place_lanes(w, w.mask, following)
    w.product_wanted = 0 if w.product_groups < kept else w.product_groups - kept
    w.product_done = max(w.product_done, w.product_wanted)
    if lanes != 0 and lags(w, w.product_wanted) != 0:
        w.product_waiting = lanes
        w.blocked = w.blocked | lanes
    elif address(w.shadow) != 0:
        learn_products(w, lanes, w.product_wanted)
    return choose(w)
