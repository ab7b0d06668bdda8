"""The machine runs every real kernel as hardware does, bit for bit where every bit is defined."""

from __future__ import annotations

import pytest

from kernels.case import KernelCase, differs
from kernels.catalog import cases
from kernels.launching import launch
from kernels.tiles import array_of

ALL = [(case, architecture) for case in cases() for architecture in case.architectures]


@pytest.mark.sample(every=7)
@pytest.mark.parametrize(("case", "architecture"), ALL, ids=[f"{c.name}-{a}" for c, a in ALL])
def test_a_kernel_leaves_what_hardware_left(case: KernelCase, architecture: str) -> None:
    arguments = case.arguments()
    result = launch(case, architecture, arguments, timeout=300)
    expected = case.expected(architecture)
    for position, wanted in zip(case.outputs, expected.arrays, strict=True):
        assert differs(array_of(arguments[position]), wanted, case.tolerance) is None, f"argument {position}"
    assert result.output == expected.text
    assert result.hazards == ()
