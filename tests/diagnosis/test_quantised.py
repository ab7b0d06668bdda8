"""Right products with weights of few bits in blocks are not accused, whatever order their elements are packed in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine
from ptxloom.diagnosis.arrays.blocks import Matrix, Scales, asked
from ptxloom.diagnosis.sums.einsum import Axes
from ptxloom.diagnosis.sums.laws import changes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

PTX: Final = (Path(__file__).parent / "ptx" / "quantised.ptx").read_text()
M, N, K = 16, 16, 96
BLOCKS: Final = K // 32
RNG: Final = np.random.default_rng(7)
X: Final = RNG.normal(size=(M, K)).astype(np.float16)
S: Final = RNG.uniform(0.1, 1, (N, BLOCKS)).astype(np.float16)
Q: Final = RNG.integers(0, 16, (N, K)).astype(np.uint8)
BYTES: Final = RNG.integers(-99, 100, (2, 16, K)).astype(np.int8)
CODE: Final = np.sort(RNG.normal(size=16)).astype(np.float32)
GRIDS: Final = {"second": ((2, 1), 32), "first": ((1, 2), 32)}


def _halves(q: NDArray[Any]) -> NDArray[Any]:
    blocks = q.reshape(N, BLOCKS, 2, 16)
    return blocks[:, :, 0] | blocks[:, :, 1] << 4


def _structs(scales: NDArray[Any], q: NDArray[Any]) -> NDArray[Any]:
    own = np.ascontiguousarray(scales).view(np.uint8).reshape(16, BLOCKS, 2)
    return np.concatenate((own, q.view(np.uint8).reshape(16, BLOCKS, -1)), axis=2)


def _case(kernel: str) -> tuple[list[Any], NDArray[Any]]:
    """The arrays of a kernel, and what it must compute."""
    x, scales = X.astype(np.float32), S.astype(np.float32).repeat(32, axis=1)
    by_halves = x @ ((Q.astype(np.float32) - 8) * scales).T
    if kernel == "by_block":
        return [X, _structs(S, _halves(Q))], by_halves
    if kernel == "of_structs":
        a, b = BYTES.astype(np.float32) * scales
        return [_structs(S, BYTES[0]), _structs(S, BYTES[1])], a @ b.T
    if kernel == "of_table":
        packed, own = Q[:, 0::2] << 4 | Q[:, 1::2], S.astype(np.float32).ravel()
        return [X, packed, own, CODE], x @ (CODE[Q] * scales).T
    if kernel == "quarters":
        parts = (Q & 3).reshape(N, BLOCKS, 4, 8)
        packed = (parts << 2 * np.arange(4, dtype=np.uint8)[:, None]).sum(axis=2, dtype=np.uint8)
        return [X, packed.reshape(N, -1), S], x @ (((Q & 3).astype(np.float32) - 1) * scales).T
    return [X, _halves(Q).reshape(N, -1), S], by_halves


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("kernel", ["second", "first", "by_element", "by_block", "of_structs", "of_table", "quarters"])
def test_no_right_kernel_with_packed_weights_is_accused(kernel: str, *, flat: bool) -> None:
    arrays, wanted = _case(kernel)
    arrays = [array.ravel() if flat else array for array in arrays]
    y = np.zeros((M, N), np.float32)
    grid, block = GRIDS.get(kernel, ((M,), N))
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    record = made.launch(grid, block, [*arrays, y, N, K], provenance=True, threads=1).provenance
    assert record is not None
    np.testing.assert_allclose(y, wanted, rtol=0.01, atol=0.01 * np.abs(wanted).max())
    found = examine(record)
    assert (found.found, found.verdict) == ((), "unjudged")


@pytest.mark.parametrize(
    ("bug", "array", "detail"),
    [
        (0, "", ""),
        (1, "SA", "some m go with the block of others (blocks of 1 m)"),
        (2, "SB", "block 0 of 3 along k is used for all (blocks of 32 k)"),
        (3, "SB", "some n go with the block of others (blocks of 1 n)"),
    ],
)
@pytest.mark.parametrize("together", [0, 4])
def test_slices_go_with_the_scales_of_their_blocks(bug: int, array: str, detail: str, together: int) -> None:
    scales = [S.astype(np.float32), np.ascontiguousarray(S[::-1].T.astype(np.float32))]
    wanted = (BYTES[0] * scales[0].repeat(32, axis=1)) @ (BYTES[1] * scales[1].T.repeat(32, axis=1)).T
    c = np.zeros((M, N), np.float32)
    args = [*BYTES, *scales, c, N, K, bug + together]
    made = pl.kernel(pl.parse(PTX), "slices", target="sm_90a")
    record = made.launch(2, 32, args, provenance=True, threads=1).provenance
    assert record is not None
    assert np.allclose(c, wanted, rtol=1e-4, atol=1) == (not bug)
    found = examine(record, names=dict(enumerate(("A", "B", "SA", "SB", "C"))))
    assert [(one.array, one.detail, one.certain) for one in found.found] == [(array, detail, False)] * bool(bug)
    assert found.verdict == ("broken" if bug else "clean")


def test_elements_that_stand_for_others_are_not_called_permuted() -> None:
    n, k = np.divmod(np.arange(8), 4)
    held = {"n": n, "k": k // 2 * 2 + n}  # each k occurs, but in no row all of them
    axes = Axes(("mk", "nk", "mn"), ((2, 4), (2, 4), (2, 2)), stated=False)
    found = changes_of(axes, 1, held, {"n": n, "k": k}, held["k"] != k)
    assert [one.cause for one in found] == ["columns-repeated"]


def test_rows_of_the_upper_halves_go_with_the_scales_of_the_lower_ones() -> None:
    m, k = np.divmod(np.arange(32 * K), K)
    held = (m & ~8) * BLOCKS + k // 32
    found = asked(held, (m, k), Matrix((32, K), ("m", "k")), Scales((32, BLOCKS), 32 * BLOCKS))
    assert found.named is not None
    assert found.named.detail == "some m go with the block of others (blocks of 1 m)"
    assert np.array_equal(found.wrong, m & 8 > 0)


def test_what_rows_or_columns_are_multiplied_by_need_not_be_scales_of_blocks() -> None:
    gathered = np.ones((4, N), np.float32)  # of which the kernel takes the first row, whatever k
    c = np.zeros((M, N), np.float32)
    made = pl.kernel(pl.parse(PTX), "slices", target="sm_90a")
    args = [*BYTES, S.astype(np.float32), gathered, c, N, K, 2]
    record = made.launch(2, 32, args, provenance=True, threads=1).provenance
    assert record is not None
    found = examine(record)
    assert (found.found, found.verdict) == ((), "unjudged")
