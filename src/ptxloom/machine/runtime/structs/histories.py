"""What racecheck remembers of places in memory, access by access, and what the clusters of a grid publish at flags.

Native code and Python share these structs. A place in global memory has a `HistoryCell`; some bytes of shared
memory have an `AccessHistory`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native import language

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Array, Slice, u8, u32, u64

# What an access does: reads, writes (or both), or reads by the path that assumes read-only memory.
READS, WRITES, READS_ONLY = 0, 1, 2
CLASSES: Final = 5  # of accesses: what they do, and whether they are strong
SPLIT: Final = 0xFFFFFFFF  # not the owner number of any cluster
SEGMENT_SHIFT: Final = 8  # log2 of the bytes of a segment
SEGMENT_WORDS: Final = 1 << SEGMENT_SHIFT - 2
SETTLED: Final = 0xFFFFFFFF  # not a possible number of accesses


class AccessTrace:
    """What is remembered of one access to some memory: by lanes of a warp, at one tick."""

    next: AccessTrace  # another trace of the same place; null if it is the last
    owner: u32  # 1 + the number of the cluster; 0 if nothing is remembered here
    who: u32  # the warp's first thread and the tick within the cluster, as in a write's entry
    stamp: u32
    lanes: u32
    does: u32  # READS, WRITES or READS_ONLY
    made: u32  # the lanes that made the access, whether they are still remembered or not
    number: u32  # of a write: the first lane's among all writes of the place; of a read: that of the last earlier write
    seen: u32  # of a strong read: the number of the first write that precedes it in observation order, or 0


class HistoryCell:
    """What is remembered of four aligned bytes of global memory, or of one: traces of all accesses that may still race.

    If parts of the four bytes have been accessed, each byte has its own cell, and the owner of the word's is SPLIT.
    """

    first: Annotated[Array[AccessTrace], 1]


class RowTrace:
    """What is remembered of one access of lanes to words side by side, within a segment."""

    owner: u32  # as in a trace: the cluster,
    who: u32  # the warp's first thread and the tick,
    stamp: u32
    lanes: u32  # consecutive ones
    does: u32
    first: u32  # the word of the segment at which the accesses begin
    step: u32  # words per lane
    base: u32  # the tick of the last barrier at that time: what the cluster did up to it comes before
    event: u32  # `GridHistory.events` at that time


class Segment:
    """Some aligned bytes of global memory that have been accessed only as whole rows so far."""

    count: u32  # of accesses that are remembered; SETTLED: cells remember them all
    wrote: u32  # 1: one of these accesses writes


class CurrentAccess:
    """What an instruction does, for the functions that compare it with what is remembered."""

    addresses: Annotated[Slice[u64], "32"]
    values: Annotated[Slice[u64], "value_count"]  # the registers that are stored; null if unknown
    offset: u64
    value_count: u64
    copied: Annotated[Slice[u8], "copied_bytes"]  # the bytes that a copy writes from `start` on; null if unknown
    copied_bytes: u64
    start: u64
    part: u32  # bytes of one register
    owner: u32  # who makes it, as in a trace: the cluster,
    who: u32  # and the warp's first lane, or an agent, and the tick
    stamp: u32
    does: u32
    size: u32  # bytes per lane
    reads: u32  # 1: a strong access that reads
    number: u32  # of the last write before it; if it reads:
    seen: u32  # the number of the first write that precedes it in observation order, or 0
    ends: u32  # 1: the end of a copy, already compared with all accesses of its own cluster
    over: u32  # one bit per class: the chain holds a trace that no later access can come after,
    stamps: Annotated[Array[u32], CLASSES]  # which has this stamp
    kept: AccessTrace  # the last strong write among these


class Flag:
    """A place in global memory through which the clusters of a grid order their accesses."""

    key: u64  # its host address; 0 while free
    scope: u32  # of the last strong write
    cluster: u32  # 1 + the number of the cluster that made it
    rank: u32  # and the CTA there
    pure: u32  # 1: everything it publishes was published after a `fence.sc`


class GridHistory:
    """What the clusters of a grid publish at flags in global memory."""

    columns: u32  # of a row: a few for each cluster
    share: u32  # the columns of one cluster
    shift: u32  # log2 of the number of threads that share a column
    limit: u32  # of flags
    lost: u32  # 1: there were more flags than can be kept; reports between clusters stop
    limits: u32  # what there was no room for
    traces: Annotated[Slice[AccessTrace], "trace_limit"]  # those after the first of each cell
    trace_limit: u64
    trace_count: u64  # traces in use
    clusters: u64
    events: u32  # the number of clusters that have finished
    over: Annotated[
        Slice[u32], "clusters"
    ]  # [cluster] its position in the order of finishing; 0 if it has not finished
    row: Annotated[Array[RowTrace], 1]  # the row that a warp accesses now
    again: Annotated[Array[CurrentAccess], 1]  # an earlier access that is now compared word by word
    told: Annotated[Slice[u32], "columns"]  # [column] the tick up to which its threads' actions are published
    flags: Annotated[Slice[Flag], "limit"]
    rows: Annotated[
        Slice[u32], "limit * columns"
    ]  # [flag][column] the tick of its cluster up to which the flag publishes what a thread did
    block: Annotated[Array[u32], 4]  # scratch space


GRID_BYTES: Final = language.record(GridHistory).size
CELL_BYTES: Final = language.record(HistoryCell).size
TRACE_BYTES: Final = language.record(AccessTrace).size
ACCESS_BYTES: Final = language.record(CurrentAccess).size
ROW_TRACE_BYTES: Final = language.record(RowTrace).size
SEGMENT_BYTES: Final = language.record(Segment).size
FLAG_BYTES: Final = language.record(Flag).size
