"""Every hazard there is: whose finding, how grave, in which words, and what to do about it.

The names of tools are compute-sanitizer's. A message may use `{instruction}` (the opcode), `{access}` ("read of 4
bytes"), `{place}` (where in memory), `{lanes}` (those at fault), `{other}` (the lanes it is about, `{have}` and
`{are}` agreeing with them), and what else its kind knows.
"""

from __future__ import annotations

from typing import Final

from ptxloom.diagnostics import Severity
from ptxloom.hazards.kind import HazardKind

_RACES: Final = "8.7.1"
_ORDER: Final = (
    "put a barrier between the two: `bar.sync` (`__syncthreads()`), or an mbarrier where only some of the threads meet"
)
AFTER_COPY: Final = (
    "let the thread that copies wait first (`cp.async.wait_group`, `cp.async.bulk.wait_group`, with `.read` for what "
    "it reads), then let all meet at a barrier; or let all wait at the mbarrier that the copy completes"
)
AFTER_PRODUCT: Final = (
    "put a barrier between the two; the warpgroup waits before it for what it multiplies (`wgmma.wait_group`), and who "
    "writes what it multiplies says so behind `fence.proxy.async`"
)
BETWEEN_CTAS: Final = (
    "no `bar.sync` reaches another CTA: after a barrier of those who write, let one of them set a flag behind a fence "
    "(`st.release.gpu`, or `membar.gl` and an atomic), and read it before one (`ld.acquire.gpu`); or end the kernel "
    "between the two"
)
IN_CLUSTER: Final = "let the CTAs of the cluster meet between the two: `barrier.cluster.arrive`, `barrier.cluster.wait`"
_WARP_ORDER: Final = "put `bar.warp.sync` (`__syncwarp()`) between the two: nothing else orders the lanes of a warp"
MORE_SHARED: Final = (
    "launch with as many bytes of dynamic shared memory as the kernel uses (`shared_bytes`); else compare the index "
    "with the length, and predicate the access"
)
_GUARD: Final = "compare the index with the length, and predicate the access"
_WHOLE: Final = (
    "move it out of the branch: every lane of the warp must execute the same `.aligned` instruction together"
)

KINDS: Final = (
    HazardKind(
        "memcheck",
        "out-of-bounds",
        "Finds an access outside every piece of memory of its state space: arrays, variables, shared and local memory, "
        "constants, parameters.",
        "{access} at {symbol} is out of bounds{end}",
        _GUARD,
    ),
    HazardKind(
        "memcheck",
        "overrun",
        "Finds, where `memcheck:variables` watches, an access that leaves the shared, constant, local or module-wide "
        "variable whose name its address was made from, though other memory lies there. An address keeps its variable "
        "through additions, copies and selections, not through memory.",
        "{access} at {place} is beyond {symbol}, from which the address was made",
        "compare the index with the length of the array; an array that others are part of must be declared as one",
    ),
    HazardKind(
        "memcheck",
        "null",
        "Finds an access through a null pointer, or little more than one.",
        "{access} through a null pointer, at {place}",
        "pass memory for this argument; an address of shared memory needs `.shared`, or a `cvta.shared` before it",
    ),
    HazardKind(
        "memcheck",
        "misaligned",
        "Finds an address that is not a multiple of what the access needs; a row of `ldmatrix` needs 16 bytes.",
        "{access} at {place} is not aligned to {alignment} bytes",
        "start at a multiple of the access's size, and pad rows so that each one does",
    ),
    HazardKind(
        "memcheck",
        "read-only",
        "Finds a write to memory that may only be read: parameters, constants, arrays that the host marked read-only.",
        "{access} at {place}, which is read-only",
        "write to memory of your own",
    ),
    HazardKind(
        "memcheck",
        "wrong-space",
        "Finds an address of another state space than the instruction means, such as a generic address outside "
        "shared memory in `ldmatrix`.",
        "{access} at {place}, {wrong}",
        "use the space where the data lies, or a generic address made with `cvta`",
    ),
    HazardKind(
        "memcheck",
        "use-after-free",
        "Finds an access to memory that the kernel has given back with `free`.",
        "{access} at {place}, which has been freed",
        "free it after the last use, by the last thread that uses it",
    ),
    HazardKind(
        "memcheck",
        "double-free",
        "Finds memory that is given back twice.",
        "{place} is freed for the second time",
        "free it once: by one thread, after a barrier",
    ),
    HazardKind(
        "memcheck",
        "invalid-free",
        "Finds a `free` of what `malloc` never gave.",
        "{place} is freed, but `malloc` never gave it",
        "free what `malloc` returned, and nothing else",
    ),
    HazardKind(
        "memcheck",
        "leak",
        "Finds what `malloc` gave and nobody has freed when a launch ends, by the call of `malloc` (`memcheck:leaks`; "
        "compute-sanitizer's `--leak-check full`). Kernels of one module share its heap: memory that one of them "
        "leaves for another to free is told of after the one and not after the other.",
        "{size} bytes allocated here ({pieces}) were not freed when the kernel ended",
        "free them, by one thread, after their last use; watch the last kernel alone if it is the one that frees",
        severity=Severity.WARNING,
    ),
    HazardKind(
        "memcheck",
        "trap",
        "Tells where a kernel ended itself.",
        "the kernel executes `trap`",
        "look at the condition that led here",
    ),
    HazardKind("memcheck", "assertion", "Tells which `assert` failed.", "{text}", "look at the condition that failed"),
    HazardKind(
        "memcheck",
        "stack-overflow",
        "Finds a thread whose calls, or `alloca`, need more of the stack than it has.",
        "the stack of lane {lane} is full",
        "launch with a larger `stack_bytes`, or end the recursion sooner",
    ),
    HazardKind(
        "memcheck",
        "bad-call",
        "Finds an indirect call to something that is not a function; a kernel is not one.",
        "a call to {place}, which is not a function",
        "call through an address of a function",
    ),
    HazardKind(
        "memcheck",
        "call-mismatch",
        "Finds an indirect call of a function that takes or gives other sizes than the call's prototype says.",
        "a call to {place}, which takes or gives other sizes than this call says",
        "give the call the prototype of the function that it reaches",
        "11.3.3",
    ),
    HazardKind(
        "memcheck",
        "bad-branch",
        "Finds a `brx.idx` whose index is past the end of its list of targets.",
        "`{instruction}` is given index {number}, which is past the end of its list of targets",
        "branch around it if the index can be as large as the list is long",
    ),
    HazardKind(
        "memcheck",
        "bad-token",
        "Finds a `stackrestore` of what no `stacksave` of the same call gave, or of what has been given back already.",
        "`{instruction}` is given a token that is not one of this call's",
        "restore what `stacksave` gave in the same function, the last one first",
    ),
    HazardKind(
        "memcheck",
        "invalid",
        "Finds a barrier that is not one of the sixteen, or a count of threads that is not a multiple of a warp.",
        "`{instruction}` is given an operand that it cannot take",
        "barriers are numbered 0 to 15, and count threads in multiples of 32",
    ),
    HazardKind(
        "memcheck",
        "no-mbarrier",
        "Finds an operation on an mbarrier that nobody has initialised.",
        "there is no initialised mbarrier at {place}",
        "execute `mbarrier.init` first, then a barrier so that every thread sees it",
        "9.7.13.16",
    ),
    HazardKind(
        "memcheck",
        "no-cluster",
        "Finds a copy or a store from CTA to CTA (`cp.async.bulk` and `cp.reduce.async.bulk` from `.shared::cta` to "
        "`.shared::cluster`, `st.async`, `red.async`) in a launch without clusters. To an H200 it is an illegal "
        "instruction, the own CTA's memory as its target included; a cluster of one CTA is enough.",
        "`{instruction}` moves data within a cluster, and the launch has none",
        "launch with a cluster (`cluster=1` will do), or give the kernel `.reqnctapercluster`",
        "2.2.1",
    ),
    HazardKind(
        "memcheck",
        "no-tensor-map",
        "Finds a copy by 128 bytes that are no tensor map: nobody encoded one there, or what a kernel has put into its "
        "fields cannot be.",
        "the 128 bytes at {place} are no tensor map: {reason}",
        "pass what `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col` made, `const __grid_constant__`, or by its "
        "address in global memory; here `pl.tensor_map` makes it",
        "5.5.8",
    ),
    HazardKind(
        "memcheck",
        "illegal-tensor-copy",
        "Finds a copy that its tensor map does not allow: to an H200 it is an illegal instruction.",
        "`{instruction}` cannot be made by the tensor map at {place}: {reason}",
        "write the instruction for the tensor map that is passed, with coordinates that it can take",
        "9.7.9.27",
    ),
    HazardKind(
        "memcheck",
        "no-texture",
        "Finds a texture or a surface that is none, or none of the instruction's geometry: an H200 reads zeros there.",
        "`{instruction}` cannot use the object {number}: {reason}",
        "pass what `cudaCreateTextureObject` or `cudaCreateSurfaceObject` made; here `pl.texture` and `pl.surface` "
        "make it",
        "9.7.10",
    ),
    HazardKind(
        "memcheck",
        "illegal-surface-access",
        "Finds an access to a surface outside of it under `.trap`, or one between two places: an H200 ends the kernel.",
        "`{instruction}` cannot reach into the surface: {reason}",
        "multiply the first coordinate by the size of an element, and keep within the surface, or write `.clamp` or "
        "`.zero`",
        "9.7.11",
    ),
    HazardKind(
        "memcheck",
        "mbarrier-overrun",
        "Finds more arrivals at an mbarrier than it expects in a phase.",
        "the mbarrier at {place} expects fewer arrivals than come",
        "make the count of `mbarrier.init` equal to the arrivals of one phase",
        "9.7.13.16",
    ),
    HazardKind(
        "synccheck",
        "divergent",
        "Finds an `.aligned` instruction that part of a warp executes while the rest is elsewhere.",
        "`{instruction}` is executed by part of a warp: without {other}",
        _WHOLE,
    ),
    HazardKind(
        "synccheck",
        "predicated",
        "Finds an `.aligned` instruction whose predicate holds in part of a warp only.",
        "`{instruction}` is executed by part of a warp: {other} {are} predicated off",
        _WHOLE,
    ),
    HazardKind(
        "synccheck",
        "exited",
        "Finds an `.aligned` instruction that a warp executes after some of its lanes have exited.",
        "`{instruction}` is executed by part of a warp: {other} {have} exited",
        "let every lane of the warp live until here: predicate the stores instead of returning early",
    ),
    HazardKind(
        "synccheck",
        "exited-barrier",
        "Finds an `.aligned` barrier (`bar.sync`) in a warp of which lanes have exited: nobody waits for them, yet the "
        "manual wants the whole warp.",
        "`{instruction}` is executed by part of a warp: {other} {have} exited",
        "let every lane of the warp live until here, or write `barrier.sync`, which needs no whole warp",
        severity=Severity.WARNING,
    ),
    HazardKind(
        "synccheck",
        "partial-warp",
        "Finds an `.aligned` instruction in a warp that never had all its lanes.",
        "`{instruction}` is executed by a warp that lacks {other}: the CTA has fewer threads",
        "launch a multiple of 32 threads",
    ),
    HazardKind(
        "synccheck",
        "partial-warpgroup",
        "Finds `setmaxnreg` and `wgmma` that not all warps of a warpgroup execute: the same ones, in the same order, "
        "with the same descriptors.",
        "`{instruction}` is executed by part of a warpgroup: without {other}",
        "move it to where all four warps of the warpgroup pass: branch by the number of the warpgroup, not of the warp",
    ),
    HazardKind(
        "synccheck",
        "absent",
        "Finds lanes that execute `shfl.sync` or its like without being in the member mask.",
        "`{instruction}` is executed by {other}, who {are} not in the member mask that {they} name{s}",
        "name every lane that executes it: `activemask` before the branch, or a ballot of its condition",
    ),
    HazardKind(
        "synccheck",
        "mask-mismatch",
        "Finds lanes that execute `shfl.sync` or its like together, but name different member masks.",
        "`{instruction}` is given different member masks: {other} {do} not agree with the rest",
        "compute the mask once, before the lanes part",
    ),
    HazardKind(
        "synccheck",
        "elsewhere",
        "Finds `shfl.sync` or its like waiting for members that never come.",
        "`{instruction}` names {other} in its member mask, but {they} never come{s} here",
        "name only the lanes that execute it, or move it out of the branch",
    ),
    HazardKind(
        "synccheck",
        "exited-members",
        "Finds `shfl.sync` or its like naming members that have exited: the others need not wait for them, but what "
        "they hold is undefined.",
        "`{instruction}` names {other} in its member mask, but {they} {have} exited without coming here",
        "leave exited lanes out of the member mask, or let them live until here",
        severity=Severity.WARNING,
    ),
    HazardKind(
        "synccheck",
        "barrier-count",
        "Finds threads that come to one barrier with different counts of threads.",
        "threads come to barrier {number} with different counts: {other} here, {size} at the other",
        "give every `bar.sync`, `bar.arrive` and `bar.red` of one barrier the same count of threads",
    ),
    HazardKind(
        "synccheck",
        "requested-again",
        "Finds a request to cancel the launch of a cluster (`clusterlaunchcontrol.try_cancel`) in a CTA that has seen "
        "one refused (`clusterlaunchcontrol.query_cancel.is_canceled`): what a further one does is undefined.",
        "`{instruction}` asks for another cluster after a request of this CTA was refused",
        "leave the loop at the first refusal: the clusters that are left start by themselves",
    ),
    HazardKind(
        "synccheck",
        "not-canceled",
        "Finds `clusterlaunchcontrol.query_cancel.get_first_ctaid` of a response that is a refusal: no cluster was "
        "canceled, and its index is undefined.",
        "`{instruction}` reads the index of a cluster, but none was canceled",
        "ask `clusterlaunchcontrol.query_cancel.is_canceled` first, and branch on it",
    ),
    HazardKind(
        "synccheck",
        "deadlock",
        "Tells who waits where and for whom when no thread can go on.",
        "{count} {verb} for others that never come: {why}",
        "see to it that every thread that is waited for reaches the same barrier",
    ),
    HazardKind(
        "synccheck",
        "no-progress",
        "Tells where the threads are when a kernel has not ended within its time limit.",
        "at the time limit {count} {verb}",
        "see what they wait for; `timeout` ends a kernel that may only be slow",
    ),
    HazardKind(
        "racecheck",
        "write-after-write",
        "Finds two threads that write the same byte with nothing that orders them. Plain stores of equal values are "
        "let pass, as it makes no difference which came first; a load that nothing orders beside them is not.",
        "two threads write {place} with nothing that orders them",
        _ORDER,
        _RACES,
    ),
    HazardKind(
        "racecheck",
        "write-after-read",
        "Finds a thread that overwrites what another reads with nothing that orders them.",
        "{place} is read and then written with nothing that orders the two",
        _ORDER,
        _RACES,
    ),
    HazardKind(
        "racecheck",
        "read-after-write",
        "Finds a thread that reads what another writes with nothing that orders them.",
        "{place} is written and then read with nothing that orders the two",
        _ORDER,
        _RACES,
    ),
    HazardKind(
        "racecheck",
        "product-register",
        "Finds an accumulator of `wgmma` that is read or written, and a register of its A that is written, before the "
        "warp has waited for the product. A `mov` that only renames an accumulator is none.",
        "{register} is touched by `{instruction}` while a product may still use it",
        "wait first: `wgmma.commit_group`, then `wgmma.wait_group` with fewer groups left under way",
        "9.7.15.7",
    ),
    HazardKind(
        "racecheck",
        "product-fence",
        "Finds a `wgmma` that takes a register with no `wgmma.fence` since threads touched it, or since a product of "
        "another shape began to write it; the first one needs a fence, too.",
        "`{instruction}` takes {register} with no `wgmma.fence` behind what was done with it before",
        "put `wgmma.fence.sync.aligned` before the first `wgmma.mma_async`, and after what touches its registers",
        "9.7.15.7",
    ),
    HazardKind(
        "racecheck",
        "not-waited",
        "Finds a thread that uses what its own asynchronous copy reads or writes before it has waited for the copy, or "
        "writes what its own `wgmma` reads.",
        "{place} is accessed while the thread's own asynchronous copy or product may still be under way",
        "wait first: `cp.async.wait_group`, `cp.async.bulk.wait_group` (with `.read` for what it reads, no more), "
        "`wgmma.wait_group`, or the mbarrier that the copy completes",
        "9.7.9.25",
    ),
    HazardKind(
        "racecheck",
        "not-read-only",
        "Finds memory that is loaded as read-only (`ld.global.nc`, `__ldg`) and written by the same kernel, by any "
        "thread and however ordered: the path of such loads is not coherent with stores.",
        "{place} is loaded as read-only memory, and the same kernel writes it",
        "load it without `.nc` (in C++, without `const __restrict__` and `__ldg`), or write it in another kernel",
        "9.7.9.9",
    ),
    HazardKind(
        "racecheck",
        "cross-proxy",
        "Finds a bulk copy or `wgmma` that reads or overwrites what threads have written, with no `fence.proxy.async` "
        "between the two: these go another way to memory than loads and stores, and a barrier alone does not join the "
        "ways.",
        "{place} is written and then accessed by `{instruction}` with no `fence.proxy.async` between the two",
        "put `fence.proxy.async` behind the writes, before the barrier between the two, or before what comes second",
        "9.7.13.4",
    ),
    HazardKind(
        "racecheck",
        "stale-tensor-map",
        "Finds a copy by a tensor map in global memory that threads have changed, with no release and acquire of "
        "`fence.proxy.tensormap` between the two: copies go another way to their maps than stores.",
        "{place} is written and then used as a tensor map with no `fence.proxy.tensormap` between the two",
        "change the map in shared memory and copy it with `tensormap.cp_fenceproxy`, or put "
        "`fence.proxy.tensormap::generic.release` behind the change; then let who copies execute "
        "`fence.proxy.tensormap::generic.acquire` on it",
        "9.7.13.4",
    ),
    HazardKind(
        "racecheck",
        "early-exit",
        "Finds shared memory that goes with its CTA while another CTA of the cluster accesses it, or while a bulk copy "
        "or another CTA's asynchronous operation reads or writes it.",
        "{place} is accessed with nothing that makes its CTA wait for that before it exits",
        "let the CTA wait before it exits: for the others of its cluster at `barrier.cluster`, for a bulk copy with "
        "`cp.async.bulk.wait_group.read` or at the mbarrier that it completes",
        "5.1.7",
    ),
    HazardKind(
        "racecheck",
        "warp-order",
        "Finds lanes of one warp that access the same byte, one of them writing, with nothing that orders them.",
        "two lanes of one warp access {place} with nothing that orders them: they need not run in step",
        _WARP_ORDER,
        _RACES,
        Severity.WARNING,
    ),
    HazardKind(
        "initcheck",
        "uninitialised",
        "Finds a use of bytes that nobody has written: where they steer control, make an address, leave the CTA, or "
        "meet those of other lanes in `mma`, a vote or an atomic. To load, compute, select and store them within the "
        "CTA is not a hazard: what depends on them is followed, bit by bit, until it is used or overwritten. A byte, "
        "or a word of which a part is written, may leave the CTA if it is only copied: structs have padding. The other "
        "side is the load that found them.",
        "{use} {size} bytes at {place} that nobody has written",
        "write it first; a store by another thread counts once a barrier lies between",
    ),
    HazardKind(
        "initcheck",
        "uninitialised-register",
        "Finds a use of a register that was never written, or of what was computed from it.",
        "{register} is used, but was never written",
        "give it a value on every path that leads here",
    ),
)
BY_RULE: Final = {kind.rule: kind for kind in KINDS}
