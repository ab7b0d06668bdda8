"""Batch execution against the slowest possible statement of it: one element at a time, through the fragment."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments import UndefinedBehavior, fragment
from ptxloom.fragments.execute import ldmatrix, movmatrix, stmatrix
from ptxloom.isa.matrix import MatrixMove, variants

if TYPE_CHECKING:
    import numpy.typing as npt

    Memory = npt.NDArray[np.uint8]
    Words = npt.NDArray[np.uint32]

LOADS = [move for move in variants() if move.opcode == "ldmatrix"]
STORES = [move for move in variants() if move.opcode == "stmatrix"]
RNG = np.random.default_rng


def element_of_row(move: MatrixMove, row: bytes, column: int) -> int:
    """One element of an addressed row, read as one little-endian number."""
    value = int.from_bytes(row, "little") >> column * move.source.bits & (1 << move.source.bits) - 1
    if move.source.name == "s4" and value >= 8:
        value += 0xF0
    return value


def slow_load(move: MatrixMove, memory: Memory, addresses: Words) -> Words:
    held = fragment(move)
    registers = np.zeros((32, held.registers), np.uint32)
    for e in held:
        address = int(addresses[held.address_lane(matrix=e.matrix, row=e.row)])
        row = memory[address : address + (8 if move.source.name == "s4" else 16)].tobytes()
        registers[e.lane, e.register] |= np.uint32(element_of_row(move, row, e.column) << e.bit)
    return registers


def slow_store(move: MatrixMove, memory: Memory, addresses: Words, registers: Words) -> None:
    held = fragment(move)
    for e in held:
        address = int(addresses[held.address_lane(matrix=e.matrix, row=e.row)]) + e.column * e.width // 8
        value = int(registers[e.lane, e.register]) >> e.bit & (1 << e.width) - 1
        memory[address : address + e.width // 8] = np.frombuffer(value.to_bytes(e.width // 8, "little"), np.uint8)


def random_addresses(seed: int, shape: tuple[int, ...], rows: int, *, apart: bool = False) -> Words:
    rng = RNG(seed)
    count = int(np.prod(shape))
    if apart:
        picked = np.stack([rng.permutation(rows)[:32] for _ in range(count)])
    else:
        picked = rng.integers(0, rows, (count, 32))
    return (16 * picked).astype(np.uint32).reshape(*shape, 32)


@pytest.mark.parametrize("move", LOADS, ids=str)
def test_loads_equal_the_slow_statement(move: MatrixMove) -> None:
    memory = RNG(1).integers(0, 256, (3, 1024), np.uint8)
    addresses = random_addresses(2, (3,), 64)
    addresses[:, fragment(move).address_lanes :] = 0xDEADBEEF
    got = ldmatrix(move, memory, addresses)
    assert got.shape == (3, 32, move.registers)
    assert got.dtype == np.uint32
    assert got.flags.c_contiguous
    for warp in range(3):
        np.testing.assert_array_equal(got[warp], slow_load(move, memory[warp], addresses[warp]))


@pytest.mark.parametrize("move", STORES, ids=str)
def test_stores_equal_the_slow_statement(move: MatrixMove) -> None:
    memory = RNG(3).integers(0, 256, (3, 1024), np.uint8)
    expected = memory.copy()
    addresses = random_addresses(4, (3,), 64, apart=True)
    addresses[:, fragment(move).address_lanes :] = 7
    registers = RNG(5).integers(0, 2**32, (3, 32, move.registers), np.uint32)
    stmatrix(move, memory, addresses, registers)
    for warp in range(3):
        slow_store(move, expected[warp], addresses[warp], registers[warp])
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("move", [LOADS[0], LOADS[-1]], ids=str)
def test_large_batches_equal_small_ones(move: MatrixMove, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)  # large ones are spread over threads
    memory = RNG(6).integers(0, 256, 4096, np.uint8)
    addresses = random_addresses(7, (60_001,), 256)
    whole = ldmatrix(move, memory, addresses)
    for start in range(0, 60_001, 10_000):
        part = ldmatrix(move, memory, addresses[start : start + 10_000])
        np.testing.assert_array_equal(whole[start : start + 10_000], part)
    addresses[54_321, 3] = 4096
    addresses[54_322, 0] = 1
    with pytest.raises(UndefinedBehavior) as caught:
        ldmatrix(move, memory, addresses)
    assert (caught.value.warp, caught.value.lane) == ((54_321,), 3)


def test_leading_dimensions_broadcast() -> None:
    memory = RNG(8).integers(0, 256, (2, 1, 512), np.uint8)
    addresses = random_addresses(9, (3,), 32)
    got = ldmatrix("m8n8.x2.trans.b16", memory, addresses)
    assert got.shape == (2, 3, 32, 2)
    for block in range(2):
        for warp in range(3):
            one = ldmatrix("m8n8.x2.trans.b16", memory[block, 0], addresses[warp])
            np.testing.assert_array_equal(got[block, warp], one)


def test_a_view_and_a_tail_and_any_integer_type_will_do() -> None:
    backing = RNG(10).integers(0, 256, (3, 2, 90), np.uint8)
    addresses = np.zeros((3, 2, 32), np.int64) + 16 * np.arange(32) % 80
    expected = ldmatrix("m8n8.x1.b16", backing.copy(), addresses.astype(np.uint32))
    spread = np.zeros((3, 2, 180), np.uint8)
    spread[..., ::2] = backing
    np.testing.assert_array_equal(ldmatrix("m8n8.x1.b16", spread[..., ::2], addresses), expected)
    np.testing.assert_array_equal(ldmatrix("m8n8.x1.b16", backing[::-1], addresses), expected[::-1])
    frozen = backing.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(ldmatrix("m8n8.x1.b16", frozen, addresses.astype(np.int16)), expected)


def test_stores_into_a_view_reach_the_memory_behind_it() -> None:
    backing = np.zeros((4, 600), np.uint8)
    view = backing[::2, 5:525]
    addresses = random_addresses(11, (2,), 32, apart=True)
    registers = RNG(12).integers(0, 2**32, (2, 32, 4), np.uint32)
    stmatrix("m8n8.x4.b16", view, addresses, registers)
    np.testing.assert_array_equal(ldmatrix("m8n8.x4.b16", np.ascontiguousarray(view), addresses), registers)
    assert not backing[1::2].any()
    assert not backing[::2, :5].any()
    assert not backing[::2, 517:].any()


def test_warps_that_write_one_memory_do_so_in_order() -> None:
    memory = np.zeros(512, np.uint8)
    addresses = np.broadcast_to(np.arange(32, dtype=np.uint32) * 16, (3000, 32))
    registers = RNG(13).integers(0, 2**32, (3000, 32, 4), np.uint32)
    stmatrix("m8n8.x4.trans.b16", memory, addresses, registers)
    np.testing.assert_array_equal(ldmatrix("m8n8.x4.trans.b16", memory, addresses[-1]), registers[-1])


def test_one_register_set_can_be_stored_by_many_warps() -> None:
    memory = np.zeros((3, 512), np.uint8)
    registers = RNG(14).integers(0, 2**32, (32, 4), np.uint32)
    addresses = np.arange(32, dtype=np.uint32) * 16
    stmatrix("m8n8.x4.b16", memory, addresses, registers)
    np.testing.assert_array_equal(ldmatrix("m8n8.x4.b16", memory, addresses), np.broadcast_to(registers, (3, 32, 4)))


def test_an_empty_batch_is_nothing() -> None:
    memory = np.zeros((0, 512), np.uint8)
    addresses = np.zeros((0, 32), np.uint32)
    assert ldmatrix("m8n8.x4.b16", memory, addresses).shape == (0, 32, 4)
    stmatrix("m8n8.x4.b16", memory, addresses, np.zeros((0, 32, 4), np.uint32))
    assert ldmatrix("m8n8.x4.b16", np.zeros(512, np.uint8), addresses).shape == (0, 32, 4)


def test_movmatrix_transposes() -> None:
    registers = RNG(15).integers(0, 2**32, (5, 2, 32, 1), np.uint32)
    got = movmatrix(registers)
    matrices = registers.view(np.uint16).reshape(5, 2, 8, 8)
    np.testing.assert_array_equal(got.view(np.uint16).reshape(5, 2, 8, 8), matrices.swapaxes(-1, -2))
    np.testing.assert_array_equal(movmatrix(got), registers)


def legal() -> tuple[Memory, Words]:
    return np.zeros((2, 3, 512), np.uint8), np.zeros((2, 3, 32), np.uint32) + np.arange(32, dtype=np.uint32) * 16


@pytest.mark.parametrize(
    ("address", "says"),
    [
        (8, "is not a multiple of 16 bytes"),
        (512, "leaves the memory of 512 bytes"),
        (0xFFFFFFF0, "leaves the memory of 512 bytes"),
    ],
)
def test_an_illegal_address_names_warp_lane_address_matrix_and_row(address: int, says: str) -> None:
    memory, addresses = legal()
    addresses[1, 2, 19] = address
    for call in (
        lambda: ldmatrix("m8n8.x4.b16", memory, addresses),
        lambda: stmatrix("m8n8.x4.b16", memory, addresses, np.zeros((2, 3, 32, 4), np.uint32)),
    ):
        with pytest.raises(UndefinedBehavior, match=says) as caught:
            call()
        error = caught.value
        assert (error.warp, error.lane, error.address, error.matrix, error.row) == ((1, 2), 19, address, 2, 3)
        assert f"warp (1, 2), lane 19: address {address:#x} (matrix 2, row 3)" in str(error)


def test_a_negative_address_leaves_the_memory() -> None:
    with pytest.raises(UndefinedBehavior, match="leaves the memory"):
        ldmatrix("m8n8.x1.b16", np.zeros(512, np.uint8), np.full(32, -16))


def test_a_row_is_as_long_as_its_format() -> None:
    memory = np.zeros(24, np.uint8)
    addresses = np.full(32, 16, np.uint32)
    assert not ldmatrix("m8n16.x4.s8.s4", memory, addresses).any()
    with pytest.raises(UndefinedBehavior, match="16 bytes that leaves the memory of 24 bytes"):
        ldmatrix("m8n16.x4.b8x16.b4x16_p64", memory, addresses)


def test_rows_that_meet_are_fine_in_loads_and_undefined_in_stores() -> None:
    memory, addresses = legal()
    addresses[0, 1, 20] = 48
    ldmatrix("m8n8.x4.b16", memory, addresses)
    registers = np.full((2, 3, 32, 4), 0xFF, np.uint32)
    with pytest.raises(UndefinedBehavior, match="that lane 3 stores to as well") as caught:
        stmatrix("m8n8.x4.b16", memory, addresses, registers)
    assert (caught.value.warp, caught.value.lane) == ((0, 1), 20)
    assert not memory.any()
    stmatrix("m8n8.x2.b16", memory, addresses, registers[..., :2])


@pytest.mark.parametrize("step", [1, 2, 3])
def test_addresses_may_be_any_view(step: int) -> None:
    """Those of lanes side by side, or with others between them."""
    memory = RNG(1).integers(0, 256, 4096, np.uint8)
    wide = (RNG(2).integers(0, 250, (5, 32 * step)) * 16).astype(np.uint32)
    view = wide[:, ::step]
    expected = ldmatrix("ldmatrix.sync.aligned.m8n8.x4.shared.b16", memory, view.copy())
    assert (ldmatrix("ldmatrix.sync.aligned.m8n8.x4.shared.b16", memory, view) == expected).all()


def test_a_single_warp_has_no_index() -> None:
    with pytest.raises(UndefinedBehavior, match=r"^lane 0: address 0x1 \(matrix 0, row 0\) is not"):
        ldmatrix("m8n8.x1.b16", np.zeros(512, np.uint8), np.ones(32, np.uint32))


ADDRESSES = np.zeros(32, np.uint32)
READ_ONLY = np.zeros(512, np.uint8)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("memory", "addresses", "says"),
    [
        (bytes(512), ADDRESSES, "memory is 'of type bytes'"),
        (np.zeros(512, np.int8), ADDRESSES, "memory is 'an array of int8"),
        (np.uint8(3), ADDRESSES, "memory is"),
        (np.zeros((), np.uint8), ADDRESSES, "memory is"),
        (np.zeros(512, np.uint8), [0] * 32, "addresses is 'of type list'"),
        (np.zeros(512, np.uint8), np.zeros(32), "addresses is 'an array of float64"),
        (np.zeros(512, np.uint8), np.zeros(31, np.uint32), r"shape \(31,\)"),
        (np.zeros((2, 512), np.uint8), np.zeros((3, 32), np.uint32), r"\(2,\) and \(3,\)"),
    ],
)
def test_wrong_arrays_are_named(memory: Any, addresses: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        ldmatrix("m8n8.x1.b16", memory, addresses)


def test_wrong_registers_and_read_only_memory_are_named() -> None:
    memory = np.zeros(512, np.uint8)
    registers = np.zeros((32, 1), np.uint32)
    with pytest.raises(UsageError, match="read-only"):
        stmatrix("m8n8.x1.b16", READ_ONLY, ADDRESSES, registers)
    for wrong in (np.zeros((32, 2), np.uint32), np.zeros((32, 1), np.int32), np.zeros(32, np.uint32), None):
        with pytest.raises(UsageError, match=r"\(\.\.\., 32, 1\)"):
            stmatrix("m8n8.x1.b16", memory, ADDRESSES, wrong)  # pyright: ignore[reportArgumentType] - what we test
    with pytest.raises(UsageError, match="registers"):
        movmatrix(np.zeros((32, 2), np.uint32))


def test_the_result_can_go_where_one_wants_it() -> None:
    memory, addresses = legal()
    memory[...] = RNG(16).integers(0, 256, memory.shape, np.uint8)
    out = np.ones((2, 3, 32, 4), np.uint32)
    assert ldmatrix("m8n8.x4.b16", memory, addresses, out) is out
    np.testing.assert_array_equal(out, ldmatrix("m8n8.x4.b16", memory, addresses))
    frozen = out.copy()
    frozen.flags.writeable = False
    for wrong in (out[..., :2], out.astype(np.int32), out[::-1], out[0], frozen, [0]):
        with pytest.raises(UsageError, match="out is"):
            ldmatrix("m8n8.x4.b16", memory, addresses, wrong)  # pyright: ignore[reportArgumentType] - what we test


def test_a_load_is_no_store() -> None:
    memory = np.zeros(512, np.uint8)
    with pytest.raises(UnsupportedForm):
        ldmatrix("stmatrix.sync.aligned.m8n8.x1.shared.b16", memory, ADDRESSES)
    with pytest.raises(UnsupportedForm):
        stmatrix("m16n16.x1.trans.b8", memory, ADDRESSES, np.zeros((32, 2), np.uint32))
    with pytest.raises(UnsupportedForm):
        ldmatrix(STORES[0], memory, ADDRESSES)


def test_who_holds_what_needs_no_numpy() -> None:
    code = "import sys, ptxloom.fragments as f; f.fragment('m8n8.x4.b16').elements; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
