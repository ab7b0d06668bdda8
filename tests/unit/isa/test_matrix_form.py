from __future__ import annotations

from dataclasses import replace

import pytest

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.isa.products import PRODUCTS, MatrixForm, matrix_form, matrix_forms, mma_forms


def test_every_form_reads_back_from_its_own_spelling() -> None:
    forms = list(mma_forms())
    assert len({form.spelling for form in forms}) == len(forms)
    for form in forms:
        assert matrix_form(form.spelling) == form
        assert matrix_form(form.spelling.removeprefix("mma.sync.aligned.")) == form


@pytest.mark.parametrize("opcode", PRODUCTS)
def test_every_product_of_an_opcode_reads_back(opcode: str) -> None:
    for form in matrix_forms(opcode):
        assert matrix_form(form.spelling) == form
        assert matrix_form(form.spelling.replace(".sync.aligned", "")) == form


def test_products_of_a_warpgroup_are_so_many_columns_wide() -> None:
    every = set(range(8, 257, 8))
    whole = {8, 16, 24, *range(32, 257, 16)}  # of integers and bits
    columns: dict[MatrixForm, set[int]] = {}
    for form in matrix_forms("wgmma"):
        columns.setdefault(replace(form, n=0), set()).add(form.n)
    assert all(found == (whole if form.d_type == "s32" else every) for form, found in columns.items())


def test_qualifiers_may_come_in_any_order_and_layouts_keep_theirs() -> None:
    first = matrix_form(
        "mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0"
    )
    second = matrix_form("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0")
    assert first == second
    form = matrix_form("mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16")
    assert (form.a_layout, form.b_layout, form.d_type, form.c_type) == ("col", "row", "f32", "f16")


@pytest.mark.parametrize(
    ("text", "registers"),
    [
        # Vector lengths as the manual's fragment pages give them: D, A, B, C.
        ("m8n8k4.row.col.f64.f64.f64.f64", (2, 1, 1, 2)),
        ("m8n8k4.row.col.f16.f16.f16.f16", (4, 2, 2, 4)),
        ("m8n8k4.col.row.f32.f16.f16.f32", (8, 2, 2, 8)),
        ("m8n8k16.row.col.s32.s8.u8.s32", (2, 1, 1, 2)),
        ("m8n8k32.row.col.s32.u4.s4.s32", (2, 1, 1, 2)),
        ("m8n8k128.row.col.s32.b1.b1.s32.xor.popc", (2, 1, 1, 2)),
        ("m16n8k4.row.col.f32.tf32.tf32.f32", (4, 2, 1, 4)),
        ("m16n8k4.row.col.f64.f64.f64.f64", (4, 2, 1, 4)),
        ("m16n8k8.row.col.f32.bf16.bf16.f32", (4, 2, 1, 4)),
        ("m16n8k8.row.col.f32.tf32.tf32.f32", (4, 4, 2, 4)),
        ("m16n8k8.row.col.f64.f64.f64.f64", (4, 4, 2, 4)),
        ("m16n8k16.row.col.f16.f16.f16.f16", (2, 4, 2, 2)),
        ("m16n8k16.row.col.f64.f64.f64.f64", (4, 8, 4, 4)),
        ("m16n8k16.row.col.s32.s8.s8.s32", (4, 2, 1, 4)),
        ("m16n8k32.row.col.f16.e4m3.e5m2.f16", (2, 4, 2, 2)),
        ("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", (4, 4, 2, 4)),
        ("m16n8k64.row.col.s32.s4.u4.s32", (4, 4, 2, 4)),
        ("m16n8k256.row.col.s32.b1.b1.s32.and.popc", (4, 4, 2, 4)),
        ("mma.sp.m16n8k16.row.col.f32.f16.f16.f32", (4, 2, 2, 4)),
        ("mma.sp.m16n8k16.row.col.f32.tf32.tf32.f32", (4, 4, 4, 4)),
        ("mma.sp.m16n8k64.row.col.s32.u8.s8.s32", (4, 4, 4, 4)),
        ("mma.sp::ordered_metadata.m16n8k128.row.col.s32.s4.s4.s32", (4, 4, 4, 4)),
        ("wmma.mma.row.col.m16n16k16.f32.f16", (8, 8, 8, 4)),
        ("wmma.mma.row.col.m8n32k16.f16.f32", (4, 8, 8, 8)),
        ("wmma.mma.row.col.m32n8k16.f32.bf16.bf16.f32", (8, 8, 2, 8)),
        ("wmma.mma.row.col.m16n16k8.f32.tf32.tf32.f32", (8, 4, 4, 8)),
        ("wmma.mma.row.col.m8n32k16.s32.u8.u8.s32", (8, 1, 4, 8)),
        ("wmma.mma.row.col.m8n8k4.f64.f64.f64.f64", (2, 1, 1, 2)),
        ("wgmma.m64n8k16.f16.f16.f16", (2, 4, 0, 2)),
        ("wgmma.m64n256k8.f32.tf32.tf32", (128, 4, 0, 128)),
        ("wgmma.sp.m64n96k64.f32.e4m3.e5m2", (48, 4, 0, 48)),
    ],
)
def test_vector_lengths_are_the_manuals(text: str, registers: tuple[int, int, int, int]) -> None:
    form = matrix_form(text)
    assert tuple(form.registers(operand) for operand in "dabc") == registers


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("m16n8k16.row.col.f32.f16.bf16.f32", "with `.bf16` takes no `.f16`; it takes `.bf16`"),
        ("m16n8k32.row.col.f32.f16.f16.f32", "requires `.sp` or"),
        (
            "m16n8k16.row.col.f16.f16.f16.f32",
            "`.f32` does not go with the other qualifiers of this `mma`; here it takes",
        ),
        ("m16n8k16.col.col.f32.f16.f16.f32", "here it takes `.row`"),
        ("m16n8k256.row.col.s32.b1.b1.s32", "requires `.xor.popc` or `.and.popc`"),
        ("m16n8k16.row.col.satfinite.f32.f16.f16.f32", "takes no `.satfinite`"),
        ("m16n8k32.row.col.f32.e2m1.e2m1.f32", "requires `.kind::f8f6f4`"),
        ("m16n8k64.row.col.kind::mxf4.f32.e2m1.e2m1.f32", "requires `.block_scale"),
        ("m16n8k32.row.col.kind::f9.f32.e4m3.e4m3.f32", "takes no `.kind::f9`"),
        ("m16n8k16.row.col.f32.f16.f16.f32.ue8m0", "takes no `.ue8m0`"),
        ("m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", "in the manual: with a kind, k is 32"),
        ("m16n8k16.row.col.f32.f32.f32.f32", "is not a form"),
        ("m16n8k16.row.col.f32.bf61.bf16.f32", "did you mean `.bf16`?"),
        ("mma.sp.m16n8k8.row.col.f32.f16.f16.f32", "is not a form of `mma`"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16", "is not a form of `wmma`"),
        ("wgmma.m64n12k16.f32.f16.f16", "is not a form of `wgmma`"),
        ("m16n8k16.row.f32.f16.f16.f32", "requires `.col`"),
        ("", "requires"),
    ],
)
def test_what_is_no_form_says_why(text: str, reason: str) -> None:
    with pytest.raises(UnsupportedForm) as caught:
        matrix_form(text)
    assert reason in str(caught.value)


def test_the_containers_of_narrow_elements() -> None:
    form = matrix_form("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32")
    assert (form.container_bits("a"), form.payload_shift("a")) == (8, 2)
    assert (form.container_bits("b"), form.payload_shift("b")) == (8, 0)
    packed = matrix_form("m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0")
    assert (packed.container_bits("a"), packed.payload_shift("a")) == (4, 0)


def test_an_operand_is_one_of_four() -> None:
    form: MatrixForm = matrix_form("m16n8k16.row.col.f32.f16.f16.f32")
    with pytest.raises(UsageError):
        form.type_of("e")
    with pytest.raises(UsageError):
        form.extent("e")
