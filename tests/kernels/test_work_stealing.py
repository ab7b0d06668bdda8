"""Kernels that take over the work of those that have not started: right in every schedule, and no tool speaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.case import read_ptx
from ptxloom.machine import kernel
from ptxloom.machine.launch.options import CHECKS
from ptxloom.syntax import parse

Integers = NDArray[np.int32]
TILES, LENGTH, THREADS = 24, 96, 64
GIVEN = np.random.default_rng(11).integers(0, 1000, (TILES, LENGTH)).astype(np.int32)
TILE = np.arange(TILES, dtype=np.int32)


@dataclass(frozen=True)
class Persistent:
    """A kernel, its grid, the length or factor it is given, and what it leaves in its output."""

    kernel: str
    grid: tuple[int, ...]
    number: int
    expected: Integers


CASES = (
    Persistent("scales_tiles", (4, 3, 2), 7, GIVEN[:, :THREADS] * np.int32(7) + TILE[:, None]),
    Persistent("sums_tiles", (TILES,), LENGTH, GIVEN.sum(1, dtype=np.int32)),
    Persistent(
        "counts_in_clusters",
        (TILES,),
        LENGTH,
        np.stack([np.bincount(pair & 63, minlength=64) for pair in GIVEN.reshape(TILES // 2, -1)]).astype(np.int32),
    ),
)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(("threads", "seed"), [(1, 0), (1, 1), (1, 2), (3, 0), (3, 7)])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel)
def test_a_persistent_kernel_is_right_and_silent_under_all_tools(case: Persistent, threads: int, seed: int) -> None:
    ready = kernel(parse(read_ptx("work_stealing", "sm_100a")), case.kernel)
    given = GIVEN[:, :THREADS].copy() if case.kernel == "scales_tiles" else GIVEN
    out, by = np.zeros(case.expected.size, np.int32), np.full(TILES, TILES, np.int32)
    result = ready.launch(
        case.grid,
        THREADS,
        [given, out, by, case.number],
        checks=CHECKS,
        schedule_seed=seed,
        threads=threads,
        timeout=300,
    )
    assert result.hazards == ()
    assert out.tolist() == case.expected.ravel().tolist()
    assert by.max() < TILES
    assert len(set(by.tolist())) < TILES, "nothing was taken over"
