"""Products by `wgmma` of factors that tensor copies bring to shared memory, through a ring of two stages."""

from __future__ import annotations

from string import Template

from diagnosis.planted.described_factors import NAMES, PARAMETERS, TILE, DescribedFactors, descriptors, ring
from diagnosis.planted.model import RightKernel

M, N, K = 128, 128, 192
STAGE_BYTES = 16384

_HEAD = (
    """.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 tiles[];
.visible .entry k(.param .align 64 .b8 A[128], .param .align 64 .b8 B[128], .param .u64 C, .param .u32 n, .param .u32 k)
{
.reg .pred p<8>;
.reg .b32 r<48>;
.reg .b64 d<32>;
.reg .f32 f<32>;
.shared .align 8 .b64 full[2];
"""
    + PARAMETERS
    + """mov.u32 r3, tiles;
mov.u32 r4, full;
mov.u32 r5, %ctaid.y;
shl.b32 r5, r5, 6; // a-tile
mov.u32 r6, %ctaid.x;
shl.b32 r6, r6, 6; // b-tile
setp.ne.u32 p0, r0, 0;
@p0 bra ready;
mbarrier.init.shared.b64 [r4], 1;
mbarrier.init.shared.b64 [r4+8], 1;
fence.mbarrier_init.release.cluster;
ready:
bar.sync 0;
mov.u32 r7, 0;
mov.u32 r8, 0;
$zero
@p0 bra multiply;
"""
    + ring(STAGE_BYTES)
    + """"""
    + descriptors(STAGE_BYTES)
    + """wgmma.fence.sync.aligned;
$products
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
bar.sync 0;
add.u32 r8, r8, 1;
shl.b32 r15, r8, $log_k;
setp.lt.u32 p4, r15, r2; // loop-end
@p4 bra multiply;
shr.u32 r30, r0, 5;
and.b32 r31, r0, 31;
shr.u32 r32, r31, 2;
shl.b32 r30, r30, 4;
add.u32 r30, r30, r32;
add.u32 r30, r30, r5; // d-row
and.b32 r33, r31, 3;
shl.b32 r33, r33, 1;
add.u32 r33, r33, r6; // d-column
mad.lo.u32 r34, r30, r1, r33;
mul.wide.u32 d20, r34, 4;
add.u64 d20, d3, d20;
mul.wide.u32 d21, r1, 32;
add.u64 d21, d20, d21;
$stores
ret;
}
"""
)


class Factors(DescribedFactors):
    """Factors of `wgmma`."""

    GENERATION = "wgmma"
    SHAPE = M, N, K
    SEED = 26


def hopper(name: str, factors: Factors) -> RightKernel:
    """C = A @ B.T, or as the factors lie; a CTA has 64 x 64 of it."""
    parts = factors.parts() | {
        "zero": "\n".join(f"mov.f32 f{n}, 0f00000000;" for n in range(32)),
        "products": "\n".join(_products(factors)),
        "stores": "\n".join(_stores()),
    }
    text = Template(_HEAD).substitute(parts)
    grid = (N // TILE, M // TILE)
    return RightKernel(name, text, grid, 128, factors, NAMES, 2, factors.product, 3 * STAGE_BYTES, says=factors.says)


def _products(factors: Factors) -> list[str]:
    form = {"f16": "m64n64k16.f32.f16.f16", "tf32": "m64n64k8.f32.tf32.tf32", "e4m3": "m64n64k32.f32.e4m3.e4m3"}
    tail = f", 1, 1, {int(factors.across[0])}, {int(factors.across[1])}" if factors.element == "f16" else ", 1, 1"
    registers = ", ".join(f"f{n}" for n in range(32))
    found: list[str] = []
    for a, b in zip(*(tile.steps for tile in factors.tiles), strict=True):
        found += [
            f"add.s64 d12, d10, {a.offset_bytes // 16}; // a-step",
            f"add.s64 d13, d11, {b.offset_bytes // 16}; // b-step",
            f"wgmma.mma_async.sync.aligned.{form[factors.element]} {{{registers}}}, d12, d13, 1{tail}; // product",
        ]
    return found


def _stores() -> list[str]:
    found: list[str] = []
    for n in range(8):
        for half in range(2):
            pair = f"{{f{4 * n + 2 * half}, f{4 * n + 2 * half + 1}}}"
            found.append(f"st.global.v2.f32 [d{20 + half}+{32 * n}], {pair}; // d-store")
    return found
