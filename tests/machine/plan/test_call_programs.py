"""Whatever is called, and however: what its caller holds lives on."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from machine.plan.call_programs import program

THREADS = 40


@pytest.mark.sample(every=10)
@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_lost_over_a_call(seed: int) -> None:
    made = program(seed)
    module = pl.parse(made.text())
    assert not [d for d in pl.check(module) if d.severity == "error"]
    out = np.zeros(THREADS, np.uint32)
    result = pl.kernel(module, "k").launch(1, THREADS, [out], stack_bytes=65536)
    assert out.tolist() == [made.expected(thread) for thread in range(THREADS)]
    assert not result.hazards


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("seed", range(4))
def test_nor_under_the_tools(seed: int) -> None:
    made = program(seed)
    out = np.zeros(THREADS, np.uint32)
    checks = ("memcheck", "synccheck", "racecheck", "initcheck")
    result = pl.kernel(pl.parse(made.text()), "k").launch(
        1, THREADS, [out], stack_bytes=65536, checks=checks, profile=True, schedule_seed=seed
    )
    assert out.tolist() == [made.expected(thread) for thread in range(THREADS)]
    assert not result.hazards
