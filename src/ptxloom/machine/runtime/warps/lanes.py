"""Exchange between lanes whose pattern is only known at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import u32
from ptxloom.machine.runtime.state import Warp

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def shuffle(w: Warp, source: Ptr[u32], distances: Ptr[u32], clamps: Ptr[u32], out: Ptr[u32], mode: u32) -> u32:
    """`shfl` (0 up, 1 down, 2 bfly, 3 idx) into `out`; returns the mask of lanes whose source is in range."""
    inside: u32 = 0
    for lane in range(32):
        by = distances[lane] & 31
        clamp = clamps[lane]
        segment = clamp >> 8 & 31
        high = lane & segment | clamp & ~segment & 31
        at = lane
        good: u32 = 0
        if mode == 0:
            at = lane - by
            if by <= lane and at >= high:
                good = 1
        elif mode == 1:
            at = lane + by
            if at <= high:
                good = 1
        elif mode == 2:
            at = lane ^ by
            if at <= high:
                good = 1
        else:
            at = lane & segment | by & ~segment
            if at <= high:
                good = 1
        if good == 0:
            at = lane
        inside = inside | good << lane
        out[lane] = source[at]
    return inside
