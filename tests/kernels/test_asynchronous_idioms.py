"""What libcu++ makes of asynchronous copies and stores is right, and no tool has a word to say about it."""

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
ROUNDS, THREADS = 5, 128
GIVEN = np.random.default_rng(7).integers(0, 1000, (ROUNDS, THREADS)).astype(np.int32)
LANES = np.arange(THREADS, dtype=np.int32)


@dataclass(frozen=True)
class Idiom:
    """A kernel, the CTAs of its cluster (0: none), and what it leaves in its output."""

    kernel: str
    cluster: int
    expected: Integers


SUMS = GIVEN[:, LANES * 7 % THREADS].sum(0, dtype=np.int32)
EVERYWHERE = (
    Idiom("stages_of_a_thread", 0, SUMS),
    Idiom("copies_at_a_barrier", 0, SUMS),
    Idiom("copies_of_a_group", 0, SUMS),
)
HOPPER = (
    *EVERYWHERE,
    Idiom("bulk_there_and_back", 0, GIVEN + LANES),
    Idiom("loads_from_a_peer", 2, GIVEN[1::-1, ::-1] + np.int32(ROUNDS)),
    Idiom("counts_in_a_cluster", 2, np.bincount(GIVEN[:2].ravel() & 127, minlength=THREADS).astype(np.int32) + ROUNDS),
    Idiom("stores_to_a_peer", 2, np.tile(GIVEN[:, ::-1].sum(0, dtype=np.int32), 2)),
)
CASES = [*((idiom, "sm_80") for idiom in EVERYWHERE), *((idiom, "sm_90") for idiom in HOPPER)]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("idiom", "architecture"), CASES, ids=[f"{i.kernel}-{a}" for i, a in CASES])
def test_an_idiom_is_right_and_silent_under_all_tools(idiom: Idiom, architecture: str, seed: int) -> None:
    out = np.zeros(idiom.expected.size, np.int32)
    ready = kernel(parse(read_ptx("asynchronous", architecture)), idiom.kernel, target="sm_90")
    cluster = idiom.cluster or None
    result = ready.launch(
        idiom.cluster or 1,
        THREADS,
        [GIVEN, out, ROUNDS],
        cluster=cluster,
        checks=[tool for tool in CHECKS if tool != "racecheck:fences"],  # which libcu++'s copies leave out
        schedule_seed=seed,
        timeout=300,
    )
    assert result.hazards == ()
    assert out.tolist() == idiom.expected.ravel().tolist()
