"""The advisor's answers proven by moving data: after the stated loads the registers are what the mma takes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ptxloom.atoms import copy_atom, copy_atoms, make_tiled_copy_c, make_tiled_mma, mma_atom
from ptxloom.atoms.advice import Advice, advise, blas_majors
from ptxloom.atoms.fit import AXES, Coordinates, Fit, Usage, fit
from ptxloom.diagnostics import UsageError
from ptxloom.fragments import fragment
from ptxloom.layout import LayoutError

MMAS = [
    "m16n8k16.row.col.f32.f16.f16.f32",
    "m16n8k8.row.col.f32.bf16.bf16.f32",
    "m16n8k8.row.col.f32.tf32.tf32.f32",
    "m16n8k4.row.col.f32.tf32.tf32.f32",
    "m16n8k32.row.col.s32.s8.u8.s32",
    "m16n8k16.row.col.s32.s8.s8.s32",
    "m8n8k16.row.col.s32.s8.s8.s32",
    "m16n8k64.row.col.s32.s4.s4.s32",
    "m16n8k128.row.col.s32.b1.b1.s32.xor.popc",
    "m16n8k32.row.col.f32.e4m3.e5m2.f32",
    "m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32",
    "m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32",
    "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
]


def packed_rows(values: npt.NDArray[np.uint32], bits: int, row_bytes: int) -> npt.NDArray[np.uint8]:
    """Rows of elements as memory holds them: `bits` each from bit 0 upwards, zeros up to `row_bytes`."""
    as_bits = (values[..., None] >> np.arange(bits, dtype=np.uint32) & 1).astype(np.uint8)
    flat = np.packbits(as_bits.reshape(values.shape[0], -1), axis=1, bitorder="little")
    return np.pad(flat, ((0, 0), (0, row_bytes - flat.shape[1])))


def rows_at(one: Fit, matrix: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.uint32], int]:
    """The elements of the row that each lane names, read straight from the operand."""
    usage = one.usage
    count = 128 // usage.bits
    rows = [
        matrix[place.first : place.first + count, place.second]
        if usage.along_first
        else matrix[place.first, place.second : place.second + count]
        for place in one.rows
    ]
    return np.stack(rows), count


def held_by_the_mma(usage: Usage, matrix: npt.NDArray[np.uint32], register: Coordinates) -> npt.NDArray[np.uint64]:
    """A register of the mma's operand in every lane, from its fragment; the one whose first element is at a place."""
    form = usage.mma.instruction
    operand = usage.operand
    held = fragment(form, operand)
    height = usage.mma.extent(operand)[0]
    tile = register.first // height * height
    stored = usage.bits if operand == "c" else held.stride
    where: dict[int, list[tuple[int, int, tuple[int, int]]]] = {}
    for element in held.elements:
        place = (element.column, element.row) if operand == "b" else (element.row, element.column)
        index, bit = divmod(held.value_of(element) * stored, 32)
        where.setdefault(index, []).append((element.lane, bit + held.shift * (operand != "c"), place))
    found = next(slots for slots in where.values() if slots[0][2] == (register.first - tile, register.second))
    lanes = np.zeros(32, np.uint64)
    for lane, bit, place in found:
        lanes[lane] |= np.uint64(matrix[place[0] + tile, place[1]]) << np.uint64(bit)
    return lanes


def operand_values(usage: Usage, seed: int) -> npt.NDArray[np.uint32]:
    first, second = usage.mma.extent(usage.operand)
    most = 1 << min(usage.memory_bits, 32)
    return np.random.default_rng(seed).integers(0, most, (4 * first + 32, second + 256), np.uint64).astype(np.uint32)


def all_fits(advice: Advice) -> list[Fit]:
    return [one for one in (advice.best, *advice.others, advice.elsewhere) if one is not None]


LOADS = [(mma, operand, major) for mma in MMAS for operand in "ab" for major in AXES[operand]]


@pytest.mark.sample(every=7)
@pytest.mark.parametrize(("mma", "operand", "major"), LOADS)
def test_every_load_that_is_said_to_fit_fills_the_operand(mma: str, operand: str, major: str) -> None:
    advice = advise(mma, operand, major, "sm_120a")
    usage = advice.usage
    for one in all_fits(advice):
        matrix = operand_values(usage, 7)
        rows, _ = rows_at(one, matrix)
        move = one.atom.instruction
        memory = packed_rows(rows, usage.memory_bits, 16).reshape(-1)
        addresses = np.zeros(32, np.uint32)
        addresses[: len(rows)] = 16 * np.arange(len(rows))
        registers = one.atom.copy(memory, addresses)
        assert registers is not None
        registers = registers << np.uint32(usage.shift)
        for index, place in enumerate(one.registers):
            assert registers[:, index].tolist() == held_by_the_mma(usage, matrix, place).tolist(), move.spelling
    assert bool(advice.then) == bool(usage.shift and advice.best)


STORES = [
    (mma, major, element)
    for mma in ("m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.s32.s8.s8.s32", "m16n8k8.row.col.f16.f16.f16.f16")
    for major in "mn"
    for element in ("f16", "e4m3", "f32")
]


@pytest.mark.parametrize(("mma", "major", "element"), STORES)
def test_every_store_that_is_said_to_fit_writes_the_result(mma: str, major: str, element: str) -> None:
    advice = advise(mma, "d", major, "sm_100a", element)
    usage = advice.usage
    matrix = operand_values(usage, 8)
    assert bool(advice.best) == ((major, element) in {("m", "f16"), ("n", "f16"), ("m", "e4m3")})
    for one in all_fits(advice):
        registers = np.stack([held_by_the_mma(usage, matrix, place) for place in one.registers], -1).astype(np.uint32)
        rows, _ = rows_at(one, matrix)
        memory = np.zeros(16 * len(rows), np.uint8)
        addresses = np.zeros(32, np.uint32)
        addresses[: len(rows)] = 16 * np.arange(len(rows))
        one.atom.copy(memory, addresses, registers)
        assert np.array_equal(memory.reshape(-1, 16), packed_rows(rows, usage.memory_bits, 16))


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(
    ("letters", "mma", "atoms"),
    [
        ("TN", MMAS[0], ("SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N")),
        ("NT", MMAS[0], ("SM75_U16x8_LDSM_T", "SM75_U16x4_LDSM_T")),
        ("NN", MMAS[0], ("SM75_U16x8_LDSM_T", "SM75_U32x2_LDSM_N")),
        ("TT", MMAS[0], ("SM75_U32x4_LDSM_N", "SM75_U16x4_LDSM_T")),
        ("TN", MMAS[4], ("SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N")),
        ("NT", MMAS[4], ("", "")),
        ("TN", MMAS[7], ("SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N")),
        ("NT", MMAS[7], ("", "")),
        ("TN", MMAS[2], ("SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N")),
        ("NT", MMAS[2], ("", "")),
    ],
)
def test_the_table_of_transpositions(letters: str, mma: str, atoms: tuple[str, str]) -> None:
    majors = blas_majors(letters)
    found = [advise(mma, operand, major, "sm_90").best for operand, major in zip("ab", majors, strict=True)]
    assert tuple(one.atom.name if one else "" for one in found) == atoms


def test_eight_bits_the_other_way_need_blackwell_and_the_reason_says_so() -> None:
    advice = advise(MMAS[4], "b", "n", "sm_90")
    assert advice.best is None
    assert "needs sm_100 or later with suffix `a` or `f`, and sm_90 is not that" in advice.why_not
    assert "prmt" in advice.instead
    on_blackwell = advise(MMAS[4], "b", "n", "sm_120a").best
    assert on_blackwell is not None
    assert on_blackwell.atom.ptx == "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8"
    assert not on_blackwell.whole


def test_the_permuting_atoms_fit_no_multiplicand() -> None:
    for one in copy_atoms():
        if one.permuted:
            assert not any(
                fit(one, Usage(mma_atom(mma), operand, major, mma_atom(mma).instruction.type_of(operand)))
                for mma in (MMAS[0], MMAS[4], MMAS[10])
                for operand in ("a", "b")
                for major in ("k", "m" if operand == "a" else "n")
            )


def test_signed_nibbles_are_unpacked_for_signed_bytes_only() -> None:
    signed = advise(MMAS[5], "b", "k", "sm_90a", "s4").best
    assert signed is not None
    assert ".s8.s4" in signed.atom.ptx
    assert advise(MMAS[5], "b", "k", "sm_90a", "u4").best is None


@pytest.mark.parametrize(
    ("atom", "use", "why"),
    [
        ("SM75_U32x4_LDSM_N", (MMAS[0], "a", "m", "f16"), "lane 0 would hold m=1, k=0 where the mma takes m=0, k=1"),
        ("SM75_U16x8_LDSM_T", (MMAS[2], "a", "m", "tf32"), "would be split between threads"),
        ("SM75_U32x1_MOVM_T", (MMAS[0], "a", "k", "f16"), "moves registers"),
        ("SM75_U32x4_LDSM_N", (MMAS[10], "a", "k", "e2m1"), "does not unpack: an element has 4 bits in memory"),
        ("SM100_SU6_DU8x16_x1_LDSM_N", (MMAS[10], "a", "k", "e2m1"), "unpacks 6 bits to 8, not 4 to 8"),
        ("SM100_SU4_DU8x16_x1_LDSM_N", (MMAS[5], "a", "k", "s4"), "does not extend signs"),
        ("SM75_U32x1_LDSM_N", ("m8n8k4.row.col.f64.f64.f64.f64", "a", "k", "f64"), "spans two registers"),
        ("SM75_U32x1_LDSM_N", ("m8n8k4.row.col.f32.f16.f16.f32", "a", "k", "f16"), "8 lanes share a product"),
    ],
)
def test_a_misfit_says_why(atom: str, use: tuple[str, str, str, str], why: str) -> None:
    mma, operand, major, element = use
    usage = Usage(mma_atom(mma), "a" if operand == "a" else "b", "k" if major == "k" else "m", element)
    verdict = fit(copy_atom(atom), usage)
    assert not verdict
    assert why in verdict.reason


def test_where_there_is_none_what_people_do_is_said() -> None:
    asked = [
        (MMAS[2], "a", "m", None, "transpose while filling"),
        ("m8n8k4.row.col.f64.f64.f64.f64", "a", "k", None, "b64"),
        ("m8n8k4.row.col.f32.f16.f16.f32", "a", "k", None, "each lane load its own"),
        (MMAS[0], "d", "n", "f32", "st.shared.v2.b32"),
        (MMAS[0], "d", "n", "e4m3", "transpose through shared"),
        (MMAS[5], "a", "m", "s4", "unpack while filling"),
    ]
    for mma, operand, major, element, words in asked:
        advice = advise(mma, operand, major, "sm_120a", element)
        assert advice.best is None
        assert advice.why_not
        assert words in advice.instead


def test_what_is_no_operand_is_refused() -> None:
    with pytest.raises(UsageError, match="operand is 'x'"):
        advise(MMAS[0], "x", "k")
    with pytest.raises(UsageError, match="m or k for operand a"):
        advise(MMAS[0], "a", "n")
    with pytest.raises(UsageError, match="TN, NT, NN or TT"):
        blas_majors("XY")


def test_a_tiled_copy_that_would_split_elements_is_refused() -> None:
    mma = make_tiled_mma(MMAS[0])
    assert make_tiled_copy_c("SM90_U32x2_STSM_N", mma, bits=16).size == 32
    with pytest.raises(LayoutError, match="would split elements of 32 bits"):
        make_tiled_copy_c("SM90_U16x4_STSM_T", mma)
