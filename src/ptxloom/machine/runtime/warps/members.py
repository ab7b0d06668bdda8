"""Whether lanes name the right members at a warp-synchronous instruction (PTX ISA 9.7.9.5 and 9.7.13.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.runtime.hazards import note
from ptxloom.machine.runtime.state import ABSENT, MISMATCH, Warp

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, u32


def check_members(w: Warp, masks: Ptr[u32], lanes: u32, site: u32) -> None:
    """Note lanes that are not in their own mask, and lanes whose fellow members name another mask."""
    absent: u32 = 0
    unlike: u32 = 0
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            named = masks[lane]
            if named >> lane & 1 == 0:
                absent = absent | 1 << lane
            for other in range(32):
                if named & lanes & ~(1 << lane) & 1 << other != 0 and masks[other] != named:
                    unlike = unlike | 1 << other
    if absent != 0:
        note(w, ABSENT, site, lanes, 0, absent)
    elif unlike != 0:
        note(w, MISMATCH, site, lanes, 0, unlike)
