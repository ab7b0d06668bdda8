"""The kernels that bugs are planted in are right, bit by bit; planted bugs are bugs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from diagnosis.planted.catalogue import BUGS, KERNELS
from diagnosis.planted.launching import launch, outcome
from ptxloom.diagnostics import TOOLS

if TYPE_CHECKING:
    from diagnosis.planted.model import PlantedBug, RightKernel


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("case", KERNELS, ids=lambda case: case.name)
def test_a_right_kernel_computes_what_numpy_computes(case: RightKernel) -> None:
    found, wanted = outcome(case, case.text, case.make())
    assert np.array_equal(found, wanted)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("case", KERNELS, ids=lambda case: case.name)
def test_a_right_kernel_is_silent_under_all_tools(case: RightKernel) -> None:
    assert launch(case, case.text, case.make(), checks=TOOLS).hazards == ()


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.id)
def test_a_planted_bug_makes_the_result_wrong_where_it_shows(bug: PlantedBug) -> None:
    found, wanted = outcome(bug.kernel, bug.text, (bug.make or bug.kernel.make)())
    assert np.array_equal(found, wanted) != bug.shows


def test_every_bug_has_a_name_of_its_own_and_lines_that_are_there() -> None:
    assert max(Counter(bug.id for bug in BUGS).values()) == 1
    for bug in BUGS:
        assert bug.text.count("\n") == bug.kernel.text.count("\n")
        assert bug.lines
