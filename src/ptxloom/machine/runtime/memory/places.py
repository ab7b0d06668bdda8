"""Turns numbers into pointers, in the few places that the structs of the run-time cannot express.

Everything else is reached through fields with declared lengths (`native`), and no other module may make a pointer. The
only values under a kernel's control that reach this module are addresses of global memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, fill, part, pointer, u8, u32, u64
from ptxloom.machine.runtime.memory.bounds import within
from ptxloom.machine.runtime.state import (
    REGISTERS,
    SOURCE_SIZE,
    Cta,
    Launch,
    PoisonSource,
    Warp,
    Worker,
)
from ptxloom.machine.runtime.structs.spans import SPANS_HEAD, HeapTable, LastSpan, Span

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def spans_of(launch: Launch) -> Slice[Span]:
    """The pieces of global memory, in order."""
    table = launch.spans
    return pointer(Span, address(table) + SPANS_HEAD, table.count)


def span_bytes(span: Span, at: u64, size: u64) -> Slice[u8]:
    """Bytes of a piece of global memory, from a host address on."""
    assert within(at - span.start, size, span.end - span.start) != 0
    return pointer(u8, at, size)


def site_bytes(site: LastSpan, at: u64, size: u64) -> Slice[u8]:
    """The same for the piece that an instruction accessed last."""
    assert within(at - site.start, size, site.end - site.start) != 0
    return pointer(u8, at, size)


def remember_span(w: Warp, site: u32, span: Span) -> None:
    """Cache the piece of global memory that an instruction accessed."""
    known = w.sites[site]
    known.start = span.start
    known.end = span.end


def remember_block(w: Warp, site: u32, heap: HeapTable, first: u32, at: u64, size: u64) -> u32:
    """1 if the block of the device heap that starts at a granule holds these bytes; caches it for the instruction.

    The heap's entry for the block is read once: another thread of the host may free it, and reuse its memory.
    """
    start = heap.start + (u64(first) << 4)
    room = heap.sizes[first]
    if within(at - start, size, room) == 0:
        return 0
    known = w.sites[site]
    known.start = start
    known.end = start + room
    w.worker.in_heap = 1
    return 1


def forget_freed(worker: Worker) -> None:
    """Drop cached heap blocks of instructions, if any block has been freed since the last check."""
    heap = worker.launch.heap
    if address(heap) == 0:
        return
    freed = heap.freed
    if freed == worker.freed:
        return
    worker.freed = freed  # what is freed from now on changes it again
    if worker.in_heap != 0:
        worker.in_heap = 0
        fill(worker.sites, 0)


def remember_constants(w: Warp, site: u32) -> None:
    """Cache that an instruction accessed the module's constants."""
    known = w.sites[site]
    known.start = address(w.launch.constants)
    known.end = w.launch.constants_end


def warp_at(cta: Cta, index: u32) -> Warp:
    """A warp of a CTA."""
    size = u64(cta.launch.warp_bytes)
    return pointer(Warp, address(part(cta.warps, u64(index) * size, size)), 1)[0]


def registers(w: Warp, offset: u32, size: u32) -> Slice[u8]:
    """Bytes of a warp after its state: its registers, their poison, and the sources of the poison."""
    assert offset >= REGISTERS
    assert within(u64(offset), u64(size), u64(w.launch.warp_bytes)) != 0
    return pointer(u8, address(w) + u64(offset), u64(size))


def register_bytes(size: u32) -> u32:
    """The size of a register of `size` bytes per lane (0: a predicate)."""
    return 4 if size == 0 else 32 * size


def source_at(w: Warp, offset: u32) -> PoisonSource:
    """The source of a register's poison, at an offset from the start of its warp."""
    return pointer(PoisonSource, address(registers(w, offset, SOURCE_SIZE)), 1)[0]


def stored_byte(values: Slice[u64], part_bytes: u32, lane: u32, offset: u32) -> u8:
    """A byte that a lane stores: `values` are the places of its registers, with `part_bytes` per lane each."""
    return pointer(u8, values[offset // part_bytes], 32 * u64(part_bytes))[lane * part_bytes + offset % part_bytes]
