"""The bound of every access to memory: whether a range lies within bounds, in 64 bits, whatever the address.

It is `offset <= room - size`, never `offset + size <= room`, whose sum may wrap around. `offset` is a difference from
the start of the room: an address before the start wraps around to one far beyond the end. Native code calls `within`;
code made as LLVM IR has the same comparison from `inside`, for one address or for those of a warp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.ir import Value, count, vector
from ptxloom.machine.native.language import u32, u64

if TYPE_CHECKING:
    from ptxloom.machine.native.ir import Emitter


def within(offset: u64, size: u64, room: u64) -> u32:
    """1 if `size` bytes from `offset` on are within a buffer of `room` bytes.

    Example:
        >>> within(12, 4, 16), within(13, 4, 16), within(2**64 - 4, 4, 16), within(0, 17, 16)
        (1, 0, 0, 0)
    """
    if size > room:
        return 0
    return u32(offset <= room - size)


def inside(e: Emitter, offsets: Value, size: Value, room: Value) -> Value:
    """The same as IR: i1, or one for each of several offsets; `size` and `room` are scalars of the offsets' width."""
    fits = e.compare("uge", room, size)
    last = e.apply("sub", room, size)
    lanes = count(offsets.type)
    if lanes:
        fits, last = e.splat(fits, lanes), e.splat(last, lanes)
    return e.apply("and", e.compare("ule", offsets, last), fits)


def near_lanes(e: Emitter, size: int, room: Value) -> Value:
    """The mask of lanes whose `size` bytes lie in a room, by the 32-bit addresses of the warp in `%low`."""
    lows = Value(vector("i32"), "%low")
    good = inside(e, lows, e.constant("i32", size), room)
    return e.emit("i32", f"bitcast {good} to i32")
