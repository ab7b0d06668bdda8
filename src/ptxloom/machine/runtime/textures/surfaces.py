"""The place of an access to a surface (PTX ISA 9.7.11): an address of global memory for each lane that makes one.

On an H200 a row holds as many accesses as fit in whole; the first coordinate is held to them, and has to be a multiple
of the access's size whatever is done about places outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import Slice, copy, i32, i64, length, part, u8, u32, u64
from ptxloom.machine.runtime.memory.lane_access import fault, in_global, refuse
from ptxloom.machine.runtime.memory.places import site_bytes
from ptxloom.machine.runtime.state import GLOBAL, ILLEGAL_SURFACE_ACCESS, Warp
from ptxloom.machine.runtime.structs.texture import (
    BETWEEN_ACCESSES,
    LAYER,
    OTHER_GEOMETRY,
    OUTSIDE,
    SURFACE,
    Image,
)
from ptxloom.machine.runtime.textures.fetch import is_array, texel_offset
from ptxloom.machine.runtime.textures.texels import object_of, refuse_object

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr

# The form of an instruction: its geometry, and what it does outside.
GEOMETRY = 7
HOLDS = 8
IGNORES = 16


def reach_surface(
    w: Warp,
    mask: u32,
    handles: Ptr[u64],
    values: Annotated[Slice[u32], "160"],
    size: u32,
    form: u32,
    site: u32,
) -> u32:
    """Replace each lane's handle by the address of `size` bytes; returns the lanes that have one."""
    reached: u32 = 0
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = object_of(w, lane, handles[lane], SURFACE, site)
            if length(found) != 0 and found[0].geometry != form & GEOMETRY:
                refuse_object(w, lane, handles[lane], OTHER_GEOMETRY, site)
            elif length(found) != 0:
                at = surface_address(w, lane, found[0], values, size, form, site)
                if at != 0:
                    handles[lane] = at
                    reached = reached | 1 << lane
    return reached


def surface_address(
    w: Warp,
    lane: u32,
    image: Image,
    values: Annotated[Slice[u32], "160"],
    size: u32,
    form: u32,
    site: u32,
) -> u64:
    """The address of one lane's access; 0 if it makes no access, after noting the fault if it is one."""
    column = i64(i32(values[lane]))
    row_bytes = i64(image.pitches[0])
    step = i64(size)
    if column % step != 0:
        return refuse_access(w, lane, column, BETWEEN_ACCESSES, site)
    column = column // step
    columns = row_bytes // step
    row = i64(i32(values[32 + lane]))
    depth = i64(i32(values[64 + lane]))
    layer = i64(values[32 * LAYER + lane])
    layers = i64(image.layers) if is_array(form & GEOMETRY) else i64(1)
    is_there = is_one_of(column, columns) and is_one_of(row, i64(image.heights[0]))
    is_there = is_there and is_one_of(depth, i64(image.depths[0])) and is_one_of(layer, layers)
    if not is_there:
        if form & IGNORES != 0 or columns == 0:
            return 0
        if form & HOLDS == 0:
            return refuse_access(w, lane, column, OUTSIDE, site)
    column = held(column, columns)
    row = held(row, i64(image.heights[0]))
    plane = held(depth, i64(image.depths[0])) + held(layer, layers)
    return image.starts[0] + texel_offset(image, 0, 0, row, plane) + u64(column * step)


def surface_bytes(w: Warp, lane: u32, at: u64, size: u64, is_write: u32, site: u32) -> Slice[u8]:
    """Bytes of a surface, whose rows may start anywhere; nothing after noting the fault."""
    kind = in_global(w, at, size, is_write, site)
    if kind != 0:
        return refuse(w, kind, site, lane, at, GLOBAL, u32(size), is_write)
    return site_bytes(w.sites[site], at, size)


def move_surface(
    w: Warp,
    values: Annotated[Slice[u8], "32 * size * parts"],
    addresses: Ptr[u64],
    mask: u32,
    size: u32,
    parts: u32,
    is_write: u32,
    site: u32,
) -> u32:
    """Load or store `parts` values of `size` bytes, lane by lane: number n of lane l is values[(n * 32 + l) * size]."""
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = surface_bytes(w, lane, addresses[lane], u64(size * parts), is_write, site)
            if length(found) == 0:
                return 1
            for number in range(parts):
                inside = part(found, number * size, size)
                value = part(values, (number * 32 + lane) * size, size)
                if is_write != 0:
                    copy(inside, value, u64(size))
                else:
                    copy(value, inside, u64(size))
    return 0


def refuse_access(w: Warp, lane: u32, column: i64, reason: u32, site: u32) -> u64:
    """Record why an access cannot be made; returns 0."""
    if w.worker.fault[0].kind == 0:
        w.worker.fault[0].reason = reason
    fault(w, ILLEGAL_SURFACE_ACCESS, site, lane, u64(column), GLOBAL, 0, 0)
    return 0


def is_one_of(index: i64, count: i64) -> bool:
    """Whether an index is at least 0 and below `count`."""
    return index >= 0 and index < count


def held(index: i64, count: i64) -> i64:
    """An index clamped to 0 and `count` - 1."""
    return max(i64(0), min(index, count - 1))
