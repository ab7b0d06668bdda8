"""What synccheck finds: lanes, warps and CTAs that do not meet where they must."""

from __future__ import annotations

from typing import Final

from ptxloom.diagnostics import Severity
from ptxloom.hazards.kind import HazardKind

_WHOLE: Final = (
    "move it out of the branch: every lane of the warp must execute the same `.aligned` instruction together"
)

KINDS: Final = (
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
        "Finds an `.aligned` instruction whose predicate holds only in part of a warp.",
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
        "Finds an `.aligned` barrier (`bar.sync`) in a warp some of whose lanes have exited: no lane waits for them, "
        "but the manual requires the whole warp.",
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
        "Finds `wgmma`, and the `setmaxnreg` that goes with it, that not all warps of a warpgroup execute: they must "
        "execute the same ones, in the same order, with the same descriptors.",
        "`{instruction}` is executed by part of a warpgroup: without {other}",
        "move it to where all four warps of the warpgroup pass: branch by the number of the warpgroup, not of the warp",
    ),
    HazardKind(
        "synccheck",
        "uneven-registers",
        "Finds `setmaxnreg` that not all warps of a warpgroup execute, in the same order. The manual leaves this "
        "undefined; Triton's warp-specialised kernels for sm_100 do it.",
        "`{instruction}` is executed by part of a warpgroup: without {other}",
        "move it to where all four warps of the warpgroup pass; if a compiler wrote the kernel so, leave it",
        severity=Severity.WARNING,
    ),
    HazardKind(
        "synccheck",
        "absent",
        "Finds lanes that execute `shfl.sync` or its like without being in the member mask.",
        "`{instruction}` is executed by {other}, which {are} not in the member mask that {they} name{s}",
        "name every lane that executes it: `activemask` before the branch, or a ballot of its condition",
    ),
    HazardKind(
        "synccheck",
        "mask-mismatch",
        "Finds lanes that execute `shfl.sync` or its like together, but name different member masks.",
        "`{instruction}` is given different member masks: {other} {do} not agree with the rest",
        "compute the mask once, before the lanes diverge",
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
        "canceled, and what the instruction does is undefined. Libraries decode a response as a whole: they read the "
        "index before they ask whether there is one, and use it only if there is.",
        "`{instruction}` reads the index of a cluster, but none was canceled",
        "ask `clusterlaunchcontrol.query_cancel.is_canceled` first, and branch on it or predicate by it",
        severity=Severity.WARNING,
    ),
    HazardKind(
        "synccheck",
        "deadlock",
        "Says who waits where and for whom when no thread can continue.",
        "{count} {verb} for others that never come: {why}",
        "make sure that every thread that is waited for reaches the same barrier",
    ),
    HazardKind(
        "synccheck",
        "no-progress",
        "Says where the threads are when a kernel has not ended within its time limit.",
        "at the time limit {count} {verb}",
        "see what they wait for; `timeout` ends a kernel that may only be slow",
    ),
)
