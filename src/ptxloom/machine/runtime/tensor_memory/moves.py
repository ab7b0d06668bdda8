"""`tcgen05.ld` and `tcgen05.st`: between registers of a warp and its quarter of tensor memory (PTX ISA 9.7.16.8).

Which lane's register is which place is a sum: what the lane adds, and what the register does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import address, copy, part, trailing_zeros, u8, u32, u64, view
from ptxloom.machine.native.watching import watching
from ptxloom.machine.runtime.hazards import note, note_access
from ptxloom.machine.runtime.memory.lane_access import fault
from ptxloom.machine.runtime.provenance.tensor_tags import load_words_tags, store_words_tags
from ptxloom.machine.runtime.racecheck.tensor_accesses import LOADS, STORES, add_lanes, begin_touch, touch_tensor
from ptxloom.machine.runtime.state import OTHER_QUARTER, OUT_OF_BOUNDS, TENSOR, UNWRITTEN, Warp
from ptxloom.machine.runtime.tensor_cores.marks import mark_word, missing_word
from ptxloom.machine.runtime.tensor_cores.model import (
    BAD_LANE,
    QUARTER_LANES,
    QUARTERS,
    REGISTER_BYTES,
    TENSOR_LANES,
    WORDS,
    TensorMemory,
)
from ptxloom.machine.runtime.tensor_cores.ownership import holds_columns
from ptxloom.machine.runtime.tensor_memory.allocation import illegal

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr, Slice


def first_word(w: Warp, lanes: u32, taddr: u32, rows: u32, columns: u32, write: u32, site: u32) -> u32:
    """The word that an address of a warp means, which reaches its own quarter alone; WORDS after a fault."""
    quarter = w.index % QUARTERS
    lane = taddr >> 16
    column = taddr & 0xFFFF
    if lane % QUARTER_LANES + rows > QUARTER_LANES or lane >= TENSOR_LANES:
        illegal(w, BAD_LANE, site, lanes, u64(taddr))
        return WORDS
    if holds_columns(w.cta.tensor, column, columns) == 0:
        fault(w, OUT_OF_BOUNDS, site, 0, u64(taddr), TENSOR, 4 * columns, write)
        return WORDS
    named = lane // QUARTER_LANES
    if named != 0 and named != quarter:  # noqa: PLR1714 - native code has no sets
        note(w, OTHER_QUARTER, site, lanes, u64(taddr), 0)
    return column * TENSOR_LANES + quarter * QUARTER_LANES + lane % QUARTER_LANES


@watching
def touch_words(
    w: Warp, lanes: u32, first: u32, rows: u32, columns: u32, split: u32, does: u32, writes: u32, site: u32
) -> None:
    """Report to racecheck what a warp loads or stores, rows of its quarter: some columns and as many `split` on."""
    begin_touch(w, trailing_zeros(lanes), does, 0, site)
    add_lanes(w, first % TENSOR_LANES, rows)
    column = first // TENSOR_LANES
    touch_tensor(w, w.cta, column, columns - split, writes)
    if split != 0:
        touch_tensor(w, w.cta, column + split, columns - split, writes)


def load_words(
    w: Warp,
    lanes: u32,
    taddr: u32,
    into: Annotated[Slice[u8], "count * 128"],
    steps: Ptr[u32],
    starts: Annotated[Slice[u32], "count"],
    count: u32,
    rows: u32,
    columns: u32,
    split: u32,
    packed: u32,
    site: u32,
) -> u32:
    """Registers from tensor memory, one after the other; 1 after a fault."""
    if lanes == 0:
        return 0
    first = first_word(w, lanes, taddr, rows, columns, 0, site)
    if first == WORDS:
        return 1
    touch_words(w, lanes, first, rows, columns, split, LOADS, 0, site)
    memory = w.cta.tensor
    if address(w.written) != 0:
        find_missing(w, memory, lanes, first, steps, starts, count, packed, taddr, site)
    load_words_tags(w, first, steps, starts, count, packed)
    if rows == QUARTER_LANES:
        load_rows(memory, into, first, starts, count, packed)
        return 0
    for register in range(count):
        values = view(u32, part(into, u64(register) * REGISTER_BYTES, REGISTER_BYTES))
        for lane in range(32):
            at = first + steps[lane] + starts[register]
            value = memory.words[at]
            if packed != 0:
                value = value & 0xFFFF | memory.words[at + TENSOR_LANES] << 16
            values[lane] = value
    return 0


def load_rows(memory: TensorMemory, into: Slice[u8], first: u32, starts: Slice[u32], count: u32, packed: u32) -> None:
    """The same where each lane has a row of its own: the words of a register lie next to each other."""
    words = memory.words
    for register in range(count):
        at = u64(first + starts[register])
        values = part(into, u64(register) * REGISTER_BYTES, REGISTER_BYTES)
        if packed == 0:
            copy(values, part(words, at, 32), REGISTER_BYTES)
        else:
            low = part(words, at, 32)
            high = part(words, at + TENSOR_LANES, 32)
            both = view(u32, values)
            for lane in range(32):
                both[lane] = low[lane] & 0xFFFF | high[lane] << 16


def find_missing(
    w: Warp,
    memory: TensorMemory,
    lanes: u32,
    first: u32,
    steps: Ptr[u32],
    starts: Slice[u32],
    count: u32,
    packed: u32,
    taddr: u32,
    site: u32,
) -> None:
    """Note lanes that load unwritten words."""
    missing: u32 = 0
    for register in range(count):
        start = first + starts[register]
        for lane in range(32):
            at = start + steps[lane]
            bad = missing_word(memory, at)
            if packed != 0:
                bad = bad | missing_word(memory, at + TENSOR_LANES)
            missing = missing | bad << lane
    missing = missing & lanes
    if missing != 0:
        note_access(w, UNWRITTEN, site, trailing_zeros(missing), u64(taddr), TENSOR, 4, 0)


def store_words(
    w: Warp,
    lanes: u32,
    taddr: u32,
    values: Annotated[Slice[u8], "count * 128"],
    steps: Ptr[u32],
    starts: Annotated[Slice[u32], "count"],
    count: u32,
    rows: u32,
    columns: u32,
    split: u32,
    packed: u32,
    site: u32,
) -> u32:
    """Registers to tensor memory; 1 after a fault."""
    if lanes == 0:
        return 0
    first = first_word(w, lanes, taddr, rows, columns, 1, site)
    if first == WORDS:
        return 1
    touch_words(w, lanes, first, rows, columns, split, STORES, 1, site)
    memory = w.cta.tensor
    store_words_tags(w, site, first, steps, starts, count, packed)
    for register in range(count):
        source = view(u32, part(values, u64(register) * REGISTER_BYTES, REGISTER_BYTES))
        if rows == QUARTER_LANES and packed == 0:
            copy(part(memory.words, u64(first + starts[register]), 32), source, REGISTER_BYTES)
        else:
            for lane in range(32):
                at = first + steps[lane] + starts[register]
                if packed == 0:
                    memory.words[at] = source[lane]
                else:
                    memory.words[at] = source[lane] & 0xFFFF
                    memory.words[at + TENSOR_LANES] = source[lane] >> 16
        if address(w.written) != 0:
            for lane in range(32):
                at = first + steps[lane] + starts[register]
                mark_word(memory, at)
                if packed != 0:
                    mark_word(memory, at + TENSOR_LANES)
    return 0
