"""Calls: frames in each lane's local memory, arguments and results copied between them (PTX ISA 7.1).

A frame starts with the block to return to, the bytes of the caller's frame and what the caller has from `alloca` (4
bytes each); results, parameters, variables and kept registers follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native import address, copy, pointer, u32, u64
from ptxloom.machine.runtime.firsts import carry, forget_local, mark_frame
from ptxloom.machine.runtime.memory import fault
from ptxloom.machine.runtime.state import BAD_CALL, CODE_WINDOW, LOCAL, NONE, STACK_OVERFLOW, Warp
from ptxloom.machine.runtime.warps import choose, place_lanes

if TYPE_CHECKING:
    from ptxloom.machine.native import Ptr

RESULT = 16  # where a called function's results lie in its frame
RESULT_BYTES = 16  # of a service


def frame(w: Warp, lane: u32) -> u64:
    """The host address of a lane's frame."""
    return w.local + u64(lane) * w.local_bytes + u64(w.sp[lane])


def pass_argument(w: Warp, lanes: u32, target: u32, source: u32, size: u32, site: u32) -> u32:
    """Copy an argument from each lane's frame to the frame that follows; 1 if the stack ends before it."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            if u64(w.sp[lane]) + u64(target + size) > w.local_bytes:
                fault(w, STACK_OVERFLOW, site, lane, u64(w.sp[lane]), LOCAL, size, 1)
                return 1
            at = frame(w, lane)
            copy(at + u64(target), at + u64(source), u64(size))
    carry(w, lanes, target, source, size)
    return 0


def copy_in_frames(w: Warp, lanes: u32, target: u32, source: u32, size: u32) -> None:
    """Copy bytes within reach of each lane's frame."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            at = frame(w, lane)
            copy(at + u64(target), at + u64(source), u64(size))
    carry(w, lanes, target, source, size)


def enter(w: Warp, lanes: u32, caller_bytes: u32, callee_bytes: u32, back: u32, site: u32) -> u32:
    """Push a frame for each lane; 1 if the stack ends before it."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            at = w.sp[lane] + caller_bytes
            if u64(at + callee_bytes + w.stack[lane]) > w.local_bytes:
                fault(w, STACK_OVERFLOW, site, lane, u64(at), LOCAL, callee_bytes, 1)
                return 1
            w.sp[lane] = at
            head = pointer(u32, frame(w, lane))
            head[0] = back
            head[1] = caller_bytes
            head[2] = w.stack[lane]
    return 0


def request(w: Warp, lanes: u32, number: u32, frame_bytes: u32, site: u32) -> None:
    """Ask Python for a service; the arguments lie in the frame that would be the callee's."""
    worker = w.worker
    worker.service = number
    worker.service_lanes = lanes
    worker.service_frame = frame_bytes
    worker.service_site = site
    mark_frame(w, lanes, frame_bytes + RESULT, RESULT_BYTES)


def give_back(w: Warp, lanes: u32, following: u32) -> u32:
    """Pop a frame of each lane and send it where its caller goes on; the other running lanes go to `following`."""
    place_lanes(w, w.mask & ~lanes, following)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            head = pointer(u32, frame(w, lane))
            w.pcs[lane] = head[0]
            w.stack[lane] = head[2]
            w.sp[lane] = w.sp[lane] - head[1]
    return choose(w)


def keep_register(w: Warp, lanes: u32, register: u32, size: u32, offset: u32, restore: u32) -> None:
    """Save a register of each lane in its frame, or restore it; `size` is 0 for a predicate."""
    place = address(w) + u64(register)
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            kept = frame(w, lane) + u64(offset)
            if size == 0:
                bits = pointer(u32, place)
                saved = pointer(u32, kept)
                if restore == 0:
                    saved[0] = bits[0] >> lane & 1
                else:
                    bits[0] = bits[0] & ~(1 << lane) | saved[0] << lane
            elif restore == 0:
                copy(kept, place + u64(lane * size), u64(size))
            else:
                copy(place + u64(lane * size), kept, u64(size))


def find_functions(w: Warp, lanes: u32, addresses: Ptr[u64], blocks: Ptr[u32], site: u32) -> u32:
    """The first block of the function at each lane's code address; 1 if some lane's is no function."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            at = addresses[lane]
            number = (at - CODE_WINDOW) // 16
            if at < CODE_WINDOW or number == 0 or number > w.launch.function_count:
                fault(w, BAD_CALL, site, lane, at, 0, 0, 0)
                return 1
            blocks[lane] = w.launch.functions[number - 1]
            if blocks[lane] == NONE:
                fault(w, BAD_CALL, site, lane, at, 0, 0, 0)
                return 1
    return 0


def allocate(w: Warp, lanes: u32, sizes: Ptr[u32], out: Ptr[u64], alignment: u32, frame_bytes: u32, site: u32) -> u32:
    """`alloca`: take bytes from the end of each lane's local memory; 1 if its stack reaches there."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            taken = u64(w.stack[lane]) + u64(sizes[lane])
            at = w.local_bytes - taken & ~u64(alignment - 1)
            if taken > w.local_bytes or u64(w.sp[lane] + frame_bytes) > at:
                fault(w, STACK_OVERFLOW, site, lane, u64(w.sp[lane]), LOCAL, sizes[lane], 1)
                return 1
            w.stack[lane] = u32(w.local_bytes - at)
            out[lane] = at
            forget_local(w, lane, at, sizes[lane])
    return 0
