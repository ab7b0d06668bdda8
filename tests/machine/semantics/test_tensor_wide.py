"""Products whose K is 96, of 4-bit elements on sm_103a: where scales run on, and rows that go on in the next buffer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from machine.semantics.tensor_kernels import descriptor, lines, run, run_pair, stride_of
from ptxloom.descriptors.tensor_instruction import tensor_instruction
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.fragments import fragment
from ptxloom.isa.tensor_products import scale_ids
from ptxloom.machine.results.outcome import LaunchError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.descriptors.tensor_instruction import TensorInstruction
    from ptxloom.fragments import Fragment

SFA_AT, SFB_AT = 256, 288
K = 96


def factors(seed: int, rows: int) -> NDArray[np.float32]:
    """Numbers that every sum of their products is exact."""
    return np.random.default_rng(seed).integers(-2, 3, (rows, K)).astype(np.float32)


def packed(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Two e2m1 a byte."""
    codes = values.astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
    return (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8)


def put_scales(words: NDArray[np.uint32], at: int, held: Fragment, powers: NDArray[Any], first: int) -> None:
    """Scales of rows from the byte `first` on, wherever the map says that the eight bytes are."""
    codes = (powers + 7) << 3 if held.spelling.endswith("ue4m3") else powers + 127
    for e in held.elements:
        block = e.column - first
        if e.row < len(powers) and 0 <= block < powers.shape[1]:
            cta, lane = divmod(e.lane, 128)
            mask = np.uint32(0xFF << e.bit)
            old = words[cta, at + e.register, lane]
            words[cta, at + e.register, lane] = (old & ~mask) | np.uint32(int(codes[e.row, block]) << e.bit)


def spelled(one: TensorInstruction, left: str = "%rd8") -> str:
    """The instruction, with its descriptor."""
    return f"""add.u32 %r24, %r13, {SFA_AT}; add.u32 %r25, %r13, {SFB_AT}; setp.eq.u32 %p6, 0, 1;
    mov.u32 %r21, {one.told.bits};
    {".".join(("tcgen05", *one.words))} [%r13], {left}, %rd9, %r21, [%r24], [%r25], %p6;"""


def d_of(after: NDArray[np.uint32], one: TensorInstruction) -> NDArray[np.float32]:
    """D, from where the map says."""
    held = fragment(one, "d")
    found = np.zeros((held.rows, held.columns), np.uint32)
    for e in held.elements:
        cta, lane = divmod(e.lane, 128)
        found[e.row, e.column] = after.reshape(-1, 512, 128)[cta, e.register, lane]
    return found.view(np.float32)


FORMS = [
    "kind::mxf4.m128n64k96", "kind::mxf4nvf4.m128n128k96", "kind::mxf4nvf4.block32.m128n48k96.ue8m0",
    "kind::mxf4nvf4.block16.m128n256k96.ue8m0",
]  # fmt: skip


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("words", FORMS)
def test_scales_run_on_into_the_words_of_the_next_four(words: str, first: int) -> None:
    one = tensor_instruction(f"tcgen05.mma.{words}")
    assert one.form.k == K
    m, n, count = one.told.m, one.told.n, 6 if one.product.scale_vector == "4X" else 3
    firsts = first, (first + (2 if count == 6 else 1)) % 4
    one = replace(one, told=replace(one.told, a_scale=firsts[0], b_scale=firsts[1]))
    a, b = factors(first, m), factors(7 + first, n)
    powers = [np.random.default_rng(m + rows).integers(-2, 3, (rows, count)) for rows in (m, n)]
    before = np.full((1, 512, 128), 0x7FC0DEAD, np.uint32)
    for at, operand, power, start in zip((SFA_AT, SFB_AT), ("sfa", "sfb"), powers, firsts, strict=True):
        put_scales(before, at, fragment(one, operand), power, start)
    images = [lines(packed(side)) for side in (a, b)]
    body = descriptor("0", 128, stride_of(packed(a)), "%rd8")
    body += descriptor(str(images[0].size), 128, stride_of(packed(b)), "%rd9") + spelled(one)
    if first not in scale_ids(count):
        with pytest.raises(LaunchError) as caught:
            run(body, np.concatenate(images), before[0], target="sm_103a")
        assert "scale factor id" in str(caught.value.hazards[0])
        return
    after, outcome = run(body, np.concatenate(images), before[0], target="sm_103a")
    assert not outcome.hazards
    scaled = [side * np.repeat(2.0**p, K // count, axis=1) for side, p in zip((a, b), powers, strict=True)]
    assert (d_of(after, one) == scaled[0] @ scaled[1].T).all()


def put_scales_of_half(words: NDArray[np.uint32], at: int, powers: NDArray[Any], first: int) -> None:
    """The same where a CTA has 64 rows, of which there is no map: a sentence says where they are."""
    told = fragment_sentence("tcgen05.mma.cta_group::2.kind::mxf4nvf4.m128n128k96")
    assert told.endswith(
        "those of row r are in lane r % 32 of each quarter, four in column r / 32, the others in the column 4 further"
    )
    held = np.zeros((128, 8), np.uint8)
    held[:, first : first + powers.shape[1]] = (powers + 7) << 3
    for row, both in enumerate(held.view(np.uint32)):
        cta, own = divmod(row, 64)
        for word, value in enumerate(both):
            words[cta, at + own // 32 + 4 * word, own % 32 :: 32] = value


def fragment_sentence(spelling: str) -> str:
    """Why the scales of A have no map."""
    with pytest.raises(UnsupportedForm) as caught:
        fragment(spelling, "sfa")
    return str(caught.value)


@pytest.mark.parametrize("m", [128, 256])
def test_a_pair_multiplies_its_halves(m: int) -> None:
    one = tensor_instruction(f"tcgen05.mma.cta_group::2.kind::mxf4nvf4.m{m}n128k96")
    one = replace(one, told=replace(one.told, a_scale=2, b_scale=2))
    a, b = factors(1, m), factors(2, 128)
    parts = [[lines(packed(s[r * len(s) // 2 :][: len(s) // 2])) for s in (a, b)] for r in range(2)]
    powers = [np.random.default_rng(m + rows).integers(-2, 3, (rows, 6)) for rows in (m, 128)]
    before = np.zeros((2, 512, 128), np.uint32)
    put_scales(before, SFB_AT, fragment(one, "sfb"), powers[1], 2)
    if m == 256:
        put_scales(before, SFA_AT, fragment(one, "sfa"), powers[0], 2)
    else:
        put_scales_of_half(before, SFA_AT, powers[0], 2)
    body = descriptor("0", 128, stride_of(packed(a)), "%rd8")
    body += descriptor(str(m // 2 * K // 2), 128, stride_of(packed(b)), "%rd9") + spelled(one)
    after, outcome = run_pair(body, np.stack([np.concatenate(p) for p in parts]), before, target="sm_103a")
    assert not outcome.hazards
    scaled = [side * np.repeat(2.0**p, K // 6, axis=1) for side, p in zip((a, b), powers, strict=True)]
    assert (d_of(after, one) == scaled[0] @ scaled[1].T).all()


def swizzled(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Rows of 128 bytes, one behind the other, whose 16-byte pieces are exchanged by their row."""
    pieces = rows.reshape(len(rows), 8, 16)
    found: NDArray[np.uint8] = np.empty_like(pieces)
    for row in range(len(rows)):
        for piece in range(8):
            found[row, piece ^ row % 8] = pieces[row, piece]
    return found.ravel()


@pytest.mark.parametrize("step", range(8))
def test_a_row_goes_on_in_the_next_buffer(step: int) -> None:
    """Eight products of 48 bytes are three buffers of 128: the third and the sixth begin in one and end in the next."""
    one = tensor_instruction("tcgen05.mma.kind::mxf4.m128n128k96")
    a, b = ((np.random.default_rng(seed).integers(-2, 3, (128, 8 * K)).astype(np.float32)) for seed in (3, 4))
    buffers = [[swizzled(packed(side)[:, 128 * at :][:, :128]) for at in range(3)] for side in (a, b)]
    image = np.concatenate([buffer for side in buffers for buffer in side])
    body = ""
    for number, register in enumerate(("%rd8", "%rd9")):
        at, within = divmod(48 * step, 128)
        start = (3 * number + at) * 16384 + within
        following = (3 * number + min(at + 1, 2)) * 16384
        body += descriptor(str(start), 0, 1024, register, mode=2)
        body += f"""add.u32 %r20, %r3, {following}; shr.u32 %r20, %r20, 4; cvt.u64.u32 %rd20, %r20;
        shl.b64 %rd20, %rd20, 16; or.b64 {register}, {register}, %rd20; or.b64 {register}, {register}, {1 << 52:#x};"""
    before = np.zeros((512, 128), np.uint32)
    before[SFA_AT:320] = 0x7F7F7F7F
    after, outcome = run(body + spelled(one), image, before, target="sm_103a")
    assert not outcome.hazards
    part = slice(K * step, K * step + K)
    assert (d_of(after, one) == a[:, part] @ b[:, part].T).all()


@pytest.mark.parametrize(
    ("target", "flag", "why"),
    [
        ("sm_100a", 0, "K to 96, which only sm_103a supports"),
        ("sm_103a", 1 << 52, "goes with a K of 96 and a swizzle of 128 bytes"),
    ],
)
def test_what_no_product_is_ends_the_kernel(target: str, flag: int, why: str) -> None:
    one = tensor_instruction("tcgen05.mma.kind::mxf4.m128n64k96")
    a, b = lines(packed(factors(1, 128))), lines(packed(factors(1, 64)))
    body = descriptor("0", 128, 384, "%rd8") + descriptor(str(a.size), 128, 384, "%rd9")
    body += f"or.b64 %rd8, %rd8, {flag:#x};" + spelled(one)
    with pytest.raises(LaunchError) as caught:
        run(body, np.concatenate([a, b]), np.zeros((512, 128), np.uint32), target=target)
    assert why in str(caught.value.hazards[0])
