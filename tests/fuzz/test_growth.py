"""Work grows with the text, never with its square: calls are counted, not seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ptxloom as pl
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


@pytest.mark.sample(every=3)
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


ENDLESS = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (90, 90))
from ptxloom.syntax import format, parse
for piece in sys.argv[1:]:
    for before, after in (("", ""), ("a ", ";")):
        module = parse(before + piece * (400_000 // len(piece)) + after)
        module.comments
        format(module)
"""


@pytest.mark.parametrize(
    "pieces",
    [
        ("/*", "/* ", "/*/", '"/*', "//*"),
        ('"', '"a\n', '\\"', "\\", "# 1", '# 1 "', "#"),
        ("*/", "//", "*", "/", "0x", "0f", "1e", "1.", ".", "::"),
    ],
    ids=["comments", "strings", "others"],
)
def test_no_pattern_looks_for_an_end_again_and_again(pieces: tuple[str, ...]) -> None:
    """Many characters whose work is hidden in one regular expression: hours, if it grows with their square."""
    command = [sys.executable, "-c", ENDLESS, *pieces]
    environment = {**os.environ, "PYTHONPATH": str(Path(pl.__file__).parents[1])}
    assert subprocess.run(command, env=environment, check=False).returncode == 0
