"""What hardware has run is legal: the checker finds no error in any recorded opcode and type."""

from __future__ import annotations

import pytest

from machine.opcode_cases import families
from machine.opcode_kernels import HEADER, kernel
from machine.opcode_recording import FOLDER, load
from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import parse

CASES = dict(families())


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("family", CASES)
def test_no_recorded_case_is_called_an_error(family: str) -> None:
    recorded = tuple(load(FOLDER / f"{family}.npz.xz", CASES[family]))
    module = parse(HEADER + "".join(kernel(f"k{at}", recorded[at : at + 50]) for at in range(0, len(recorded), 50)))
    assert recorded
    assert [str(d) for d in check(module) if d.severity is Severity.ERROR] == []
