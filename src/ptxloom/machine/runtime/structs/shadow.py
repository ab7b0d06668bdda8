"""What racecheck remembers of shared memory, as structs that native code and Python share.

Every byte of a CTA's shared memory has one entry for its last write, and one for each warp that may have read it. An
`AccessHistory` replaces the entry of the write where that entry is not enough, as for strong accesses. An entry
records who made the access (a thread, or lanes of a warp) and when: in ticks of a clock that the threads of a cluster
share, and that advances whenever some of them order their accesses. What happened up to a CTA's last complete barrier,
its `base`, is over for the whole CTA. Of later accesses, the thread that comes after must know: `known` holds, for each
thread, the tick up to which it knows what each other thread did (one vector clock per thread), `known_to_warps` what
all threads of a warp have learnt together, and `common` what those of a CTA have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native import language
from ptxloom.machine.runtime.structs.histories import AccessTrace, CurrentAccess, GridHistory
from ptxloom.machine.runtime.structs.pending_operations import (
    PendingFactor,
    PendingOperation,
    ProductRegister,
    TensorAccess,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Array, Slice, u32, u64

# A write's entry: the thread's number in the low bits, the tick above. Asynchronous operations have a mark and their
# number; if an mbarrier reports their end, the number of its agent, which follows the threads' numbers, and the tick.
PENDING: Final = 1 << 30
WITH_HISTORY: Final = PENDING | 1 << 29  # and the number of a history: more than one write is remembered
AGENT: Final = 1 << 28
TICK_BITS: Final = 28

# What is kept of an access beside its entry: the site, and its warp's number of accesses since a barrier.
SITE: Final = (1 << 20) - 1
STRONG: Final = 1 << 20  # atomic, volatile, relaxed, acquire or release: such accesses do not race with each other
STEP_SHIFT: Final = 21
LOOKS_AGAIN: Final = 1 << STEP_SHIFT  # passed to `stamp_of`: a strong access that reads, perhaps repeatedly
STEPS: Final = (1 << 11) - 1


# The scopes of strong accesses and of fences, and what `Launch.strengths` holds of each instruction.
CTA_SCOPE, CLUSTER_SCOPE, GPU_SCOPE, SYSTEM_SCOPE = range(4)
SCOPE: Final = 3
SIZE_SHIFT: Final = 2  # then the size in bytes of the number that it moves; 0 if it does not move one
SIZES: Final = 31 << SIZE_SHIFT
SETS_UP: Final = SIZES  # `mbarrier.init`, which moves no number
ASYNC_PROXY: Final = 1 << 7  # bulk copies, which use another proxy; `tcgen05.alloc`, whose proxy is undocumented


BLOCK_SHIFT: Final = 7  # bytes of shared memory that share a summary of readers
FENCE_RECORDS: Final = 4  # of a thread: its last fence of the scope of a CTA, of a cluster, of the GPU; and
RELEASED: Final = 3  # its last release
READ_RECORDS: Final = 1024  # reads that a warp's ring holds
OPERATIONS: Final = 128  # asynchronous operations that a warp's ring holds until they are waited for
PRODUCTS: Final = 64  # factors of `wgmma` and `tcgen05` that a warp's ring holds
TENSOR_ACCESSES: Final = 256  # accesses to tensor memory that a CTA's ring holds
OPERATION_SHIFT: Final = 12  # 7 bits of the operation in its ring, 5 of the lane; the warp above
COLUMNS: Final = 64  # of `known`, for agents: what operations that report to an mbarrier have done
LEARNED_CLOCKS: Final = 32  # from flags in global memory, which a cluster keeps separately
SYNCS: Final = 256  # places in memory that order accesses: mbarriers, flags


# What there may be no room for; bits of `limits`.
FEW_SYNCS, FEW_TRACES, FEW_CLOCKS, FEW_ROWS, FEW_FLAGS = 1, 2, 4, 8, 16


class Sync:
    """A place in memory through which threads order their accesses."""

    key: u64  # its host address; 0 while free
    home: u32  # the CTA of the cluster whose threads released what `inside` holds
    rank: u32  # the CTA whose thread made the last strong write
    wide: u32  # 1: of a scope that includes the cluster
    column: u32  # of its agent, after the threads' columns


class AccessHistory:
    """The history of some bytes of shared memory for which the last write and the plain reads are not enough."""

    first: Annotated[Array[AccessTrace], 1]
    shadow: Shadow  # of their CTA; null if this history is free
    at: u32
    size: u32  # the number of bytes; if free: the number of the next free history


class LearnedClock:
    """What lanes of a warp have learnt from a flag."""

    warp: u32  # of the cluster
    lanes: u32
    tick: u32  # the tick from which they know it; 0 while no fence has followed the relaxed read
    seen: u32  # the tick at which they read the flag
    pure: u32  # 1: it was published after a `fence.sc`
    spare: u32


class FenceRecord:
    """A fence or a release of a thread, the last of its kind."""

    tick: u32
    base: u32  # of its CTA at that time
    kept: u32  # the row that holds what it knew then; 0 if it has learnt nothing since, NONE if that was lost
    spare: u32


class HappensBefore:
    """What the threads of a cluster know of each other."""

    clock: u32
    bits: u32  # of a thread's number
    ceiling: u32  # the tick at which everything is forgotten
    threads: u32  # of the cluster, whole warps
    columns: u32
    lost: u32  # 1: there were more syncs than can be kept; reports stop
    known: Annotated[
        Slice[u32], "threads * columns"
    ]  # [thread][column]; null if the program orders accesses only by barriers of a CTA
    known_to_warps: Annotated[Slice[u32], "threads // 32 * columns"]  # [warp][column] what all threads of a warp know
    seen: Annotated[
        Slice[u32], "threads * columns"
    ]  # [thread][column] what relaxed reads have seen; known after a fence whose scope includes the cluster
    seen_inside: Annotated[Slice[u32], "threads * columns"]  # [thread][column] the same within the CTA, after any fence
    fence_records: Annotated[Slice[FenceRecord], "FENCE_RECORDS * threads"]  # [kind][thread]
    kept: Annotated[Slice[u32], "(kept_limit + 1) * columns"]  # [row, from 1 on][column] what threads knew then
    keepers: Annotated[Slice[u32], "kept_limit + 1"]  # [row] 1 + the thread
    released_at: Annotated[Slice[u64], "threads"]  # [thread] the flag that it last released,
    released_scope: Annotated[Slice[u32], "threads"]  # [thread] and the scope
    syncs: Annotated[Slice[Sync], "SYNCS"]
    arriving: Annotated[Slice[u32], "SYNCS * columns"]  # [sync][column] released in this phase
    complete: Annotated[
        Slice[u32], "SYNCS * columns"
    ]  # [sync][column] released in the last complete phase, or by writes to the flag
    inside: Annotated[
        Slice[u32], "SYNCS * columns"
    ]  # [sync][column] what threads of one CTA have released at a flag, for threads of the same CTA
    barriers: Annotated[
        Slice[u32], "members * 16 * columns"
    ]  # [CTA of the cluster][barrier][column] released by the threads that have arrived
    gathering: Annotated[
        Slice[u32], "2 * columns"
    ]  # [now, at its last completion][column] released by the threads that have arrived at the cluster's barrier
    used: u32  # syncs
    reading: u32  # the number of ranges of shared memory that operations may still read, and of factors
    multiplying: u32  # how many of them are factors of products
    room: Annotated[Slice[u32], "columns"]  # [column] for intermediate results
    access: CurrentAccess
    histories: Annotated[Slice[AccessHistory], "history_limit + 1"]  # from number 1 on
    history_count: u32
    history_limit: u32
    free_history: u32  # the number of a free one; 0 if all are in use
    members: u32  # CTAs of the cluster
    traces: Annotated[Slice[AccessTrace], "trace_limit"]  # those after the first of each history
    trace_limit: u64
    trace_count: u64  # traces in use
    grid: GridHistory  # null unless global memory is watched
    learned_clocks: Annotated[Slice[LearnedClock], "LEARNED_CLOCKS"]  # [LEARNED_CLOCKS]
    learnt: Annotated[
        Slice[u32], "(LEARNED_CLOCKS + 1) * grid.columns"
    ]  # [learned clock, and scratch space][column of the grid]
    taught: Annotated[Slice[u32], "grid.columns"]  # [column of the grid] what all threads know of other clusters
    fences_total: Annotated[
        Slice[u32], "threads"
    ]  # [thread] the tick of its last `fence.sc` of a scope wider than a cluster
    clock_count: u32
    informed: u32  # 1 if `taught` holds anything
    started: u32  # the tick before the cluster started
    running: u32  # 1 + the number of the cluster
    far_reads: u32  # the number of ranges of global memory that operations may still read
    far_writes: u32  # and of those that they may still write
    issuers: Annotated[Slice[u32], "COLUMNS"]  # [agent] the thread that last issued an operation for it
    issued: u32  # the tick of the last one for any agent
    kept_limit: u32
    kept_last: u32  # the row kept last
    limits: u32  # what there was no room for
    inits: u32  # the first of the columns that hold the tick up to which a `fence.mbarrier_init` orders; 0: not kept
    mapped: u32  # the first of the columns for tensor maps: what is published, then what is acquired; 0: not kept
    taught_at: u32  # the tick at which `taught` last changed
    fenced: u32  # the first of the columns that hold the tick up to which a fence between proxies orders; 0: not kept
    tensor: u32  # the first of the columns for `tcgen05.fence`: what comes before one, then after both; 0: not kept
    strict: u32  # 1: fences that compilers leave out are reported as missing, too
    touching: Annotated[Array[TensorAccess], 1]  # the present access to tensor memory
    told_sync: u32  # 1 + the number of the sync at which a warp last arrived, in its present phase; 0: none
    told_warp: u32  # that warp,
    told_clock: u32  # and when


class ReadRecord:
    """One read of a warp, kept for a while: which lanes read where, so that a report can name the instruction."""

    tick: u32
    stamp: u32  # as `races.stamp_of` returns it
    lanes: u32
    size: u32
    starts: Annotated[Array[u32], 32]


class RemoteAccess:
    """An access to the shared memory of another CTA."""

    tick: u32  # 0: no access
    at: u32
    size: u32
    stamp: u32


class Shadow:
    """The shadow of one CTA's shared memory."""

    order: HappensBefore
    bytes: u32
    base: u32  # the tick of the CTA's last complete barrier
    limit: u32  # entries of writes below it are over for all threads
    birth: u32  # the tick at which the CTA started
    floor: u32  # readers' ticks up to it are over for all threads
    first: u32  # the number of the CTA's first thread in the cluster
    warps: u32  # of a CTA
    summaries: u32  # warps of the cluster, a multiple of 8
    writes: Annotated[Slice[u32], "bytes"]  # [byte]
    write_sites: Annotated[Slice[u32], "bytes"]  # [byte]
    reads: Annotated[Slice[u64], "order.threads // 32 * bytes"]  # [warp of the cluster][byte] tick << 32 | lanes
    summary: Annotated[
        Slice[u32], "((bytes >> BLOCK_SHIFT) + 1) * summaries"
    ]  # [block of bytes][warp of the cluster] the tick of its last read
    common: Annotated[Slice[u32], "order.columns"]  # [column] what all threads of the CTA know
    common_before: Annotated[Slice[u32], "order.columns"]  # [column] what they knew before `common` last changed
    changed: u32  # the base since which `common` holds
    changed_before: u32  # the base since which `common_before` held
    read_records: Annotated[Slice[ReadRecord], "warps * READ_RECORDS"]  # [warp of the CTA][READ_RECORDS]
    defers: u32  # 1: no read can race with anything after the next barrier of the CTA
    deferring: u32  # 1: reads are kept in `deferred` alone until something that they have read may be written
    grain: u32  # log2 of the number of bytes that share a bit of
    deferred: u64  # the map of where they have read
    ended: u32  # 1 + the instruction at which its last threads exited
    last_warp: u32  # the warp of these threads
    remote_accesses: Annotated[
        Slice[RemoteAccess], "order.threads"
    ]  # [thread of the cluster] its last access to this CTA's shared memory from another CTA
    operations: Annotated[
        Slice[PendingOperation], "warps * OPERATIONS"
    ]  # [warp of the CTA][OPERATIONS]; null if the program has no such operations
    fragment_count: u32  # registers that products use
    fragments: Annotated[Slice[ProductRegister], "warps * fragment_count"]  # [warp of the CTA][register]
    products: Annotated[Slice[PendingFactor], "warps * PRODUCTS"]  # [warp of the CTA][PRODUCTS]; null: no products
    factors_low: u32  # all factors since the CTA started lie between this place
    factors_high: u32  # and this one; 0 if there was no factor
    touches: Annotated[Slice[TensorAccess], "TENSOR_ACCESSES"]  # of its tensor memory; null if it has no tensor memory
    touch_head: u32


HISTORY_BYTES: Final = language.record(AccessHistory).size
FENCE_RECORD_BYTES: Final = language.record(FenceRecord).size
LEARNED_CLOCK_BYTES: Final = language.record(LearnedClock).size
SHADOW_BYTES: Final = language.record(Shadow).size
ORDER_BYTES: Final = language.record(HappensBefore).size
READ_RECORD_BYTES: Final = language.record(ReadRecord).size
REMOTE_ACCESS_BYTES: Final = language.record(RemoteAccess).size
SYNC_BYTES: Final = language.record(Sync).size
