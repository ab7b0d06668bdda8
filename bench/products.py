"""A product of 256 x 256 x 256 halves by `tcgen05` beside the one by `wgmma`, both with tensor copies, by turns.

Run: `python bench/products.py`.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

import ptxloom as pl
from ptxloom.descriptors.instruction import InstructionDescriptor
from ptxloom.machine import tensor_map

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE, TILE, DEPTH = 256, 128, 64  # of all, and what a CTA multiplies at a time
TILE_BYTES = TILE * DEPTH * 2
ROUNDS = 15
MOST = 1.5

_HEAD = f"""
.version 9.0
.target TARGET
.address_size 64
.extern .shared .align 1024 .b8 tiles[];
.visible .entry k(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .u64 out)
{{
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %d<128>; .reg .b32 %v<64>;
    .shared .align 8 .b64 full; .shared .align 8 .b64 done; .shared .align 16 .b8 slot[16];
    mov.u32 %r1, %tid.x; mov.u32 %r2, tiles; mov.u32 %r3, full; mov.u32 %r4, done;
    mov.u32 %r5, %ctaid.x; shl.b32 %r5, %r5, 7; mov.u32 %r6, %ctaid.y; shl.b32 %r6, %r6, 7;
    add.u32 %r7, %r2, {TILE_BYTES}; shr.u32 %r8, %r1, 5; setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p6, %r8, 0;
    ld.param.u64 %rd1, [out]; mov.b64 %rd2, a; mov.b64 %rd3, b;
    cvta.param.u64 %rd2, %rd2; cvta.param.u64 %rd3, %rd3;
    @!%p1 mbarrier.init.shared.b64 [%r3], 1;
    @!%p1 mbarrier.init.shared.b64 [%r4], 1;
    fence.proxy.async;
    shr.u32 %r9, %r2, 4; cvt.u64.u32 %rd4, %r9; shr.u32 %r9, %r7, 4; cvt.u64.u32 %rd5, %r9;
    or.b64 %rd4, %rd4, DESCRIPTOR; or.b64 %rd5, %rd5, DESCRIPTOR;
"""
_COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
_BRING = f"""
    mov.u32 %r10, 0;
NEXT:
    and.b32 %r11, %r10, 1; shl.b32 %r12, %r10, 6;
    @%p1 bra BROUGHT;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r3], {2 * TILE_BYTES};
    {_COPY} [%r2], [%rd2, {{%r12, %r5}}], [%r3];
    {_COPY} [%r7], [%rd3, {{%r12, %r6}}], [%r3];
BROUGHT:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r3], %r11;
    @!%p2 bra BROUGHT;
"""
_AGAIN = f"""
    add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, {SIZE // DEPTH};
    @%p4 bra NEXT;
"""


def _stepped(register: str, base: str, count: int) -> str:
    """A descriptor that many bytes further."""
    return f"add.u64 {register}, {base}, {count >> 4};"


def by_wgmma() -> str:
    """A warpgroup, two products of 64 rows for each 16 of k."""
    steps: list[str] = []
    for half in range(2):
        accumulators = ", ".join(f"%d{64 * half + n}" for n in range(64))
        for k in range(DEPTH // 16):
            steps.append(_stepped("%rd6", "%rd4", 8192 * half + 32 * k) + _stepped("%rd7", "%rd5", 32 * k))
            steps.append(
                f"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{{accumulators}}}, %rd6, %rd7, 1, 1, 1, 0, 0;"
            )
    stores: list[str] = []
    for number in range(0, 128, 2):
        half, at = divmod(number, 64)
        row, column = 64 * half + 8 * (at // 2 % 2), 8 * (at // 4)
        stores.append(f"st.global.v2.f32 [%rd9+{4 * (row * SIZE + column)}], {{%d{number}, %d{number + 1}}};")
    zeros = "".join(f"mov.f32 %d{n}, 0f00000000;" for n in range(128))
    return (
        _HEAD.replace("TARGET", "sm_90a").replace("DESCRIPTOR", f"{64 << 32 | 1 << 62:#x}")
        + f"bar.sync 0; {zeros}" + _BRING
        + "wgmma.fence.sync.aligned;\n" + "\n".join(steps)
        + "\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; bar.sync 0;" + _AGAIN
        + f"""
    and.b32 %r13, %r1, 31; shr.u32 %r14, %r13, 2; and.b32 %r15, %r13, 3; shl.b32 %r16, %r8, 4; add.u32 %r14, %r14, %r16;
    add.u32 %r14, %r14, %r5; shl.b32 %r15, %r15, 1; add.u32 %r15, %r15, %r6;
    mad.lo.u32 %r16, %r14, {SIZE}, %r15; mul.wide.u32 %rd8, %r16, 4; add.u64 %rd9, %rd1, %rd8;
    """
        + "\n".join(stores) + "\nret;\n}\n"
    )  # fmt: skip


def by_tcgen05() -> str:
    """One thread, a product of 128 rows for each 16 of k; each warp stores its quarter of tensor memory."""
    told = InstructionDescriptor("f16", TILE, TILE, "f16", "f16")
    steps = [
        _stepped("%rd6", "%rd4", 32 * k) + _stepped("%rd7", "%rd5", 32 * k)
        + f"setp.ne.u32 %p3, %r10, {0 if k == 0 else -1};"
        + "tcgen05.mma.cta_group::1.kind::f16 [%r20], %rd6, %rd7, %r21, %p3;"
        for k in range(DEPTH // 16)
    ]  # fmt: skip
    registers = ", ".join(f"%v{n}" for n in range(64))
    moves: list[str] = []
    for half in range(2):
        moves.append(
            f"add.u32 %r22, %r23, {64 * half}; tcgen05.ld.sync.aligned.32x32b.x64.b32 {{{registers}}}, [%r22];"
        )
        moves.append("tcgen05.wait::ld.sync.aligned;")
        for n in range(0, 64, 4):
            four = ", ".join(f"%v{n + i}" for i in range(4))
            moves.append(f"st.global.v4.b32 [%rd9+{4 * (64 * half + n)}], {{{four}}};")
    return (
        _HEAD.replace("TARGET", "sm_100a").replace("DESCRIPTOR", f"{64 << 32 | 1 << 46 | 2 << 61:#x}")
        + f"""
    mov.u32 %r19, slot; mov.u32 %r21, {told.bits};
    @%p6 bra TAKEN;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r19], 128;
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
TAKEN:
    bar.sync 0; ld.shared.u32 %r20, [slot];
    """
        + _BRING + "@%p1 bra ISSUED;\n" + "\n".join(steps)
        + """
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];
ISSUED:
    mbarrier.try_wait.parity.shared.b64 %p5, [%r4], %r11;
    @!%p5 bra ISSUED;
    """
        + _AGAIN
        + f"""
    tcgen05.fence::after_thread_sync;
    shl.b32 %r23, %r8, 21; add.u32 %r23, %r23, %r20; add.u32 %r14, %r1, %r5;
    mad.lo.u32 %r16, %r14, {SIZE}, %r6; mul.wide.u32 %rd8, %r16, 4; add.u64 %rd9, %rd1, %rd8;
    """
        + "\n".join(moves)
        + """
    tcgen05.fence::before_thread_sync; bar.sync 0;
    @%p6 bra FREED;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 128;
FREED:
    ret;
}
"""
    )  # fmt: skip


def prepared(text: str) -> Callable[[], float]:
    """A function that launches a kernel, sees that its result is right, and gives the processor time of the launch."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (SIZE, SIZE)).astype(np.float16) for _ in range(2))
    maps = [tensor_map(each, (DEPTH, TILE), swizzle="128B") for each in (a, b)]
    wanted, out = a.astype(np.float32) @ b.astype(np.float32).T, np.zeros((SIZE, SIZE), np.float32)
    kernel = pl.kernel(pl.parse(text), "k")

    def once() -> float:
        out[:] = 0
        start = time.process_time()
        kernel.launch((2, 2), 128, [*maps, out], shared_bytes=2 * TILE_BYTES, threads=1)
        took = time.process_time() - start
        if not (out == wanted).all():
            raise SystemExit("the product is wrong")
        return took

    once()
    return once


def main() -> int:
    """Print the ratio and both times; 1 if the ratio is too large."""
    old, new = prepared(by_wgmma()), prepared(by_tcgen05())
    pairs = [(old(), new()) for _ in range(ROUNDS)]
    ratio = statistics.median(n / o for o, n in pairs)
    slow, fast = (1e3 * statistics.median(each) for each in zip(*pairs, strict=True))
    print(f"tcgen05 takes {ratio:.2f} times as long as wgmma for {SIZE}^3 halves: {fast:.1f} ms, {slow:.1f} ms")
    return int(ratio > MOST)


if __name__ == "__main__":
    sys.exit(main())
