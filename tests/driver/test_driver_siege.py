"""Hostile images and questions, a few in every run; in the folder of the tests `python -m driver.siege` goes on."""

import pytest

from driver.running import needs_compiler
from driver.siege import siege

pytestmark = needs_compiler

SWEEPS = [pytest.param(start, 2000, marks=pytest.mark.sweep) for start in (0, 1_000_000)]


@pytest.mark.parametrize(("start", "cases"), [(0, 120), *SWEEPS])
def test_no_image_and_no_question_gets_through(start: int, cases: int) -> None:
    found = siege(2400.0, start, cases, keep=True)
    assert not found.failures
    assert found.number == start + cases
    for outcome in ("image 0", "image 200", "image 209", "image 218", "link 0", "questions granted"):
        assert found.outcomes.get(outcome), f"nothing came to {outcome!r}"
