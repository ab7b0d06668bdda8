"""Sums of products of kernels without tensor cores: k that end early, zero points, convolutions."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine
from ptxloom.diagnosis.sums.convolutions import Axis

if TYPE_CHECKING:
    from ptxloom.diagnosis import Diagnosis, Examination

FOLDER = Path(__file__).parent
PTX = (FOLDER / "ptx" / "sums.ptx").read_text()
SOURCE = (FOLDER / "src" / "sums.cu").read_text().splitlines()
RNG = np.random.default_rng(1)


def _examined(
    kernel: str, names: str, block: tuple[int, ...], args: list[Any], *, grid: int = 1, said: str | None = None
) -> Examination:
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    record = made.launch(grid, block, args, provenance=True, threads=1).provenance
    assert record is not None
    return examine(record, said, names=dict(enumerate(names)))


def _line(one: Diagnosis) -> str:
    assert one.origin is not None
    return SOURCE[one.origin.line - 1].strip()


def _floats(*shape: int) -> Any:
    return RNG.integers(-3, 4, shape).astype(np.float32)


def _product(kernel: str, *more: int, said: str | None = None) -> Examination:
    a, b, c = _floats(16, 20), _floats(64, 20), np.zeros((16, 64), np.float32)
    return _examined(kernel, "ABC", (64, 16), [a, b, c, 16, 64, *more], said=said)


def test_k_that_a_loop_leaves_out_are_missing_where_their_number_is_that_of_the_rows() -> None:
    (one,) = _product("whole_eights", 20).found
    assert (one.cause, one.certain) == ("k-missing", False)
    assert one.detail.startswith("4 of 20 k are never multiplied")
    assert _line(one).startswith("for (int k0 = 0; k0 < end; k0 += 4)")


def test_rows_whose_length_is_given_beside_their_pitch_are_padded() -> None:
    found = _product("rows_of_a_pitch", 16, 20)
    assert (found.found, found.verdict) == ((), "unjudged")


@pytest.mark.parametrize("said", [None, "C = A @ B.T"])
@pytest.mark.parametrize(("kernel", "roles"), [("rows_further_on", "ad"), ("rows_of_others", "a")])
def test_rows_that_all_occur_may_be_stored_elsewhere_and_no_side_is_certain(
    kernel: str, roles: str, said: str | None
) -> None:
    found = _product(kernel, 20, said=said).found
    assert "".join(one.operand for one in found) == roles
    assert not any(one.certain for one in found)


def _zeros(kernel: str) -> Examination:
    args = [_floats(16, 32), _floats(32, 32), _floats(4, 32), np.zeros((16, 32), np.float32)]
    return _examined(kernel, "ABZC", (32, 16), [*args, 32, 32, 8])


def test_zero_points_of_their_own_blocks_are_right() -> None:
    found = _zeros("zeros_of_blocks")
    assert (found.found, found.verdict) == ((), "clean")


def test_zero_points_that_go_by_the_rest_of_k_are_of_other_blocks() -> None:
    (one,) = _zeros("zeros_by_rest").found
    assert (one.array, one.cause, one.certain) == ("Z", "block-mismatch", False)
    assert one.detail == "blocks are taken to have 1 k (blocks of 8 k)"
    assert "k % (K / G)" in _line(one)


def _slid(kernel: str, pixels: int) -> Examination:
    x, f, y = _floats(2, 4, 32), _floats(6, 4, 3), np.zeros((2, 6, pixels), np.float32)
    return _examined(kernel, "XFY", (pixels, 6), [x, f, y, 4, 32, 3, 6], grid=2)


def test_a_convolution_is_judged_by_the_extents_of_its_arrays() -> None:
    found = _slid("slid", 16)
    taps = 2 * 6 * 16 * 4 * 3 - 2 * 6 * 4  # without the padding at the left
    assert (found.found, found.verdict, found.terms) == ((), "clean", taps)


@pytest.mark.parametrize(("kernel", "pixels"), [("slid_behind", 32), ("turned", 30), ("slid_far", 16)])
def test_steps_that_other_conventions_explain_are_neither_accused_nor_acquitted(kernel: str, pixels: int) -> None:
    found = _slid(kernel, pixels)
    assert (found.found, found.verdict) == ((), "unjudged")


@pytest.mark.parametrize(
    ("kernel", "array", "cause", "detail", "line"),
    [
        (
            "slid_by_one",
            "X",
            "columns-permuted",
            "it moves on by 1 from pixel to pixel, not by 2",
            "float x =",
        ),
        ("one_channel", "F", "rows-repeated", "some stand for others: 75% of the elements are never", "sum += x"),
        ("a_tap_less", "Y", "k-missing", "4 of 12 taps are not multiplied into every pixel", "for (int s = 0;"),
    ],
)
def test_what_is_wrong_with_a_convolution_is_named(kernel: str, array: str, cause: str, detail: str, line: str) -> None:
    (one,) = _slid(kernel, 16).found
    assert (one.array, one.cause, one.certain) == (array, cause, False)
    assert one.detail.startswith(detail)
    assert _line(one).startswith(line)


def test_paddings_of_a_convolution_are_those_that_fit_with_one_behind_the_end() -> None:
    for extent, taps, pixels, gap, step in product(range(3, 10), range(2, 5), range(1, 10), range(1, 4), range(1, 4)):
        most = gap * (taps - 1)
        fitting = [
            padding
            for padding in range(most + 1)
            if any(Axis(0, 0, step, gap, padding).fits(extent, taps, pixels, behind) for behind in range(most + 1))
        ]
        assert [*Axis(0, 0, step, gap).paddings(extent, taps, pixels)] == fitting
