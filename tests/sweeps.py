"""Questions too large for every run: `make full` asks a part of each, `make oracles` the whole.

What `make full` leaves out bears the mark `sweep`: put there by hand, or by one of two ways to take a part.
`@pytest.mark.sample(every=7)` keeps one case in `every`, in the order of a test's parameters; `part_and_whole` makes
two cases of one question, a small and a large one. Either is the same in each run. Laws whose examples are kernels try
as many as `examples` says, and more in `make oracles`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections import Counter

    from _pytest.mark.structures import ParameterSet


def part_and_whole(part: object, whole: object) -> list[ParameterSet]:
    """Two amounts of one question, as parameters of its test."""
    return [pytest.param(part, id="part"), pytest.param(whole, id="whole", marks=pytest.mark.sweep)]


def examples(part: int) -> int:
    """How many examples a law tries: `part` in `make full`, times `PTXLOOM_LAWS` where that is set."""
    return part * int(os.environ.get("PTXLOOM_LAWS", "1"))


def mark_sweep(item: pytest.Item, before: Counter[str]) -> None:
    """Mark a case that its test's sample leaves out; `before` counts the cases of each test that came earlier."""
    sample = item.get_closest_marker("sample")
    if sample is not None:
        test = item.nodeid.partition("[")[0]
        if before[test] % sample.kwargs["every"]:
            item.add_marker(pytest.mark.sweep)
        before[test] += 1
