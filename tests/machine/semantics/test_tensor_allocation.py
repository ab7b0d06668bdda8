"""Tensor memory of a pair of CTAs: one allocation, which both have as soon as either goes on."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.machine.launch.options import CHECKS

_KERNEL = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 issuer, .param .u32 late, .param .u32 rounds)
{
    .reg .pred %p<8>; .reg .b16 %h<2>; .reg .b32 %r<24>; .reg .b64 %rd<8>;
    .shared .align 128 .b8 room[512];
    .shared .align 8 .b64 bar;
    .shared .align 8 .b32 slot;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [issuer]; ld.param.u32 %r2, [late]; ld.param.u32 %r3, [rounds];
    mov.u32 %r4, %tid.x; mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, room; mov.u32 %r7, bar; mov.u32 %r20, 0;
    setp.eq.u32 %p1, %r4, 0; setp.eq.u32 %p2, %r5, %r1; and.pred %p2, %p1, %p2; setp.ne.u32 %p3, %r5, %r2;
    shl.b32 %r8, %r4, 4; add.u32 %r8, %r6, %r8; mad.lo.u32 %r9, %r5, 100, %r4;
    st.shared.v4.u32 [%r8], {%r9, %r9, %r9, %r9};
    @%p1 mbarrier.init.shared.b64 [bar], 1;
    fence.proxy.async;
    shr.u32 %r10, %r6, 4; cvt.u64.u32 %rd2, %r10; or.b64 %rd2, %rd2, 0x0000400800080000;
    mov.b16 %h1, 3; mul.wide.u32 %rd3, %r9, 16; add.u64 %rd1, %rd1, %rd3;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
AGAIN:
    @%p3 bra COME;
    mov.u32 %r11, 0;
LATE:
    add.u32 %r11, %r11, 1; setp.lt.u32 %p4, %r11, 4096; @%p4 bra LATE;
COME:
    tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], COLUMNS;
    bar.warp.sync -1;
    ld.shared.u32 %r12, [slot];
    @%p2 tcgen05.cp.cta_group::2.32x128b.warpx4 [%r12], %rd2;
    @%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r7], %h1;
    and.b32 %r13, %r20, 1;
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p5, [bar], %r13; @!%p5 bra WAIT;
    tcgen05.fence::after_thread_sync;
    tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r14, %r15, %r16, %r17}, [%r12];
    tcgen05.wait::ld.sync.aligned;
    st.global.v4.u32 [%rd1], {%r14, %r15, %r16, %r17};
    tcgen05.fence::before_thread_sync;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r12, COLUMNS;
    add.u32 %r20, %r20, 1; setp.lt.u32 %p6, %r20, %r3; @%p6 bra AGAIN;
    ret;
}
"""


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("issuer", [0, 1])
def test_who_comes_to_the_other_may_use_the_columns_of_both(issuer: int, late: int) -> None:
    kernel = pl.kernel(pl.parse(_KERNEL.replace("COLUMNS", "512")), "k")
    out = np.zeros((2, 100, 4), np.uint32)
    outcome = kernel.launch(2, 32, [out, issuer, late, 3], cluster=2, checks=CHECKS)
    assert outcome.hazards == ()
    assert (out[:, :32] == np.arange(32)[None, :, None] + 100 * np.arange(2)[:, None, None]).all()


def test_both_get_the_same_columns_though_one_has_freed_some_earlier() -> None:
    """A `tcgen05.dealloc` need not wait for the peer's."""
    one = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 64;"
    free = "mov.u32 %r12, 0; tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r12, 64;"
    text = _KERNEL.replace("COLUMNS", "64").replace("    @%p3 bra COME;", f"    {one}\n    @%p3 bra COME;\n    {free}")
    text = text.replace("    ret;", f"    @!%p3 bra DONE;\n    {free}\nDONE:\n    ret;")
    text = text.replace("[%rd1], {%r14", "[%rd1], {%r12")
    out = np.zeros((2, 100, 4), np.uint32)
    outcome = pl.kernel(pl.parse(text), "k").launch(2, 32, [out, 0, 1, 1], cluster=2)
    assert outcome.hazards == ()
    assert (out[:, :32, 0] == 64).all()
