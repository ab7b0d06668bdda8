"""CUTLASS judges the atoms: the recorded layouts of its 24 copy atoms, and its headers compiled here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.cute_host import include_folders, printed
from ptxloom.atoms import MmaAtom, copy_atom, copy_atoms, emit, gmma_atoms, mma_atoms
from ptxloom.layout import Layout, LayoutError, coalesce

if TYPE_CHECKING:
    from pathlib import Path as Folder

RECORDED: Any = json.loads((Path(__file__).parent / "atoms.json").read_text())


# Slips of CUTLASS 4.2's traits. In B of the first, neighbouring threads hold the same elements and 128 are never held;
# in A of the second, shape and stride are not congruent.
SLIPS = {
    *(f"SM80_16x8x32_S32{a}4{b}4S32_TN" for a in "SU" for b in "SU"),
    *(f"SM80_16x8x128_S32U1U1S32_TN_{operation}POPC" for operation in ("XOR", "AND")),
}


@pytest.mark.parametrize("recorded", RECORDED["atoms"], ids=lambda atom: atom["name"])
def test_a_copy_atom_is_cutlasss(recorded: Any) -> None:
    atom = copy_atom(recorded["name"])
    layouts = {"SrcLayout": atom.src_layout, "DstLayout": atom.dst_layout, "RefLayout": atom.ref_layout}
    assert {name: str(layout) for name, layout in layouts.items()} == {name: recorded[name]["text"] for name in layouts}
    assert str(atom.thr_id) == recorded["ThrID"]
    assert atom.permuted == recorded["register_byte_permute_after_load"]
    assert sorted(recorded["ptx"].split()[0].split(".")) == sorted(atom.ptx.split("."))


def test_the_names_are_exactly_those_of_the_24_atoms() -> None:
    assert sorted(atom.name for atom in copy_atoms() if atom.name) == sorted(a["name"] for a in RECORDED["atoms"])


@pytest.mark.oracle
@pytest.mark.sweep
def test_every_mma_atom_name_is_one_of_cutlasss_and_none_is_missing() -> None:
    folder = include_folders()[0] / "cute" / "arch"
    theirs: set[str] = set()
    for file in ("mma_sm70.hpp", "mma_sm75.hpp", "mma_sm80.hpp", "mma_sm89.hpp", "mma_sm90.hpp", "mma_sm120.hpp"):
        text = (folder / file).read_text().replace("struct MMA_", "struct SM90_")  # these names are aliases' targets
        found = re.findall(r"^struct (SM\d+_\d+x\d+x\d+_\w+(?:<.+>)?)", text, re.MULTILINE)
        theirs |= {re.sub(r"\bVS>", "", name).rstrip(", ") for name in found if "C64" not in name}
    theirs -= {"SM120_16x8x32_TN", "SM120_16x8x32_TN_VS", "SM120_16x8x64_TN_VS"}  # the templates themselves
    ours = {name.removeprefix("SM120::BLOCKSCALED::") for atom in mma_atoms() for name in atom.names}
    assert {re.sub(r", \d+>$", "", name) for name in ours} == theirs


@pytest.mark.oracle
@pytest.mark.sweep
def test_every_mma_atom_has_cutlasss_layouts(tmp_path: Folder) -> None:
    named = [(atom, name) for atom in mma_atoms() for name in atom.names if "SATURATE" not in name]
    rows = printed(
        tmp_path,
        [
            f"{{ using T = MMA_Traits<{name}>;"
            " row(T::ThrID{}, T::ALayout{}, T::BLayout{}, T::CLayout{}, T::Shape_MNK{}); }"
            for _, name in named
        ],
    )
    assert len(rows) == len(named) > 100
    for (atom, name), row in zip(named, rows, strict=True):
        ours = (atom.thr_id, atom.a_layout, atom.b_layout, atom.c_layout)
        for mine, text in zip(ours, row, strict=False):
            try:
                theirs = Layout.parse(text)
            except LayoutError:
                assert name in SLIPS
                continue
            if theirs.rank == 2 and len(set(theirs.offsets())) < theirs.size:
                assert name in SLIPS
                continue
            assert mine == (coalesce(theirs, (1, 1)) if theirs.depth == 2 else theirs), name
        assert row[4] == str(atom.shape_mnk).replace(" ", "")


@pytest.mark.oracle
@pytest.mark.sweep
def test_the_names_of_gmma_atoms_are_exactly_cutlasss() -> None:
    folder = include_folders()[0] / "cute" / "arch"
    theirs: set[str] = set()
    for file, prefix in (("mma_sm90_gmma", "SM90_"), ("mma_sm90_gmma_sparse", "SM90::GMMA::SPARSE::GMMA_")):
        for part in ("", "_ext"):
            text = (folder / f"{file}{part}.hpp").read_text()
            theirs |= {prefix + name for name in re.findall(r"^struct G?MMA_(64x\w+)", text, re.MULTILINE)}
    assert {name for atom in gmma_atoms() for name in atom.names} == theirs


def in_full(atom: MmaAtom) -> str:
    """The name with its arguments, as the wrapper for CuTe C++ writes it."""
    return emit(atom, "cute").rpartition("MMA_Atom<")[2].removesuffix(">;")


@pytest.mark.oracle
@pytest.mark.sweep
@pytest.mark.parametrize("columns", [8, 24, 96, 256])
def test_every_gmma_atom_has_cutlasss_layouts(tmp_path: Folder, columns: int) -> None:
    atoms = [atom for atom in gmma_atoms() if atom.name and atom.instruction.n == columns]
    statements = [
        f"{{ using T = MMA_Traits<{in_full(atom)}>;"
        " row(T::ThrID{}, T::ALayout{}, T::BLayout{}, T::CLayout{}, T::Shape_MNK{}"
        f"{', T::ELayout{}' if atom.e_layout else ''}); }}"
        for atom in atoms
    ]
    rows = printed(tmp_path, statements)
    assert len(rows) == len(atoms) == 80
    for atom, row in zip(atoms, rows, strict=True):
        ours = [atom.thr_id, atom.a_layout, atom.b_layout, atom.c_layout, *filter(None, [atom.e_layout])]
        for mine, text in zip(ours, (*row[:4], *row[5:]), strict=True):
            theirs = Layout.parse(text)
            assert mine == theirs or mine == coalesce(theirs, (1, 1)), atom.name
        assert row[4] == str(atom.shape_mnk).replace(" ", "")


@pytest.mark.oracle
@pytest.mark.sweep
def test_the_copy_atoms_are_those_of_the_headers(tmp_path: Folder) -> None:
    atoms = [atom for atom in copy_atoms() if atom.name]
    rows = printed(
        tmp_path,
        [
            f"{{ using T = Copy_Traits<{atom.name}>;"
            " row(T::ThrID{}, T::SrcLayout{}, T::DstLayout{}, T::RefLayout{}); }"
            for atom in atoms
        ],
    )
    for atom, row in zip(atoms, rows, strict=True):
        assert row == [str(x) for x in (atom.thr_id, atom.src_layout, atom.dst_layout, atom.ref_layout)], atom.name
