"""Atoms found by every name; what they hold and move agrees with the fragments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ptxloom.atoms import CopyAtom, MmaAtom, atom, copy_atom, copy_atom_of, copy_atoms, mma_atom, mma_atoms
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments import fragment
from ptxloom.isa.matrix import matrix_move

LOADS = [a for a in copy_atoms() if a.instruction.opcode == "ldmatrix"]
STORES = [a for a in copy_atoms() if a.instruction.opcode == "stmatrix"]


def random_tile(seed: int, rows: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, 16 * rows, np.uint8)


@pytest.mark.parametrize(
    ("name", "ptx"),
    [
        ("SM75_U16x8_LDSM_T", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"),
        ("cute::SM90_U32x2_STSM_N", "stmatrix.sync.aligned.m8n8.x2.shared.b16"),
        ("SM75_U32x1_MOVM_T", "movmatrix.sync.aligned.m8n8.trans.b16"),
        ("LdMatrix8x8x16bOp(True, 4)", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"),
        ("cute.nvgpu.warp.LdMatrix8x8x16bOp()", "ldmatrix.sync.aligned.m8n8.x1.shared.b16"),
        ("LdMatrix8x16x8bOp(num_matrices=2)", "ldmatrix.sync.aligned.m8n8.x2.shared.b16"),
        (
            "warp.LdMatrix8x16x8bOp(unpack_bits=6, num_matrices=2)",
            "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32",
        ),
        ("LdMatrix16x16x8bOp(transpose=True)", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8"),
        ("StMatrix16x8x8bOp(True, num_matrices=4)", "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8"),
        ("m8n8.x4.trans.b16", "ldmatrix.sync.aligned.m8n8.x4.trans.b16"),
        ("stmatrix.sync.aligned.m8n8.x1.b16", "stmatrix.sync.aligned.m8n8.x1.b16"),
        ("SM80_16x8x16_F32BF16BF16F32_TN", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
        ("SM75_16x8x8_F32F16F16F32_TN", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"),
        ("SM70_8x8x4_F32F16F16F32_NT", "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32"),
        (
            "SM120_16x8x32_TN<float_e2m1_t,float_e4m3_t,float>",
            "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32",
        ),
        ("MmaTF32Op((16, 8, 8))", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"),
    ],
)
def test_an_atom_is_found_by_any_of_its_names(name: str, ptx: str) -> None:
    assert atom(name).ptx == ptx


def test_names_lead_back() -> None:
    for one in copy_atoms():
        for name in (one.name, one.operation):
            if name:
                assert copy_atom(name) is one
    for one in mma_atoms():
        for name in (*one.names, one.ptx):
            assert mma_atom(name) is one


def test_what_cute_has_no_name_for_is_said_so() -> None:
    nameless = {a.ptx for a in copy_atoms() if not a.name and not a.permuted}
    assert all("m16n16" in ptx or ".s8.s4" in ptx for ptx in nameless)
    assert {a.name for a in copy_atoms() if a.permuted} == {"SM100_U8x8_LDSM_T", "SM100_U8x16_LDSM_T", ""}
    assert str(copy_atom("m16n16.x1.trans.b8")) == "LdMatrix16x16x8bOp(transpose=True, num_matrices=1)"
    assert copy_atom("ldmatrix.sync.aligned.m8n16.x1.shared.s8.s4").operation == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("SM75_U16x8_LDSM_N", "`SM75_U32x4_LDSM_N` does that job"),
        ("SM80_16x8x16_F32F16F16F16_TN", "did you mean"),
        ("LdMatrix8x8x16bOp(num_matrices=3)", "CuTe has no atom"),
        ("LdMatrix8x8x16bOp(num_matrices=)", "CuTe has no atom"),
        ("m8n8.x3.b16", "x3"),
    ],
)
def test_what_there_is_not_is_refused(name: str, why: str) -> None:
    with pytest.raises(UnsupportedForm, match=why):
        atom(name)


def test_copy_and_mma_atoms_are_told_apart() -> None:
    with pytest.raises(UnsupportedForm, match="is an mma atom"):
        copy_atom("MmaTF32Op((16, 8, 8))")
    with pytest.raises(UnsupportedForm, match="is a copy atom"):
        mma_atom("SM75_U32x4_LDSM_N")
    with pytest.raises(UsageError, match="permutes only"):
        copy_atom_of(matrix_move("m8n8.x1.b16", "ldmatrix"), permuted=True)


def bits_of(values: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """(lane, registers) uint32 as (lane, bits)."""
    return np.unpackbits(np.ascontiguousarray(values).view(np.uint8), axis=1, bitorder="little")


def through_layouts(one: CopyAtom, row_of_lane: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """What each thread must hold if lane l names the l-th row: into the tile by SrcLayout, out of it by DstLayout."""
    tile = np.zeros(max(one.src_layout.cosize, one.dst_layout.cosize), np.uint8)
    source = one.src_layout.at(np.arange(32)[:, None], np.arange(128))
    tile[source] = np.unpackbits(row_of_lane, axis=1, bitorder="little")
    bits = one.dst_layout[1].size
    return tile[one.dst_layout.at(np.arange(32)[:, None], np.arange(bits))]


@pytest.mark.parametrize("one", [a for a in LOADS if a.instruction.source.bits >= 8], ids=str)
def test_a_load_moves_the_bits_that_its_layouts_say(one: CopyAtom) -> None:
    used = fragment(one.instruction).address_lanes
    memory = random_tile(1, 32)
    addresses = np.arange(32, dtype=np.uint32) % used * 16
    registers = one.copy(memory, addresses)
    assert registers is not None
    assert np.array_equal(bits_of(registers), through_layouts(one, memory.reshape(32, 16)[np.arange(32) % used]))


@pytest.mark.parametrize("one", STORES, ids=str)
def test_a_store_puts_the_bits_where_its_layouts_say(one: CopyAtom) -> None:
    count = one.instruction.registers
    registers = np.random.default_rng(2).integers(0, 1 << 32, (32, count), np.uint32)
    memory = np.zeros(512, np.uint8)
    used = fragment(one.instruction).address_lanes
    one.copy(memory, np.arange(32, dtype=np.uint32) % used * 16, registers)
    tile = np.zeros(one.src_layout.cosize, np.uint8)
    tile[one.src_layout.at(np.arange(32)[:, None], np.arange(32 * count))] = bits_of(registers)
    rows = tile[one.dst_layout.at(np.arange(used)[:, None], np.arange(128))]
    assert np.array_equal(np.packbits(rows, axis=1, bitorder="little"), memory.reshape(32, 16)[:used])


@pytest.mark.parametrize(
    "pair", [("SM100_U8x8_LDSM_T", "SM100_U8x8_STSM_T"), ("SM100_U8x16_LDSM_T", "SM100_U8x16_STSM_T")]
)
def test_what_a_permuted_load_holds_its_store_puts_back(pair: tuple[str, str]) -> None:
    load, store = map(copy_atom, pair)
    memory, copied = random_tile(3, 32), np.zeros(512, np.uint8)
    used = fragment(load.instruction).address_lanes
    tile_row = load.src_layout.at(np.arange(32), 0) // 128
    registers = load.copy(memory, (tile_row * 16).astype(np.uint32))
    assert registers is not None
    store.copy(copied, np.arange(32, dtype=np.uint32) * 16, registers)
    assert np.array_equal(copied[: 16 * used], memory[: 16 * used])


def test_packed_loads_land_where_the_layout_says() -> None:
    one = copy_atom("SM100_SU4_DU8x16_x1_LDSM_N")
    memory = random_tile(4, 8)
    registers = one.copy(memory, np.arange(32, dtype=np.uint32) % 8 * 16)
    assert registers is not None
    low = memory.reshape(8, 16)[:, :8]
    elements = np.stack([low & 15, low >> 4], -1).reshape(8, 16)
    held = np.ascontiguousarray(registers).view(np.uint8)
    element = one.dst_layout.at(np.arange(32)[:, None], 8 * np.arange(4)) // 8
    assert np.array_equal(held, elements.reshape(-1)[element])


def test_movmatrix_transposes_whatever_its_layouts_leave_out() -> None:
    one = copy_atom("SM75_U32x1_MOVM_T")
    registers = np.random.default_rng(5).integers(0, 1 << 32, (32, 1), np.uint32)
    moved = one.copy(registers)
    assert moved is not None
    matrix = registers.view(np.uint16).reshape(8, 8)
    assert np.array_equal(moved.view(np.uint16).reshape(8, 8), matrix.T)


def test_a_copy_says_which_arrays_it_needs() -> None:
    with pytest.raises(UsageError, match="must be 2 for ldmatrix"):
        copy_atom("SM75_U32x1_LDSM_N").copy(random_tile(0, 8))


@pytest.mark.parametrize("one", mma_atoms()[::7], ids=str)
def test_an_mma_atom_places_elements_as_the_fragment_does(one: MmaAtom) -> None:
    form = one.instruction
    for operand in ("a", "b", "c"):
        held = fragment(form, operand)
        layout = one.layout(operand)
        rows, columns = one.extent(operand)
        assert sorted(layout.offsets()) == list(range(rows * columns))
        for thread in range(one.thr_id.size):
            for value in range(layout[1].size):
                element = held.at(one.thr_id(thread), value)
                place = (element.column, element.row) if operand == "b" else (element.row, element.column)
                assert layout(thread, value) == place[0] + rows * place[1]
    assert one.layout("a").size * (4 if form.quad_pairs else 1) == 32 * fragment(form, "a").values_per_lane
