"""Copies by tensor maps do what an H200 did, bit for bit; what was an illegal instruction there is reported."""

from __future__ import annotations

import gzip
import json
from functools import cache

import numpy as np
import pytest

import ptxloom as pl
from recorded.tensor_maps.tensor_copy_cases import (
    CTAS,
    GIVEN,
    NOT_TOLD,
    RECORDING,
    ROOM,
    SLICES_RECORDING,
    THREADS,
    Case,
    cases,
    digest,
    module_text,
    slice_cases,
)

CASES = cases()
OUTCOMES: list[str] = json.loads(gzip.decompress(RECORDING.read_bytes()))["outcomes"] if RECORDING.exists() else []
SLICES = slice_cases()
KERNELS = sorted({case.kernel for case in CASES})
CHECKS = ("memcheck", "synccheck", "racecheck", "racecheck:global", "initcheck", "initcheck:global")
ENDS = {
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": {"memcheck.no-tensor-map", "memcheck.illegal-tensor-copy"},
    "CUDA_ERROR_MISALIGNED_ADDRESS": {"memcheck.misaligned"},
    "CUDA_ERROR_ILLEGAL_ADDRESS": {"memcheck.out-of-bounds"},
}


@cache
def kernel_of(name: str) -> pl.Kernel:
    return pl.kernel(pl.parse(module_text([name])), name)


def run(case: Case, number: int, checks: tuple[str, ...] = ("memcheck",)) -> tuple[str, bytes]:
    """How a case ends in the machine: a digest as the recording has it, or the rule that ends it."""
    start, tensor = (np.frombuffer(data, np.uint8).copy() for data in case.before(number))
    aligned = np.zeros(tensor.size + 256, np.uint8)
    whole = aligned[-aligned.ctypes.data % 256 :][: tensor.size]
    whole[:] = tensor
    given = np.zeros(CTAS * GIVEN, np.uint8)
    data = case.map_bytes(whole.ctypes.data)
    args = [data, start, given, case.near, case.expected, case.place_bytes(), whole]
    try:
        result = kernel_of(case.kernel).launch(case.ctas, THREADS, args, checks=checks)
    except pl.LaunchError as error:
        return error.hazards[0].rule, b""
    if result.hazards:
        return str(result.hazards), b""
    return digest(given.tobytes(), whole.tobytes()), given.tobytes() + whole.tobytes()


def test_every_case_was_recorded() -> None:
    assert len(OUTCOMES) == len(CASES)
    assert set(ENDS) <= set(OUTCOMES)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", KERNELS)
def test_equals_hardware(name: str) -> None:
    wrong: list[tuple[int, str, str]] = []
    for number, (case, wanted) in enumerate(zip(CASES, OUTCOMES, strict=True)):
        if case.kernel == name:
            found, _ = run(case, number)
            if found != wanted and found not in ENDS.get(wanted, ()):
                wrong.append((number, found, wanted))
    assert not wrong


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("part", range(12))
def test_every_tool_is_silent_on_what_is_right(part: int) -> None:
    chosen = [
        n for n in range(part, len(CASES), 48) if OUTCOMES[n] not in ENDS and run(CASES[n], n)[1][ROOM] != NOT_TOLD
    ]
    found = {n: run(CASES[n], n, CHECKS)[0] for n in chosen}
    assert {n: what for n, what in found.items() if what != OUTCOMES[n]} == {}


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("part", range(4))
def test_a_copy_takes_one_slice_of_an_interleaved_tensor(part: int) -> None:
    outcomes: list[str] = json.loads(gzip.decompress(SLICES_RECORDING.read_bytes()))["outcomes"]
    assert len(outcomes) == len(SLICES)
    found = {number: run(SLICES[number], number)[0] for number in range(part, len(SLICES), 4)}
    assert {
        n: (what, outcomes[n]) for n, what in found.items() if what not in {outcomes[n], *ENDS.get(outcomes[n], ())}
    } == {}
