"""Arrays that are no plain matrices: blocks, packed words, padded batches, scales inside of sums."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine
from ptxloom.diagnosis.arrays.blocked import planes_of
from ptxloom.machine.results.provenance import TracedArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis import Examination

PTX = (Path(__file__).parent / "ptx" / "blocks.ptx").read_text()
M, N, K = 16, 16, 64
NIBBLES = np.random.default_rng(7).integers(0, 16, (N, K)).astype(np.uint32)


def _examined(kernel: str, names: str, block: tuple[int, ...], grid: int, args: list[Any]) -> Examination:
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    record = made.launch(grid, block, args, provenance=True, threads=1).provenance
    assert record is not None
    return examine(record, names=dict(enumerate(names)))


def _product(kernel: str, weights: NDArray[Any]) -> tuple[Examination, NDArray[Any], NDArray[Any]]:
    a = np.random.default_rng(5).integers(-3, 4, (M, K)).astype(np.float16)
    c = np.zeros((M, N), np.float32)
    p, q = np.zeros(N, np.float32), np.zeros((M, N), np.float32)
    return _examined(kernel, "ABPQC", (32,), N // 8, [a, weights, p, q, c, N, K]), a, c


def _blocks() -> NDArray[Any]:
    return np.random.default_rng(6).integers(-3, 4, (N // 4, K, 4)).astype(np.float16)


def _halves() -> NDArray[Any]:
    parts = NIBBLES.reshape(N, K // 32, 2, 16)
    return (parts[:, :, 0] | parts[:, :, 1] << 4).astype(np.uint8)


def _words() -> NDArray[Any]:
    parts = NIBBLES.reshape(N, K // 8, 4, 2)
    shifts = np.array([[0, 16], [4, 20], [8, 24], [12, 28]], np.uint32)
    return (parts << shifts).sum(axis=(2, 3)).astype(np.uint32)


def test_weights_in_blocks_of_columns_are_a_matrix() -> None:
    found, a, c = _product("blocks_of_columns", _blocks())
    assert np.array_equal(c, a.astype(np.float32) @ _blocks().transpose(1, 0, 2).reshape(K, N).astype(np.float32))
    assert (found.found, found.verdict) == ((), "clean")


def test_a_block_that_another_stands_for_is_named() -> None:
    found, _, _ = _product("first_block_of_columns", _blocks())
    (one,) = found.found
    assert (one.operand, one.array, one.cause) == ("b", "B", "tile-exchanged")


@pytest.mark.parametrize("block", [8, 16, 32])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_halves_of_blocks_are_one_way_to_read_rows_of_bytes(block: int, batch: tuple[int, ...]) -> None:
    """In a row of bytes, the upper halves of a block come behind all of its lower ones."""
    shape = (*batch, 3, 3 * block)
    size = int(np.prod(shape))
    array = TracedArray(0, "W", 0, np.dtype(np.uint8), shape, tuple(np.cumprod((1, *shape[:0:-1])))[::-1], size)
    units = np.arange(2 * size).reshape(-1, block, 2)  # in memory: each byte's lower half, then its upper one
    wanted = np.empty_like(units)
    wanted[:, :, 0], wanted[:, :, 1] = np.split(np.arange(2 * size).reshape(-1, 2 * block), 2, axis=1)
    found = [(one.lines, one.pitch) for one in planes_of(array, 4) if (one.flat(units) == wanted).all()]
    assert (size // (3 * block), 6 * block) in found


@pytest.mark.parametrize(("kernel", "weights"), [("halves_of_blocks", _halves()), ("every_second", _words())])
def test_an_order_of_packed_weights_is_nobodys_fault_and_no_acquittal(kernel: str, weights: NDArray[Any]) -> None:
    found, a, c = _product(kernel, weights)
    assert np.array_equal(c, a.astype(np.float32) @ (NIBBLES.astype(np.float32) - 8).T)
    assert (found.found, found.verdict) == ((), "unjudged")
    assert any("each element of B is used in its own place" in one.why for one in found.unjudged)


def test_the_same_half_of_all_bytes_is_told_where_it_is_taken() -> None:
    found, _, _ = _product("lower_halves", _halves())
    (one,) = found.found
    assert (one.array, one.law) == ("B", "k")
    assert one.detail == "its k is off by whole tiles: by -16, +0"


def test_a_word_that_stands_for_others_is_told_though_its_order_is_its_own() -> None:
    found, _, _ = _product("word_of_the_tile", _words())
    (one,) = found.found
    assert (one.array, one.cause, one.instruction.split()[0]) == ("B", "rows-repeated", "ld.global.u32")


def _straight() -> NDArray[Any]:
    return np.random.default_rng(12).integers(-3, 4, (N, K)).astype(np.float16)


def test_what_joins_a_product_behind_a_curve_is_judged() -> None:
    found, _, _ = _product("joined", _straight())
    assert (found.found, found.verdict) == ((), "clean")


@pytest.mark.parametrize(
    ("kernel", "array", "cause", "detail"),
    [
        ("joined_of_the_tile", "P", "columns-shifted", "some are shifted by -8"),
        ("joined_at_another_pitch", "Q", "leading-dimension", "its rows are taken to be 8 apart; they are 16"),
    ],
)
def test_what_joins_it_elsewhere_is_named(kernel: str, array: str, cause: str, detail: str) -> None:
    found, _, _ = _product(kernel, _straight())
    (one,) = found.found
    assert (one.operand, one.array, one.cause, one.detail, one.certain) == ("c", array, cause, detail, False)
    assert one.instruction.startswith("ld.global")


def test_a_vector_of_as_many_rows_as_columns_is_left_open() -> None:
    found, _, _ = _product("joined_at_the_row", _straight())
    assert (found.found, found.verdict) == ((), "unjudged")


def _scaled(kernel: str) -> Examination:
    rng = np.random.default_rng(8)
    a, b = (rng.integers(-3, 4, (rows, K)).astype(np.float32) for rows in (M, N))
    p, q = (rng.integers(1, 5, shape).astype(np.float32) for shape in ((M, K // 16), (K // 16, N)))
    return _examined(kernel, "ABPQC", (N, M), 1, [a, b, p, q, np.zeros((M, N), np.float32), N, K])


def test_scales_inside_of_a_sum_belong_to_the_blocks_of_its_factors() -> None:
    found = _scaled("scaled_blocks")
    assert (found.found, found.verdict, found.terms) == ((), "clean", M * N * K)


@pytest.mark.parametrize(
    ("kernel", "array", "cause", "detail"),
    [
        ("scaled_by_the_first", "P", "block-mismatch", "block 0 of 4 along k is used for all (blocks of 16 k)"),
        ("scaled_transposed", "Q", "order-exchanged", "the row and the column of the block are exchanged"),
    ],
)
def test_scales_of_other_blocks_inside_of_a_sum_are_named(kernel: str, array: str, cause: str, detail: str) -> None:
    (one,) = _scaled(kernel).found
    assert (one.array, one.cause, one.detail, one.certain) == (array, cause, detail, False)
    assert one.instruction.startswith("ld.global.f32")


def _batched(kernel: str) -> Examination:
    rng = np.random.default_rng(9)
    a, b, c = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((3, 8, 20), (3, 12, 16), (3, 8, 16)))
    return _examined(kernel, "ABC", (16, 8), 3, [a, b, c, 8, 16, 12, 20])


def test_batches_of_padded_rows_are_read() -> None:
    found = _batched("padded_batches")
    assert (found.found, found.terms) == ((), 3 * 8 * 16 * 12)


@pytest.mark.parametrize(
    ("kernel", "detail"),
    [
        ("batches_at_k", "matrices are taken to be 96 elements apart; they are 160"),
        ("rows_at_k", "rows are taken to be 12 elements apart; they are 20"),
    ],
)
def test_strides_of_batches_and_of_padded_rows_are_told(kernel: str, detail: str) -> None:
    (one,) = _batched(kernel).found
    assert (one.array, one.cause, one.detail.partition(":")[0]) == ("A", "leading-dimension", detail)


def test_sums_of_functions_of_sums_are_no_products() -> None:
    rng = np.random.default_rng(10)
    a, b, v = (rng.random((16, 16), np.float32) for _ in range(3))
    found = _examined("functions", "ABVC", (16, 16), 1, [a, b, v, np.zeros((16, 16), np.float32), 16])
    assert (found.found, found.terms) == ((), 0)


@pytest.mark.parametrize(("kernel", "verdict"), [("added_atomically", "clean"), ("added_plainly", "unjudged")])
def test_what_ctas_add_in_no_order_is_not_acquitted(kernel: str, verdict: str) -> None:
    rng = np.random.default_rng(11)
    a, b, c = rng.random((16, 32), np.float32), rng.random((32, 8), np.float32), np.zeros((16, 8), np.float32)
    found = _examined(kernel, "ABC", (8, 16), 2, [a, b, c, 8, 32])
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    assert (found.found, found.verdict) == ((), verdict)
