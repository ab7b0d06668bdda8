"""Comparing and reducing the values of the lanes that a member mask names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import i32, lanes_equal, set_lanes, u32
from ptxloom.machine.runtime.state import Warp

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, u64

ADD, MIN, MAX, MIN_SIGNED, MAX_SIGNED, AND, OR, XOR = range(8)


def match_any(w: Warp, values: Ptr[u64], members: Ptr[u32], out: Ptr[u32], active: u32) -> None:
    """For each active lane, the members that hold the same value: those who hold one are found together."""
    left = active
    for lane in range(32):
        if left >> lane & 1 != 0:
            value = values[lane]
            same: u32 = 0
            for other in range(32):
                same = same | u32(values[other] == value) << other
            same = same & active
            for other in range(32):
                if same >> other & 1 != 0:
                    out[other] = members[other] & same
            left = left & ~same


def match_all(w: Warp, values: Ptr[u64], members: Ptr[u32], out: Ptr[u32], active: u32) -> u32:
    """For each lane, its members if all hold the same value, else 0; returns the mask of lanes for which they do."""
    equal: u32 = 0
    for lane in range(32):
        others = members[lane] & active
        good: u32 = 1
        for other in range(32):
            if others >> other & 1 != 0 and values[other] != values[lane]:
                good = 0
        out[lane] = 0
        if good != 0:
            out[lane] = others
            equal = equal | 1 << lane
    return equal


def combine(left: u32, right: u32, operation: u32) -> u32:  # noqa: PLR0911 - one case an operation
    """One step of a reduction."""
    if operation == ADD:
        return left + right
    if operation == MIN:
        return min(right, left)
    if operation == MAX:
        return max(right, left)
    if operation == MIN_SIGNED:
        return left if i32(left) < i32(right) else right
    if operation == MAX_SIGNED:
        return left if i32(left) > i32(right) else right
    if operation == AND:
        return left & right
    if operation == OR:
        return left | right
    return left ^ right


def reduce(w: Warp, values: Ptr[u32], members: Ptr[u32], out: Ptr[u32], active: u32, operation: u32) -> None:
    """For each lane, the values of its members reduced to one; lanes with the same members share the work."""
    left: u32 = 0xFFFFFFFF
    for lane in range(32):
        if left >> lane & 1 != 0:
            alike = lanes_equal(members, members[lane])
            others = members[lane] & active
            result: u32 = 0
            first: u32 = 1
            for other in range(32):
                if others >> other & 1 != 0:
                    result = values[other] if first != 0 else combine(result, values[other], operation)
                    first = 0
            set_lanes(out, alike, result)
            left = left & ~alike
