"""Scales and zero points of weights: those of their own block are right, whichever way they lie; others are named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine
from ptxloom.diagnosis.arrays.blocks import Matrix, Scales, asked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis import Examination

PTX = (Path(__file__).parent / "ptx" / "scales.ptx").read_text()
M, N, K = 16, 24, 128
NAMES = ("A", "W", "S", "Z", "C")


def _examined(kernel: str, flat: bool = False) -> Examination:
    rng = np.random.default_rng(4)
    a = rng.integers(-3, 4, (M, K)).astype(np.float16)
    w, s = rng.integers(0, 256, (N, K // 2), np.uint8), rng.integers(1, 5, (N, K // 32)).astype(np.float32)
    z = rng.integers(0, 16, (N, K // 32)).astype(np.uint8)
    c = np.zeros((M, N), np.float32)
    nibbles = np.stack((w & 15, w >> 4), axis=-1).reshape(N, K).astype(np.float64)
    wanted = a.astype(np.float64) @ ((nibbles - z.repeat(32, axis=1)) * s.repeat(32, axis=1)).T
    args: list[Any] = [a, w, s.ravel() if flat else s, z, c, N, K]
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    record = made.launch((N // 8, M // 16), 32, args, provenance=True, threads=1).provenance
    assert record is not None
    assert np.array_equal(c, wanted) == (kernel == "right")
    return examine(record, names=dict(enumerate(NAMES)))


@pytest.mark.parametrize("flat", [False, True])
def test_scales_of_their_own_blocks_are_right(*, flat: bool) -> None:
    found = _examined("right", flat)
    assert (found.found, found.verdict, found.unjudged) == ((), "clean", ())


WRONG = [
    ("scales_of_64", "S", "block-mismatch", "blocks are taken to have 64 k"),
    ("first_scale", "S", "block-mismatch", "block 0 of 4 along k is used for all"),
    ("scales_of_the_next", "S", "block-mismatch", "the block that is +1 along n is used"),
    ("scales_exchanged", "S", "order-exchanged", "row and the column of the block are exchanged"),
    ("scales_at_another_pitch", "S", "leading-dimension", "taken to be 2 apart; they are 4"),
    ("zeros_of_the_tile", "Z", "block-mismatch", "some n go with the block of others"),
    ("zeros_too_early", "Z", "block-mismatch", "blocks begin 16 k too early"),
]


@pytest.mark.parametrize(("kernel", "array", "cause", "detail"), WRONG, ids=[one[0] for one in WRONG])
def test_scales_of_other_blocks_are_named_at_their_load(kernel: str, array: str, cause: str, detail: str) -> None:
    (one,) = _examined(kernel).found
    assert (one.law, one.operand, one.array, one.cause, one.certain) == ("block", "b", array, cause, False)
    assert detail in one.detail
    assert one.instruction.startswith("ld.global.f32" if array == "S" else "ld.global.u8")


def test_an_order_of_nibbles_that_may_be_that_of_the_weights_is_not_certain() -> None:
    (one,) = _examined("high_nibble_first").found
    assert (one.cause, one.array, one.certain) == ("halves-exchanged", "W", False)


def test_scales_that_go_by_no_rule_acquit_nobody_and_accuse_nobody() -> None:
    found = _examined("scales_by_no_rule")
    assert (found.found, found.verdict) == ((), "unjudged")
    assert any("computed with those of S, too" in one.why for one in found.unjudged)


def _places(rows: int, columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    row, column = np.divmod(np.arange(rows * columns), columns)
    return row, column


@pytest.mark.parametrize("down", [1, 2, 4, 32])
@pytest.mark.parametrize("across", [1, 3, 24])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("by_rows", [False, True])
def test_any_grid_of_blocks_is_right_in_either_order(down: int, across: int, *, flat: bool, by_rows: bool) -> None:
    row, column = _places(32, 24)
    block = row // (32 // down), column // (24 // across)
    held = block[0] * across + block[1] if by_rows else block[1] * down + block[0]
    shape = (down, across) if by_rows else (across, down)
    scales = Scales((down * across,) if flat else shape, down * across)
    found = asked(held, (row, column), Matrix((32, 24), ("k", "n")), scales)
    assert (found.right, found.named, found.wrong.any()) == (True, None, False)


def test_an_order_of_blocks_that_is_read_from_memory_is_left_open() -> None:
    row, column = _places(32, 24)
    order = np.array([2, 0, 3, 1])
    held = order[row // 8] * 24 + column
    found = asked(held, (row, column), Matrix((32, 24), ("k", "n")), Scales((4, 24), 96))
    assert (found.right, found.named) == (False, None)


def test_blocks_that_do_not_cover_a_matrix_are_left_open() -> None:
    row, column = _places(32, 24)
    found = asked(row // 8, (row, column), Matrix((32, 24), ("k", "n")), Scales((7, 5), 35))
    assert (found.right, found.named) == (False, None)


def test_zero_points_from_another_place_of_the_right_word_are_told_and_those_of_another_order_are_not() -> None:
    k, n = (axis.ravel() for axis in np.indices((64, 32)))
    words, scales = k // 16 * 32 + n // 8 * 8, Scales((4, 32), 128, 8)
    by_k = asked(words + k // 8 % 8, (k, n), Matrix((64, 32), ("k", "n")), scales)
    assert by_k.named is not None
    assert (by_k.named.cause, by_k.named.detail) == (
        "block-mismatch",
        "each comes from the right word, but from another place in it",
    )
    assert int(by_k.wrong.sum()) == 64 * 32 * 7 // 8
    another = asked(words + n % 8 // 2 + n % 2 * 4, (k, n), Matrix((64, 32), ("k", "n")), scales)
    assert not another.right
    assert another.named is None or "place in it" not in another.named.detail
