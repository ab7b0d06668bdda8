"""A minute of hostile programs; `python -m attack.siege --seconds 3600` from the tests' folder runs for longer."""

from __future__ import annotations

import pytest

from attack.siege import siege

CASES = 60


@pytest.mark.parametrize("start", [0, 1_000_000])
def test_no_hostile_program_gets_through(start: int) -> None:
    found = siege(120.0, start, CASES)
    assert not found.failures
    assert found.outcomes.get("ran", 0) > (found.number - start) // 8, "most programs end too soon to attack anything"
    assert found.number > start
