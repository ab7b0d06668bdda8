"""Look-ups of textures and accesses to surfaces give every bit that an H200 gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

import ptxloom as pl
from recorded.textures.texture_cases import BORDERS_RECORDING, RECORDING, Case, border_cases, cases

if TYPE_CHECKING:
    from numpy.typing import NDArray

CASES: Final = {case.name: case for case in cases()}
BORDERS: Final = {case.name: case for case in border_cases()}
_THREADS: Final = 128


@pytest.fixture(scope="module")
def recorded() -> dict[str, NDArray[np.uint32]]:
    """What the GPU gave, by case."""
    with np.load(RECORDING) as file:
        return {name: file[name] for name in file.files}


def replay(case: Case) -> NDArray[np.uint32]:
    """What the machine gives: results, or what lies in a surface afterwards, as words."""
    levels = tuple(level.copy() for level in case.levels)
    thing: pl.machine.Texture | pl.machine.Surface
    if case.sampling is None:
        thing = pl.surface(levels[0], case.geometry)
    else:
        thing = pl.texture(levels, case.geometry, **case.sampling)
    results = np.zeros((len(case.words), 4), np.uint32)
    kernel = pl.kernel(pl.parse(case.ptx), "k")
    grid = -(-len(case.words) // _THREADS)
    kernel.launch(grid, _THREADS, [thing, case.words, results, len(case.words)])
    if case.body.startswith(("suld", "suq", "tex", "tld4", "txq")):
        return results
    return np.frombuffer(levels[0].tobytes(), np.uint32)


def test_every_case_is_recorded_with_the_gpu_that_ran_it(recorded: dict[str, NDArray[np.uint32]]) -> None:
    assert set(recorded) == {*CASES, "recorded with"}
    assert "H" in str(recorded["recorded with"])


@pytest.mark.parametrize("kind", sorted({name.split()[0] for name in CASES}))
def test_equals_hardware(kind: str, recorded: dict[str, NDArray[np.uint32]]) -> None:
    wrong = {
        case.name: int((replay(case) != recorded[case.name]).sum())
        for case in CASES.values()
        if case.name.split()[0] == kind
    }
    assert {name: count for name, count in wrong.items() if count} == {}


def test_borders_have_the_colour_that_the_hardware_gave_them() -> None:
    with np.load(BORDERS_RECORDING) as file:
        wanted = {name: file[name] for name in file.files if name != "recorded with"}
    assert wanted.keys() == BORDERS.keys()
    wrong = {name: (replay(case), wanted[name]) for name, case in BORDERS.items()}
    assert {name: pair for name, pair in wrong.items() if not np.array_equal(*pair)} == {}
