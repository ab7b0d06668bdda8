"""`wgmma.mma_async` answers what an sm_90 GPU answered, bit for bit (`tools/record/wgmma.py`)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from recorded.wgmma.wgmma_cases import (
    FLOOR_CASES,
    FLOOR_RECORDING,
    RECORDING,
    THREADS,
    Inputs,
    Instruction,
    digests,
    floor_instructions,
    inputs,
    instructions,
    module,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


@cache
def recorded(path: Path = RECORDING) -> dict[str, NDArray[np.uint64]]:
    """By instruction, the digests of all columns of all blocks."""
    with np.load(path) as data:
        names: list[str] = data["names"].tolist()
        ends = np.cumsum(data["counts"])[:-1]
        return dict(zip(names, np.split(data["digests"], ends.tolist()), strict=True))


def differing(it: Instruction, given: Inputs, path: Path) -> NDArray[np.intp]:
    """The blocks whose D is not the hardware's."""
    blocks = len(given.scaled)
    d = np.zeros((blocks, it.d_registers, THREADS), np.uint32)
    arguments = [d, given.image, given.registers, given.descriptors, given.scaled]
    pl.kernel(pl.parse(module((it,))), "k0").launch(blocks, THREADS, arguments, timeout=300)
    differs = (digests(d, it) != recorded(path)[it.name]).reshape(blocks, -1)
    return np.flatnonzero(differs.any(1))


def test_every_instruction_was_recorded() -> None:
    assert set(recorded()) == {it.name for it in instructions()}
    assert set(recorded(FLOOR_RECORDING)) == {it.name for it in floor_instructions()}


@pytest.mark.sample(every=11)
@pytest.mark.parametrize("it", instructions(), ids=lambda it: it.name)
def test_results_are_those_of_the_hardware(it: Instruction) -> None:
    assert {it.cases[block] for block in differing(it, inputs(it), RECORDING)} == set()


@pytest.mark.sample(every=17)
@pytest.mark.parametrize("it", floor_instructions(), ids=lambda it: it.name)
def test_results_near_the_bottom_are_those_of_the_hardware(it: Instruction) -> None:
    assert differing(it, inputs(it, FLOOR_CASES), FLOOR_RECORDING).tolist() == []
