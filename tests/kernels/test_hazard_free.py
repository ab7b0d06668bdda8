"""No tool has anything to say about the real kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernels.catalog import cases
from kernels.launching import launch
from ptxloom.diagnostics import TOOLS
from ptxloom.machine.instruments.wanted import VARIABLES

if TYPE_CHECKING:
    from kernels.case import KernelCase
    from ptxloom.machine.results.hazard import Hazards

PAIRS = [(case, architecture) for case in cases() for architecture in case.architectures]

# By kernel, why its findings in global memory are true ones.
RACES_IN_GLOBAL_MEMORY = {
    "atomic_medley": "the head of a compare-and-swap loop is a plain load, beside the atomics of others",
    "union_find": "path compression stores parents with plain stores, which others read meanwhile",
    "atomics": "all threads of a CTA load what one of them stores in a critical section",
}


def hazards_of(case: KernelCase, architecture: str, checks: tuple[str, ...]) -> Hazards:
    return launch(case, architecture, case.arguments(), checks=checks, timeout=300).hazards


@pytest.mark.sample(every=50)
@pytest.mark.parametrize(("case", "architecture"), PAIRS, ids=[f"{c.name}-{a}" for c, a in PAIRS])
def test_a_real_kernel_is_silent_under_all_tools(case: KernelCase, architecture: str) -> None:
    assert hazards_of(case, architecture, (*TOOLS, VARIABLES)) == ()


@pytest.mark.sample(every=50)
@pytest.mark.parametrize(("case", "architecture"), PAIRS, ids=[f"{c.name}-{a}" for c, a in PAIRS])
def test_global_memory_is_silent_but_for_what_truly_races(case: KernelCase, architecture: str) -> None:
    found = hazards_of(case, architecture, ("memcheck", "racecheck:global"))
    assert (found == ()) == (case.kernel not in RACES_IN_GLOBAL_MEMORY)
