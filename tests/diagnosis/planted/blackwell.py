"""Products by `tcgen05.mma` of factors in shared memory, or of A in tensor memory, into tensor memory."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

from diagnosis.planted.described_factors import NAMES, PARAMETERS, TILE, DescribedFactors, descriptors, ring
from diagnosis.planted.model import RightKernel
from ptxloom.descriptors.instruction import InstructionDescriptor

M, N, K = 256, 128, 192
STAGE_BYTES = 32768

HEAD = (
    """.version 8.7
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 tiles[];
.visible .entry k(.param .align 64 .b8 A[128], .param .align 64 .b8 B[128],
    .param .u64 C, .param .u32 n, .param .u32 k$parameters)
{
.reg .pred p<8>;
.reg .b32 r<96>;
.reg .b64 d<32>;
.reg .f32 f<64>;
.shared .align 8 .b64 full[2];
.shared .align 8 .b64 empty;
.shared .align 16 .b32 slot;
"""
    + PARAMETERS
    + """$taken
mov.u32 r3, tiles;
mov.u32 r4, full;
mov.u32 r9, empty;
mov.u32 r5, %ctaid.y;
shl.b32 r5, r5, $log_m; // a-tile
mov.u32 r6, %ctaid.x; // b-index
shl.b32 r6, r6, 6; // b-tile
shr.u32 r40, r0, 5;
setp.ne.u32 p5, r40, 0;
mov.u32 r41, slot;
@p5 bra allocated;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [r41], 128;
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
setp.ne.u32 p0, r0, 0;
@p0 bra ready;
mbarrier.init.shared.b64 [r4], 1;
mbarrier.init.shared.b64 [r4+8], 1;
mbarrier.init.shared.b64 [r9], 1;
fence.mbarrier_init.release.cluster;
ready:
tcgen05.fence::before_thread_sync;
bar.sync 0;
tcgen05.fence::after_thread_sync;
ld.shared.u32 r42, [r41];
shl.b32 r43, r40, 21;
add.u32 r43, r43, r42; // warp-lanes
mov.u32 r45, $told; // told
mov.u32 r7, 0;
mov.u32 r8, 0;
@p0 bra multiply;
"""
    + ring(STAGE_BYTES)
    + """$middle
@p0 bra issued;
"""
    + descriptors(STAGE_BYTES)
    + """setp.ne.u32 p6, r8, 0; // adding
$products
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [r9];
issued:
and.b32 r26, r8, 1;
done:
mbarrier.try_wait.parity.shared.b64 p3, [r9], r26;
@!p3 bra done;
tcgen05.fence::after_thread_sync;
bar.sync 0;
add.u32 r8, r8, 1;
shl.b32 r15, r8, $log_k;
setp.lt.u32 p4, r15, r2; // loop-end
@p4 bra multiply;
$epilogue
tcgen05.fence::before_thread_sync;
bar.sync 0;
@p5 bra freed;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 r42, 128;
freed:
ret;
}
"""
)
_KINDS = {"f16": "f16", "tf32": "tf32", "e4m3": "f8f6f4"}


@dataclass(frozen=True, slots=True)
class TensorFactors(DescribedFactors):
    """Factors of `tcgen05.mma`.

    Attributes:
        rows: M of a product: 64 or 128.
    """

    GENERATION = "tcgen05"
    SHAPE = M, N, K
    SEED = 27

    rows: int = 128

    def lines(self, number: int) -> int:
        """Rows of A, or columns of B, of a tile."""
        return (self.rows, TILE)[number]

    @property
    def told(self) -> InstructionDescriptor:
        """What is multiplied."""
        a, b = self.across
        kind, element = _KINDS[self.element], self.element
        return InstructionDescriptor(kind, self.rows, TILE, element, element, "f32", transpose_a=a, transpose_b=b)


def blackwell(name: str, factors: TensorFactors, *, in_tensor: bool = False) -> RightKernel:
    """C = A @ B.T, or as the factors lie; a CTA has `rows` x 64 of it. `in_tensor`: A goes through tensor memory."""
    parts = factors.parts() | {
        "log_m": str(factors.rows.bit_length() - 1),
        "told": str(factors.told),
        "parameters": "",
        "taken": "",
        "middle": "\n".join(_through_tensor_memory() if in_tensor else ()),
        "products": "\n".join(_products(factors, in_tensor=in_tensor)),
        "epilogue": "\n".join(epilogue(factors.rows)),
    }
    text = Template(HEAD).substitute(parts)
    grid = (N // TILE, M // factors.rows)
    return RightKernel(name, text, grid, 128, factors, NAMES, 2, factors.product, 3 * STAGE_BYTES, says=factors.says)


def _through_tensor_memory() -> list[str]:
    """Each thread brings its row of A, 64 halves that a swizzle of 128 bytes has moved, to columns 64 to 95."""
    names = ", ".join(f"r{n}" for n in range(46, 50))
    found = [
        "shl.b32 r30, r0, 7; // row-of",
        "add.u32 r30, r30, r21; // row-bytes",
        "and.b32 r31, r0, 7; // row-turn",
        "add.u32 r32, r43, 64; // a-columns",
    ]
    for chunk in range(8):
        found += [
            f"xor.b32 r33, r31, {chunk}; // row-chunk",
            "shl.b32 r33, r33, 4;",
            "add.u32 r33, r33, r30;",
            f"ld.shared.v4.u32 {{{names}}}, [r33]; // row-load",
            f"add.u32 r34, r32, {4 * chunk}; // row-column",
            f"tcgen05.st.sync.aligned.32x32b.x4.b32 [r34], {{{names}}}; // row-store",
        ]
    return [
        *found,
        "tcgen05.wait::st.sync.aligned;",
        "tcgen05.fence::before_thread_sync;",
        "bar.sync 0;",
        "tcgen05.fence::after_thread_sync;",
        "add.u32 r44, r42, 64; // a-place",
    ]


def _products(factors: TensorFactors, *, in_tensor: bool) -> list[str]:
    found: list[str] = []
    kind = _KINDS[factors.element]
    for number, (a, b) in enumerate(zip(*(tile.steps for tile in factors.tiles), strict=True)):
        left = "[r35]" if in_tensor else "d12"
        found += [
            f"add.u32 r35, r44, {8 * number}; // a-step"
            if in_tensor
            else f"add.s64 d12, d10, {a.offset_bytes // 16}; // a-step",
            f"add.s64 d13, d11, {b.offset_bytes // 16}; // b-step",
            f"tcgen05.mma.cta_group::1.kind::{kind} [r42], {left}, d13, r45, p6; // product",
            "setp.eq.u32 p6, r8, r8; // adding-on",
        ]
    return found


def epilogue(rows: int) -> list[str]:
    """Each warp loads its lanes of D; of 64 rows it has 16, of which lanes 16 and on take the upper columns."""
    count = TILE * rows // 128
    registers = ", ".join(f"f{n}" for n in range(count))
    shape, split = ("32x32b", "") if rows == 128 else ("16x32bx2", ", 32")
    loads = [
        f"tcgen05.ld.sync.aligned.{shape}.x{count}.b32 {{{registers}}}, [r43]{split}; // d-load",
        "tcgen05.wait::ld.sync.aligned;",
    ]
    if rows == 128:
        place = ["add.u32 r50, r0, r5; // d-row", "mad.lo.u32 r52, r50, r1, r6; // d-place"]
    else:
        place = [
            "and.b32 r50, r0, 15;",
            "shl.b32 r51, r40, 4; // d-warp",
            "add.u32 r50, r50, r51;",
            "add.u32 r50, r50, r5; // d-row",
            "and.b32 r51, r0, 16;",
            "shl.b32 r51, r51, 1; // d-half",
            "add.u32 r51, r51, r6;",
            "mad.lo.u32 r52, r50, r1, r51; // d-place",
        ]
    places = ["mul.wide.u32 d20, r52, 4;", "add.u64 d20, d3, d20;"]
    stores = [
        f"st.global.v4.f32 [d20+{16 * n}], {{f{4 * n}, f{4 * n + 1}, f{4 * n + 2}, f{4 * n + 3}}}; // d-store"
        for n in range(count // 4)
    ]
    return [*loads, *place, *places, *stores]
