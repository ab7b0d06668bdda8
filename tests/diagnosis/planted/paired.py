"""Products by pairs of CTAs with a ring: a warp copies, one thread of the first CTA multiplies, four warps store."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from typing import Final

from diagnosis.planted.blackwell import TensorFactors
from diagnosis.planted.described_factors import NAMES, PARAMETERS, TILE
from diagnosis.planted.model import RightKernel
from ptxloom.descriptors.instruction import InstructionDescriptor

M, N, K = 512, 256, 320
STAGE_BYTES: Final = 24576
STAGES: Final = 3
_COPY: Final = "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
_TEXT: Final = (
    """.version 8.7
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 tiles[];
.visible .entry k(.param .align 64 .b8 A[128], .param .align 64 .b8 B[128], .param .u64 C, .param .u32 n, .param .u32 k)
.explicitcluster
.reqnctapercluster 2, 1, 1
{
.reg .pred p<10>;
.reg .b16 h<4>;
.reg .b32 r<96>;
.reg .b64 d<32>;
.reg .f32 f<64>;
.shared .align 8 .b64 full[4];
.shared .align 8 .b64 empty[4];
.shared .align 8 .b64 finished;
.shared .align 16 .b32 slot;
"""
    + PARAMETERS
    + """mov.u32 r3, tiles;
mov.u32 r4, full;
mov.u32 r5, empty;
mov.u32 r6, finished;
mov.u32 r41, slot;
mov.u32 r8, %cluster_ctarank; // rank
mov.u32 r50, %ctaid.x; // pair-rows
shl.b32 r50, r50, 7; // a-tile
mov.u32 r51, %ctaid.y; // columns
shl.b32 r51, r51, 7; // b-tile
shl.b32 r52, r8, 6; // b-share
add.u32 r52, r51, r52; // b-own
shr.u32 r40, r0, 5; // warp
setp.ne.u32 p0, r0, 0;
@p0 bra ready;
mbarrier.init.shared.b64 [r4], 1;
mbarrier.init.shared.b64 [r4+8], 1;
mbarrier.init.shared.b64 [r4+16], 1;
mbarrier.init.shared.b64 [r5], 1;
mbarrier.init.shared.b64 [r5+8], 1;
mbarrier.init.shared.b64 [r5+16], 1;
mbarrier.init.shared.b64 [r6], 1;
fence.mbarrier_init.release.cluster;
ready:
setp.ne.u32 p5, r40, 2;
@p5 bra allocated;
tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [r41], 128;
tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
allocated:
tcgen05.fence::before_thread_sync;
bar.sync 0;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
tcgen05.fence::after_thread_sync;
ld.shared.u32 r42, [r41];
mapa.shared::cluster.u32 r7, r4, 0; // full-of-first
setp.eq.u32 p1, r0, 0;
@p1 bra produce;
setp.eq.u32 p2, r0, 32;
setp.eq.and.u32 p2, r8, 0, p2;
@p2 bra multiply;
setp.ge.u32 p3, r40, 2;
@p3 bra store;
bra ended;
produce:
mov.u32 r10, 0;
mov.u32 r11, 0;
mov.u32 r12, 1;
producing:
shl.b32 r13, r11, 3; // fill-barrier
add.u32 r14, r5, r13;
freed:
mbarrier.try_wait.parity.shared.b64 p4, [r14], r12; // empty-wait
@!p4 bra freed;
add.u32 r14, r4, r13;
setp.ne.u32 p6, r8, 0;
@!p6 mbarrier.arrive.expect_tx.shared.b64 _, [r14], 49152; // bytes
add.u32 r15, r7, r13;
mad.lo.u32 r16, r11, 24576, r3; // fill-stage
shl.b32 r17, r10, 6; // copy-k
add.u32 r18, r50, 0; // a-row
$copy [r16], [d1, {r17, r18}], [r15]; // a-copy
add.u32 r19, r16, 16384; // b-into
add.u32 r20, r52, 0; // b-row
$copy [r19], [d2, {r17, r20}], [r15]; // b-copy
add.u32 r10, r10, 1;
add.u32 r11, r11, 1; // fill-next
setp.eq.u32 p7, r11, 3; // fill-turn
selp.b32 r11, 0, r11, p7;
@p7 xor.b32 r12, r12, 1; // fill-phase
mul.lo.u32 r21, r10, 64;
setp.lt.u32 p8, r21, r2; // fill-end
@p8 bra producing;
bra ended;
multiply:
mov.u32 r30, 0;
mov.u32 r31, 0;
mov.u32 r32, 0; // first-phase
mov.u32 r45, $told; // told
mov.u16 h1, 3;
multiplying:
shl.b32 r33, r31, 3; // read-barrier
add.u32 r34, r4, r33;
filled:
mbarrier.try_wait.parity.shared.b64 p4, [r34], r32; // full-wait
@!p4 bra filled;
tcgen05.fence::after_thread_sync;
mad.lo.u32 r35, r31, 24576, r3; // read-stage
shr.u32 r36, r35, 4; // a-base
cvt.u64.u32 d10, r36; // a-start
add.u32 r37, r35, 16384; // b-base
shr.u32 r37, r37, 4;
cvt.u64.u32 d11, r37; // b-start
or.b64 d10, d10, $a_words; // a-words
or.b64 d11, d11, $b_words; // b-words
setp.ne.u32 p6, r30, 0; // adding
$products
add.u32 r38, r5, r33;
tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [r38], h1;
add.u32 r30, r30, 1;
add.u32 r31, r31, 1; // read-next
setp.eq.u32 p7, r31, 3; // read-turn
selp.b32 r31, 0, r31, p7;
@p7 xor.b32 r32, r32, 1; // read-phase
mul.lo.u32 r39, r30, 64;
setp.lt.u32 p8, r39, r2; // read-end
@p8 bra multiplying;
tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [r6], h1;
bra ended;
store:
mbarrier.try_wait.parity.shared.b64 p4, [r6], 0;
@!p4 bra store;
tcgen05.fence::after_thread_sync;
and.b32 r60, r40, 3; // quarter
shl.b32 r61, r60, 21;
add.u32 r61, r61, r42; // warp-lanes
and.b32 r62, r0, 31;
shl.b32 r63, r60, 5; // d-quarter
add.u32 r62, r62, r63; // d-lane
add.u32 r62, r62, r50; // d-row
mad.lo.u32 r64, r62, r1, r51; // d-place
mul.wide.u32 d20, r64, 4;
add.u64 d20, d3, d20;
$stores
ended:
tcgen05.fence::before_thread_sync;
bar.warp.sync 0xffffffff;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
@p5 bra left;
tcgen05.dealloc.cta_group::2.sync.aligned.b32 r42, 128;
left:
ret;
}
"""
)


@dataclass(frozen=True, slots=True)
class PairedFactors(TensorFactors):
    """Factors of a pair: each CTA has 128 rows of A, and half of 128 columns of B."""

    SHAPE = M, N, K

    @property
    def told(self) -> InstructionDescriptor:
        return InstructionDescriptor("f16", 256, 2 * TILE, "f16", "f16", "f32")


def paired(name: str, factors: PairedFactors) -> RightKernel:
    """C = A @ B.T; a pair has 256 x 128 of it."""
    parts = factors.parts() | {
        "copy": _COPY,
        "told": str(factors.told),
        "products": "\n".join(_products(factors)),
        "stores": "\n".join(_stores()),
    }
    text = Template(_TEXT).substitute(parts)
    return RightKernel(
        name, text, (M // 128, N // (2 * TILE)), 192, factors, NAMES, 2, factors.product, STAGES * STAGE_BYTES + 1024,
        says=factors.says,
    )  # fmt: skip


def _products(factors: PairedFactors) -> list[str]:
    found: list[str] = []
    for a, b in zip(*(tile.steps for tile in factors.tiles), strict=True):
        found += [
            f"add.s64 d12, d10, {a.offset_bytes // 16}; // a-step",
            f"add.s64 d13, d11, {b.offset_bytes // 16}; // b-step",
            "tcgen05.mma.cta_group::2.kind::f16 [r42], d12, d13, r45, p6; // product",
            "setp.eq.u32 p6, r30, r30; // adding-on",
        ]
    return found


def _stores() -> list[str]:
    """Two halves of the columns, 64 registers each."""
    registers = ", ".join(f"f{n}" for n in range(64))
    found: list[str] = []
    for half in range(2):
        found += [
            f"add.u32 r65, r61, {64 * half}; // d-columns",
            f"tcgen05.ld.sync.aligned.32x32b.x64.b32 {{{registers}}}, [r65]; // d-load",
            "tcgen05.wait::ld.sync.aligned;",
        ]
        found += [
            f"st.global.v4.f32 [d20+{256 * half + 16 * n}], "
            f"{{f{4 * n}, f{4 * n + 1}, f{4 * n + 2}, f{4 * n + 3}}}; // d-store"
            for n in range(16)
        ]
    return found
