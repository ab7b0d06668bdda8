"""What else `tcgen05.mma` can be told: rows that move, factors kept, lanes of a pair, halves for D, every swizzle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from machine.semantics.tensor_kernels import descriptor, lines, run, run_pair, stride_of
from ptxloom.descriptors.instruction import InstructionDescriptor
from ptxloom.descriptors.matrix import MatrixDescriptor
from ptxloom.descriptors.operand import SharedOperand
from ptxloom.fragments.tensor_layouts import TensorLayout, accumulator_layout
from ptxloom.machine.results.outcome import LaunchError

if TYPE_CHECKING:
    from numpy.typing import NDArray

A_AT = 256


def numbers(seed: int, shape: tuple[int, ...], kind: Any = np.float16) -> NDArray[Any]:
    """Small ones, that every sum of some of them is exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(kind)


def result(after: NDArray[np.uint32], layout: TensorLayout, n: int) -> NDArray[np.uint32]:
    """The words of D, of one CTA or of both."""
    words = after.reshape(-1, 512, 128)
    places = [[layout.place(row, column, n) for column in range(n)] for row in range(layout.m)]
    return np.array([[words[at.cta, at.column, at.lane] for at in row] for row in places], np.uint32)


def product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float32]:
    """A times the transpose of B."""
    return a.astype(np.float32) @ b.astype(np.float32).T


def factors(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[np.uint8], str]:
    """Both in shared memory, and the statements that make their descriptors."""
    made = descriptor("0", 128, stride_of(a), "%rd8") + descriptor(str(lines(a).size), 128, stride_of(b), "%rd9")
    return np.concatenate([lines(a), lines(b)]), made


def test_rows_of_a_move_down_by_one_but_for_the_last() -> None:
    a, b = numbers(1, (128, 16)), numbers(2, (32, 16))
    told = InstructionDescriptor("f16", 128, 32, "f16", "f16")
    before = np.zeros((512, 128), np.uint32)
    before[A_AT : A_AT + 8] = a.view(np.uint32).T
    body = (
        descriptor("0", 128, stride_of(b), "%rd9")
        + f"""mov.u32 %r21, {told.bits}; add.u32 %r22, %r13, {A_AT};
    setp.eq.u32 %p6, 0, 1; tcgen05.mma.cta_group::1.kind::f16.ashift [%r13], [%r22], %rd9, %r21, %p6;"""
    )
    after, outcome = run(body, lines(b), before)
    assert not outcome.hazards
    moved = np.concatenate([a[1:], a[-1:]])
    assert (result(after, accumulator_layout(128), 32).view(np.float32) == product(moved, b)).all()


USES = ("use", "lastuse")
KEPT = [
    *(("", f"collector::a::{use}", 128) for use in USES),
    *((".ws", f"collector::b{buffer}::{use}", 32) for buffer in range(4) for use in USES),
]


@pytest.mark.parametrize(("ws", "second", "m"), KEPT)
def test_a_factor_that_a_collector_keeps_multiplies_again(ws: str, second: str, m: int) -> None:
    a, b = numbers(3, (m, 16)), numbers(4, (64, 16))
    told = InstructionDescriptor("f16", m, 64, "f16", "f16")
    image, body = factors(a, b)
    name = f"tcgen05.mma{ws}.cta_group::1.kind::f16"
    first = second.rpartition("::")[0] + "::fill"
    body += f"mov.u32 %r21, {told.bits}; setp.eq.u32 %p6, 0, 1; setp.eq.u32 %p7, 0, 0;"
    body += f"{name}.{first} [%r13], %rd8, %rd9, %r21, %p6; {name}.{second} [%r13], %rd8, %rd9, %r21, %p7;"
    after, outcome = run(body, image, np.zeros((512, 128), np.uint32))
    assert not outcome.hazards
    assert (result(after, accumulator_layout(m, ws=bool(ws)), 64).view(np.float32) == 2 * product(a, b)).all()


def test_lanes_of_both_ctas_are_disabled_by_eight_words() -> None:
    m, n = 256, 32
    a, b = numbers(5, (m, 16)), numbers(6, (n, 16))
    halves = [np.concatenate([lines(a[128 * r :][:128]), lines(b[16 * r :][:16])]) for r in range(2)]
    told = InstructionDescriptor("f16", m, n, "f16", "f16")
    body = descriptor("0", 128, 256, "%rd8") + descriptor("4096", 128, 256, "%rd9")
    body += f"""mov.u32 %r21, {told.bits}; mov.u32 %r22, 0; mov.u32 %r23, 0x00f1; mov.u32 %r24, 0x80000000;
    setp.eq.u32 %p6, 0, 1; tcgen05.mma.cta_group::2.kind::f16 [%r13], %rd8, %rd9, %r21,
    {{%r22, %r23, %r22, %r22, %r22, %r22, %r22, %r24}}, %p6;"""
    before = np.full((2, 512, 128), 0x7FC0BEEF, np.uint32)
    after, outcome = run_pair(body, np.stack(halves), before)
    assert not outcome.hazards
    wanted = product(a, b).view(np.uint32)
    wanted[[32, 36, 37, 38, 39, 255]] = 0x7FC0BEEF
    assert (result(after, accumulator_layout(m, 2), n) == wanted).all()


@pytest.mark.parametrize("m", [64, 128])
@pytest.mark.parametrize(("kind", "element"), [("f16", np.float16), ("f8f6f4", ml_dtypes.float8_e5m2)])
def test_halves_of_d_are_in_the_low_half_of_a_column(m: int, kind: str, element: Any) -> None:
    a, b, old = numbers(7, (m, 32), element), numbers(8, (48, 32), element), numbers(9, (m, 48))
    a, b = (side[:, : 32 // side.itemsize] for side in (a, b))
    name = "f16" if kind == "f16" else "e5m2"
    told = InstructionDescriptor(kind, m, 48, name, name, "f16")
    layout = accumulator_layout(m)
    before = np.zeros((512, 128), np.uint32)
    for row in range(m):
        at = layout.place(row, 0, 48)
        before[at.column : at.column + 48, at.lane] = old[row].view(np.uint16)
    image, body = factors(a, b)
    body += f"""mov.u32 %r21, {told.bits}; setp.eq.u32 %p6, 0, 0;
    tcgen05.mma.cta_group::1.kind::{kind} [%r13], %rd8, %rd9, %r21, %p6;"""
    after, outcome = run(body, image, before)
    assert not outcome.hazards
    found = (result(after, layout, 48) & 0xFFFF).astype(np.uint16).view(np.float16)
    assert (found == product(a, b) + old).all()


@pytest.mark.parametrize("saturate", [False, True])
def test_integers_wrap_or_stop_at_the_end(saturate: bool) -> None:
    a, b = numbers(10, (128, 32), np.int8), numbers(11, (32, 32), np.int8)
    old = np.full((512, 128), 0x7FFFFFFE, np.uint32)
    told = InstructionDescriptor("i8", 128, 32, "s8", "s8", "s32", saturate=saturate)
    image, body = factors(a, b)
    body += f"""mov.u32 %r21, {told.bits}; setp.eq.u32 %p6, 0, 0;
    tcgen05.mma.cta_group::1.kind::i8 [%r13], %rd8, %rd9, %r21, %p6;"""
    after, outcome = run(body, image, old)
    assert not outcome.hazards
    exact = a.astype(np.int64) @ b.astype(np.int64).T + 0x7FFFFFFE
    wanted = np.minimum(exact, 0x7FFFFFFF) if saturate else exact
    assert (result(after, accumulator_layout(128), 32) == (wanted & 0xFFFFFFFF).astype(np.uint32)).all()


SWIZZLED = [
    *((element, major, swizzle) for element in ("f16", "tf32", "e4m3") for major, swizzle in
      (("k", "32B"), ("k", "64B"), ("k", "128B"))),
    *(("f16", "mn", swizzle) for swizzle in ("none", "32B", "64B", "128B")),
    ("e4m3", "mn", "128B"), ("tf32", "mn", "128B_ATOM_32B"),
]  # fmt: skip
_KINDS: dict[str, tuple[str, Any]] = {
    "f16": ("f16", np.float16), "tf32": ("tf32", np.float32), "e4m3": ("f8f6f4", ml_dtypes.float8_e4m3fn),
}  # fmt: skip


@pytest.mark.parametrize(("element", "major", "swizzle"), SWIZZLED)
def test_factors_are_read_where_their_descriptors_are_drawn(element: str, major: str, swizzle: str) -> None:
    kind, dtype = _KINDS[element]
    k, m, n = 32 // np.dtype(dtype).itemsize, 128, 64
    a, b = numbers(12, (m, k), dtype), numbers(13, (n, k), dtype)
    image = np.zeros(1 << 16, np.uint8)
    body = ""
    for number, (side, register) in enumerate(((a, "%rd8"), (b, "%rd9"))):
        leading, stride = (4096, 1024) if major == "mn" else (16, 1024)
        if swizzle == "none":
            leading, stride = 4096, 128
        if swizzle == "128B_ATOM_32B":
            leading, stride = 4096, 512
        told = MatrixDescriptor(0, leading, stride, swizzle, generation="tcgen05")
        held = SharedOperand(told, len(side), k, element, major)
        for row in range(len(side)):
            for column in range(k):
                at = 32768 * number + held.address(row, column)
                image[at : at + side.itemsize] = np.frombuffer(side[row, column].tobytes(), np.uint8)
        body += f"add.u32 %r20, %r3, {32768 * number}; shr.u32 %r20, %r20, 4; cvt.u64.u32 {register}, %r20;"
        body += f"or.b64 {register}, {register}, {told.bits:#x};"
    turned = major == "mn"
    told_of = InstructionDescriptor(kind, m, n, element, element, transpose_a=turned, transpose_b=turned)
    body += f"""mov.u32 %r21, {told_of.bits}; setp.eq.u32 %p6, 0, 1;
    tcgen05.mma.cta_group::1.kind::{kind} [%r13], %rd8, %rd9, %r21, %p6;"""
    after, outcome = run(body, image, np.zeros((512, 128), np.uint32))
    assert not outcome.hazards
    assert (result(after, accumulator_layout(m), n).view(np.float32) == product(a, b)).all()


REFUSED = [
    ("f8f6f4", {"a_type": "e2m1", "b_type": "e4m3", "transpose_a": True}, 0, "always K-major"),
    ("f16", {"a_type": "bf16", "b_type": "f16", "d_type": "f16"}, 0, "a factor is .bf16"),
    ("i8", {"a_type": "s8", "b_type": "s8", "d_type": "s32", "negate_b": True}, 0, "integers are not negated"),
    ("f16", {"a_type": "f16", "b_type": "f16"}, 1, "32 bytes at a time are swizzled"),
    ("tf32", {"a_type": "tf32", "b_type": "tf32", "transpose_b": True}, 2, "32 bytes at a time are swizzled"),
]


@pytest.mark.parametrize(("kind", "told", "mode", "why"), REFUSED)
def test_what_no_product_can_be_told_ends_the_kernel(kind: str, told: dict[str, Any], mode: int, why: str) -> None:
    bits = InstructionDescriptor(kind, 128, 64, **told).bits
    body = descriptor("0", 1024, 1024, "%rd8", mode) + descriptor("8192", 1024, 1024, "%rd9", mode)
    body += f"""mov.u32 %r21, {bits}; setp.eq.u32 %p6, 0, 1;
    tcgen05.mma.cta_group::1.kind::{kind} [%r13], %rd8, %rd9, %r21, %p6;"""
    with pytest.raises(LaunchError) as caught:
        run(body, np.zeros(65536, np.uint8), np.zeros((512, 128), np.uint32))
    assert why in str(caught.value.hazards[0])
