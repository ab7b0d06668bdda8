from functools import cache

import pytest

from kernels.case import KernelCase, differs, read_ptx
from kernels.catalog import cases
from kernels.tiles import array_of
from ptxloom.syntax import Module, parse

CASES = cases()
PAIRS = [pytest.param(case, arch, id=f"{case.name}-{arch}") for case in CASES for arch in case.architectures]


@cache
def module(source: str, architecture: str) -> Module:
    return parse(read_ptx(source, architecture))


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 100


@pytest.mark.sample(every=20)
@pytest.mark.parametrize(("case", "architecture"), PAIRS)
def test_the_arguments_fit_the_kernel(case: KernelCase, architecture: str) -> None:
    function = module(case.source, architecture).functions[case.kernel]
    assert len(function.params) == len(case.arguments())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_arguments_are_the_same_each_time(case: KernelCase) -> None:
    first, again = ([array_of(argument) for argument in case.arguments()] for _ in range(2))
    pairs = zip(first, again, strict=True)
    assert all(bytes(memoryview(a)) == bytes(memoryview(b)) if hasattr(a, "dtype") else a == b for a, b in pairs)


@pytest.mark.parametrize("case", [case for case in CASES if case.reference], ids=lambda case: case.name)
def test_hardware_agrees_with_numpy(case: KernelCase) -> None:
    assert case.reference is not None
    for architecture in case.architectures:
        references = case.reference(*case.arguments())
        for found, reference in zip(case.expected(architecture).arrays, references, strict=True):
            assert differs(found, reference, case.reference_tolerance) is None


def test_printed_text_is_recorded() -> None:
    texts = [case.expected(architecture).text for case in CASES for architecture in case.architectures]
    assert any("0: " in text for text in texts)
