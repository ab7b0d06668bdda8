"""Products whose tiles reach beyond the edge, so that most elements of an operand are filled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ptxloom as pl
from ptxloom.diagnosis import examine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis import Examination

PTX = (Path(__file__).parent / "ptx" / "masked.ptx").read_text()
N, K, BLOCKS = 24, 40, 3


def _examined(kernel: str) -> tuple[Examination, NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-3, 4, (rows, K)).astype(np.float16) for rows in (16, N))
    scales, c = rng.integers(1, 5, (BLOCKS, N)).astype(np.float32), np.zeros((16, N), np.float32)
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    record = made.launch(2, 32, [a, b, scales, c, N, K], provenance=True, threads=1).provenance
    assert record is not None
    parts = [
        a[:, k : k + 16].astype(np.float32) @ b[:, k : k + 16].T.astype(np.float32) * scales[k // 16]
        for k in range(0, K, 16)
    ]
    return examine(record, names=dict(enumerate("ABSC"))), c, sum(parts, np.zeros_like(c))


def test_an_operand_that_is_filled_for_the_most_part_comes_from_its_array_still() -> None:
    found, c, wanted = _examined("right")
    assert np.array_equal(c, wanted)
    assert (found.found, found.verdict, found.unjudged) == ((), "clean", ())
    assert found.products == 2 * 2 * BLOCKS


def test_scales_of_another_block_are_named_beside_filled_operands() -> None:
    found, c, wanted = _examined("first_block")
    assert not np.array_equal(c, wanted)
    (one,) = found.found
    assert (one.array, one.cause, one.certain) == ("S", "block-mismatch", False)
    assert one.detail.startswith("block 0 of 3 along k is used for all")
