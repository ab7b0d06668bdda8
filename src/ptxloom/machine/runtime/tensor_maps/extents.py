"""The bytes of shared memory that copies by tensor maps will touch, computed beforehand; reports nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import Slice, copy, i32, length, nothing, u8, u32, u64, view
from ptxloom.machine.runtime.memory.lane_access import find_span, holds, place_window, space_at
from ptxloom.machine.runtime.memory.places import span_bytes
from ptxloom.machine.runtime.state import GENERIC, SHARED_WINDOW, Warp
from ptxloom.machine.runtime.tensor_boxes.decode import decode
from ptxloom.machine.runtime.tensor_boxes.model import MAP_BYTES, TensorCopy
from ptxloom.machine.runtime.tensor_boxes.swizzle import box_bytes, rows_bytes
from ptxloom.machine.runtime.tensor_boxes.walk import inside_to, keep_inside, names_negative, start_walk

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr


def measure_boxes(
    w: Warp,
    mask: u32,
    maps: Ptr[u64],
    coordinates: Annotated[Slice[i32], "256"],
    form: u32,
    stored: u32,
    out: Annotated[Slice[u32], "32"],
    site: u32,
) -> None:
    """How many bytes each lane's box reaches from its start: of one that is `stored`, as far as rows are read.

    0 for what is not a copy, which ends the kernel with its reason when it is made.
    """
    for lane in range(32):
        out[lane] = 0
        if mask >> lane & 1 != 0:
            found = map_bytes(w, lane, maps[lane], site)
            if length(found) != 0:
                t = w.worker.tensor[0]
                copy(view(u8, t.words), found, MAP_BYTES)
                t.picks = form >> 4 & 1
                t.along_width = form >> 7
                if decode(t, form >> 6 & 1) == 0 and t.rank == form & 7 and t.in_columns == form >> 3 & 1:
                    start_walk(t, coordinates, lane)
                    size = box_bytes(t) if stored == 0 else rows_read(t)
                    out[lane] = u32(min(size, 0xFFFFFFFF))


def map_bytes(w: Warp, lane: u32, at: u64, site: u32) -> Slice[u8]:
    """The bytes of a tensor map at a generic address; empty if they are not accessible."""
    if at >= SHARED_WINDOW:
        return place_window(w, lane, at, space_at(at, GENERIC), MAP_BYTES, site)
    found = find_span(w.launch, at)
    if length(found) == 0 or holds(found[0], at, MAP_BYTES) == 0:
        return nothing(u8)
    return span_bytes(found[0], at, MAP_BYTES)


def rows_read(t: TensorCopy) -> u64:
    """The end of the last row that lies inside of the tensor."""
    if inside_to(t) == 0 or t.inner < 0:
        return 0
    for place in range(t.outer):
        if t.point[place] < 0 and t.in_columns == 0:
            return 0
    if names_negative(t) != 0:
        return 0
    behind = keep_inside(t)
    return rows_bytes(t, behind) if behind != 0 else 0
