"""Tiled copies really fill tiled products: swizzled shared memory, all threads, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.atoms import make_tiled_copy_a, make_tiled_copy_b, make_tiled_copy_c, make_tiled_mma
from ptxloom.diagnostics import UsageError
from ptxloom.layout import Layout, LayoutError, Swizzle, Tensor, composition

if TYPE_CHECKING:
    from ptxloom.atoms.mma import Operand

F16 = "SM80_16x8x16_F32F16F16F32_TN"
ROWS, COLUMNS = 64, 32


def smem(along: int, swizzle: Swizzle) -> Tensor:
    """A 64 x 32 tile whose first or second coordinate is contiguous, behind a swizzle."""
    strides = (COLUMNS, 1) if along else (1, ROWS)
    return Tensor(0, composition(swizzle, Layout((ROWS, COLUMNS), strides)))


@pytest.mark.parametrize(
    ("operand", "atom", "along"),
    [
        ("a", "SM75_U32x4_LDSM_N", 1),
        ("a", "SM75_U32x2_LDSM_N", 1),
        ("a", "SM75_U16x8_LDSM_T", 0),
        ("b", "SM75_U32x4_LDSM_N", 1),
        ("b", "SM75_U32x2_LDSM_N", 1),
        ("b", "SM75_U16x8_LDSM_T", 0),
    ],
)
@pytest.mark.parametrize("groups", [(2, 2, 1), (4, 1, 1)])
def test_every_thread_gets_its_elements(operand: Operand, atom: str, along: int, groups: tuple[int, int, int]) -> None:
    mma = make_tiled_mma(F16, groups, (max(32, 16 * groups[0]), 32, 16))
    copy = (make_tiled_copy_a if operand == "a" else make_tiled_copy_b)(atom, mma)
    tensor = smem(along, Swizzle(2, 3, 3) if along else Swizzle(3, 3, 3))
    values = np.random.default_rng(1).integers(0, 1 << 16, ROWS * COLUMNS, np.uint16)
    memory = np.zeros(ROWS * COLUMNS, np.uint16)
    memory[tensor.offsets()] = values  # in order of the 1-D index: the first coordinate fastest
    held = mma.fragment_layout(operand, (ROWS, COLUMNS))
    copied = copy.retile(held)
    steps = [(i, j) for i in range(copied[1].size) for j in range(copied[2].size)]
    expected = Tensor(0, Layout((ROWS, COLUMNS)))
    for warp in range(mma.size // 32):
        threads = range(32 * warp, 32 * warp + 32)
        parts = [copy.partition_s(tensor, thread) for thread in threads]
        registers = np.zeros((32, held.size), np.uint16)
        per_copy = 2 * copy.atom.instruction.registers
        for i, j in steps:
            for issue in range(copied[0].size // per_copy):  # a row of 8 elements each
                addresses = np.array([2 * part((8 * issue, i, j)) for part in parts], np.uint32)
                moved = copy.atom.copy(memory.view(np.uint8), addresses)
                assert moved is not None
                for v in range(per_copy):
                    registers[:, copied((issue * per_copy + v, i, j))] = moved.view(np.uint16)[:, v]
        for lane, thread in enumerate(threads):
            mine = mma.partition(operand, expected, thread)
            assert registers[lane].tolist() == values[mine.offsets()].tolist()


def test_a_permuted_tile_is_filled_in_its_own_order() -> None:
    order = Layout((8, 2, 2, 2), (1, 16, 32, 8))  # blocks of 8 columns in an order that does not undo itself
    mma = make_tiled_mma(F16, (2, 1, 1), (32, order, 16))
    copy = make_tiled_copy_b("SM75_U32x4_LDSM_N", mma)
    held = mma.fragment_layout("b", (ROWS, COLUMNS))
    copied = copy.retile(held)
    whole = Tensor(0, Layout((ROWS, COLUMNS)))
    for thread in (0, 5, 33, 63):
        mine = mma.partition("b", whole, thread).offsets()
        theirs = copy.partition_d(whole, thread)
        coordinates = [(v, i, j) for v in range(8) for i in range(copied[1].size) for j in range(copied[2].size)]
        assert sorted(mine) == sorted(theirs.offsets())
        assert [theirs(place) for place in coordinates] == [mine[copied(place)] for place in coordinates]


def test_a_store_of_the_result_lands_in_its_place() -> None:
    mma = make_tiled_mma(F16, (2, 2, 1), (32, 32, 16))
    copy = make_tiled_copy_c("SM90_U32x4_STSM_N", mma, bits=16)
    tensor = smem(1, Swizzle(2, 3, 3))
    memory = np.zeros(2 * ROWS * COLUMNS, np.uint8)
    values = np.random.default_rng(2).integers(0, 1 << 16, ROWS * COLUMNS, np.uint16)
    held = mma.fragment_layout("c", (ROWS, COLUMNS))
    copied = copy.retile(held)
    for warp in range(4):
        threads = range(32 * warp, 32 * warp + 32)
        parts = [copy.partition_d(tensor, thread) for thread in threads]
        mine = [values[mma.partition("c", Tensor(0, Layout((ROWS, COLUMNS))), thread).offsets()] for thread in threads]
        for i in range(copied[1].size):
            for j in range(copied[2].size):
                order = [copied((v, i, j)) for v in range(8)]
                registers = np.stack([part[order] for part in mine]).view(np.uint32)
                addresses = np.array([2 * part((0, i, j)) for part in parts], np.uint32)
                copy.atom.copy(memory, addresses, registers)
    assert np.array_equal(memory.view(np.uint16)[tensor.offsets()], values)


def test_a_tile_of_128_by_128_by_64_is_dealt_to_every_thread_once() -> None:
    mma = make_tiled_mma(F16, (2, 2, 1), (128, 128, 64))
    for operand, extent in (("a", (128, 64)), ("b", (128, 64)), ("c", (128, 128))):
        layout = mma.layout_tv("a" if operand == "a" else "b" if operand == "b" else "c")
        grid = layout.at(np.arange(mma.size)[:, None], np.arange(layout[1].size))
        copies = 1 if operand == "c" else 2  # A is held by the threads along N too, B by those along M
        counts = np.bincount(grid.ravel(), minlength=extent[0] * extent[1])
        assert counts.tolist() == [copies] * (extent[0] * extent[1])


def test_what_cannot_be_tiled_is_refused() -> None:
    with pytest.raises(UsageError, match="a multiple of 32 along M"):
        make_tiled_mma(F16, (2, 1, 1), (16, 8, 16))
    mma = make_tiled_mma(F16)
    with pytest.raises(UsageError, match="from 0 to 31"):
        mma.partition("a", Tensor(0, Layout((16, 16))), 32)
    with pytest.raises(LayoutError, match="do not divide"):
        make_tiled_copy_b("SM75_U32x4_LDSM_N", mma)
    with pytest.raises(UsageError, match="from 0 to 31"):
        make_tiled_copy_b("SM75_U32x2_LDSM_N", mma).partition_s(Tensor(0, Layout((8, 16))), -1)
    assert str(mma).startswith(F16)
    assert "tile 8x16 of 16 bits" in str(make_tiled_copy_b("SM75_U32x2_LDSM_N", mma))
