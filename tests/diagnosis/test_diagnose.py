"""`pl.diagnose` on whole runs: what is right is let alone, what is wrong is named with its line and its repair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from diagnosis.planted.catalogue import BUGS, KERNELS
from diagnosis.planted.launching import launch

if TYPE_CHECKING:
    from diagnosis.planted.model import RightKernel
    from ptxloom.diagnosis import Diagnosis

HGEMM = (Path(__file__).resolve().parents[2] / "examples" / "hgemm.ptx").read_text()
NAMES = {0: "A", 1: "B", 2: "C"}


def _hgemm(text: str, *, ones: bool = False) -> tuple[tuple[Diagnosis, ...], bool]:
    """The diagnoses of a text of examples/hgemm.ptx, and whether the result is right."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape, np.float32).astype(np.float16) for shape in ((128, 64), (64, 64)))
    if ones:
        a[:] = 1
    c = np.zeros((128, 64), np.float32)
    kernel = pl.kernel(pl.parse(text), "hgemm")
    result = kernel.launch((1, 2), 128, [a, b, c, 128, 64, 64], provenance=True)
    assert result.provenance is not None
    right = np.allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4, atol=1e-4)
    return pl.diagnose(result.provenance, names=NAMES), bool(right)


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("case", KERNELS, ids=lambda case: case.name)
def test_nothing_is_said_of_a_right_kernel(case: RightKernel) -> None:
    result = launch(case, case.text, case.make(), provenance=True)
    assert result.provenance is not None
    assert pl.diagnose(result.provenance) == ()


def test_a_forgotten_trans_is_named_and_its_repair_makes_the_result_right() -> None:
    found, right = _hgemm(HGEMM.replace("m8n8.x4.trans", "m8n8.x4"))
    assert not right
    (one,) = found
    assert (one.cause, one.operand, one.array, one.certain) == ("trans-missing", "b", "B", True)
    assert "ldmatrix" in one.instruction
    assert str(one.origin).startswith("hgemm.cu") or one.origin is not None
    assert one.repair is not None
    assert _hgemm(one.repair.apply().source.text) == ((), True)


def test_a_trans_too_much_is_found_though_all_of_a_is_one() -> None:
    broken = HGEMM.replace("ldmatrix.sync.aligned.m8n8.x4.shared", "ldmatrix.sync.aligned.m8n8.x4.trans.shared")
    found, right = _hgemm(broken, ones=True)
    assert right
    (one,) = found
    assert (one.cause, one.operand, one.certain) == ("trans-extra", "a", True)


def test_a_register_that_another_product_takes_is_the_product_s_mistake_and_not_the_load_s() -> None:
    """Another order of the load would mend this product, and break the one whose register it takes."""
    broken = HGEMM.replace("{%r131, %r132}, {%f", "{%r131, %r133}, {%f")
    broken = broken.replace("{%r136, %r137}, {%f", "{%r136, %r138}, {%f")
    found, right = _hgemm(broken)
    assert not right
    (one,) = found
    assert (one.cause, one.operand, one.certain) == ("registers-exchanged", "b", True)
    assert "{%r131, %r133}" in one.instruction
    assert one.repair is not None
    assert _hgemm(one.repair.apply().source.text) == ((), True)


@pytest.mark.parametrize("said", [None, "Y = X.T"])
def test_a_transposition_that_forgets_trans_is_told_by_its_pattern_or_surely_by_what_is_said(said: str | None) -> None:
    bug = next(bug for bug in BUGS if bug.id == "transpose-ldmatrix/trans-forgotten")
    record = launch(bug.kernel, bug.text, bug.kernel.make(), provenance=True).provenance
    assert record is not None
    (one,) = pl.diagnose(record, said, names=dict(enumerate(bug.kernel.names)))
    assert (one.cause, one.operand, one.certain) == ("trans-missing", "Y", said is not None)
    assert one.line in bug.lines


def test_what_a_kernel_computes_can_be_said() -> None:
    a, b, c = (np.zeros((64, 64), dtype) for dtype in (np.float16, np.float16, np.float32))
    kernel = pl.kernel(pl.parse(HGEMM), "hgemm")
    record = kernel.launch((1, 1), 128, [a, b, c, 64, 64, 64], provenance=True).provenance
    assert record is not None
    assert pl.diagnose(record, "C = A @ B", names=NAMES) == ()
    transposed = pl.diagnose(record, "C = A @ B.T", names=NAMES)
    assert [(one.cause, one.operand) for one in transposed] == [("order-exchanged", "b")]
    with pytest.raises(pl.UsageError, match="expected is"):
        pl.diagnose(record, "C is A times B")
