"""Pieces of memory that a kernel may touch, and the device heap, as structs that native code and Python share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native import language
from ptxloom.machine.runtime.structs.histories import HistoryCell, RowTrace, Segment

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice, u8, u32, u64

SPANS_HEAD: Final = 64
ROW_TRACES: Final = 16  # accesses to rows that racecheck remembers of a segment


class HeapTable(language.Sealed):
    """The device heap: which block each granule of 16 bytes belongs to. Python alone writes it, while kernels run."""

    start: u64
    granules: u64
    owners: Annotated[Slice[u32], "granules"]  # by granule: 1 + the first granule of its block, 0 outside of blocks
    sizes: Annotated[Slice[u64], "granules"]  # by first granule of a block: its bytes
    freed: u64  # the number of blocks that have been freed


class LastSpan(language.Sealed):
    """The piece of memory that an instruction hit last: [start, end), host addresses.

    It belongs to one worker; only that worker's native code writes it.
    """

    start: u64
    end: u64


class Span(language.Sealed):
    """A piece of memory that a kernel may touch: [start, end), host addresses."""

    start: u64
    end: u64
    writable: u64
    written: Annotated[Slice[u8], "end - start"]  # initcheck's marks; null if all has been written
    cells: Annotated[Slice[HistoryCell], "cell_count"]  # racecheck's: one per aligned word, then one per byte; or null
    heap: HeapTable  # of the device heap; else null
    cell_count: u64
    origin: u64  # the number that provenance gives its first byte
    words: Annotated[Slice[u64], "(end - start) // 4"]  # provenance's heads of words (`tag_words`); null if it is
    #   read-only, or provenance is off
    tags: Annotated[Slice[u64], "end - start"]  # provenance's of bytes that no head stands for; likewise
    segments: Annotated[Slice[Segment], "segment_count"]  # racecheck's: one per `1 << SEGMENT_SHIFT` bytes; or null
    segment_count: u64
    rows: Annotated[Slice[RowTrace], "ROW_TRACES * segment_count"]  # [number of the access][segment]


class Spans(language.Sealed):
    """All pieces of global memory: their number; they follow at `SPANS_HEAD`, in order.

    A published table never changes: native code that holds an old one still finds its contents.
    """

    count: u64
