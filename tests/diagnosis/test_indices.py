"""The line that is named is that on which a wrong index is computed, not the one that uses the address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ptxloom.diagnosis import Examination

FOLDER = Path(__file__).parent
SOURCE = (FOLDER / "src" / "indices.cu").read_text().splitlines()
PTX = (FOLDER / "ptx" / "indices.ptx").read_text()
M, N, K = 16, 24, 32


class Case(NamedTuple):
    """A launch, the names of its arrays by their places, and what the last one must hold."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: list[Any]
    names: dict[int, str]
    wanted: NDArray[Any]


def _values(*shape: int) -> NDArray[Any]:
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(np.float32)


def _batched() -> Case:
    a, b = _values(3, M, K + 8)[:, :, :], _values(3, K, N)
    flat = np.zeros((3, M, K + 8), np.float32)
    flat.reshape(3, -1)[:, : M * K] = _values(3, M * K)
    a = flat.reshape(3, -1)[:, : M * K].reshape(3, M, K)
    args = [np.ascontiguousarray(a), M * K, b, K * N, np.zeros((3, M, N), np.float32), M, N, K]
    return Case((N // 8, M // 8, 3), (8, 8), args, {0: "A", 2: "B", 4: "C"}, a @ b)


def _columns() -> Case:
    a, b = _values(M, K), _values(K, N)
    return Case((M,), (N // 2,), [a, b, np.zeros((M, N), np.float32), N, K], {0: "A", 1: "B", 2: "C"}, a @ b)


def _slices() -> Case:
    a, b = _values(M, K), _values(K, N)
    args = [a, b, np.zeros((M, N), np.float32), N, K, K // 2]
    return Case((M, 1, 2), (N,), args, {0: "A", 1: "B", 2: "C"}, a @ b)


def _nibbles() -> Case:
    a, w = _values(M, K), np.random.default_rng(1).integers(0, 1 << 32, (K // 8, N), np.uint32)
    b = (w[:, None] >> (4 * np.arange(8, dtype=np.uint32))[:, None] & 15).reshape(K, N)
    return Case((M,), (N,), [a, w, np.zeros((M, N), np.float32), N, K], {0: "A", 1: "W", 2: "C"}, a @ b)


def _scaled() -> Case:
    rng = np.random.default_rng(2)
    a, b = rng.integers(-4, 5, (M, K * 3), np.int8), rng.integers(-4, 5, (N, K * 3), np.int8)
    s = rng.integers(1, 4, (N, 3)).astype(np.float32)
    args = [a, b, s, np.zeros((M, N), np.float32), N, K * 3]
    wanted = a.astype(np.float64) @ (b * s.repeat(K, axis=1)).T
    return Case((N // 8, 1), (32,), args, dict(enumerate("ABSC")), wanted)


def _examined(kernel: str, make: Callable[[], Case]) -> tuple[Examination, bool]:
    case = make()
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    record = made.launch(case.grid, case.block, case.args, provenance=True, threads=1).provenance
    assert record is not None
    result = case.args[max(case.names)]
    return examine(record, names=case.names), bool(np.array_equal(result, case.wanted))


RIGHT = [("batched_0", _batched), ("columns_0", _columns), ("slices_0", _slices), ("nibbles_0", _nibbles)]


@pytest.mark.parametrize(("kernel", "make"), [*RIGHT, ("scaled_slices", _scaled)])
def test_no_right_kernel_is_accused(kernel: str, make: Callable[[], Case]) -> None:
    found, right = _examined(kernel, make)
    assert right
    assert found.found == ()


WRONG = [
    ("batched_1", _batched, "B", "rows-repeated"),
    ("columns_3", _columns, "B", ""),
    ("slices_4", _slices, "C", "k-twice"),
]


@pytest.mark.parametrize(("kernel", "make", "array", "cause"), WRONG, ids=[one[0] for one in WRONG])
def test_the_line_of_the_index_is_named(kernel: str, make: Callable[[], Case], array: str, cause: str) -> None:
    found, right = _examined(kernel, make)
    assert not right
    first = found.found[0]
    assert (first.array, first.cause if cause else "", first.certain) == (array, cause, False)
    assert first.origin is not None
    assert f"mistake {kernel[-1]}" in SOURCE[first.origin.home.line - 1], first.origin


def test_an_order_in_which_all_words_may_be_packed_is_neither_accused_nor_acquitted() -> None:
    found, right = _examined("nibbles_5", _nibbles)
    assert not right
    assert (found.found, found.verdict) == ((), "unjudged")
