"""Calls (PTX ISA 7.1): frames in each lane's local memory, and control data that no address reaches.

A frame holds results, parameters and variables; its first bytes are unused, so that every frame takes some. On the
lane's control stack lie, in cells of eight bytes that the 32 lanes have side by side: the registers that a call keeps;
the block and the frame to go back to; what the caller has taken by `alloca`. In every lane `sp` + its frame + `stack`
<= `local_bytes` and `depth` <= `control_cells`: `has_room` and `allocate` ensure it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, copy, part, u8, u16, u32, u64, view
from ptxloom.machine.runtime.initcheck.slow_path import carry, forget_local, mark_frame
from ptxloom.machine.runtime.memory.lane_access import fault, move
from ptxloom.machine.runtime.memory.places import register_bytes, registers
from ptxloom.machine.runtime.provenance.update_tags import frame_tags
from ptxloom.machine.runtime.state import (
    BAD_CALL,
    BAD_TOKEN,
    CALL_MISMATCH,
    CODE_WINDOW,
    HEAD_CELLS,
    LOCAL,
    NONE,
    STACK_OVERFLOW,
    Warp,
)
from ptxloom.machine.runtime.warps.reconvergence import choose, place_lanes

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def cell(lane: u32, number: u32) -> u64:
    """The offset of a cell of a lane's control stack in the warp's `control`, which loops over lanes look up once."""
    return u64(number) * 32 + u64(lane)


def has_room(w: Warp, lane: u32, caller_bytes: u32, callee_bytes: u32, cells: u32, site: u32) -> u32:
    """1 if a fresh frame and `cells` more cells fit a lane's stacks, else 0 after noting the fault."""
    frames = u64(caller_bytes) + u64(callee_bytes)
    room = w.local_bytes - u64(w.stack[lane]) - u64(w.sp[lane])
    if frames > room or cells > w.control_cells - w.depth[lane]:
        fault(w, STACK_OVERFLOW, site, lane, u64(w.sp[lane]) + u64(caller_bytes), LOCAL, callee_bytes, 1)
        return 0
    forget_local(w, lane, u64(w.sp[lane]) + u64(caller_bytes), callee_bytes)
    return 1


def make_frames(w: Warp, lanes: u32, caller_bytes: u32, callee_bytes: u32, cells: u32, site: u32) -> u32:
    """Before a call: 1 after a fault if any lane's stacks end before its callee's frame does."""
    for lane in range(32):
        if lanes >> lane & 1 != 0 and has_room(w, lane, caller_bytes, callee_bytes, cells, site) == 0:
            return 1
    return 0


def copy_in_frames(w: Warp, lanes: u32, target: u32, source: u32, size: u32) -> None:
    """Copy an argument to the frame that follows, or a result back: within what `has_room` has granted."""
    local = w.local
    room = w.local_bytes
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            own = part(local, u64(lane) * room, room)
            into = part(own, u64(w.sp[lane]) + u64(target), size)
            if size == 4 or size == 8:  # noqa: PLR1714 - as in the native language
                move(into, part(own, u64(w.sp[lane]) + u64(source), size), size)
            else:
                copy(into, part(own, u64(w.sp[lane]) + u64(source), size), u64(size))
    carry(w, lanes, target, source, size)
    if address(w.launch.trail) != 0:
        frame_tags(w, lanes, target, source, size)


def enter(w: Warp, lanes: u32, caller_bytes: u32, kept_cells: u32, back: u32) -> None:
    """Push a frame for each lane, above the registers that the call keeps; there is room."""
    control = w.control
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            top = w.depth[lane] + kept_cells
            control[cell(lane, top)] = u64(back) | u64(w.sp[lane]) << 32
            control[cell(lane, top + 1)] = u64(w.stack[lane])
            w.depth[lane] = top + HEAD_CELLS
            w.sp[lane] = w.sp[lane] + caller_bytes


def give_back(w: Warp, lanes: u32, following: u32) -> u32:
    """Pop a frame of each lane and send it where its caller goes on; the other running lanes go to `following`."""
    place_lanes(w, w.mask & ~lanes, following)
    control = w.control
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            top = w.depth[lane] - HEAD_CELLS
            head = control[cell(lane, top)]
            w.pcs[lane] = u32(head)
            w.sp[lane] = u32(head >> 32)
            w.stack[lane] = u32(control[cell(lane, top + 1)])
            w.depth[lane] = top
    return choose(w)


def request(w: Warp, lanes: u32, number: u32, frame_bytes: u32, result: u32, result_bytes: u32, site: u32) -> None:
    """Ask Python for a service.

    The arguments are in the frame that would be the callee's, and so will the result be.
    """
    worker = w.worker
    worker.service = number
    worker.service_lanes = lanes
    worker.service_frame = frame_bytes
    worker.service_site = site
    if result_bytes != 0:
        mark_frame(w, lanes, frame_bytes + result, result_bytes)


# -- registers of a function that may be called again before it goes on


def save_register(w: Warp, lanes: u32, register: u32, size: u32, offset: u32) -> None:
    """Put a register of each lane (`size` bytes of it; 0: a predicate) into the cell `offset` above its stack's top."""
    source = registers(w, register, register_bytes(size))
    control = w.control
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            kept = part(control, cell(lane, w.depth[lane] + offset), 1)
            if size == 4:
                kept[0] = u64(view(u32, source)[lane])
            elif size == 8:
                kept[0] = view(u64, source)[lane]
            elif size == 0:
                kept[0] = u64(view(u32, source)[0] >> lane & 1)
            elif size == 2:
                kept[0] = u64(view(u16, source)[lane])
            elif size == 1:
                kept[0] = u64(source[lane])
            else:
                kept[0] = view(u64, source)[2 * lane]
                control[cell(lane, w.depth[lane] + offset + 1)] = view(u64, source)[2 * lane + 1]


def restore_register(w: Warp, lanes: u32, register: u32, size: u32, offset: u32) -> None:
    """Take a register of each lane back; the mirror of `save_register`, the stack's top below the kept registers."""
    target = registers(w, register, register_bytes(size))
    control = w.control
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            kept = control[cell(lane, w.depth[lane] + offset)]
            if size == 4:
                view(u32, target)[lane] = u32(kept)
            elif size == 8:
                view(u64, target)[lane] = kept
            elif size == 0:
                mask = view(u32, target)
                mask[0] = mask[0] & ~(1 << lane) | u32(kept) << lane
            elif size == 2:
                view(u16, target)[lane] = u16(kept)
            elif size == 1:
                target[lane] = u8(kept)
            else:
                view(u64, target)[2 * lane] = kept
                view(u64, target)[2 * lane + 1] = control[cell(lane, w.depth[lane] + offset + 1)]


def drop_cells(w: Warp, lanes: u32, cells: u32) -> None:
    """Pop the registers that a call kept from the stack."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            w.depth[lane] = w.depth[lane] - cells


# -- calls through addresses


def find_functions(
    w: Warp,
    lanes: u32,
    addresses: Ptr[u64],
    blocks: Ptr[u32],
    signature: u32,
    caller_bytes: u32,
    cells: u32,
    site: u32,
) -> u32:
    """The first block of the function at each lane's code address, its frame made room for; 1 after a fault.

    The function must take and return what the call passes: the number of its signature is compared.
    """
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            at = addresses[lane]
            number = (at - CODE_WINDOW) // 16
            if at & 15 != 0 or at < CODE_WINDOW or number == 0 or number > w.launch.function_count:
                fault(w, BAD_CALL, site, lane, at, 0, 0, 0)
                return 1
            found = w.launch.functions[number - 1]
            if found.block == NONE:
                fault(w, BAD_CALL, site, lane, at, 0, 0, 0)
                return 1
            if found.signature != signature:
                fault(w, CALL_MISMATCH, site, lane, at, 0, 0, 0)
                return 1
            if has_room(w, lane, caller_bytes, found.frame_bytes, cells, site) == 0:
                return 1
            blocks[lane] = found.block
    return 0


# -- memory on the stack


def allocate(w: Warp, lanes: u32, sizes: Ptr[u64], out: Ptr[u64], alignment: u32, frame_bytes: u32, site: u32) -> u32:
    """`alloca`: take bytes from the end of each lane's local memory; 1 if its stack reaches there."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            low = u64(w.sp[lane]) + u64(frame_bytes)
            end = w.local_bytes - u64(w.stack[lane])
            size = sizes[lane]
            at = end - size & ~u64(alignment - 1)
            if size > end - low or at < low:
                fault(w, STACK_OVERFLOW, site, lane, u64(w.sp[lane]), LOCAL, u32(min(size, w.local_bytes)), 1)
                return 1
            w.stack[lane] = u32(w.local_bytes - at)
            out[lane] = at
            forget_local(w, lane, at, u32(size))
    return 0


def restore_stack(w: Warp, lanes: u32, tokens: Ptr[u64], site: u32) -> u32:
    """`stackrestore`: free what has been taken since a token was made by this call; 1 after a fault."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            before: u64 = 0  # what the callers have taken
            if w.depth[lane] != 0:
                before = w.control[cell(lane, w.depth[lane] - 1)]
            token = tokens[lane]
            if token < before or token > u64(w.stack[lane]):
                fault(w, BAD_TOKEN, site, lane, 0, 0, 0, 0)
                return 1
            w.stack[lane] = u32(token)
    return 0
