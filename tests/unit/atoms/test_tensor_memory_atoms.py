"""Atoms of tensor memory by name and by spelling; that the layouts are CUTLASS's, `tests/oracle` shows."""

from __future__ import annotations

import pytest

from ptxloom.atoms import TensorCopyAtom, TensorMmaAtom, atom, copy_atom, emit, mma_atom, tensor_copy_atoms
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.explanation import explain
from ptxloom.fragments import fragment

PRODUCTS = {
    "SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 256, UMMA::Major::K, UMMA::Major::K>":
        "tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16",
    "SM100_MMA_TF32_2x1SM_TS": "tcgen05.mma.cta_group::2.kind::tf32.m256n128k8.f32.tf32.tf32",
    "SM100_MMA_S8_SS<uint8_t, int8_t, int32_t, 64, 32>": "tcgen05.mma.cta_group::1.kind::i8.m64n32k32.s32.u8.s8",
    "SM100_MMA_F8F6F4_SS_SPARSE": "tcgen05.mma.sp.cta_group::1.kind::f8f6f4.m128n128k64.f32.e4m3.e4m3",
    "SM100_MMA_MXF4_SS<float_e2m1_t, float_e2m1_t, float, float_ue4m3_t, 128, 64, 16>":
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X.m128n64k64.f32.e2m1.e2m1.ue4m3",
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_s_name_says_its_instruction(name: str) -> None:
    one = atom(name)
    assert isinstance(one, TensorMmaAtom)
    assert (one.ptx, one.name) == (PRODUCTS[name], name.partition("<")[0])
    again = atom(one.ptx)
    assert isinstance(again, TensorMmaAtom)
    assert (again.a_layout, again.b_layout, again.c_layout) == (one.a_layout, one.b_layout, one.c_layout)


def test_copies_are_found_by_name_and_by_spelling_and_reach_what_the_map_says() -> None:
    for name, one in tensor_copy_atoms().items():
        assert atom(name) is one is atom(one.ptx)
    one = atom("SM100_TMEM_LOAD_16dp128b2x")
    assert isinstance(one, TensorCopyAtom)
    held = fragment(one.ptx)
    for e in held.elements:
        bit = one.dst_layout((e.lane, 32 * e.register))
        assert one.val_id(bit) == e.row * (1 << 21) + 32 * e.column


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("SM100_TMEM_LOAD_16dp256b3x", "did you mean"),
        ("SM100_MMA_F16BF16_SS<half_t, half_t, float, 256, 96>", "M is 256"),
        ("tcgen05.mma.ws.m64n64", "CuTe has no atoms of `.ws`"),
        ("tcgen05.cp.4x256b.b8x16.b4x16_p64", "CuTe has no atom"),
    ],
)
def test_what_is_no_atom_is_said(name: str, why: str) -> None:
    with pytest.raises(UnsupportedForm, match=why):
        atom(name)


def test_they_make_no_tiles_and_no_code() -> None:
    name = "SM100_TMEM_LOAD_32dp32b1x"
    for ask in (copy_atom, mma_atom):
        with pytest.raises(UnsupportedForm, match="an atom of tensor memory"):
            ask(name)
    with pytest.raises(UnsupportedForm, match="no code here"):
        emit(name)
    assert "ptxloom map tcgen05.ld.sync.aligned.32x32b.x1.b32" in explain(name).markdown
