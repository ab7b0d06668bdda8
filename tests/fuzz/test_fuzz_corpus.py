"""What fuzzing has collected is judged again: nothing fails, and the work stays in proportion to the text."""

from __future__ import annotations

import sys
from functools import cache
from typing import Final

import pytest

from fuzz.corpus import fewest, inputs
from fuzz.fuzz_parse import one_input
from fuzz.test_growth import calls

PARTS: Final = 16
MOST_CALLS: Final = 150
"""For each character. Ordinary text takes 1 to 2; braces within braces, which are read twice, come nearest."""


@cache
def every() -> tuple[bytes, ...]:
    return inputs()


def test_there_are_many() -> None:
    assert len(every()) > 800


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_fails(part: int) -> None:
    for data in every()[part::PARTS]:
        one_input(data)


@pytest.mark.sample(every=4)
@pytest.mark.skipif(sys.getprofile() is not None, reason="a profiler is at work")
@pytest.mark.parametrize("part", range(PARTS))
def test_work_stays_in_proportion(part: int) -> None:
    for data in every()[part::PARTS]:
        text = data.decode("utf-8", "replace")
        calls(text)  # expressions are compiled, and what operands stand for is remembered, once
        assert calls(text) <= MOST_CALLS * len(text) + 500, data


@pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer is at work")
def test_only_inputs_that_reach_something_new_are_kept() -> None:
    candidates = [b"ret;", b"trap;", b"{ ret;", b"{", b"exit;"]
    for data in candidates:
        one_input(data)  # what is done but once is done
    assert fewest(candidates, one_input) == [b"{", b"ret;", b"{ ret;"]
