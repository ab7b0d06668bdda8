"""The operands of mma against the manual's formulas, which are restated here by hand, form by form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from ptxloom.fragments import fragment
from ptxloom.isa.products import MatrixForm, matrix_form, mma_forms

if TYPE_CHECKING:
    from collections.abc import Callable


# (k, container bits) -> (row, column) of a_i of a 16-row shape; g = %laneid >> 2, t = %laneid % 4.
A_OF_16_ROWS: Final[dict[tuple[int, int], Callable[[int, int, int], tuple[int, int]]]] = {
    (4, 32): lambda g, t, i: (g + 8 * i, t),
    (4, 64): lambda g, t, i: (g + 8 * i, t),
    (8, 16): lambda g, t, i: (g + 8 * (i >= 2), t * 2 + (i & 1)),
    (8, 32): lambda g, t, i: (g + 8 * (i in (1, 3)), t + 4 * (i in (2, 3))),
    (8, 64): lambda g, t, i: (g + 8 * (i in (1, 3)), t + 4 * (i in (2, 3))),
    (16, 16): lambda g, t, i: (g + 8 * (not (0 <= i < 2 or 4 <= i < 6)), t * 2 + (i & 1) + 8 * (i >= 4)),
    (16, 64): lambda g, t, i: (g, i * 2 + t) if i % 2 == 0 else (g + 8, i * 2 - 2 + t),
    (16, 8): lambda g, t, i: (g + 8 * (i >= 4), t * 4 + (i & 3)),
    (32, 8): lambda g, t, i: (g + 8 * (not (0 <= i < 4 or 8 <= i < 12)), t * 4 + (i & 3) + 16 * (i >= 8)),
    (32, 4): lambda g, t, i: (g + 8 * (i >= 8), t * 8 + (i & 7)),
    (64, 4): lambda g, t, i: (g + 8 * (not (0 <= i < 8 or 16 <= i < 24)), t * 8 + (i & 7) + 32 * (i >= 16)),
    (128, 1): lambda g, t, i: (g + 8 * (i >= 32), t * 32 + (i & 31)),
    (256, 1): lambda g, t, i: (g + 8 * (not (0 <= i < 32 or 64 <= i < 96)), t * 32 + (i & 31) + 128 * (i >= 64)),
}


def multiplicand_a(form: MatrixForm, lane: int, i: int) -> tuple[int, int]:
    bits = form.container_bits("a")
    if form.m == 8:
        return lane >> 2, lane % 4 * max(1, 32 // bits) + i
    return A_OF_16_ROWS[form.k, bits](lane >> 2, lane % 4, i)


def multiplicand_b(form: MatrixForm, lane: int, i: int) -> tuple[int, int]:
    group, thread = lane >> 2, lane % 4
    match form.container_bits("b"):
        case 64 | 32:
            return thread + 4 * i, group
        case 16:
            return thread * 2 + (i & 1) + 8 * (i >= 2), group
        case 8:
            return thread * 4 + (i & 3) + 16 * (i >= 4), group
        case 4:
            return thread * 8 + (i & 7) + 32 * (i >= 8), group
        case 1:
            return thread * 32 + (i & 0x1F) + 128 * (i >= 32), group
        case _:
            raise AssertionError


def accumulator(lane: int, i: int) -> tuple[int, int]:
    return (lane >> 2) + 8 * (i >= 2), (lane % 4) * 2 + (i & 1)


def volta(form: MatrixForm, operand: str, lane: int, i: int) -> tuple[int, int]:
    high = 4 * (lane >= 16)
    match operand:
        case "a":
            return (lane % 4 + high, i) if form.a_layout == "row" else (i % 4 + high, lane % 4)
        case "b":
            return (i, lane % 4 + high) if form.b_layout == "col" else (lane % 4, i + high)
        case _ if form.type_of(operand) == "f16":
            return lane % 4 + high, i
        case _:
            return (lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)


def restated(form: MatrixForm, operand: str, lane: int, i: int) -> tuple[int, int]:
    if form.quad_pairs:
        return volta(form, operand, lane, i)
    match operand:
        case "a":
            return multiplicand_a(form, lane, i)
        case "b":
            return multiplicand_b(form, lane, i)
        case _:
            return accumulator(lane, i)


@pytest.mark.parametrize("operand", ["a", "b", "c", "d"])
def test_every_operand_is_the_manuals_formula(operand: str) -> None:
    seen: set[tuple[int, int, str, str, str]] = set()
    for form in mma_forms():
        key = (form.m, form.k, form.type_of(operand), f"{form.a_layout}{form.b_layout}", form.kind)
        if key in seen:
            continue
        seen.add(key)
        f = fragment(form, operand)
        for lane in range(32):
            for i, element in enumerate(f.held_by(lane)):
                expected = restated(form, operand, lane, i)
                assert (element.row, element.column) == expected, (form.spelling, operand, lane, i)
                assert element.matrix == ((lane % 16) // 4 if form.quad_pairs else 0)


@pytest.mark.parametrize(
    ("mma", "operand", "load"),
    [
        # What a kernel loads without .trans is what the multiplication wants: the reason ldmatrix exists.
        ("m16n8k16.row.col.f32.f16.f16.f32", "a", "m8n8.x4.b16"),
        ("m16n8k16.row.col.f32.bf16.bf16.f32", "b", "m8n8.x2.b16"),
        ("m16n8k8.row.col.f32.tf32.tf32.f32", "a", "m8n8.x4.b16"),
        ("m16n8k32.row.col.s32.s8.s8.s32", "a", "m8n8.x4.b16"),
        ("m16n8k32.row.col.s32.s8.s8.s32", "b", "m8n8.x2.b16"),
        ("m16n8k64.row.col.s32.s4.s4.s32", "a", "m8n8.x4.b16"),
        ("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "a", "m8n8.x4.b16"),
        ("m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32", "a", "m8n16.x4.b8x16.b6x16_p32"),
        ("m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32", "b", "m8n16.x2.b8x16.b4x16_p64"),
    ],
)
def test_the_operand_of_mma_is_the_result_of_ldmatrix(mma: str, operand: str, load: str) -> None:
    wanted, loaded = fragment(mma, operand), fragment(load)
    assert wanted.registers == loaded.registers
    per = loaded.stride // wanted.stride if loaded.stride > wanted.stride else 1
    for element in wanted:
        line, along = (element.row, element.column) if operand == "a" else (element.column, element.row)
        source = loaded.where(lane=element.lane, register=element.register, bit=element.bit)
        # Memory holds the operand K-major, cut into matrices of 8 lines by 16 bytes: lines first, then along.
        span = loaded.columns * loaded.stride // wanted.stride
        lines = wanted.rows if operand == "a" else wanted.columns
        matrix = line // 8 + (along // span) * (lines // 8)
        assert (source.matrix, source.row) == (matrix, line % 8)
        if loaded.stride >= wanted.stride:
            assert source.column == along % span // per


def test_b_with_n_contiguous_is_the_transposed_load() -> None:
    wanted, loaded = fragment("m16n8k16.row.col.f32.f16.f16.f32", "b"), fragment("m8n8.x2.trans.b16")
    for element in wanted:
        source = loaded.where(lane=element.lane, register=element.register, bit=element.bit)
        assert (8 * source.matrix + source.row, source.column) == (element.row, element.column)


def test_the_accumulator_in_f16_feeds_the_next_a() -> None:
    # Two D fragments side by side are one A fragment: the register reuse of attention kernels.
    form = matrix_form("m16n8k16.row.col.f16.f16.f16.f16")
    d, a = fragment(form, "d"), fragment(form, "a")
    for tile in range(2):
        for element in d:
            found = a.where(lane=element.lane, register=element.register + 2 * tile, bit=element.bit)
            assert (found.row, found.column) == (element.row, element.column + 8 * tile)
