"""Kernels with a race and, beside each, what orders it.

Their registers and shared memory are those of `kernel_of` in `test_racecheck`.
"""

from __future__ import annotations

from dataclasses import dataclass

STORE, LOAD = "st.shared.u32 [%r10], %r0;", "ld.shared.u32 %r1, [%r11];"
ROWS = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r12];"
WIDE = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r12], {%r0};"
PLACE = "mad.lo.u32 %r12, %r22, 16, %r20;"
INIT = "@%p3 mbarrier.init.shared.b64 [gate], 128;\nbar.sync 0;"
WAIT = "{t}: mbarrier.try_wait.parity.shared.b64 %p5, [gate], 0;\n@!%p5 bra {t};"


@dataclass(frozen=True)
class Pair:
    """A kernel with `@` where a line that orders it belongs, that line, and the kind of race without it."""

    name: str
    body: str
    order: str
    kind: str
    wrong: str = ""  # what stands there instead
    block: int = 128


PAIRS = (
    Pair("store then load", f"{STORE}\n@\n{LOAD}", "bar.sync 0;", "read-after-write"),
    Pair("load then store", f"{LOAD}\n@\n{STORE}", "bar.sync 0;", "write-after-read"),
    Pair("two stores", f"{STORE}\n@\nst.shared.u32 [%r11], %r22;", "barrier.sync 0;", "write-after-write"),
    Pair("barrier of another number", f"{STORE}\n@\n{LOAD}", "bar.sync 3;", "read-after-write"),
    Pair("divided by a warp's barrier", f"{STORE}\n@\n{LOAD}", "bar.sync 0;", "read-after-write", "bar.warp.sync -1;"),
    Pair("shfl is not a barrier", f"{STORE}\n@\n{LOAD}", "bar.sync 0;", "warp-order", "activemask.b32 %r7;", 32),
    Pair(
        "within a warp",
        (f"{STORE}\n@\nand.b32 %r21, %r21, 31; mad.lo.u32 %r11, %r21, 4, %r20;\n{LOAD}"),
        "bar.warp.sync -1;",
        "warp-order",
        "shfl.sync.idx.b32 %r7, %r0, 0, 31, -1;",
        32,
    ),
    Pair(
        "one lane counts its warp out, the last warp's reads what all have left",
        (
            f"@%p3 st.shared.u32 [flag], 0;\nbar.sync 0;\n{STORE}\n@\n@!%p1 bra E;\nfence.sc.cta;\n"
            "atom.add.acquire.cta.shared.u32 %r7, [flag], 1;\nsetp.ne.u32 %p5, %r7, 3;\n@%p5 bra E;\n"
            "xor.b32 %r8, %r0, 65; mad.lo.u32 %r8, %r8, 4, %r20; ld.shared.u32 %r1, [%r8];\nE:"
        ),
        "bar.warp.sync -1;",
        "read-after-write",
        "match.any.sync.b32 %r7, %r20, -1;",
    ),
    Pair(
        "barrier of part of the CTA",
        f"{STORE}\n@\n{LOAD}",
        "bar.sync 1, 128;",
        "read-after-write",
        "@%p2 bar.sync 1, 32;",
    ),
    Pair(
        "arrive and sync",
        (f"@%p2 {STORE}\n@%p2 bar.arrive 1, 128;\n@\n@%p4 ld.shared.u32 %r1, [tile];"),
        "@%p4 bar.sync 1, 128;",
        "read-after-write",
        "@%p4 bar.sync 2, 96;",
    ),
    Pair(
        "ldmatrix", (f"{PLACE}\n@%p2 {STORE}\n@\n@%p4 bra M;\nbra E;\nM: {ROWS}\nE:"), "bar.sync 0;", "read-after-write"
    ),
    Pair(
        "stmatrix",
        (f"{PLACE}\n@%p4 bra M;\n{WIDE}\nM:\n@\n@%p4 ld.shared.u32 %r1, [tile];"),
        "bar.sync 0;",
        "read-after-write",
    ),
    Pair(
        "stmatrix and ldmatrix",
        (f"{PLACE}\n{WIDE}\n@\nxor.b32 %r12, %r12, 16;\n{ROWS}"),
        "bar.warp.sync -1;",
        "warp-order",
        "",
        32,
    ),
    Pair(
        "mbarrier",
        (f"{INIT}\n{STORE}\nmbarrier.arrive.shared.b64 %rd5, [gate];\n@\n{LOAD}"),
        WAIT.format(t="T"),
        "read-after-write",
    ),
    Pair(
        "relaxed arrivals",
        (f"{INIT}\n{STORE}\n@\n{WAIT.format(t='T')}\n{LOAD}"),
        "mbarrier.arrive.shared.b64 %rd5, [gate];",
        "read-after-write",
        "mbarrier.arrive.relaxed.cta.shared.b64 %rd5, [gate];",
    ),
    Pair(
        "initialised mbarrier",
        ("@%p3 mbarrier.init.shared.b64 [gate], 128;\n@\nmbarrier.arrive.shared.b64 %rd5, [gate];"),
        "bar.sync 0;",
        "warp-order",
        "",
        32,
    ),
    Pair(
        "cp.async waited for",
        ("add.u64 %rd2, %rd0, 0;\ncp.async.ca.shared.global [%r10], [%rd2], 4;\n@\nld.shared.u32 %r1, [%r10];"),
        "cp.async.wait_all;",
        "not-waited",
    ),
    Pair(
        "cp.async of one's own group",
        ("cp.async.ca.shared.global [%r10], [%rd0], 4;\ncp.async.commit_group;\n@\nld.shared.u32 %r1, [%r10];"),
        "cp.async.wait_group 0;",
        "not-waited",
        "cp.async.wait_group 1;",
    ),
    Pair(
        "cp.async and a barrier",
        (f"cp.async.ca.shared.global [%r10], [%rd0], 4;\n@\nbar.sync 0;\n{LOAD}"),
        "cp.async.wait_all;",
        "read-after-write",
    ),
    Pair(
        "cp.async at an mbarrier",
        (
            f"{INIT}\n"
            "cp.async.ca.shared.global [%r10], [%rd0], 4;\n"
            "cp.async.mbarrier.arrive.noinc.shared.b64 [gate];\n"
            "@\n"
            f"{LOAD}"
        ),
        WAIT.format(t="T"),
        "read-after-write",
        "bar.sync 0;",
    ),
    Pair(
        "atomics among themselves",
        "@\n",
        "atom.shared.add.u32 %r1, [tile], 1;",
        "write-after-write",
        "st.shared.u32 [tile], %r0;",
    ),
    Pair(
        "atomic and plain",
        ("atom.shared.add.u32 %r1, [tile], 1;\n@\nld.shared.u32 %r2, [tile];"),
        "bar.sync 0;",
        "read-after-write",
    ),
    Pair(
        "flag with release",
        (
            "@%p3 st.shared.u32 [tile+4], 7;\n"
            "@\n"
            "@!%p2 bra L;\n"
            "bra E;\n"
            "L: ld.acquire.cta.shared.u32 %r2, [flag];\n"
            "setp.eq.u32 %p5, %r2, 0;\n"
            "@%p5 bra L;\n"
            "ld.shared.u32 %r1, [tile+4];\n"
            "E:"
        ),
        "@%p3 st.release.cta.shared.u32 [flag], 1;",
        "read-after-write",
        "@%p3 st.relaxed.cta.shared.u32 [flag], 1;",
    ),
    Pair(
        "flag with fences",
        (
            "@%p3 st.shared.u32 [tile+4], 7;\n"
            "@\n"
            "@%p3 st.volatile.shared.u32 [flag], 1;\n"
            "@!%p2 bra L;\n"
            "bra E;\n"
            "L: ld.volatile.shared.u32 %r2, [flag];\n"
            "setp.eq.u32 %p5, %r2, 0;\n"
            "@%p5 bra L;\n"
            "fence.acq_rel.cta;\n"
            "ld.shared.u32 %r1, [tile+4];\n"
            "E:"
        ),
        "membar.cta;",
        "read-after-write",
    ),
    Pair(
        "flag without the second fence",
        (
            "@%p3 st.shared.u32 [tile+4], 7;\n"
            "membar.cta;\n"
            "@%p3 st.volatile.shared.u32 [flag], 1;\n"
            "@!%p2 bra L;\n"
            "bra E;\n"
            "L: ld.volatile.shared.u32 %r2, [flag];\n"
            "setp.eq.u32 %p5, %r2, 0;\n"
            "@%p5 bra L;\n"
            "@\n"
            "ld.shared.u32 %r1, [tile+4];\n"
            "E:"
        ),
        "fence.acq_rel.cta;",
        "read-after-write",
    ),
    Pair(
        "generic addresses",
        ("cvt.u64.u32 %rd6, %r10; cvta.shared.u64 %rd6, %rd6;\nst.u32 [%rd6], %r0;\n@\n") + LOAD,
        "bar.sync 0;",
        "read-after-write",
    ),
    Pair(
        "the last byte",
        ("@%p3 st.shared.u64 [tile], %rd0;\n@\n@%p4 ld.shared.u8 %r1, [tile+7];"),
        "bar.sync 0;",
        "read-after-write",
    ),
    Pair(
        "an atomic operation hands on the store that it has seen, another store does not",
        (
            "setp.eq.u32 %p5, %r0, 1; setp.eq.u32 %p6, %r0, 2;\n"
            "@%p3 st.relaxed.cta.shared.u32 [flag], 1;\n"
            "@\n"
            "@%p6 ld.relaxed.cta.shared.u32 %r1, [flag];\n"
            "@%p6 st.shared.u32 [flag], %r1;"
        ),
        "@%p5 atom.relaxed.cta.shared.exch.b32 %r7, [flag], 2;",
        "warp-order",
        "@%p5 st.relaxed.cta.shared.u32 [flag], 2;",
        32,
    ),
)
