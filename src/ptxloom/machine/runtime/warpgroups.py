"""What the four warps of a warpgroup must do alike: `setmaxnreg` (PTX ISA 9.7.19.5)."""

from __future__ import annotations

from typing import Final

from ptxloom.machine.native.language import u32
from ptxloom.machine.runtime.hazards import note
from ptxloom.machine.runtime.places import warp_at
from ptxloom.machine.runtime.state import UNEVEN, Cta, Warp

WARPGROUP: Final = 4  # warps
_FACTOR: Final = 0x9E3779B1


def change_registers(w: Warp, site: u32) -> None:
    """A warp executes `setmaxnreg`."""
    w.register_changes = w.register_changes + 1
    w.register_site = site
    w.register_trail = (w.register_trail ^ site + 1) * _FACTOR


def compare_registers(cta: Cta) -> None:
    """A CTA has ended: note warpgroups whose warps have not all executed the same `setmaxnreg`."""
    for group in range(cta.launch.warps // WARPGROUP):
        most = warp_at(cta, group * WARPGROUP)
        for index in range(1, WARPGROUP):
            w = warp_at(cta, group * WARPGROUP + index)
            if w.register_changes > most.register_changes:
                most = w
        others: u32 = 0
        for index in range(WARPGROUP):
            if warp_at(cta, group * WARPGROUP + index).register_trail != most.register_trail:
                others = others | 1 << group * WARPGROUP + index
        if others != 0:
            note(most, UNEVEN, most.register_site, most.present, 0, others)
