"""The maps of tensor memory equal what the machine does: elements go where the map says, and come from there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from machine.semantics.tensor_kernels import descriptor, lines, run, run_pair, stride_of
from ptxloom.descriptors.tensor_instruction import tensor_instruction
from ptxloom.fragments import fragment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.descriptors.tensor_instruction import TensorInstruction
    from ptxloom.fragments import Fragment

A_AT, E_AT, SFA_AT, SFB_AT = 256, 320, 336, 352  # columns; D is at 0
_BYTES = {"f16": 2, "tf32": 4, "e4m3": 1, "e2m1": 1, "s8": 1}
_ARRAYS = {"f16": np.float16, "tf32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn, "e2m1": ml_dtypes.float4_e2m1fn,
           "s8": np.int8}  # fmt: skip


def memory(one: TensorInstruction) -> NDArray[np.uint32]:
    """Tensor memory of one CTA or of two, `[cta][column][lane]`, in which nothing is zero."""
    return np.full((one.product.ctas, 512, 128), 0x7FC0DEAD, np.uint32)


def put(words: NDArray[np.uint32], held: Fragment, at: int, values: NDArray[Any], matrix: int = 0) -> None:
    """Write values, `[row][column]`, wherever the map says; rows beyond them are left."""
    for e in held.elements:
        if e.matrix == matrix and e.row < len(values):
            cta, lane = divmod(e.lane, 128)
            mask = np.uint32((1 << e.width) - 1 << e.bit & 0xFFFFFFFF)
            old = words[cta, at + e.register, lane]
            words[cta, at + e.register, lane] = (old & ~mask) | np.uint32(int(values[e.row, e.column]) << e.bit)


def bits_of(values: NDArray[Any], name: str) -> NDArray[np.uint32]:
    """The bits of each element."""
    plain = np.ascontiguousarray(values.astype(_ARRAYS[name]))
    return plain.view(f"u{_BYTES[name]}").astype(np.uint32)


def in_shared(values: NDArray[Any], one: TensorInstruction) -> NDArray[Any]:
    """Rows as they lie in shared memory, without a swizzle."""
    name = one.told.b_type
    bits = bits_of(values, name).astype(f"u{_BYTES[name]}")
    if name == "e2m1":
        bits = bits[:, 0::2] | bits[:, 1::2] << 4
        if one.told.kind not in {"mxf4", "mxf4nvf4"}:  # 16 elements in the first half of 16 bytes
            bits = np.pad(bits.reshape(len(bits), -1, 8), [(0, 0), (0, 0), (0, 8)]).reshape(len(bits), -1)
    return bits


def launch(
    one: TensorInstruction, before: NDArray[np.uint32], a: NDArray[Any] | None, b: NDArray[Any]
) -> NDArray[np.uint32]:
    """Tensor memory after a product; A is there already where there is no `a`."""
    ctas = one.product.ctas
    sides = [side for side in (a, b) if side is not None]
    parts = [[side[rank * len(side) // ctas :][: len(side) // ctas] for side in sides] for rank in range(ctas)]
    images = np.stack([np.concatenate([lines(part) for part in each]) for each in parts])
    start = 0 if a is None else a.nbytes // ctas
    left = "[%r22]"
    body = f"add.u32 %r22, %r13, {A_AT};"
    if a is not None:
        body += descriptor("0", 128, stride_of(a), "%rd8")
        left = "%rd8"
    body += descriptor(str(start), 128, stride_of(b), "%rd9")
    for number, at in enumerate((E_AT, SFA_AT, SFB_AT)):
        body += f"add.u32 %r{23 + number}, %r13, {at};"
    meta = ", [%r23]" * one.told.sparse
    scales = ", [%r24], [%r25]" * one.told.is_scaled
    name = ".".join(("tcgen05", *one.words))
    body += f"mov.u32 %r21, {one.told.bits}; setp.eq.u32 %p6, 0, 1;"
    body += f"{name} [%r13], {left}, %rd9{meta}, %r21{scales}, %p6;"
    if ctas == 1:
        after, outcome = run(body, images[0], before[0])
        after = after[None]
    else:
        after, outcome = run_pair(body, images, before)
    assert not outcome.hazards
    return after


def taken(words: NDArray[np.uint32], held: Fragment, kind: Any) -> NDArray[Any]:
    """D from where the map says."""
    found = np.zeros((held.rows, held.columns), np.uint32)
    for e in held.elements:
        cta, lane = divmod(e.lane, 128)
        found[e.row, e.column] = words[cta, e.register, lane]
    plain: NDArray[Any] = found.view(kind)
    return plain


ACCUMULATORS = [
    "m128n48", "m64n72", "m64n256", "cta_group::2.m256n48", "cta_group::2.m128n80",
    "ws.m128n64", "ws.m64n128", "ws.m32n256",
]  # fmt: skip


@pytest.mark.parametrize("words", ACCUMULATORS)
def test_every_element_of_d_comes_where_the_map_says_and_nothing_else_changes(words: str) -> None:
    one = tensor_instruction(f"tcgen05.mma.{words}")
    m, n = one.told.m, one.told.n
    a, b = np.zeros((m, 16), np.float16), np.zeros((n, 16), np.float16)
    a[:, 0], a[:, 1], b[:, 0], b[:, 1] = np.arange(m), 1, 256, np.arange(n)
    before, held = memory(one), fragment(one, "d")
    after = launch(one, before, in_shared(a, one), in_shared(b, one))
    assert (taken(after, held, np.float32) == np.arange(m)[:, None] * 256 + np.arange(n)).all()
    for e in held.elements:
        cta, lane = divmod(e.lane, 128)
        after[cta, e.register, lane] = before[cta, e.register, lane]
    assert (after == before).all()


FACTORS = [
    "m128n64.f16", "m64n64.f16", "m128n64.tf32", "m64n64.e4m3", "m128n64.f32.e2m1.e4m3", "m64n64.s8",
    "cta_group::2.m256n64.f16", "cta_group::2.m128n64.f16", "ws.m64n64.f16", "ws.m32n64.e4m3",
    "kind::mxf4.m128n64", "cta_group::2.kind::mxf8f6f4.m128n64.e4m3",
]  # fmt: skip


@pytest.mark.parametrize("words", FACTORS)
def test_a_is_read_where_the_map_says(words: str) -> None:
    one = tensor_instruction(f"tcgen05.mma.{words}")
    m, n, k = one.told.m, one.told.n, one.form.k
    a = np.random.default_rng(m + k).integers(0, 5, (m, k)).astype(np.float32)
    a[a > 3] = 6  # every type has 0 to 3 and 6
    b = np.eye(n, k)
    before = memory(one)
    put(before, fragment(one, "a"), A_AT, bits_of(a, one.told.a_type))
    if one.told.is_scaled:
        before[:, SFA_AT : SFA_AT + 64] = 0x7F7F7F7F
    after = launch(one, before, None, in_shared(b, one))
    kind = np.int32 if one.told.d_type == "s32" else np.float32
    assert (taken(after, fragment(one, "d"), kind)[:, :k] == a[:, :n]).all()


SPARSE = [
    "sp.m128n64.f16", "sp.m64n64.f16", "sp.m128n64.tf32", "sp.m64n64.tf32", "sp.m128n64.e4m3", "sp.m64n64.e4m3",
    "sp.cta_group::2.m256n64.f16", "sp.cta_group::2.m128n64.f16", "sp.cta_group::2.m128n64.e4m3",
    "ws.sp.m64n64.f16", "ws.sp.m32n64.e4m3", "sp.kind::mxf4.m128n128", "sp.kind::mxf8f6f4.m128n64.e4m3",
    "sp.kind::mxf4nvf4.m128n128", "sp.m128n64.s8",
]  # fmt: skip


@pytest.mark.parametrize("selector", [0, 1])
@pytest.mark.parametrize("words", SPARSE)
def test_metadata_are_read_where_the_map_says(words: str, selector: int) -> None:
    one = tensor_instruction(f"tcgen05.mma.{words}")
    held = fragment(one, "e")
    if selector >= held.matrices:
        assert one.told.a_type in {"e4m3", "e2m1", "s8"}
        return
    one = replace(one, told=replace(one.told, selector=selector))
    m, n, k, chunk = one.told.m, one.told.n, one.form.k, one.form.chunk
    rng = np.random.default_rng(m + k)
    unit = chunk // 4 or 1  # elements that stay together
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    picks = rng.integers(0, 2 if chunk == 2 else 6, (m, k // chunk))
    codes = np.array([0b0100, 0b1110] if chunk == 2 else [i | j << 2 for i, j in pairs])
    stored = rng.integers(1, 4, (m, k // 2)).astype(np.float32)
    whole = np.zeros((m, k), np.float32)
    for row in range(m):
        for at in range(k // chunk):
            picked = int(picks[row, at])
            kept = (picked,) if chunk == 2 else pairs[picked]
            for number, place in enumerate(kept):
                for part in range(unit):
                    source = at * chunk // 2 + number * unit + part
                    whole[row, at * chunk + place * unit + part] = stored[row, source]
    before = memory(one)
    put(before, held, E_AT, codes[picks], selector)
    if one.told.is_scaled:
        before[:, SFA_AT : SFA_AT + 64] = 0x38383838 if one.told.scale_type == "ue4m3" else 0x7F7F7F7F
    b = rng.integers(0, 2, (n, k)).astype(np.float32)
    after = launch(one, before, in_shared(stored, one), in_shared(b, one))
    kind = np.int32 if one.told.d_type == "s32" else np.float32
    assert (taken(after, fragment(one, "d"), kind) == whole @ b.T).all()


def scale_bits(powers: NDArray[Any], one: TensorInstruction) -> NDArray[Any]:
    """The scales that are these powers of two."""
    return (powers + 7) << 3 if one.told.scale_type == "ue4m3" else powers + 127


SCALED = [
    "m128n64.e4m3.ue8m0", "m128n128.e4m3.ue8m0", "m128n48.e4m3.ue8m0", "cta_group::2.m256n64.e4m3.ue8m0",
    "cta_group::2.m128n128.e4m3.ue8m0", "kind::mxf4.m128n96", "kind::mxf4.cta_group::2.m256n256",
    "kind::mxf4.cta_group::2.m128n64", "kind::mxf4nvf4.m128n128", "kind::mxf4nvf4.block16.cta_group::2.m128n128",
    "kind::mxf4nvf4.scale_vec::2X.m128n64.ue8m0",
]  # fmt: skip


@pytest.mark.parametrize("words", SCALED)
def test_scales_are_read_where_the_map_says(words: str) -> None:
    one = tensor_instruction(f"tcgen05.mma.{words}")
    of_a, of_b = fragment(one, "sfa"), fragment(one, "sfb")
    m, n, k, count = one.told.m, one.told.n, one.form.k, of_a.columns
    assert of_a.matrices == of_b.matrices == 4 // count
    rng = np.random.default_rng(m + n)
    a, b = (rng.integers(0, 3, (lines_, k)).astype(np.float32) for lines_ in (m, n))
    powers = [rng.integers(-2, 3, (lines_, count)) for lines_ in (m, n)]
    factors = [np.repeat(2.0**p, k // count, axis=1) for p in powers]
    wanted = (a * factors[0]) @ (b * factors[1]).T
    for matrix in range(of_a.matrices):
        other = (matrix + 1) % of_a.matrices
        told = replace(one.told, a_scale=matrix * count, b_scale=other * count)
        now = replace(one, told=told)
        before = memory(one)
        put(before, of_a, SFA_AT, scale_bits(powers[0], one), matrix)
        put(before, of_b, SFB_AT, scale_bits(powers[1], one), other)
        after = launch(now, before, in_shared(a, one), in_shared(b, one))
        assert (taken(after, fragment(one, "d"), np.float32) == wanted).all()


COPIES = ["128x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4", "4x256b"]


@pytest.mark.parametrize("packed", ["", ".b8x16.b4x16_p64", ".b8x16.b6x16_p32"])
@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("shape", COPIES)
def test_copies_go_where_the_map_says_and_nowhere_else(shape: str, ctas: int, packed: str) -> None:
    spelling = f"tcgen05.cp.cta_group::{ctas}.{shape}{packed}"
    held = fragment(spelling)
    assert held.matrices == ctas
    rows, across = -(-held.rows // 8) * 8, held.columns
    rng = np.random.default_rng(rows + across)
    values = rng.integers(0, 1 << held.width, (ctas, rows, across), np.uint32 if not packed else np.uint8)
    if not packed:
        sources = values.view(np.uint8)
    else:
        chunks = values.reshape(ctas, rows, -1, 16)
        ones = (chunks[..., None] >> np.arange(held.width)) & 1
        packs = np.packbits(ones.reshape(*chunks.shape[:3], -1).astype(np.uint8), axis=-1, bitorder="little")
        sources = np.pad(packs, [(0, 0)] * 3 + [(0, 16 - packs.shape[-1])]).reshape(ctas, rows, -1)
    images = np.stack([lines(each) for each in sources])
    before = np.full((ctas, 512, 128), 0x5EED5EED, np.uint32)
    wanted = before.copy()
    for e in held.elements:
        cta, lane = divmod(e.lane, 128)
        if packed and not e.column % 4:
            wanted[cta, e.register, lane] = 0
    for e in held.elements:
        cta, lane = divmod(e.lane, 128)
        if not packed:
            wanted[cta, e.register, lane] = values[e.matrix, e.row, e.column]
        else:
            wanted[cta, e.register, lane] |= np.uint32(values[e.matrix, e.row, e.column]) << np.uint32(e.bit)
    body = descriptor("0", 128, stride_of(sources[0]), "%rd8") + f"{spelling} [%r13], %rd8;"
    if ctas == 1:
        after, outcome = run(body, images[0], before[0])
        after = after[None]
    else:
        after, outcome = run_pair(body, images, before)
    assert not outcome.hazards
    assert (after == wanted).all()
