"""Where a number becomes a pointer: the few places that the structs of the run-time cannot express by themselves.

Everything else is reached through fields with declared lengths (`native`), and no other module may make a pointer. Of
values that a kernel controls, only addresses of global memory come here.
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
    """The same of the piece that an instruction hit last."""
    assert within(at - site.start, size, site.end - site.start) != 0
    return pointer(u8, at, size)


def remember_span(w: Warp, site: u32, span: Span) -> None:
    """An instruction has hit a piece of global memory."""
    known = w.sites[site]
    known.start = span.start
    known.end = span.end


def remember_block(w: Warp, site: u32, heap: HeapTable, first: u32, at: u64, size: u64) -> u32:
    """1 if the block of the device heap that starts at a granule holds these bytes; the instruction remembers it.

    The heap's entry for the block is read once: another thread of the host may free it, and reuse its room.
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
    """Forget what instructions have hit in the device heap, if any of it has been freed since the last look."""
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
    """An instruction has hit the module's constants."""
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
    """What a register of `size` bytes a lane (0: a predicate) takes."""
    return 4 if size == 0 else 32 * size


def source_at(w: Warp, offset: u32) -> PoisonSource:
    """Where the poison of a register comes from, so far behind the start of its warp."""
    return pointer(PoisonSource, address(registers(w, offset, SOURCE_SIZE)), 1)[0]


def stored_byte(values: Slice[u64], part_bytes: u32, lane: u32, offset: u32) -> u8:
    """A byte of what a lane stores: `values` are the places of its registers, `part_bytes` a lane each."""
    return pointer(u8, values[offset // part_bytes], 32 * u64(part_bytes))[lane * part_bytes + offset % part_bytes]
