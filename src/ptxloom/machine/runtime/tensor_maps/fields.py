"""`tensormap.replace` and `tensormap.cp_fenceproxy`: a tensor map changed field by field, and copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.language import Slice, address, copy, u8, u32, u64, view
from ptxloom.machine.runtime.memory.lane_access import place, refuse
from ptxloom.machine.runtime.state import GENERIC, GLOBAL, MISALIGNED, SHARED, SHARED_WINDOW, Warp
from ptxloom.machine.runtime.tensor_boxes.model import B4, F32_FTZ, MAP_ALIGNMENT, MAP_BYTES

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr

# Fields, as the instruction names them.
FIELDS: Final = (
    "global_address", "rank", "global_stride", "box_dim", "global_dim", "element_stride",
    "elemtype", "interleave_layout", "swizzle_mode", "fill_mode", "swizzle_atomicity",
)  # fmt: skip
ADDRESS, RANK, STRIDE, BOX, EXTENT, STEP, TYPE, INTERLEAVE, SWIZZLE, FILL, ATOM = range(11)
TF32: Final = 11  # as the instruction numbers types, which is as maps do except for these
TF32_FTZ: Final = 12
FIRST_NARROW: Final = 13  # .b4x16, .b4x16_p64 and .b6x16_p32 follow tf32, in maps BF16
SWIZZLE_96: Final = 4


def map_place(w: Warp, lane: u32, at: u64, space: u32, write: u32, site: u32) -> Slice[u8]:
    """The bytes of a tensor map; nothing after a fault. Host arrays stand for device memory, which starts at 256s."""
    found = place(w, lane, at, space, MAP_BYTES, write, site)
    if address(found) == 0:
        return found
    start: u64 = 0
    if space == GLOBAL or (space == GENERIC and at < SHARED_WINDOW):
        start = w.sites[site].start
    if at - start & (MAP_ALIGNMENT - 1) != 0:
        return refuse(w, MISALIGNED, site, lane, at, space, MAP_ALIGNMENT, write)
    return found


def replace_field(
    w: Warp, mask: u32, addresses: Ptr[u64], values: Ptr[u64], field: u32, ordinal: u32, space: u32, site: u32
) -> u32:
    """Lanes set a field, of one dimension where it has several, each in a map of its own; 1 after a fault."""
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = map_place(w, lane, addresses[lane], space, 1, site)
            if address(found) == 0:
                return 1
            words = view(u32, found)
            value = values[lane]
            if field == ADDRESS:
                words[0] = u32(value)
                words[1] = u32(value >> 32)
            elif field < TYPE:
                set_extent(words, field, ordinal, value)
            else:
                set_mode(words, field, u32(value))
    return 0


def set_bits(words: Slice[u32], number: u32, at: u32, count: u32, value: u32) -> None:
    """Some bits of a word, fewer than all."""
    mask = (1 << count) - 1 << at
    words[number] = words[number] & ~mask | value << at & mask


def set_extent(words: Slice[u32], field: u32, ordinal: u32, value: u64) -> None:
    """A number of a dimension."""
    low = u32(value)
    if field == RANK:
        set_bits(words, 2, 4, 3, low)
    elif field == STRIDE:
        words[3 + min(ordinal, 3)] = u32(value >> 4)
        set_bits(words, 7, 4 * min(ordinal, 3), 4, u32(value >> 36))
    elif field == EXTENT:
        words[8 + min(ordinal, 4)] = low - 1
    elif field == STEP:
        set_bits(words, 13, 3 * min(ordinal, 4), 3, low - 1)
    elif ordinal == 0:
        set_bits(words, 13, 24, 8, low - 1)
    else:
        set_bits(words, 14, 8 * (min(ordinal, 4) - 1), 8, low - 1)


def set_mode(words: Slice[u32], field: u32, value: u32) -> None:
    """A type or a mode, by its number; what came with sm_100 where ptxas's own code for it has it."""
    if field == INTERLEAVE:
        set_bits(words, 2, 11, 2, value)
    elif field == SWIZZLE:
        set_bits(words, 2, 13, 2, 0 if value == SWIZZLE_96 else value)
        set_bits(words, 2, 22, 1, u32(value == SWIZZLE_96))
    elif field == ATOM:
        set_bits(words, 2, 19, 2, value)
    elif field == FILL:
        set_bits(words, 2, 15, 1, value)
    else:
        set_type(words, value)


def set_type(words: Slice[u32], value: u32) -> None:
    """The type of elements: tf32 are two of f32 that are rounded."""
    rounds: u32 = 0
    kind = value
    if value == TF32 or value == TF32_FTZ:  # noqa: PLR1714, SIM109 - native code has no sets
        rounds = 1
        kind = F32_FTZ - (TF32_FTZ - value)
    elif value >= FIRST_NARROW:
        kind = B4 + (value - FIRST_NARROW)
    set_bits(words, 2, 7, 4, kind)
    set_bits(words, 2, 16, 1, rounds)


def copy_map(w: Warp, lanes: u32, targets: Ptr[u64], sources: Ptr[u64], site: u32) -> u32:
    """`tensormap.cp_fenceproxy`: lanes copy maps from shared to global memory; 1 after a fault."""
    for lane in range(32):
        if lanes >> lane & 1 != 0:
            source = place(w, lane, sources[lane], SHARED, MAP_BYTES, 0, site)
            if address(source) == 0:
                return 1
            into = map_place(w, lane, targets[lane], GLOBAL, 1, site)
            if address(into) == 0:
                return 1
            copy(into, source, MAP_BYTES)
    return 0
