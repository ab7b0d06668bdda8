"""Whether lanes name the right members at a warp-synchronous instruction (PTX ISA 9.7.9.5 and 9.7.13.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import lanes_equal, u32
from ptxloom.machine.runtime.hazards import note
from ptxloom.machine.runtime.state import ABSENT, MISMATCH, Warp

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def check_members(w: Warp, masks: Ptr[u32], lanes: u32, site: u32) -> None:
    """Note lanes that are not in their own mask, and lanes whose fellow members name another mask."""
    absent: u32 = 0
    unlike: u32 = 0
    left = lanes
    for lane in range(32):
        if left >> lane & 1 != 0:
            named = masks[lane]
            alike = lanes_equal(masks, named) & lanes
            absent = absent | alike & ~named
            unlike = unlike | named & lanes & ~alike
            left = left & ~alike
    if absent != 0:
        note(w, ABSENT, site, lanes, 0, absent)
    elif unlike != 0:
        note(w, MISMATCH, site, lanes, 0, unlike)
