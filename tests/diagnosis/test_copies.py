"""The law of copies: what comes out is judged by `Y = X.T`, and a repair is a repair."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from diagnosis.planted.kernels import BY_LDMATRIX, BY_STMATRIX, COPY, OF_WORDS
from diagnosis.planted.launching import launch, outcome
from diagnosis.planted.model import Edit, RightKernel

REPAIRED = [
    (BY_LDMATRIX, Edit("read", ".trans", "")),
    (BY_STMATRIX, Edit("write", ".trans", "")),
    (COPY, Edit("back", ".x4.shared", ".x4.trans.shared")),
]


@pytest.mark.parametrize(("case", "edit"), REPAIRED, ids=[case.name for case, _ in REPAIRED])
def test_the_repair_makes_the_copy_right(case: RightKernel, edit: Edit) -> None:
    record = launch(case, edit.apply(case.text), case.make(), provenance=True).provenance
    assert record is not None
    (found,) = pl.diagnose(record, case.says)
    assert found.certain
    assert found.repair is not None
    assert np.array_equal(*outcome(case, found.repair.apply().source.text, case.make()))


def test_a_copy_that_is_said_to_be_a_transpose_is_in_another_order() -> None:
    record = launch(COPY, COPY.text, COPY.make(), provenance=True).provenance
    assert record is not None
    assert pl.diagnose(record, "Y = X") == ()
    (found,) = pl.diagnose(record, "Y = X.T")
    assert (found.law, found.operand, found.cause) == ("copy", "Y", "order-exchanged")
    assert found.wrong == 32 * 31
    assert found.total == 32 * 32


def test_what_is_of_no_source_is_not_judged() -> None:
    broken = OF_WORDS.text.replace("st.global.b32 [%rd_to], %word", "st.global.b32 [%rd_to], %row")
    record = launch(OF_WORDS, broken, OF_WORDS.make(), provenance=True).provenance
    assert record is not None
    assert pl.diagnose(record, "Y = X.T") == ()
