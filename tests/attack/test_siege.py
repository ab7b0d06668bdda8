"""Hostile programs, a few in every run; from the tests' folder `python -m attack.siege --seconds 3600` runs on."""

from __future__ import annotations

import pytest

from attack.siege import LATE, siege

SWEEPS = [pytest.param(start, 300, marks=pytest.mark.sweep) for start in (0, 1_000_000)]


@pytest.mark.parametrize(("start", "cases"), [(0, 24), *SWEEPS])
def test_no_hostile_program_gets_through(start: int, cases: int) -> None:
    found = siege(1200.0, start, cases, keep=True)
    assert not found.failures
    judged = found.number - start - found.outcomes.get(LATE, 0)  # on a busy machine fewer end within their time
    assert found.outcomes.get("ran", 0) >= judged // 8, "most programs end too soon to attack anything"
    assert found.number > start
