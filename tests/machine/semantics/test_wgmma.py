"""`wgmma.mma_async` in a kernel does what `mma` does on arrays, tile by tile, with matrices that lie as CuTe says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.isa.products import matrix_form
from ptxloom.machine import LaunchError
from ptxloom.machine.tensor.batch import mma
from ptxloom.machine.tensor.wgmma import FP8, sign_bits, tile
from recorded.wgmma.wgmma_cases import THREADS, Inputs, Instruction, inputs, instructions, module

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLAIN = [it for it in instructions() if it.n <= 64 and it.types.a not in FP8 and not it.layouts]
LAYOUTS = [it for it in instructions() if it.n <= 64 and it.types.a not in FP8 and it.layouts]


def launched(it: Instruction, given: Inputs, **options: Any) -> NDArray[np.uint32]:
    """D of every block, `(block, register, thread)`."""
    blocks = len(given.scaled)
    d = np.zeros((blocks, it.d_registers, THREADS), np.uint32)
    arguments = [d, given.image, given.registers, given.descriptors, given.scaled]
    pl.kernel(pl.parse(module((it,))), "k0").launch(blocks, THREADS, arguments, timeout=300, **options)
    return d


def core_matrices(
    image: NDArray[np.uint8], start: int, descriptor: int, lines: range, columns: int, *, across: int
) -> NDArray[np.uint32]:
    """Registers `(line, column, lane)` of a matrix, by the canonical layouts of CuTe's `mma_traits_sm90_gmma.hpp`.

    In units of 16 bytes, which is T elements, along k: `((8,m),(T,2)):((1T,SBO),(1,LBO))` without a swizzle, else
    `((8,m),(T,2)):((nT,SBO),(1,T))`; along M or N: `((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))`, else
    `((T,n,m),(8,k)):((1,T,LBO),(nT,SBO))`.
    """
    width = (1, 8, 4, 2)[descriptor >> 62]
    leading, stride = descriptor >> 16 & 0x3FFF, descriptor >> 32 & 0x3FFF
    found = np.zeros((len(lines), columns, 32), np.uint32)
    for index, line in enumerate(lines):
        for column in range(columns):
            for row in range(8):
                if not across:
                    unit = row * width + line * stride + column // width * leading + column % width
                elif width == 1:
                    unit = row + column * leading + line * stride
                else:
                    unit = row * width + column * stride + line // width * leading + line % width
                at = start + (descriptor & 0x3FFF) * 16 + unit * 16
                at ^= ((at >> 7) - (descriptor >> 49 & 7) & width - 1) << 4
                found[index, column, 4 * row : 4 * row + 4] = image[at - start : at - start + 16].view(np.uint32)
    if across:
        matrices = found.view(np.uint16).reshape(len(lines), columns, 8, 8).swapaxes(-1, -2)
        return np.ascontiguousarray(matrices).view(np.uint32).reshape(found.shape)
    return found


def expected(it: Instruction, given: Inputs, block: int) -> NDArray[np.uint32]:
    """D of a block, from `mma` on arrays."""
    form = tile(matrix_form(it.text.split()[0]))
    d = given.registers[block, : it.d_registers].reshape(it.d_registers, 4, 32)
    own = given.registers[block, it.d_registers : it.d_registers + 4].reshape(4, 4, 32)
    metadata = given.registers[block, -1].reshape(4, 32)
    start = 1024  # behind what the system keeps at the start of shared memory
    a, b = (int(descriptor) for descriptor in given.descriptors[block])
    across_a, across_b = it.across
    second = core_matrices(given.image[block], start, b, range(it.n // 8), form.registers("b"), across=across_b)
    result = np.zeros_like(d)
    count = form.registers("d")
    for warp in range(4):
        if it.in_registers:
            first = own[:, warp]
        else:
            found = core_matrices(given.image[block], start, a, range(2 * warp, 2 * warp + 2), 2, across=across_a)
            first = found.swapaxes(0, 1).reshape(4, 32)
        if it.signs[0] != it.signs[1]:
            first = first ^ np.uint32(sign_bits(it.types.a))
        for number in range(it.n // 8):
            part = slice(number * count, (number + 1) * count)
            c = d[part, warp] * given.scaled[block]
            sparsity = metadata[warp] if it.sparse else None
            result[part, warp] = mma(form, first.T, second[number].T, c.T, metadata=sparsity, selector=it.selector).T
    return result.reshape(it.d_registers, THREADS)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("it", PLAIN, ids=lambda it: it.name)
def test_products_are_those_of_mma(it: Instruction) -> None:
    given = inputs(it)
    found = launched(it, given)
    for block in range(len(given.scaled)):
        assert (found[block] == expected(it, given, block)).all(), it.cases[block]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("it", LAYOUTS, ids=lambda it: it.name)
def test_matrices_lie_where_the_canonical_layouts_put_them(it: Instruction) -> None:
    given = inputs(it)
    found = launched(it, given)
    for block in range(0, len(given.scaled), 3):
        assert (found[block] == expected(it, given, block)).all(), hex(given.descriptors[block, 1])


def test_a_descriptor_that_points_beyond_shared_memory_is_a_fault() -> None:
    it = next(it for it in PLAIN if not it.in_registers)
    given = inputs(it)
    given.descriptors[0, 1] |= 0x3FFF
    with pytest.raises(LaunchError) as caught:
        launched(it, given)
    assert caught.value.hazards[0].rule == "memcheck.out-of-bounds"


HANDED_ON = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 full; .shared .align 8 .b64 empty;
    .reg .b32 r<8>; .reg .b64 d<8>; .reg .f32 f<4>; .reg .pred p<4>;
    mov.u32 r0, %tid.x; mov.u32 r1, tile; shl.b32 r2, r0, 4; add.u32 r2, r2, r1; setp.eq.u32 p0, r0, 0;
    @p0 mbarrier.init.shared.b64 [empty], 1;
    mov.b32 r3, 0x3c003c00; st.shared.v4.b32 [r2], {r3, r3, r3, r3};
    setp.lt.u32 p1, r0, 16; @p1 st.shared.v4.b32 [r2+2560], {r3, r3, r3, r3};
    fence.proxy.async; bar.sync 0;
    setp.ge.u32 p2, r0, 128; @p2 bra OVERWRITE;
    mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0;
    shr.u32 r4, r1, 4; cvt.u64.u32 d0, r4; or.b64 d0, d0, 0x1000080000; add.u64 d1, d0, 160;
    setp.lt.u32 p3, r0, 32; @p3 bra MULTIPLY;
    bar.warp.sync -1; nanosleep.u32 1000;
MULTIPLY:
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, d0, d1, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    @p0 mbarrier.arrive.shared.b64 _, [empty];
    ld.param.u64 d2, [out]; mad.wide.u32 d2, r0, 16, d2; st.global.v4.f32 [d2], {f0, f1, f2, f3};
    ret;
OVERWRITE:
    mbarrier.try_wait.parity.shared.b64 p3, [empty], 0; @!p3 bra OVERWRITE;
    sub.u32 r2, r2, 2048; mov.b32 r3, 0; st.shared.v4.b32 [r2], {r3, r3, r3, r3};
    st.shared.v4.b32 [r2+512], {r3, r3, r3, r3}; st.shared.v4.b32 [r2+1024], {r3, r3, r3, r3};
    st.shared.v4.b32 [r2+1536], {r3, r3, r3, r3};
    ret;
}
"""


@pytest.mark.parametrize("seed", range(8))
def test_who_has_waited_for_a_product_may_say_that_all_four_warps_are_done_with_its_factors(seed: int) -> None:
    out = np.zeros((128, 4), np.float32)
    pl.kernel(pl.parse(HANDED_ON), "k").launch(1, 160, [out], timeout=300, schedule_seed=seed)
    assert (out == 16).all()


@pytest.mark.parametrize("first", [1, 17])
def test_descriptors_are_those_of_the_first_lane_that_is_still_there(first: int) -> None:
    gone = f"and.b32 r5, r0, 31; setp.lt.u32 p3, r5, {first}; @p3 mov.b64 d0, 16383; @p3 mov.b64 d1, d0; @p3 ret;"
    text = HANDED_ON.replace("MULTIPLY:", f"MULTIPLY: {gone}").replace("@p0 mbarrier.arrive", "@p2 mbarrier.arrive")
    out = np.zeros((4, 32, 4), np.float32)
    pl.kernel(pl.parse(text), "k").launch(1, 128, [out], checks=("memcheck",))
    assert (out[:, first:] == 16).all()
    assert (out[:, :first] == 0).all()
