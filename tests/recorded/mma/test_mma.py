"""Every form of `mma`, `mma.sp` and `wmma.mma`, replayed against what an H200 answered (`tools/record/mma.py`).

Inputs are made again from their seed; each result is compared by digest over 64 warps, and the first warp in full, so
that a mismatch can be looked at. Forms whose functions are the same are compiled once.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.machine.tensor.batch import mma
from ptxloom.machine.tensor.recipe import known_forms
from recorded.mma.mma_cases import cases, floor_cases, inputs, result_name, zero_cases

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.isa.products import MatrixForm

DATA = Path(__file__).parent / "mma.npz"
ZEROS = DATA.with_name("zeros.npz")
FLOOR = DATA.with_name("floor.npz")


@cache
def recorded(path: Path = DATA) -> dict[str, tuple[bytes, NDArray[np.uint32]]]:
    """Digest and first warp of every result."""
    with np.load(path) as data:
        names: list[str] = data["names"].tolist()
        digests: NDArray[np.uint8] = data["digests"]
        ends = np.cumsum(data["sample_bytes"]) // 4
        samples = np.split(data["samples"], ends[:-1].tolist())
    return {name: (digest.tobytes(), sample) for name, digest, sample in zip(names, digests, samples, strict=True)}


def groups() -> dict[str, list[MatrixForm]]:
    """Forms by shape and multiplicands: one test each, so that a failure names its corner."""
    found: dict[str, list[MatrixForm]] = {}
    for form in known_forms():
        kind = f"{form.opcode}{'.sp' if form.sparse else ''}.{form.shape}.{form.a_type}"
        found.setdefault(kind, []).append(form)
    return found


@pytest.mark.sample(every=7)
@pytest.mark.parametrize("kind", groups())
def test_results_are_those_of_the_hardware(kind: str) -> None:
    for form in groups()[kind]:
        for selector in range(form.selectors):
            for case in cases(form):
                check(form, selector, case)


def check(form: MatrixForm, selector: int, case: str, path: Path = DATA) -> None:
    given = inputs(form, case)
    a, b, c = (np.swapaxes(operand, -1, -2) for operand in (given.a, given.b, given.c))
    d = np.ascontiguousarray(
        np.swapaxes(mma(form, a, b, c, metadata=given.e if form.sparse else None, selector=selector), -1, -2)
    )
    name = result_name(form, selector, case)
    digest, first = recorded(path)[name]
    if first.size:
        np.testing.assert_array_equal(d[0].view(np.uint32).ravel(), first, err_msg=name)
    assert hashlib.blake2b(d.tobytes(), digest_size=8).digest() == digest, name


@pytest.mark.sample(every=9)
@pytest.mark.skipif(not ZEROS.exists(), reason="sums of zeros have not been recorded yet")
@pytest.mark.parametrize("kind", groups())
def test_sums_of_zeros_are_those_of_the_hardware(kind: str) -> None:
    for form in groups()[kind]:
        for selector in range(form.selectors):
            for case in zero_cases(form):
                check(form, selector, case, ZEROS)


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("kind", groups())
def test_sums_near_the_bottom_are_those_of_the_hardware(kind: str) -> None:
    for form in groups()[kind]:
        for selector in range(form.selectors):
            for case in floor_cases(form):
                check(form, selector, case, FLOOR)


def test_the_data_give_exactly_the_forms_that_were_recorded() -> None:
    wanted = {
        result_name(form, selector, case)
        for form in known_forms()
        for selector in range(form.selectors)
        for case in cases(form)
    }
    assert wanted == set(recorded())
