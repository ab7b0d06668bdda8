"""What a run keeps in memory: the launch, the CTAs, the warps, as structs that native code and Python share."""

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
FUNCTION_STEP: Final = 16  # from one function's address to the next one's
WINDOW_BYTES, CLUSTER_SHIFT = spaces.WINDOW_BYTES, spaces.CLUSTER_SHIFT
MBARRIER_BYTES: Final = 8

# State spaces, as memory functions name them.
GENERIC, TENSOR = 0, 6  # no address of another space reaches tensor memory
GLOBAL, SHARED, LOCAL, CONST, PARAM = (SPACES[name].number for name in ("global", "shared", "local", "const", "param"))

# Fault kinds.
OUT_OF_BOUNDS, MISALIGNED, READ_ONLY, WRONG_SPACE, TRAP, STACK_OVERFLOW, BAD_CALL, ASSERTION, INVALID = range(1, 10)
UNINITIALISED, OVERRUN, NO_CLUSTER, CALL_MISMATCH, BAD_TOKEN, BAD_BRANCH = range(10, 16)
NO_TENSOR_MAP, ILLEGAL_TENSOR_COPY, NO_TEXTURE, ILLEGAL_SURFACE_ACCESS, ILLEGAL_TENSOR_MEMORY = range(18, 23)

# Event kinds: hazards after which a kernel goes on; `catalogue.EVENTS` says what each means.
DIVERGENT, EXITED, STUCK, ABSENT, PREDICATED, MISSING, MISMATCH, GONE, MISCOUNT, LEFT = range(1, 11)
WRITE_WRITE, READ_WRITE, WRITE_READ = range(20, 23)  # races, by what came first
WARP_WRITE_WRITE, WARP_READ_WRITE, WARP_WRITE_READ = range(23, 26)  # between lanes of one warp
UNWRITTEN, UNWRITTEN_REGISTER = range(26, 28)
OWN_WRITE_WRITE, OWN_READ_WRITE, OWN_WRITE_READ = range(28, 31)  # of a thread with its own asynchronous copy
ENDED: Final = 32  # shared memory that goes while others use it
UNFENCED, STALE_MAP = 33, 36  # without a fence: a bulk copy of what a thread has written, a map that has changed
REUSED, TENSOR_UNFENCED = 42, 43  # without one: a bulk copy over what threads have used; an access to tensor memory
UNEVEN: Final = 31  # warps of a warpgroup that do not change their registers alike
REQUESTED_AGAIN, NOT_CANCELED = 34, 35  # a cluster, after a refusal; the index of one that was not canceled
IN_FLIGHT, NO_PRODUCT_FENCE = 37, 38  # a register that a product may still use, or takes without a fence before
NOT_FREED, OTHER_QUARTER = 39, 41  # tensor memory: never freed; an address names lanes of another warp
STRAYED: Final = 50  # from the variable that an address was made from
EMPTY_COLLECTOR, NOT_READ_ONLY = 44, 40  # nothing has filled what is used; what is written is read by other means

WARPGROUP: Final = 4  # warps

# Reductions of `bar.red`.
POPC, AND, OR = range(3)
HEAD_CELLS = 2  # of a call, on control stacks: the caller's block and frame, what it has from `alloca`
SOURCE_BYTES: Final = 6  # times the bytes of a register's poison: what its source takes (a predicate: 24 for 4)
EVENTS_KEPT: Final = 256  # different events a worker can note
MISSED_BITS: Final = 1 << 16  # in which those beyond are counted, by a hash of what they are
SCRATCH_BYTES: Final = 2048  # of a warp, for the length of one instruction


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
    lanes: u32  # all that are at fault in the same way
    reason: u32  # what is wrong with a tensor map or a copy by one, or with a texture; 0: another fault


class HazardEvent:
    """One hazard as native code noted it; equal kinds at one pair of sites count up, the first block and warp stays."""

    kind: u32
    site: u32
    count: u64
    mask: u32  # the lanes at fault
    warp: u32
    other: u32  # what the kind's message needs
    lane: u32  # whose access it was; NONE if no lane's
    address: u64  # within the state space; of global memory, the host's
    space: u32
    size: u32  # bytes at fault
    block: Annotated[Array[u32], 4]
    place: u32  # 1 + twice the block (and one: its end) where the lanes in `other` are; 0 if that is not known
    second_site: u32  # the other side of a race; NONE if the hazard is not a race
    second_warp: u32
    second_lane: u32
    second_block: Annotated[Array[u32], 4]


class FunctionEntry(language.Sealed):
    """A function of the module, as calls through its address find it."""

    block: u32  # its first; NONE if the kernel cannot call it
    signature: u32  # the number of its parameters' and results' types
    frame_bytes: u32


class Launch(language.Sealed):
    """What all workers of one launch share."""

    next: u64  # the next cluster to start
    apart: Annotated[Array[u64], 7]  # never used: taking a cluster leaves the cache line of what follows alone
    stop: u32
    threads: u32
    total: u64  # all clusters
    grid: Annotated[Array[u32], 4]
    block: Annotated[Array[u32], 4]
    cluster: Annotated[Array[u32], 4]
    warps: u32  # a CTA's
    warp_bytes: u32
    shared_bytes: u32
    static_shared: u32
    reserved_shared: u32  # the system's part at its start
    local_bytes: u32  # a lane's
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
    workspace: u64  # what a grid-wide barrier may write; 0 if the module has no such barrier
    has_calls: u32
    members: u32  # the CTAs of a cluster
    clustered: u32  # 1: the launch is one of clusters, of one CTA even
    poisoned: Code  # code for warps that hold unwritten bits in registers
    poison: u32  # where a warp keeps which bits of its registers are unwritten, after its start
    poison_bytes: u32  # 0 unless initcheck watches
    unsure: u32  # the first of them that belong to registers which may be read before they are written
    first_frame: u32  # bytes of the entry's frame
    sites: u32  # the instructions of the kernel
    watches_global: u32  # 1: some global memory came unwritten
    # By instruction: the scope of a strong access and the size of its values; null if unwatched.
    strengths: Annotated[Slice[u8], "sites"]
    images: Annotated[Slice[Image], "image_count"]  # textures and surfaces, by their handles
    image_count: u64
    srgb: Annotated[Slice[u32], "srgb_count"]  # what sRGB components come to; null if no texture has any
    srgb_count: u64
    trail: Trail  # null unless provenance is followed, and so for all tags
    tags: u32  # where a warp keeps the tags of its registers, after its start
    tag_forms: u32  # and their forms (`register_heads`), a byte for each byte of a lane
    tag_form_bytes: u32
    plans: Annotated[Slice[TensorPlan], "plan_room"]  # of products into tensor memory, in the order they were met
    plan_room: u64
    plan_count: u32


class Barrier:
    """One of a CTA's sixteen named barriers."""

    arrived: u32  # threads so far
    expected: u32  # threads that complete it; 0 while no thread waits
    value: u32  # the running reduction: how many came with a true predicate
    arrivals: u32  # how many came with a predicate
    site: u32  # of the `.aligned` instruction that part of a warp executed + 1
    first: u32  # of the instruction that came first + 1


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
    turn: u32  # the warp with which the next round begins
    running: u32  # 1 while it holds a CTA
    rank: u32  # in its cluster
    index: u64
    ctaid: Annotated[Array[u32], 4]
    peers: Annotated[Slice[Resident], "launch.members"]  # the CTAs of its cluster, by rank
    live_threads: u32
    waiting: u32  # threads at any barrier
    barriers: Annotated[Array[Barrier], 16]
    cluster_arrived: u32  # live threads of the cluster at its barrier (kept by its first CTA)
    refused: u32  # 1: it has seen that a request to cancel the launch of a cluster was refused
    uniform_steps: u32  # 1: some warp has executed what its warpgroup must execute alike
    shadow: Shadow  # null unless racecheck watches
    written: Annotated[Slice[u8], "launch.shared_bytes"]  # initcheck's marks of shared memory; null unless it watches
    computed_from: u32  # where in shared memory poison has been stored that was computed with,
    computed_to: u32  # and where that ends
    tags: Annotated[Slice[u64], "launch.shared_bytes"]  # provenance's, of bytes of shared memory
    word_tags: Annotated[Slice[u64], "launch.shared_bytes // 4"]  # and of its words (`shared_words`)
    tensor: TensorMemory  # null unless the kernel uses any
    tensor_tags: TensorTags  # provenance's, of tensor memory; null unless it follows such a kernel


class Worker:
    """One thread of the host, with the CTAs it keeps resident."""

    launch: Launch
    ctas: Annotated[Slice[Resident], "cta_count"]  # places for resident CTAs
    cta_count: u32
    slice: i32  # rounds left before Python gets a look in
    least: u64  # cycles before which it does not
    looked: u64  # the counter of cycles when it had the last one
    event_count: u32
    event_limit: u32
    events: Annotated[Slice[HazardEvent], "event_limit"]
    missed: Annotated[Array[u32], MISSED_BITS // 32]  # a bit for each different event that there was no room for
    sites: Annotated[Slice[LastSpan], "launch.sites"]  # by memory instruction: the span it hit last
    instructions: u64
    random: u64
    service: u32
    service_warp: u32
    service_cta: u64
    service_lanes: u32
    service_frame: u32
    service_site: u32
    paused: u32  # 1: a warp yielded voluntarily
    in_heap: u32  # 1: some of the sites hold a block of the device heap, which may be freed
    freed: u64  # `HeapTable.freed` as it was when the worker looked last: the sites hold nothing that was freed before
    steps: u32  # of loops that tools have made since a round over a CTA's warps was cut short
    spins: u32  # how long every resident CTA has spun
    patience: u32  # how long they may, before another one is admitted
    fault: Annotated[Array[Fault], 1]
    tensor: Annotated[Array[TensorCopy], 1]  # the copy by a tensor map that is being made
    row: Annotated[Array[TensorRow], 1]
    lookup: Annotated[Array[Lookup], 1]  # the look-up of a texture that is being made
    job: TensorJob  # the product that is being made; null unless the kernel uses tensor memory
    wanted: u64  # the plan that a product needs and that there is not: its key


# What has been done to unwritten bits since they were loaded: they were computed with; moved about; nothing.
COMPUTED, MOVED, LOADED = 0, 1, 2


class PoisonSource:
    """Where the unwritten bits of a register come from: a load, else a register that never was written."""

    site: u32  # of the load + 1; 0: a register
    lane: u32
    space: u32
    size: u16  # bytes unwritten
    raw: u16  # COMPUTED, MOVED or LOADED: what has been done to the bits since
    address: u64  # the first of them; of a register, its place + 1, and 0 of the one that this stands beside


class Warp:
    """One warp; its registers follow the struct."""

    scratch: Annotated[Array[u8], SCRATCH_BYTES]  # operands and results of run-time calls; first, so that it is aligned
    nowhere: Annotated[Array[u32], 32]  # zeros, never written: addresses of what is given by a constant offset
    # From here on to `index`: what every start of a warp sets or run of it looks at, in as few cache lines as can be.
    mask: u32  # the lanes that run now
    live: u32  # the lanes that have not exited
    blocked: u32  # the lanes that wait
    sync_blocked: u32  # lanes that wait for others of the warp
    passing: u32  # lanes that need not wait again at the warp-synchronous instruction they are at
    forced: u32  # those among them whose members wait elsewhere
    hasty: u32  # lanes that wait at an `.aligned`, where hardware would not: they go on before all stand still
    waited: u32  # lanes that wait at a warp-synchronous instruction, or look again whether they must
    starved: u32  # how often the others spent their budget meanwhile
    present: u32  # the lanes the warp started with
    pc: u32  # the block that `mask` is in
    pending: u32  # the smallest block where other runnable lanes are; NONE if there are no such lanes
    budget: i32
    rotate: u32  # 1: run the lanes that wait their turn
    reducing: u32  # lanes that wait for the result of a `bar.red`
    cluster_arrived: u32  # lanes that have arrived at the cluster's barrier
    cluster_waiting: u32  # those of them that wait
    cluster_passed: u32  # lanes for which it has completed since they arrived
    group_steps: u32  # what the warp has executed that its warpgroup must execute alike
    group_site: u32  # the last of it
    group_trail: u32  # what it was, in its order
    product_groups: u32  # groups of `wgmma` committed
    product_wanted: u32  # how many of these the whole warpgroup must have committed, for the lanes that wait
    product_waiting: u32  # these lanes
    product_done: u32  # groups that it has waited for
    allocating: u32  # lanes that wait for tensor memory, or for the peer to allocate some too
    paired: u32  # the allocation for the pair that the warp has come to, its CTA's 1st, 2nd, ...; 0: none
    wanted: u32  # columns that it wants there
    given: u32  # 1 + the first column that the peer has taken for it; 0: none
    asking: u32  # lanes that wait at an mbarrier, where `awaited` says
    poisoned: u32  # 1: bits of some register are unwritten; the variant that follows them runs
    resume: u32  # 1 + the instruction at which that variant is to go on; 0: the start of the block
    local_computed: u32  # 1: such poison lies in local memory
    instructions: u64
    traced: u64  # how many records the warp has
    index: u32
    rank_bits: u32  # the rank of its CTA in the cluster, where shared addresses of programs for pairs have it
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
    profile: u64  # where its worker counts; 0 if it does not
    # There, by site: bytes of global, then of shared memory (`counting`).
    moved: Annotated[Slice[u64], "moved_counters"]
    moved_counters: u64
    trace: Annotated[Slice[TracedSite], "trace_sites"]  # the instructions that are recorded
    trace_sites: u64
    carry: u32  # CC.CF of each lane
    members: Annotated[Array[u32], 32]  # whom each waiting lane waits for
    waits: Annotated[Array[u32], 16]  # by barrier: the lanes that wait there
    results: Annotated[Array[u32], 32]  # by lane: where in the warp's state the result of its `bar.red` goes
    kinds: Annotated[Array[u32], 32]  # and which operation it is
    witnesses: Annotated[Array[u32], 32]  # the lanes that lived when each lane came to a warp-synchronous instruction
    elsewhere: Annotated[Array[u32], 32]  # where each lane was (`Event.place`) when others went on without it
    pcs: Annotated[Array[u32], 32]
    sp: Annotated[Array[u32], 32]  # each lane's frame
    depth: Annotated[Array[u32], 32]  # the cells of its control stack that each lane uses
    stack: Annotated[Array[u32], 32]  # the bytes that each lane has from `alloca`, at the end of its local memory
    shadow: Shadow  # the CTA's; null unless racecheck watches, and so for what follows
    since: u32  # the tick at which the warp last published something
    steps: u32  # accesses to shared memory since the CTA's barrier
    steps_base: u32  # of that tick
    looked: u32  # the strong read among them that was the last access, while it is
    acquired: u32  # lanes that have learnt something since the CTA's barrier
    uneven: u32  # lanes that may know what others of the warp do not
    own: u32  # those of which `HappensBefore.known` holds more than their own fences
    saw: u32  # lanes with relaxed reads that a fence makes good
    pointed: u32  # lanes that have learnt nothing since they fenced or released
    read_head: u32  # reads of shared memory kept
    read_done: u32  # those of them that `Shadow.reads` has
    operation_head: u32  # asynchronous operations issued
    operation_tail: u32  # the oldest that may go on
    written: Annotated[
        Slice[u8], "shared_bytes"
    ]  # initcheck's marks of shared memory, and of lane 0's local memory; null unless it watches
    local_written: Annotated[Slice[u8], "32 * local_bytes"]
    source: Annotated[Array[PoisonSource], 1]  # of what the last load found unwritten
    starts: Annotated[Array[u32], 32]  # where each lane's access starts
    awaited: Annotated[Array[u64], 32]  # the host address of the mbarrier that each lane in `asking` waits at
    awaiting: Annotated[Array[u32], 32]  # the site of the instruction that asked it
    product_head: u32  # factors of products that racecheck knows of
    product_tail: u32  # the oldest that not all threads of the CTA know to be read
    groups: Annotated[Array[u32], 32]  # groups of copies each lane has committed
    bulk_groups: Annotated[Array[u32], 32]  # groups of bulk copies
    local_tags: Annotated[Slice[u64], "32 * local_bytes"]  # provenance's, of lane 0's local memory on


SOURCE_SIZE: Final = language.record(PoisonSource).size
REGISTERS: Final = -(-language.record(Warp).size // 64) * 64
