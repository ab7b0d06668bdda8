"""What goes beside a product into tensor memory: pairs of CTAs, sparse factors, scales, masks, copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from machine.semantics.recorded_rows import built
from machine.semantics.tensor_kernels import descriptor, lines, run, run_each, run_pair, stride_of
from ptxloom.descriptors.instruction import InstructionDescriptor
from ptxloom.fragments import fragment
from ptxloom.fragments.tensor_layouts import TensorLayout, accumulator_layout
from recorded.ptxas.isa_cases import Case

if TYPE_CHECKING:
    from numpy.typing import NDArray


def numbers(seed: int, shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Small ones, that every sum of some of them is exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(kind)


def result(after: NDArray[np.uint32], layout: TensorLayout, n: int) -> NDArray[np.float32]:
    """D, of one CTA or of both."""
    words = after.reshape(-1, 512, 128).view(np.float32)
    places = [[layout.place(row, column, n) for column in range(n)] for row in range(layout.m)]
    found = [[words[at.cta, at.column, at.lane] for at in row] for row in places]
    return np.array(found, np.float32)


def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """A times the transpose of B."""
    return a.astype(np.float64) @ b.astype(np.float64).T


@pytest.mark.parametrize("m", [128, 256])
@pytest.mark.parametrize("n", [32, 128])
def test_a_pair_of_ctas_multiplies_its_halves(m: int, n: int) -> None:
    a, b = numbers(1, (m, 16), np.float16), numbers(2, (n, 16), np.float16)
    halves = [np.concatenate([lines(a[r * m // 2 :][: m // 2]), lines(b[r * n // 2 :][: n // 2])]) for r in range(2)]
    told = InstructionDescriptor("f16", m, n, "f16", "f16")
    body = descriptor("0", 128, 256, "%rd8") + descriptor(str(m // 2 * 32), 128, 256, "%rd9")
    body += f"""mov.u32 %r21, {told.bits}; setp.eq.u32 %p6, 0, 1;
    tcgen05.mma.cta_group::2.kind::f16 [%r13], %rd8, %rd9, %r21, %p6;"""
    after, outcome = run_pair(body, np.stack(halves), np.zeros((2, 512, 128), np.uint32))
    assert not outcome.hazards
    assert (result(after, accumulator_layout(m, 2), n) == product(a, b)).all()


def test_ctas_of_a_cluster_that_are_no_pair_multiply_what_is_their_own() -> None:
    m, n = 128, 32
    a, b = numbers(11, (4, m, 16), np.float16), numbers(12, (4, n, 16), np.float16)
    images = np.stack([np.concatenate([lines(a[rank]), lines(b[rank])]) for rank in range(4)])
    told = InstructionDescriptor("f16", m, n, "f16", "f16")
    body = descriptor("0", 128, 256, "%rd8") + descriptor(str(m * 32), 128, 256, "%rd9")
    body += f"""mov.u32 %r21, {told.bits}; setp.eq.u32 %p6, 0, 1;
    tcgen05.mma.cta_group::1.kind::f16 [%r13], %rd8, %rd9, %r21, %p6;"""
    after, outcome = run_each(body, images, np.zeros((4, 512, 128), np.uint32))
    assert not outcome.hazards
    for rank in range(4):
        assert (result(after[rank], accumulator_layout(m, 1), n) == product(a[rank], b[rank])).all()


def test_ctas_of_a_cluster_that_are_no_pair_copy_what_is_their_own() -> None:
    rows = np.random.default_rng(13).integers(1, 256, (4, 128, 32), np.uint8)
    body = descriptor("0", 128, stride_of(rows[0]), "%rd8") + "tcgen05.cp.cta_group::1.128x256b [%r13], %rd8;"
    after, outcome = run_each(body, np.stack([lines(one) for one in rows]), np.zeros((4, 512, 128), np.uint32))
    assert not outcome.hazards
    assert (after[:, :8] == rows.view(np.uint32).transpose(0, 2, 1)).all()
    assert not after[:, 8:].any()


def one(body: str, a: NDArray[Any], b: NDArray[Any], before: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
    """What tensor memory holds after statements with A's descriptor in %rd8 and B's in %rd9."""
    image = np.concatenate([lines(a), lines(b)])
    head = descriptor("0", 128, stride_of(a), "%rd8") + descriptor(str(lines(a).size), 128, stride_of(b), "%rd9")
    after, outcome = run(head + body, image, np.zeros((512, 128), np.uint32) if before is None else before)
    assert not outcome.hazards
    return after


def test_a_sparse_factor_picks_rows_by_its_metadata() -> None:
    m, n, k = 128, 64, 32
    a, b = numbers(3, (m, k // 2), np.float16), numbers(4, (n, k), np.float16)
    rng = np.random.default_rng(5)
    pairs = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)])
    picks = pairs[rng.integers(0, 6, (m, k // 4))]  # [row][chunk][which]
    before = np.zeros((512, 128), np.uint32)
    for row in range(m):
        for chunk in range(k // 4):
            lane = row % 8 + 8 * (chunk // 4) + 16 * (row // 16)
            nibble = int(picks[row, chunk, 0] | picks[row, chunk, 1] << 2)
            before[256, lane] |= np.uint32(nibble << (16 * (row // 8 % 2) + 4 * (chunk % 4)))
    whole = np.zeros((m, k), np.float64)
    for row in range(m):
        for chunk in range(k // 4):
            for which in range(2):
                whole[row, 4 * chunk + picks[row, chunk, which]] = a[row, 2 * chunk + which]
    told = InstructionDescriptor("f16", m, n, "f16", "f16", sparse=True)
    body = f"""mov.u32 %r21, {told.bits}; add.u32 %r22, %r13, 256; setp.eq.u32 %p6, 0, 1;
    tcgen05.mma.sp.cta_group::1.kind::f16 [%r13], %rd8, %rd9, [%r22], %r21, %p6;"""
    assert (result(one(body, a, b, before), accumulator_layout(m), n) == product(whole, b)).all()


def test_a_sparse_sum_is_cut_where_single_precision_rounds_up() -> None:
    m, n = 128, 64
    a, b = np.zeros((m, 16), np.float16), np.zeros((n, 32), np.float16)
    a[:, :2], b[:, :2] = (1, 1.5 * 2.0**-12), (1, 2.0**-12)  # 1 + 1.5 * 2^-24, which is nearer to 1 + 2^-23
    before = np.zeros((512, 128), np.uint32)
    before[256] = 0x44444444  # elements 0 and 1 of each four
    told = InstructionDescriptor("f16", m, n, "f16", "f16", sparse=True)
    body = f"""mov.u32 %r21, {told.bits}; add.u32 %r22, %r13, 256; setp.ne.u32 %p6, 0, 0;
    tcgen05.mma.sp.cta_group::1.kind::f16 [%r13], %rd8, %rd9, [%r22], %r21, %p6;"""
    assert (result(one(body, a, b, before), accumulator_layout(m), n) == 1).all()


def test_scales_are_copied_to_all_quarters_and_multiply_blocks() -> None:
    m, n = 128, 128
    codes = np.random.default_rng(6).integers(0x30, 0x40, (m + n, 32)).astype(np.uint8)  # e4m3 from 0.5 to 1.875
    values = (8 + (codes & 7)).astype(np.float64) * 2.0 ** ((codes >> 3) - 10.0)
    scales = np.random.default_rng(7).integers(125, 130, (2, 128)).astype(np.uint8)
    words = np.zeros((2, 32, 16), np.uint8)  # row r of 32, four bytes for each of r, r + 32, r + 64, r + 96
    for side in range(2):
        for row in range(128):
            words[side, row % 32, 4 * (row // 32)] = scales[side, row]
    image = np.concatenate([lines(codes[:m]), lines(codes[m:]), lines(words[0]), lines(words[1])])
    told = InstructionDescriptor("mxf8f6f4", m, n, "e4m3", "e4m3", scale_type="ue8m0")
    body = descriptor("0", 128, 256, "%rd8") + descriptor("4096", 128, 256, "%rd9")
    body += descriptor("8192", 128, 128, "%rd10") + descriptor("8704", 128, 128, "%rd11")
    body += f"""mov.u32 %r21, {told.bits}; add.u32 %r22, %r13, 256; add.u32 %r23, %r13, 260; setp.eq.u32 %p6, 0, 1;
    tcgen05.cp.cta_group::1.32x128b.warpx4 [%r22], %rd10;
    tcgen05.cp.cta_group::1.32x128b.warpx4 [%r23], %rd11;
    tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r13], %rd8, %rd9, %r21, [%r22], [%r23], %p6;"""
    after, outcome = run(body, image, np.zeros((512, 128), np.uint32))
    assert not outcome.hazards
    factors = 2.0 ** (scales.astype(np.float64) - 127)
    wanted = product(values[:m] * factors[0][:, None], values[m:] * factors[1][:, None])
    assert (result(after, accumulator_layout(m), n) == wanted).all()
    for quarter in range(4):
        assert (after[256:260, 32 * quarter : 32 * quarter + 32] == words[0].view(np.uint32).T).all()


def test_lanes_that_are_disabled_keep_what_they_had_and_d_is_scaled() -> None:
    a, b = numbers(8, (128, 16), np.float16), numbers(9, (32, 16), np.float16)
    old = numbers(10, (512, 128), np.float32) * 8
    told = InstructionDescriptor("f16", 128, 32, "f16", "f16")
    body = f"""mov.u32 %r21, {told.bits}; mov.u32 %r22, 0; mov.u32 %r23, 0x10f0; setp.eq.u32 %p6, 0, 0;
    tcgen05.mma.cta_group::1.kind::f16 [%r13], %rd8, %rd9, %r21, {{%r22, %r23, %r22, %r22}}, %p6, 3;"""
    after = one(body, a, b, old.view(np.uint32)).view(np.float32)[:32].T
    wanted = product(a, b) + old[:32].T / 8
    off = [32 + bit for bit in (4, 5, 6, 7, 12)]
    wanted[off] = old[:32].T[off]
    assert (after == wanted).all()


def test_a_mask_takes_columns_of_b_as_zeros() -> None:
    a, b = numbers(11, (32, 16), np.float16), numbers(12, (64, 16), np.float16)
    told = InstructionDescriptor("f16", 32, 64, "f16", "f16")
    skip, use = 2, 3  # the manual's fourth example, without its shift
    mask = 0 | 1 << 8 | 2 << 16 | 1 << 24 | 0b0011 << 32 | 1 << 39 | skip << 40 | use << 48
    body = f"""mov.u32 %r21, {told.bits}; mov.b64 %rd12, {mask:#x}; setp.eq.u32 %p6, 0, 1;
    tcgen05.mma.ws.cta_group::1.kind::f16 [%r13], %rd8, %rd9, %r21, %p6, %rd12;"""
    runs = ("1110000", "1100001", "0011100", "0001110")  # of each quarter of the columns, from its first on
    zeros = [(bits * 3)[column] == "1" for bits in runs for column in range(16)]
    wanted = product(a, np.where(np.array(zeros)[:, None], 0, b))
    assert (result(one(body, a, b), accumulator_layout(32, ws=True), 64) == wanted).all()


@pytest.mark.parametrize("ctas", [1, 2])
def test_rows_move_down_by_one_as_the_map_has_them(ctas: int) -> None:
    old = np.arange(ctas * 512 * 128, dtype=np.uint32).reshape(ctas, 512, 128)
    body = f"add.u32 %r22, %r13, 0x200010; tcgen05.shift.cta_group::{ctas}.down [%r22];"
    nothing = np.zeros((ctas, 16), np.uint8)
    if ctas == 1:
        after, outcome = run(body, nothing[0], old[0])
    else:
        after, outcome = run_pair(body, nothing, old)
    assert not outcome.hazards
    held, wanted = fragment(f"tcgen05.shift.cta_group::{ctas}.down"), old.copy()
    for e in held.elements:
        if e.row:
            cta, lane = divmod(e.lane, 128)
            wanted[cta, 16 + e.register, 32 + lane - 1] = old[cta, 16 + e.register, 32 + lane]
    assert (after.reshape(old.shape) == wanted).all()


@pytest.mark.parametrize("ctas", [1, 2])
def test_lanes_that_are_not_written_have_room_for_those_of_a_pair(ctas: int) -> None:
    words = ", ".join(f"b32r{number}" for number in range(4 * ctas))
    text = f"tcgen05.mma.cta_group::{ctas}.kind::f16 [b32r1], b64r1, b64r2, b32r3, {{{words}}}, p5;"
    found = built(Case("tcgen05", (), text, 0))
    assert found is not None
    rooms = [line for line in found[1].images.allocas if ".disabled." in line]
    assert [line.partition(" = ")[2] for line in rooms] == ["alloca [32 x i8], align 64"]
