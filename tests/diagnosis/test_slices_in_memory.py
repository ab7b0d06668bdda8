"""Sums whose slices are put in memory, and come back from there: which are left out, and by which loop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import ptxloom as pl
from ptxloom.diagnosis import examine

if TYPE_CHECKING:
    from ptxloom.diagnosis import Examination

FOLDER = Path(__file__).parent
PTX = (FOLDER / "ptx" / "slices.ptx").read_text()
SOURCE = (FOLDER / "src" / "slices.cu").read_text().splitlines()
ROWS, COLUMNS, SLICES = 64, 24, 3


def _examined(kernel: str, columns: int = COLUMNS) -> Examination:
    x = np.random.default_rng(4).normal(size=(ROWS, columns)).astype(np.float32)
    w, y = np.zeros((SLICES, ROWS), np.float32), np.zeros(ROWS, np.float32)
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    record = made.launch(1, ROWS, [x, w, y, ROWS, columns, SLICES], provenance=True, threads=1).provenance
    assert record is not None
    return examine(record, names=dict(enumerate("XWY")))


def test_a_sum_of_all_slices_is_accused_of_nothing_and_not_acquitted() -> None:
    found = _examined("all")
    assert (found.found, found.verdict) == ((), "unjudged")


def test_a_slice_that_is_never_fetched_is_missing_because_of_the_loop_that_fetches() -> None:
    (one,) = _examined("one_less").found
    assert (one.cause, one.certain) == ("k-missing", False)
    assert one.detail.startswith("columns 16 to 23 of X never come to Y[")
    assert one.origin is not None
    assert SOURCE[one.origin.line - 1].strip() == "for (int s = 0; s < read; ++s) total += W[s * rows + own];"


def test_what_no_slice_takes_is_missing_because_of_the_division_that_rounds_down() -> None:
    (one,) = _examined("all", COLUMNS + 1).found
    assert (one.cause, one.certain) == ("k-missing", False)
    assert one.detail.startswith(f"column {COLUMNS} of X never comes to Y[")
    assert one.origin is not None
    assert SOURCE[one.origin.line - 1].strip().endswith("size = cols / slices;")
