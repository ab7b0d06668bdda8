"""CUTLASS judges the atoms of tensor memory: its names, and the layouts of its traits, compiled here."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import pytest

from oracle.cute_host import include_folders, printed
from ptxloom.atoms import TensorMmaAtom, atom, tensor_copy_atoms
from ptxloom.layout import Layout, coalesce

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.oracle, pytest.mark.sweep]

_MAJORS = "UMMA::Major::K, UMMA::Major::K"
_SHAPES = {"": ((128, 64), (128, 256)), "_2x1SM": ((256, 64), (256, 256))}
_PRODUCTS = [
    *(
        f"SM100_MMA_F16BF16{pair}_{a}<half_t, half_t, float, {m}, {n}, {_MAJORS}>"
        for pair, a in product(_SHAPES, ("SS", "TS", "SS_SPARSE"))
        for m, n in _SHAPES[pair]
    ),
    *(
        f"SM100_MMA_{kind}{pair}_SS<{types}, {m}, {n}, {_MAJORS}>"
        for kind, types in (("TF32", "tfloat32_t, tfloat32_t, float"), ("S8", "int8_t, int8_t, int32_t"))
        for pair, shapes in _SHAPES.items()
        for m, n in shapes
    ),
    *(
        f"SM100_MMA_MXF8F6F4{pair}_SS<float_e4m3_t, float_e5m2_t, float, float_ue8m0_t, {m}, {n}, {_MAJORS}>"
        for pair, shapes in _SHAPES.items()
        for m, n in shapes
    ),
    *(
        f"SM100_MMA_MXF4{pair}_SS<float_e2m1_t, float_e2m1_t, float, float_{scale}_t, {m}, {n}, {vector}, {_MAJORS}>"
        for scale, vector in (("ue8m0", 32), ("ue4m3", 16))
        for pair, shapes in _SHAPES.items()
        for m, n in shapes
    ),
]


def same(mine: Layout, text: str) -> bool:
    """Whether CUTLASS's layout is the same function, mode by mode."""
    theirs = Layout.parse(text)
    if mine.size != theirs.size:
        return False
    return str(coalesce(mine)) == str(coalesce(theirs)) or mine.offsets() == theirs.offsets()


def test_the_copy_atoms_are_exactly_cutlasss() -> None:
    text = (include_folders()[0] / "cute" / "arch" / "copy_sm100.hpp").read_text()
    assert {*tensor_copy_atoms()} == {*re.findall(r"struct (SM100_(?:TMEM|UTCCP)_\w+)", text)}


def test_every_copy_atom_has_cutlasss_layouts(tmp_path: Path) -> None:
    atoms = tensor_copy_atoms()
    rows = printed(
        tmp_path,
        [
            f"{{ using T = Copy_Traits<{name}>; row(T::ThrID{{}}, T::ValID{{}}, T::SrcLayout{{}}, T::DstLayout{{}}, "
            "T::RefLayout{}); }"
            for name in atoms
        ],
    )
    assert len(rows) == len(atoms) == 160
    for (name, one), row in zip(atoms.items(), rows, strict=True):
        for mine, text in zip(
            (one.thr_id, one.val_id, one.src_layout, one.dst_layout, one.ref_layout), row, strict=True
        ):
            assert same(mine, text), (name, str(mine), text)


def test_products_have_cutlasss_layouts(tmp_path: Path) -> None:
    rows = printed(
        tmp_path,
        [
            f"{{ using T = MMA_Traits<{name}>; row(T::ThrID{{}}, T::ALayout{{}}, T::BLayout{{}}, T::CLayout{{}}, "
            "T::Shape_MNK{}); }"
            for name in _PRODUCTS
        ],
    )
    assert len(rows) == len(_PRODUCTS)
    for name, row in zip(_PRODUCTS, rows, strict=True):
        one = atom(name)
        assert isinstance(one, TensorMmaAtom)
        assert row[-1] == str(one.shape_mnk).replace(" ", ""), name
        for mine, text in zip((one.thr_id, one.a_layout, one.b_layout, one.c_layout), row[:-1], strict=True):
            assert same(mine, text), (name, str(mine), text)
