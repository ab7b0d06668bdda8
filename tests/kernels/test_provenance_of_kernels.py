"""Provenance looks on and changes nothing: real kernels leave what hardware left, and what moves keeps its value.

What it says of each is what it said when that was recorded.
"""

from __future__ import annotations

import numpy as np
import pytest

from kernels.case import KernelCase, differs
from kernels.catalog import cases
from kernels.launching import launch
from kernels.provenance_digests import digests, recorded
from kernels.tiles import array_of
from ptxloom.machine import Kind

ALL = [(case, case.architectures[-1]) for case in cases()]


@pytest.mark.sample(every=25)
@pytest.mark.parametrize(("case", "architecture"), ALL, ids=[f"{c.name}-{a}" for c, a in ALL])
def test_a_kernel_that_is_followed_leaves_what_hardware_left(case: KernelCase, architecture: str) -> None:
    arguments, before = case.arguments(), case.arguments()
    result = launch(case, architecture, arguments, timeout=120, provenance=True)
    expected = case.expected(architecture)
    for position, wanted in zip(case.outputs, expected.arrays, strict=True):
        assert differs(array_of(arguments[position]), wanted, case.tolerance) is None, f"argument {position}"
    assert result.hazards == ()
    record = result.provenance
    assert record is not None
    assert digests(record) == recorded()[f"{case.name}-{architecture}"]
    inputs = {a.number: a.parameter for a in record.arrays if a.parameter is not None}
    for known in record.arrays:
        if known.parameter not in case.outputs:
            continue
        assert known.parameter is not None
        found, left = record.contents(known.number), array_of(arguments[known.parameter])
        for number, place in inputs.items():
            given = array_of(before[place])
            here = (found.origins["kind"] == Kind.EXACT) & (found.origins["array"] == number)
            here &= found.origins["byte"] == 0
            if given.dtype == left.dtype:
                moved = given.ravel()[found.origins["element"][here]]
                assert np.array_equal(left[here].view(np.uint8), moved.view(np.uint8))
