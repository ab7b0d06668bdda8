"""Every recorded opcode and type over all its inputs, or 2^32 hashed ones: the machine's sums are the hardware's.

Some are run over 2^20 inputs in every run; `PTXLOOM_INPUTS` says over how many all of them are run in a sweep, as a
power of two: 16, 20, 24, 28 or 32, which is all.
"""

from __future__ import annotations

import os
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from machine.opcode_cases import families
from machine.opcode_kernels import HEADER
from machine.opcode_sums import BLOCK, SUMS, kernel, level, load, operands, parts, shapes, threads
from sweeps import part_and_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from machine.opcode_cases import Case

INPUTS = (20, int(os.environ.get("PTXLOOM_INPUTS", "24")))
BATCH = 32  # cases a kernel
RECORDED = {
    case: sums
    for family, cases in families()
    if (path := SUMS / f"{family}.npz.xz").exists()
    for case, sums in load(path, cases).items()
}


def _alike(case: Case) -> tuple[object, ...]:
    return level(case), threads(case), operands(case)


def batches() -> Iterator[object]:
    """Recorded cases over the same operands."""
    for _, group in groupby(sorted(RECORDED, key=_alike), _alike):
        known = tuple(group)
        for at in range(0, len(known), BATCH):
            yield pytest.param(known[at : at + BATCH], id=f"{'-'.join(operands(known[0]))}-{at}")


@pytest.mark.sample(every=24)
@pytest.mark.parametrize("inputs", part_and_whole(*INPUTS))
@pytest.mark.parametrize("cases", list(batches()))
def test_sums_equal_hardware(cases: tuple[Case, ...], inputs: int) -> None:
    function = pl.kernel(pl.parse(HEADER + kernel("cases", cases)), "cases")
    wrong: list[str] = []
    for at, (first, rounds) in enumerate(parts(cases[0], inputs)):
        out = np.zeros(len(cases), np.uint64)
        arguments = (out, first, rounds, *shapes(cases[0]))
        function.launch(threads(cases[0]) // BLOCK, BLOCK, arguments, threads=1)  # tests run beside each other
        differ = (case for case, found in zip(cases, out, strict=True) if found != RECORDED[case][at])
        wrong += [f"from input {first} on: {case}" for case in differ]
    assert not wrong, "\n".join(wrong)
