"""What ncu counted on an H200 for loads, stores and matrix moves of shared memory, replayed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptxloom.banks import bank_conflicts
from recorded.matrix.bank_cases import BankCase, bank_cases

with np.load(Path(__file__).parent / "banks.npz") as recorded:
    COUNTS = recorded["counts"]
    COUNTERS = [str(name) for name in recorded["counters"]]
CASES = list(bank_cases())


def counted(case: BankCase, counts: dict[str, int]) -> int:
    """The wavefronts of a case, from the counter that is about its instruction."""
    operation = {"ldmatrix": "ldsm", "stmatrix": "stsm"}.get(case.instruction.split(".")[0], case.instruction[:2])
    (name,) = (name for name in COUNTERS if "wavefronts" in name and name.endswith(f"op_{operation}.sum"))
    return counts[name]


@pytest.mark.parametrize("instruction", dict.fromkeys(case.instruction for case in CASES))
def test_wavefronts_are_what_ncu_counts(instruction: str) -> None:
    assert len(CASES) == len(COUNTS)
    for case, row in zip(CASES, COUNTS, strict=True):
        if case.instruction == instruction:
            counts = dict(zip(COUNTERS, row.tolist(), strict=True))
            report = bank_conflicts(case.instruction, case.addresses, case.active)
            assert report.wavefronts == counted(case, counts), case.label


def test_conflicts_of_matrix_moves_are_what_ncu_counts() -> None:
    checked = 0
    for case, row in zip(CASES, COUNTS, strict=True):
        if "matrix" in case.instruction:
            operation = "ldsm" if case.instruction.startswith("ld") else "stsm"
            (column,) = (i for i, n in enumerate(COUNTERS) if "conflicts" in n and n.endswith(f"op_{operation}.sum"))
            assert bank_conflicts(case.instruction, case.addresses).conflicts == row[column], case.label
            checked += 1
    assert checked > 100
