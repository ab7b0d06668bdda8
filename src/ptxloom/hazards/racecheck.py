"""What racecheck finds: accesses that nothing orders."""

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
    "it reads), then let all threads meet at a barrier; or let all wait at the mbarrier that the copy completes"
)
AFTER_PRODUCT: Final = (
    "put a barrier between the two; before it, the warpgroup waits for its products (`wgmma.wait_group`), and threads "
    "that write factors execute `fence.proxy.async` after the writes"
)
AFTER_TENSOR: Final = (
    "wait between the two: for `tcgen05.ld` and `.st` with `tcgen05.wait::ld` and `wait::st`; for `tcgen05.mma`, `.cp` "
    "and `.shift` at an mbarrier on which a later `tcgen05.commit` arrives; then let the threads meet. Only "
    "`mma` after `mma` of one accumulator and shape, `cp` before `mma`, and `shift` with `mma` are ordered without "
    "that"
)
BETWEEN_CTAS: Final = (
    "no `bar.sync` reaches another CTA: after a barrier of the threads that write, let one of them set a flag after a "
    "fence (`st.release.gpu`, or `membar.gl` and an atomic), and read the flag before a fence (`ld.acquire.gpu`); or "
    "end the kernel between the two"
)
IN_CLUSTER: Final = "let the CTAs of the cluster meet between the two: `barrier.cluster.arrive`, `barrier.cluster.wait`"
BEHIND_SHUFFLE: Final = (
    "put `bar.warp.sync` (`__syncwarp()`) after the `shfl.sync` by which a warp learns that the other side has come, "
    "as in `sync()` of a `cg::tiled_partition` of more than 32 threads: a shuffle passes on the value, not the order; "
    "or let all threads meet at `bar.sync`"
)
_WARP_ORDER: Final = "put `bar.warp.sync` (`__syncwarp()`) between the two: nothing else orders the lanes of a warp"
ROUNDED: Final = (
    "if the threads compute the same element, each fuses products and sums in its own way, and their values differ by "
    "a rounding: compile without fusion (in Triton, `TRITON_DEFAULT_FP_FUSION=0` or `enable_fp_fusion=False`); "
    "otherwise store only one element there"
)

KINDS: Final = (
    HazardKind(
        "racecheck",
        "write-after-write",
        "Finds two threads that write the same byte with nothing that orders them. Plain stores and "
        "copies of equal bytes are not reported, because it makes no difference which came first; a load that nothing "
        "orders with them is reported.",
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
        "warp has waited for the product. A `mov` that only renames an accumulator is not reported.",
        "{register} is touched by `{instruction}` while a product may still use it",
        "wait first: `wgmma.commit_group`, then `wgmma.wait_group` with fewer groups left pending",
        "9.7.15.7",
    ),
    HazardKind(
        "racecheck",
        "product-fence",
        "Finds a `wgmma` that takes a register with no `wgmma.fence` since threads touched it, or since a product of "
        "another shape began to write it; the first one needs a fence, too.",
        "`{instruction}` takes {register} with no `wgmma.fence` after its last use",
        "put `wgmma.fence.sync.aligned` before the first `wgmma.mma_async`, and after what touches its registers",
        "9.7.15.7",
    ),
    HazardKind(
        "racecheck",
        "not-waited",
        "Finds a thread that uses what its own asynchronous copy reads or writes before it has waited for the copy, or "
        "writes what its own `wgmma` reads.",
        "{place} is accessed while the thread's own asynchronous copy or product may still be under way",
        "wait first: `cp.async.wait_group`, `cp.async.bulk.wait_group` (with `.read` only for what it reads), "
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
        "Finds a bulk copy, `wgmma`, `tcgen05.mma` or `.cp` that reads or overwrites what threads have written, with "
        "no `fence.proxy.async` between the two: these take another path to memory than loads and stores, and a "
        "barrier alone does not order the two paths.",
        "{place} is written and then accessed by `{instruction}` with no `fence.proxy.async` between the two",
        "put `fence.proxy.async` after the writes, before the barrier between the two, or before the second access",
        "9.7.13.4",
    ),
    HazardKind(
        "racecheck",
        "stale-tensor-map",
        "Finds a copy by a tensor map in global memory that threads have changed, with no release and acquire of "
        "`fence.proxy.tensormap` between the two: copies read their maps by another path than stores.",
        "{place} is written and then used as a tensor map with no `fence.proxy.tensormap` between the two",
        "change the map in shared memory and copy it with `tensormap.cp_fenceproxy`, or put "
        "`fence.proxy.tensormap::generic.release` after the change; then let the thread that copies execute "
        "`fence.proxy.tensormap::generic.acquire` on it",
        "9.7.13.4",
    ),
    HazardKind(
        "racecheck",
        "proxy-reuse",
        "Finds a bulk copy that overwrites what threads have read, with no `fence.proxy.async` between the two, even "
        "if a barrier orders them. The manual asks for the fence; NVIDIA's own libraries leave it out in places: "
        "only `racecheck:fences` reports it.",
        "{place} is read and then overwritten by `{instruction}` with no `fence.proxy.async` between the two",
        "put `fence.proxy.async` after the reads, before the barrier that lets the copy begin",
        "9.7.13.4",
    ),
    HazardKind(
        "racecheck",
        "tensor-fence",
        "Finds accesses to tensor memory by different threads that are ordered, but without "
        "`tcgen05.fence::before_thread_sync` after the first (`tcgen05.commit` implies it) and "
        "`tcgen05.fence::after_thread_sync` before the second. The manual asks for both; compilers leave them out: "
        "only `racecheck:fences` reports it.",
        "{place} is accessed by different threads with no `tcgen05.fence` on one side of what orders them",
        "put `tcgen05.fence::before_thread_sync` after the first access, before the threads meet, and "
        "`tcgen05.fence::after_thread_sync` after they met, before the second access",
        "9.7.16.6.3",
    ),
    HazardKind(
        "racecheck",
        "early-exit",
        "Finds shared memory that ends with its CTA while another CTA of the cluster accesses it, or while a bulk copy "
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
)
