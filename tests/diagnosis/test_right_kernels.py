"""No law is said to be broken by a kernel that is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from diagnosis.planted.catalogue import KERNELS
from diagnosis.planted.diagnosing import diagnosed
from kernels.catalog import cases
from kernels.launching import launch
from ptxloom.diagnosis import diagnose

if TYPE_CHECKING:
    from diagnosis.planted.model import RightKernel
    from kernels.case import KernelCase

MULTIPLY = ("tensor", "triton_matmul", "triton_matmul_int8", "triton_attention")
PAIRS = [(case, architecture) for case in cases() for architecture in case.architectures]
PRODUCTS = [pair for pair in PAIRS if pair[0].source in MULTIPLY]
OTHERS = [pair for pair in PAIRS if pair[0].source not in MULTIPLY]


def names(pairs: list[tuple[KernelCase, str]]) -> list[str]:
    return [f"{case.name}-{architecture}" for case, architecture in pairs]


def must_be_silent(case: KernelCase, architecture: str) -> None:
    record = launch(case, architecture, case.arguments(), provenance=True, timeout=300).provenance
    assert record is not None
    assert diagnose(record) == ()


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("case", KERNELS, ids=lambda case: case.name)
def test_a_right_kernel_breaks_no_law(case: RightKernel) -> None:
    assert diagnosed(case, case.text, case.make()) == ()


@pytest.mark.sample(every=9)
@pytest.mark.parametrize(("case", "architecture"), PRODUCTS, ids=names(PRODUCTS))
def test_a_real_product_breaks_no_law(case: KernelCase, architecture: str) -> None:
    must_be_silent(case, architecture)


@pytest.mark.sample(every=50)
@pytest.mark.parametrize(("case", "architecture"), OTHERS, ids=names(OTHERS))
def test_a_real_kernel_breaks_no_law(case: KernelCase, architecture: str) -> None:
    must_be_silent(case, architecture)


@pytest.mark.parametrize(
    "name", ["hashes.wide_product", "images.convolve_2d", "narrow.dot_mixed", "narrow.matvec_int8"]
)
def test_sums_that_are_no_plain_product_of_two_arrays_are_left_in_peace(name: str) -> None:
    case = next(case for case in cases() if case.name == name)
    must_be_silent(case, case.architectures[0])
