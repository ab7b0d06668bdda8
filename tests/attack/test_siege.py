"""Hostile programs, a few in every run; from the tests' folder `python -m attack.siege --seconds 3600` runs on."""

from __future__ import annotations

import pytest

from attack.siege import siege
from sweeps import part_and_whole

CASES = (45, 300)  # in every run, and in all: half a minute each, most of it to compile what they call


@pytest.mark.parametrize("start", [0, 1_000_000])
@pytest.mark.parametrize("cases", part_and_whole(*CASES))
def test_no_hostile_program_gets_through(start: int, cases: int) -> None:
    found = siege(120.0, start, cases)
    assert not found.failures
    assert found.outcomes.get("ran", 0) > (found.number - start) // 8, "most programs end too soon to attack anything"
    assert found.number > start
