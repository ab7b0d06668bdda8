"""What the four warps of a warpgroup must do alike: `setmaxnreg` and `wgmma` (PTX ISA 9.7.15, 9.7.19.5).

A product is complete when all four have computed their rows: no thread that waits for it goes on before.
"""

from __future__ import annotations

from typing import Final

from ptxloom.machine.native.language import address, u32, u64
from ptxloom.machine.native.standalone import seldom
from ptxloom.machine.runtime.hazards import note
from ptxloom.machine.runtime.memory.places import warp_at
from ptxloom.machine.runtime.racecheck.pending_products import learn_products
from ptxloom.machine.runtime.racecheck.vector_clocks import released
from ptxloom.machine.runtime.state import UNEVEN, WARPGROUP, Cta, Warp

_FACTOR: Final = 0x9E3779B1


def keep_step(w: Warp, site: u32, operands: u64) -> None:
    """A warp executes what its warpgroup must execute alike, with operands that must be alike, too."""
    w.cta.uniform_steps = 1
    w.group_steps = w.group_steps + 1
    w.group_site = site
    w.group_trail = (w.group_trail ^ site + 1) * _FACTOR
    w.group_trail = (w.group_trail ^ u32(operands & 0xFFFFFFFF)) * _FACTOR
    w.group_trail = (w.group_trail ^ u32(operands >> 32)) * _FACTOR


@seldom
def compare_steps(cta: Cta) -> None:
    """A CTA has ended: note warpgroups whose warps have not all executed the same."""
    if cta.uniform_steps == 0:
        return
    for group in range(cta.launch.warps // WARPGROUP):
        most = warp_at(cta, group * WARPGROUP)
        for index in range(1, WARPGROUP):
            w = warp_at(cta, group * WARPGROUP + index)
            if w.group_steps > most.group_steps:
                most = w
        others: u32 = 0
        for index in range(WARPGROUP):
            if warp_at(cta, group * WARPGROUP + index).group_trail != most.group_trail:
                others = others | 1 << group * WARPGROUP + index
        if others != 0:
            note(most, UNEVEN, most.group_site, most.present, 0, others)


def commit_products(w: Warp) -> None:
    """`wgmma.commit_group` of a warp."""
    w.product_groups = w.product_groups + 1
    if address(w.shadow) != 0:
        released(w)
    wake_group(w)


@seldom
def lags(w: Warp, groups: u32) -> u32:
    """1 if a living warp of the warpgroup has not committed `groups` groups of products."""
    first = w.index // WARPGROUP * WARPGROUP
    for index in range(first, min(first + WARPGROUP, w.launch.warps)):
        other = warp_at(w.cta, index)
        if other.live != 0 and other.product_groups < groups:
            return 1
    return 0


@seldom
def wake_group(w: Warp) -> None:
    """Let the warps of a warpgroup go on that wait for products which are complete now."""
    first = w.index // WARPGROUP * WARPGROUP
    for index in range(first, min(first + WARPGROUP, w.launch.warps)):
        other = warp_at(w.cta, index)
        if other.product_waiting != 0 and lags(other, other.product_wanted) == 0:
            if address(w.shadow) != 0:
                learn_products(other, other.product_waiting, other.product_wanted)
            other.blocked = other.blocked & ~other.product_waiting
            other.product_waiting = 0
