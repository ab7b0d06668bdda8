"""Work grows with the text, never with its square: calls are counted, not seconds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from fuzz.growth import families
from ptxloom.syntax import format as laid_out
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from types import FrameType

FAMILIES = families()
SMALL, LARGE = 300, 1200


def calls(text: str) -> int:
    """How many calls reading and writing a text takes, those of built-in functions included."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        laid_out(parse(text))
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.skipif(sys.getprofile() is not None, reason="a profiler is at work")
@pytest.mark.parametrize("start", range(6))
def test_calls_grow_with_the_text(start: int) -> None:
    grown: list[str] = []
    for name, make in list(FAMILIES.items())[start::6]:
        small, large = calls(make(SMALL)), calls(make(LARGE))
        if large > 2 * LARGE // SMALL * small + 500:
            grown.append(f"{name}: {small} calls for {SMALL} characters, {large} for {LARGE}")
    assert grown == []


def test_counting_sees_what_is_done() -> None:
    assert calls("a b, c;\n" * 400) > 3 * calls("a b, c;\n" * 100)
