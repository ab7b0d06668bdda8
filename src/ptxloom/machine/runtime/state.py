"""The state of a run: the launch, the CTAs, the warps, as structs that native code and Python share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.isa import spaces
from ptxloom.isa.spaces import SPACES
from ptxloom.machine.native import language
from ptxloom.machine.runtime.structs.shadow import Shadow
from ptxloom.machine.runtime.structs.spans import HeapTable, LastSpan, Spans
from ptxloom.machine.runtime.structs.texture import Image, Lookup
from ptxloom.machine.runtime.structs.traced_site import TracedSite
from ptxloom.machine.runtime.structs.trail import TensorTags, Trail
from ptxloom.machine.runtime.tensor_boxes.model import TensorCopy, TensorRow
from ptxloom.machine.runtime.tensor_cores.model import TensorJob, TensorMemory, TensorPlan

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Array, Code, Slice, i32, u8, u16, u32, u64

NONE: Final = 0xFFFFFFFF  # no block, no lane: larger than every block number

# Address windows, as generic addresses: outside what a process maps, low 32 bits are the address within the space.
SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW = (SPACES[name].window for name in ("shared", "local", "param"))
CODE_WINDOW: Final = 1 << 51
FUNCTION_STEP: Final = 16  # the distance between addresses of functions
WINDOW_BYTES, CLUSTER_SHIFT = spaces.WINDOW_BYTES, spaces.CLUSTER_SHIFT
MBARRIER_BYTES: Final = 8

# State spaces, as memory functions name them.
GENERIC, TENSOR = 0, 6  # no address of another space reaches tensor memory
GLOBAL, SHARED, LOCAL, CONST, PARAM = (SPACES[name].number for name in ("global", "shared", "local", "const", "param"))

# Fault kinds.
OUT_OF_BOUNDS, MISALIGNED, READ_ONLY, WRONG_SPACE, TRAP, STACK_OVERFLOW, BAD_CALL, ASSERTION, INVALID = range(1, 10)
UNINITIALISED, OVERRUN, NO_CLUSTER, CALL_MISMATCH, BAD_TOKEN, BAD_BRANCH = range(10, 16)
NO_TENSOR_MAP, ILLEGAL_TENSOR_COPY, NO_TEXTURE, ILLEGAL_SURFACE_ACCESS, ILLEGAL_TENSOR_MEMORY = range(18, 23)

# Event kinds: hazards after which a kernel goes on; `catalogue.EVENTS` has their meanings.
DIVERGENT, EXITED, STUCK, ABSENT, PREDICATED, MISSING, MISMATCH, GONE, MISCOUNT, LEFT = range(1, 11)
WRITE_WRITE, READ_WRITE, WRITE_READ = range(20, 23)  # races, by what came first
WARP_WRITE_WRITE, WARP_READ_WRITE, WARP_WRITE_READ = range(23, 26)  # between lanes of one warp
UNWRITTEN, UNWRITTEN_REGISTER = range(26, 28)
OWN_WRITE_WRITE, OWN_READ_WRITE, OWN_WRITE_READ = range(28, 31)  # between a thread and its own asynchronous copy
ENDED: Final = 32  # shared memory whose CTA ends while others use it
UNFENCED, STALE_MAP = 33, 36  # without a fence: a bulk copy of data that a thread has written, a changed map
REUSED, TENSOR_UNFENCED = 42, 43  # without one: a bulk copy over data that threads used; an access to tensor memory
UNEVEN: Final = 31  # warps of a warpgroup that change their registers differently
REQUESTED_AGAIN, NOT_CANCELED = 34, 35  # a request after a refusal; the index of a cluster that was not canceled
IN_FLIGHT, NO_PRODUCT_FENCE = 37, 38  # a register that a product may still use, or uses without a preceding fence
NOT_FREED, OTHER_QUARTER = 39, 41  # tensor memory: never freed; an address in lanes of another warp
STRAYED: Final = 50  # outside the variable that an address was derived from
EMPTY_COLLECTOR, NOT_READ_ONLY = 44, 40  # use of an unfilled collector; a write to memory read as read-only

WARPGROUP: Final = 4  # warps

# Reductions of `bar.red`.
POPC, AND, OR = range(3)
HEAD_CELLS = 2  # of a call on control stacks: the caller's block, frame and bytes from `alloca`
SOURCE_BYTES: Final = 6  # the size of a register's source, in sizes of its poison (a predicate: 24 for 4)
EVENTS_KEPT: Final = 256  # different events that a worker can record
MISSED_BITS: Final = 1 << 16  # for events beyond these, counted by their hash
SCRATCH_BYTES: Final = 2048  # of a warp, for the duration of one instruction


class Fault:
    """Why a worker stopped."""

    kind: u32
    site: u32
    mask: u32
    lane: u32
    address: u64
    space: u32
    size: u32
    write: u32
    warp: u32
    block: Annotated[Array[u32], 3]
    lanes: u32  # all lanes with the same fault
    reason: u32  # the error in a tensor map, a copy by one, or a texture; 0: another fault


class HazardEvent:
    """One recorded hazard; equal kinds at one pair of sites are counted; the first block and warp stay."""

    kind: u32
    site: u32
    count: u64
    mask: u32  # the lanes at fault
    warp: u32
    other: u32  # data for the kind's message
    lane: u32  # the accessing lane; NONE if there is none
    address: u64  # within the state space; for global memory, the host's
    space: u32
    size: u32  # bytes at fault
    block: Annotated[Array[u32], 4]
    place: u32  # 1 + twice the block of the lanes in `other` (plus 1: at its end); 0 if unknown
    second_site: u32  # the other side of a race; NONE if the hazard is not a race
    second_warp: u32
    second_lane: u32
    second_block: Annotated[Array[u32], 4]


class FunctionEntry(language.Sealed):
    """A function of the module, for calls through its address."""

    block: u32  # its first; NONE if the kernel cannot call it
    signature: u32  # the number of its parameters' and results' types
    frame_bytes: u32


class Launch(language.Sealed):
    """The state that all workers of one launch share."""

    next: u64  # the next cluster to start
    apart: Annotated[Array[u64], 7]  # padding: taking a cluster does not touch the cache line of the next fields
    stop: u32
    threads: u32
    total: u64  # all clusters
    grid: Annotated[Array[u32], 4]
    block: Annotated[Array[u32], 4]
    cluster: Annotated[Array[u32], 4]
    warps: u32  # of a CTA
    warp_bytes: u32
    shared_bytes: u32
    static_shared: u32
    reserved_shared: u32  # the system's part at its start
    local_bytes: u32  # of a lane
    entry: u32
    seed: u32
    full: Code  # code for whole warps
    masked: Code  # code for parts of warps
    params: Annotated[Slice[u8], "params_end - address(params)"]
    params_end: u64
    constants: Annotated[Slice[u8], "constants_end - address(constants)"]
    constants_end: u64
    spans: Spans
    heap: HeapTable  # null if the module has no device heap
    tids: Annotated[Slice[u32], "warps * 96"]  # [warp][x y z][lane]
    symbols: u64  # host addresses of the module's global and const variables
    functions: Annotated[Slice[FunctionEntry], "function_count"]  # by their numbers
    function_count: u64
    grid_id: u64
    workspace: u64  # memory that a grid-wide barrier may write; 0 if the module has no such barrier
    has_calls: u32
    members: u32  # the CTAs of a cluster
    clustered: u32  # 1: the launch has clusters, even if of one CTA
    poisoned: Code  # code for warps that hold unwritten bits in registers
    poison: u32  # offset in a warp of the mask of unwritten register bits
    poison_bytes: u32  # 0 unless initcheck watches
    unsure: u32  # the first of those for registers that may be read before they are written
    first_frame: u32  # bytes of the entry's frame
    sites: u32  # the instructions of the kernel
    watches_global: u32  # 1: some global memory is unwritten at the start
    # By instruction: the scope of a strong access and the size of its values; null if unwatched.
    strengths: Annotated[Slice[u8], "sites"]
    images: Annotated[Slice[Image], "image_count"]  # textures and surfaces, by their handles
    image_count: u64
    srgb: Annotated[Slice[u32], "srgb_count"]  # decoded sRGB components; null if no texture has any
    srgb_count: u64
    trail: Trail  # null unless provenance is tracked, like all tags
    tags: u32  # offset in a warp of the tags of its registers
    tag_forms: u32  # and their forms (`register_heads`), a byte for each byte of a lane
    tag_form_bytes: u32
    plans: Annotated[Slice[TensorPlan], "plan_room"]  # of products into tensor memory, in the order of their first use
    plan_room: u64
    plan_count: u32


class Barrier:
    """One of a CTA's sixteen named barriers."""

    arrived: u32  # threads so far
    expected: u32  # threads that complete it; 0 while no thread waits
    value: u32  # the running reduction: the number of true predicates
    arrivals: u32  # the number of arrivals with a predicate
    site: u32  # 1 + that of an `.aligned` instruction executed by part of a warp
    first: u32  # 1 + that of the first instruction to arrive


class Resident:
    """The place of a CTA."""

    cta: Cta


class Cta:
    """A resident CTA."""

    worker: Worker
    launch: Launch
    warps: Annotated[Slice[u8], "launch.warps * launch.warp_bytes"]
    shared: Annotated[Slice[u8], "launch.shared_bytes"]
    local: u64
    live_warps: u32
    turn: u32  # the first warp of the next round
    running: u32  # 1 while it holds a CTA
    rank: u32  # in its cluster
    index: u64
    ctaid: Annotated[Array[u32], 4]
    peers: Annotated[Slice[Resident], "launch.members"]  # the CTAs of its cluster, by rank
    live_threads: u32
    waiting: u32  # threads at any barrier
    barriers: Annotated[Array[Barrier], 16]
    cluster_arrived: u32  # live threads of the cluster at its barrier (kept by its first CTA)
    refused: u32  # 1: it has observed a refused request to cancel the launch of a cluster
    uniform_steps: u32  # 1: some warp has executed an instruction that its warpgroup must execute alike
    shadow: Shadow  # null unless racecheck watches
    written: Annotated[Slice[u8], "launch.shared_bytes"]  # initcheck's marks of shared memory; null unless it watches
    computed_from: u32  # start of shared memory in which computed poison has been stored,
    computed_to: u32  # and its end
    tags: Annotated[Slice[u64], "launch.shared_bytes"]  # provenance's, of bytes of shared memory
    word_tags: Annotated[Slice[u64], "launch.shared_bytes // 4"]  # and of its words (`shared_words`)
    tensor: TensorMemory  # null unless the kernel uses any
    tensor_tags: TensorTags  # provenance's, of tensor memory; null unless it follows such a kernel


class Worker:
    """One thread of the host, with the CTAs it keeps resident."""

    launch: Launch
    ctas: Annotated[Slice[Resident], "cta_count"]  # places for resident CTAs
    cta_count: u32
    slice: i32  # rounds left before control returns to Python
    least: u64  # the least number of cycles before that
    looked: u64  # the cycle counter at the last return
    event_count: u32
    event_limit: u32
    events: Annotated[Slice[HazardEvent], "event_limit"]
    missed: Annotated[Array[u32], MISSED_BITS // 32]  # a bit for each different event that did not fit
    sites: Annotated[Slice[LastSpan], "launch.sites"]  # by memory instruction: the span that it accessed last
    instructions: u64
    random: u64
    service: u32
    service_warp: u32
    service_cta: u64
    service_lanes: u32
    service_frame: u32
    service_site: u32
    paused: u32  # 1: a warp yielded voluntarily
    in_heap: u32  # 1: some of the sites refer to a block of the device heap, which may be freed
    freed: u64  # `HeapTable.freed` at the worker's last check: no site refers to a block freed before
    steps: u32  # loop steps of tools since a round over a CTA's warps was cut short
    spins: u32  # how long every resident CTA has spun
    patience: u32  # how long they may spin before another CTA is admitted
    fault: Annotated[Array[Fault], 1]
    tensor: Annotated[Array[TensorCopy], 1]  # the current copy by a tensor map
    row: Annotated[Array[TensorRow], 1]
    lookup: Annotated[Array[Lookup], 1]  # the current texture look-up
    job: TensorJob  # the current product; null unless the kernel uses tensor memory
    wanted: u64  # the key of a plan that a product needs and that does not exist yet


# The history of unwritten bits since they were loaded: used in a computation; moved; none.
COMPUTED, MOVED, LOADED = 0, 1, 2


class PoisonSource:
    """The source of a register's unwritten bits: a load, or else a register that was never written."""

    site: u32  # of the load + 1; 0: a register
    lane: u32
    space: u32
    size: u16  # bytes unwritten
    raw: u16  # COMPUTED, MOVED or LOADED: the history of the bits since
    address: u64  # of the first of them; for a register, its place + 1, or 0 for this source's own register


class Warp:
    """One warp; its registers follow the struct."""

    scratch: Annotated[Array[u8], SCRATCH_BYTES]  # operands and results of run-time calls; first, so that it is aligned
    nowhere: Annotated[Array[u32], 32]  # zeros, never written: addresses for accesses at a constant offset
    # From here on to `index`: fields that every start or run of a warp uses, in as few cache lines as possible.
    mask: u32  # the lanes that run now
    live: u32  # the lanes that have not exited
    blocked: u32  # the lanes that wait
    sync_blocked: u32  # lanes that wait for others of the warp
    passing: u32  # lanes that need not wait again at the warp-synchronous instruction they are at
    forced: u32  # those of them whose members wait elsewhere
    hasty: u32  # lanes that wait at an `.aligned`, unlike on hardware: they continue before a deadlock
    waited: u32  # lanes that wait at a warp-synchronous instruction, or check again whether they must
    starved: u32  # the number of budgets that the others spent meanwhile
    present: u32  # the lanes the warp started with
    pc: u32  # the block that `mask` is in
    pending: u32  # the smallest block where other runnable lanes are; NONE if there are no such lanes
    budget: i32
    rotate: u32  # 1: run the lanes that are waiting for their turn
    reducing: u32  # lanes that wait for the result of a `bar.red`
    cluster_arrived: u32  # lanes that have arrived at the cluster's barrier
    cluster_waiting: u32  # those of them that wait
    cluster_passed: u32  # lanes for which it has completed since they arrived
    group_steps: u32  # the instructions executed that its warpgroup must execute alike
    group_site: u32  # the last of it
    group_trail: u32  # a hash of these, in order
    product_groups: u32  # groups of `wgmma` committed
    product_wanted: u32  # the number that the whole warpgroup must have committed, for waiting lanes
    product_waiting: u32  # those lanes
    product_done: u32  # groups that it has waited for
    allocating: u32  # lanes that wait for tensor memory, or for the peer to allocate some, too
    paired: u32  # the allocation for the pair that the warp is at, its CTA's 1st, 2nd, ...; 0: none
    wanted: u32  # columns that it requests there
    given: u32  # 1 + the first column that the peer has allocated for it; 0: none
    asking: u32  # lanes that wait at the mbarriers in `awaited`
    poisoned: u32  # 1: bits of some register are unwritten; the variant that tracks them runs
    resume: u32  # 1 + the instruction at which that variant resumes; 0: the start of the block
    local_computed: u32  # 1: local memory contains computed poison
    instructions: u64
    traced: u64  # the number of the warp's records
    index: u32
    rank_bits: u32  # the rank of its CTA in the cluster, in its position in shared addresses of programs for pairs
    cta: Cta
    launch: Launch
    worker: Worker
    shared: Annotated[Slice[u8], "shared_bytes"]
    shared_bytes: u64
    sites: Annotated[Slice[LastSpan], "launch.sites"]
    local: Annotated[Slice[u8], "32 * local_bytes"]  # lane 0's local memory
    local_bytes: u64
    control: Annotated[Slice[u64], "32 * control_cells"]  # the lanes' control stacks: see `calls`
    control_cells: u32  # of each
    params: Annotated[Slice[u8], "params_end - address(params)"]
    params_end: u64
    tids: Annotated[Slice[u32], "96"]
    symbols: u64
    waiting: u32  # barrier the whole warp waits at + 1
    profile: u64  # the address of its worker's counters; 0 if it does not count
    # There, by site: bytes of global, then of shared memory (`counting`).
    moved: Annotated[Slice[u64], "moved_counters"]
    moved_counters: u64
    trace: Annotated[Slice[TracedSite], "trace_sites"]  # the recorded instructions
    trace_sites: u64
    carry: u32  # CC.CF of each lane
    members: Annotated[Array[u32], 32]  # the lanes that each waiting lane waits for
    waits: Annotated[Array[u32], 16]  # by barrier: the lanes that wait there
    results: Annotated[Array[u32], 32]  # by lane: the offset in the warp's state for the result of its `bar.red`
    kinds: Annotated[Array[u32], 32]  # and the operation
    witnesses: Annotated[Array[u32], 32]  # the live lanes when each lane arrived at a warp-synchronous instruction
    elsewhere: Annotated[Array[u32], 32]  # where each lane was (`Event.place`) when others continued without it
    pcs: Annotated[Array[u32], 32]
    sp: Annotated[Array[u32], 32]  # each lane's frame
    depth: Annotated[Array[u32], 32]  # the cells of its control stack that each lane uses
    stack: Annotated[Array[u32], 32]  # the bytes that each lane has from `alloca`, at the end of its local memory
    shadow: Shadow  # the CTA's; null unless racecheck watches, which also applies to the next fields
    since: u32  # the tick at which the warp last published something
    steps: u32  # accesses to shared memory since the CTA's barrier
    steps_base: u32  # those at that tick
    looked: u32  # the strong read among them, if it is still the last access
    acquired: u32  # lanes that have learned something since the CTA's barrier
    uneven: u32  # lanes that may know more than others of the warp
    own: u32  # those for which `HappensBefore.known` holds more than their own fences
    saw: u32  # lanes with relaxed reads that a fence turns into acquires
    pointed: u32  # lanes that have learned nothing since their last fence or release
    read_head: u32  # reads of shared memory kept
    read_done: u32  # those of them that are in `Shadow.reads`
    operation_head: u32  # asynchronous operations issued
    operation_tail: u32  # the oldest that may still run
    written: Annotated[
        Slice[u8], "shared_bytes"
    ]  # initcheck's marks of shared memory, and of lane 0's local memory; null unless it watches
    local_written: Annotated[Slice[u8], "32 * local_bytes"]
    source: Annotated[Array[PoisonSource], 1]  # of the unwritten bytes of the last load
    starts: Annotated[Array[u32], 32]  # where each lane's access starts
    awaited: Annotated[Array[u64], 32]  # the host address of the mbarrier that each lane in `asking` waits at
    awaiting: Annotated[Array[u32], 32]  # the site of the waiting instruction
    product_head: u32  # factors of products that racecheck has recorded
    product_tail: u32  # the oldest not known by all threads of the CTA to have been read
    groups: Annotated[Array[u32], 32]  # groups of copies each lane has committed
    bulk_groups: Annotated[Array[u32], 32]  # groups of bulk copies
    local_tags: Annotated[Slice[u64], "32 * local_bytes"]  # provenance's, of lane 0's local memory on


SOURCE_SIZE: Final = language.record(PoisonSource).size
REGISTERS: Final = -(-language.record(Warp).size // 64) * 64
