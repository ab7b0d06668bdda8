"""Atoms of `wgmma`: names, layouts as CUTLASS's traits write them, what is emitted and what is refused."""

from __future__ import annotations

import pytest

from ptxloom.atoms import Source, advise, atom, emit, gmma_atoms, make_tiled_mma, mma_atom, mma_atom_of
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.isa.products import matrix_form
from ptxloom.layout import Layout, coalesce

SPARSE = "SM90::GMMA::SPARSE::GMMA_"


@pytest.mark.parametrize(
    ("name", "a", "b", "c", "e"),
    [
        # As `mma_traits_sm90_gmma.hpp` and its sparse sister of CUTLASS 4.2 have them.
        (
            "SM90_64x8x16_F16F16F16_SS",
            "(128,(64,16)):(0,(1,64))",
            "(128,(8,16)):(0,(1,8))",
            "((4,8,4),(2,2,1)):((128,1,16),(64,8,512))",
            "",
        ),
        (
            "SM90_64x96x8_F32TF32TF32_RS_TN",
            "((4,8,4),(2,2)):((64,1,16),(8,256))",
            "(128,(96,8)):(0,(1,96))",
            "((4,8,4),(2,2,12)):((128,1,16),(64,8,512))",
            "",
        ),
        (
            "SM90_64x256x32_S32U8S8_RS_TN_SATURATE",
            "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))",
            "(128,(256,32)):(0,(1,256))",
            "((4,8,4),(2,2,32)):((128,1,16),(64,8,512))",
            "",
        ),
        (
            f"{SPARSE}64x24x32_F32BF16BF16_RS",
            "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))",
            "(128,(24,32)):(0,(1,24))",
            "((4,8,4),(2,2,3)):((128,1,16),(64,8,512))",
            "((2,2,8,4),(16,2)):((1024,0,1,16),(64,8))",
        ),
        (
            f"{SPARSE}64x8x16_F32TF32TF32_SS_TN",
            "(128,(64,16)):(0,(1,64))",
            "(128,(8,16)):(0,(1,8))",
            "((4,8,4),(2,2,1)):((128,1,16),(64,8,512))",
            "((2,2,8,4),(8,2)):((512,0,1,16),(64,8))",
        ),
        (
            f"{SPARSE}64x8x64_F16E5M2E4M3_RS_TN",
            "((4,8,4),(8,2,2)):((512,1,16),(64,8,2048))",
            "(128,(8,64)):(0,(1,8))",
            "((4,8,4),(2,2,1)):((128,1,16),(64,8,512))",
            "((2,2,8,4),(32)):((8,2048,1,16),(64))",
        ),
    ],
)
def test_layouts_are_those_of_the_traits(name: str, a: str, b: str, c: str, e: str) -> None:
    found = mma_atom(name)
    assert found.name == name
    assert str(found.thr_id) == "128:1"
    for ours, theirs in ((found.a_layout, a), (found.b_layout, b), (found.c_layout, c)):
        assert ours in {Layout.parse(theirs), coalesce(Layout.parse(theirs), (1, 1))}
    assert found.e_layout == (coalesce(Layout.parse(e), (1, 1)) if e else None)


def test_an_atom_is_found_by_all_it_is_called() -> None:
    found = mma_atom("SM90_64x64x16_F32BF16BF16_RS")
    assert atom("cute::SM90_64x64x16_F32BF16BF16_RS<GMMA::Major::K, GMMA::Major::MN>") == found
    assert atom(f"warpgroup.{found.operation}") == found
    assert atom("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16").name == "SM90_64x64x16_F32BF16BF16_SS"
    assert len({atom.name for atom in gmma_atoms() if atom.name}) == len(gmma_atoms()) - 2 * 18  # single bits


def test_products_of_warpgroups_are_tiled() -> None:
    tiled = make_tiled_mma("SM90_64x128x16_F32F16F16_SS", (2, 1, 1))
    assert (tiled.size, tiled.tile_mnk) == (256, (128, 128, 16))
    assert tiled.layout_tv("c")((130, 0)) == 64 + 2 * 2 * 128


def test_code_is_emitted_where_an_atom_waits_for_itself() -> None:
    assert "GMMA::Major::K" in emit("SM90_64x64x16_F32F16F16_SS", "cute")
    assert emit("SM90_64x64x32_S32S8S8_SS_TN", "cute").endswith("SM90_64x64x32_S32S8S8_SS_TN>;")
    assert "cutlass.Int8, cutlass.Uint8, cutlass.Int32" in emit("SM90_64x64x32_S32S8U8_SS_TN", "cute-dsl")
    with pytest.raises(UnsupportedForm, match="emit it as cute"):
        emit("SM90_64x64x16_F32F16F16_SS", "cuda")


@pytest.mark.parametrize("source", ["shared", None])
def test_what_has_no_atom_is_refused(source: Source | None) -> None:
    with pytest.raises(UnsupportedForm, match="has no atom here"):
        mma_atom_of(matrix_form("mma.sp.m16n8k16.row.col.f32.f16.f16.f32"), source)
    with pytest.raises(UnsupportedForm, match="has no atom here"):
        atom("wmma.mma.row.col.m16n16k16.f32.f32")
    with pytest.raises(UnsupportedForm, match="takes A from registers only"):
        mma_atom_of(matrix_form("m16n8k16.row.col.f32.f16.f16.f32"), "shared")
    with pytest.raises(UnsupportedForm, match="by descriptors, not by copies"):
        advise("SM90_64x64x16_F32F16F16_SS", "b", "k")
