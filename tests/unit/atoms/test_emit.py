"""Emitted code: every atom in every language, or a sentence why not; the compilers judge it in tests/oracle."""

from __future__ import annotations

import re

import pytest

from ptxloom.atoms import CopyAtom, copy_atom, copy_atoms, mma_atoms
from ptxloom.atoms.wrappers import LANGUAGES, emit
from ptxloom.atoms.wrappers.parts import c_name
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.layout import Swizzle
from ptxloom.syntax import instructions, parse

ATOMS = (*copy_atoms(), *mma_atoms())


def test_names_in_c_are_unique() -> None:
    assert len({c_name(atom) for atom in ATOMS}) == len(ATOMS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_atom_is_emitted_or_refused_with_a_reason(language: str) -> None:
    refused: list[str] = []
    for atom in ATOMS:
        try:
            text = emit(atom, language)
        except UnsupportedForm as error:
            text = str(error)
            refused.append(text)
        assert atom.ptx in text
        assert not text.endswith("\n")
    assert (
        len(refused)
        == {
            "cuda": 0,
            "ptx": 0,
            "triton": sum(atom.ptx.startswith("stmatrix") or "block_scale" in atom.ptx for atom in ATOMS),
            "cute": sum(not atom.name for atom in mma_atoms()),
            "cute-dsl": sum(not atom.operation for atom in ATOMS),
        }[language]
    )


def test_a_ptx_block_reads_as_ptx_and_holds_the_instruction() -> None:
    for atom in ATOMS:
        block = emit(atom, "ptx")
        module = parse(f".version 9.5\n.target sm_120a\n.address_size 64\n.entry k() {{\n{block}\nret;\n}}\n")
        assert not module.diagnostics
        found = [".".join((i.opcode, *i.qualifiers)) for i in instructions(module)]
        assert atom.ptx in found
        assert found.count("prmt.b32") == (
            atom.instruction.registers if isinstance(atom, CopyAtom) and atom.permuted else 0
        )


def test_a_permuting_atom_permutes_in_every_language_that_spells_it_out() -> None:
    assert "__byte_perm(t[0], t[1], 0x5410)" in emit("SM100_U8x8_LDSM_T", "cuda")
    assert "(lane >> 1 & 1) * 8" in emit("SM100_U8x8_LDSM_T", "cuda")
    assert "__byte_perm(t[0], t[1], 0x7632)" in emit("SM100_U8x8_LDSM_T", "cuda")
    assert "prmt.b32 t, $2, $3, 0x7632; prmt.b32 $2, $2, $3, 0x5410; mov.b32 $3, t;" in emit(
        "SM100_U8x16_LDSM_T", "triton"
    )


@pytest.mark.parametrize("name", ["SM75_U32x4_LDSM_N", "SM90_U16x4_STSM_T", "SM100_U8x16_LDSM_T"])
def test_row_addresses_are_those_of_the_tile_and_its_swizzle(name: str) -> None:
    atom = copy_atom(name)
    bits = atom.instruction.held.bits
    plain = re.findall(r"return tile \+ (.+);", emit(atom, "cuda"))[-1]
    swizzle = Swizzle(3, (128 // bits).bit_length() - 1, 3)
    text = emit(atom, "cuda", swizzle)
    offset, moved = re.findall(r"offset = (.+);", text)[-1], re.findall(r"return tile \+ (.+);", text)[-1]
    for lane in range(32):
        names = {"lane": lane, "pitch": 128}
        byte = eval(plain.replace("/", "//"), {}, names)  # noqa: S307 - our own text
        assert eval(offset.replace("/", "//"), {}, names) == byte  # noqa: S307 - our own text
        expected = swizzle(byte * 8 // bits) * bits // 8
        assert eval(moved, {}, {"offset": byte}) == expected  # noqa: S307 - our own text
        frame_row = (atom.src_layout if atom.loads else atom.dst_layout)(lane, 0) // 128
        assert byte == frame_row % 16 * 128 + (lane // 16 * 16 if atom.instruction.address_lanes == 32 else 0)


def test_a_swizzle_that_means_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="only cuda code"):
        emit("SM75_U32x4_LDSM_N", "ptx", Swizzle(3, 3, 3))
    with pytest.raises(UsageError, match="only cuda code"):
        emit("SM75_U32x1_MOVM_T", "cuda", Swizzle(3, 3, 3))
    with pytest.raises(UsageError, match="unpacks them"):
        emit("SM100_SU4_DU8x16_x1_LDSM_N", "cuda", Swizzle(3, 4, 3))
    with pytest.raises(UsageError, match="M at least 3"):
        emit("SM75_U32x4_LDSM_N", "cuda", Swizzle(3, 2, 3))


def test_a_spelling_without_a_space_is_one_of_shared_memory() -> None:
    assert "m8n8.x4.trans.shared.b16" in emit("m8n8.x4.trans.b16", "ptx")
    assert "m8n16.x2.shared.b8x16.b4x16_p64" in emit("m8n16.x2.b8x16.b4x16_p64", "cuda")


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="cuda, ptx, triton, cute, cute-dsl"):
        emit("SM75_U32x1_LDSM_N", "rust")
    with pytest.raises(UnsupportedForm, match="comes nearest"):
        emit("SM75_U32x9_LDSM_N")
