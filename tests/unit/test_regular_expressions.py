"""Regular expressions are compiled so that every Python matches the same by them."""

import re
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from ptxloom import patterns
from ptxloom.names import signatures
from ptxloom.syntax import edits, fast, lexer, operands, recovery, sections

ROOT = Path(__file__).parents[2]
ASKED = """
import importlib, pkgutil, re, sys
from ptxloom import patterns
compile = re.compile
def asked(pattern, flags=0):
    file = sys._getframe(1).f_code.co_filename
    if "ptxloom" in file and file != patterns.__file__ and patterns.has_possessive_groups(pattern, flags):
        print(file, sys._getframe(1).f_lineno, pattern)
    return compile(pattern, flags)
re.compile = asked
import ptxloom
for module in pkgutil.walk_packages(ptxloom.__path__, "ptxloom.", onerror=lambda name: None):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError:  # what an extra would bring
            pass
print("all asked")
"""


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [
        ("(?:ab?c)*+", "aca", 2),  # the turn that fails has read an `a`
        ("(?:ab?c)++", "abcacab", 5),
        ("(?:ab?c)?+", "ab", 0),
        ("(?:[0-9]+,){2,}+", "1,22,333", 5),
        ("(?:(?:a|ab)(?:c|d))*+", "acabdab", 5),
        ("(?:x(?:ab?c)*+y)*+", "xacyxaca", 4),
        ("(?=(?:ab?c)*+a)aca", "aca", 3),
    ],
)
def test_a_group_ends_where_its_last_turn_began(pattern: str, text: str, end: int) -> None:
    assert patterns.has_possessive_groups(pattern)
    for compiled in (patterns.regex(pattern), patterns.with_atomic_groups(pattern)):
        found = compiled.match(text)
        assert found is not None
        assert found.end() == end
    assert patterns.with_atomic_groups(pattern.encode()).match(text.encode()) is not None


def test_a_group_gives_nothing_back() -> None:
    assert patterns.with_atomic_groups("(?:ab?)*+ab").match("ababab") is None


@pytest.mark.parametrize("pattern", ["a*+b", "[ab]++", "(?:a|b)*", r"\d{2,}+", ".?+x"])
def test_what_repeats_a_character_is_no_group(pattern: str) -> None:
    assert not patterns.has_possessive_groups(pattern)


EVERY: list[tuple[str, object]] = [
    (f"{module.__name__}.{name}", value)
    for module in (signatures, edits, fast, lexer, operands, recovery, sections)
    for name, value in vars(module).items()
]
PATTERNS: dict[str, re.Pattern[str]] = {
    name: cast("re.Pattern[str]", value) for name, value in EVERY if isinstance(value, re.Pattern)
}
TEXTS = sorted((ROOT / "tests" / "corpus").glob("*-sm_90.ptx")) + sorted((ROOT / "examples").glob("*.ptx"))


@pytest.mark.skipif(sys.version_info < patterns.RIGHT_SINCE, reason="what is compared is one and the same here")
@pytest.mark.parametrize("name", PATTERNS)
def test_what_older_pythons_compile_matches_the_same(name: str) -> None:
    pattern = PATTERNS[name]
    older = patterns.with_atomic_groups(pattern.pattern, pattern.flags)
    assert TEXTS
    for file in TEXTS:
        text = file.read_text()[:20_000]
        assert [one.span() for one in older.finditer(text)] == [one.span() for one in pattern.finditer(text)], file.name
        assert [_end(older, text, at) for at in range(500)] == [_end(pattern, text, at) for at in range(500)]


def _end(pattern: re.Pattern[str], text: str, at: int) -> int | None:
    found = pattern.match(text, at)
    return found and found.end()


def test_every_possessive_group_is_compiled_by_one_function() -> None:
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    assert done.stdout == "all asked\n"
