"""Decisions are opened again when what they rest on is no longer so: a test for each that says what that would be."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs/decisions").glob("*.md")}
PROJECT: Any = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _takes_a_dependency() -> bool:
    """A plain installation brings something beside Python."""
    return bool(PROJECT["dependencies"])


def _python_reads_zstandard() -> bool:
    """The oldest Python has `compression.zstd`."""
    oldest = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"])
    assert oldest is not None
    return (int(oldest[1]), int(oldest[2])) >= (3, 14)


def _machine_needs_dominators() -> bool:
    """An analysis of the machine's blocks asks for what the flow graph has."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "src/ptxloom/machine").rglob("*.py"))
    return any(re.search(r"dominat|ptxloom\.flow\.(?:loops|graph)\b", text) for text in texts)


def _cppcheck_is_silenced() -> bool:
    """A line of the driver's C says that cppcheck is wrong."""
    files = (ROOT / "src/ptxloom/cuda_driver").rglob("*.[ch]")
    return any("cppcheck-suppress" in path.read_text(encoding="utf-8") for path in files)


def _rows_share_functions() -> bool:
    """More than ten functions of the run-time are called from several files of `machine/semantics`."""
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "src/ptxloom/machine/semantics").rglob("*.py"):
        for function in re.findall(r"\bb\.runtime\(\s*(?:\w+\.)*(\w+),", path.read_text(encoding="utf-8")):
            callers[function].add(path.stem)
    assert len(callers) > 50
    return sum(len(files) > 1 for files in callers.values()) > 10


OPENED_BY: dict[str, tuple[Callable[[], bool], ...]] = {
    "argparse": (_takes_a_dependency,),
    "by-hand": (_takes_a_dependency, _python_reads_zstandard),
    "cppcheck": (_cppcheck_is_silenced,),
    "run-time-functions": (_rows_share_functions,),
    "two-kinds-of-blocks": (_machine_needs_dominators,),
}
ELSEWHERE = {"memory-effects": "tests/machine/semantics/test_touches.py"}
"""Pages whose condition another test holds."""


@pytest.mark.parametrize("page", OPENED_BY)
def test_what_a_decision_rests_on_is_still_so(page: str) -> None:
    met = [one.__doc__ for one in OPENED_BY[page] if one()]
    assert not met, f"docs/decisions/{page}.md is to be asked again: {met}"


def test_every_page_that_names_a_condition_has_its_test() -> None:
    named = {page for page, text in PAGES.items() if "**Asked again**" in text}
    assert named == {*OPENED_BY, *ELSEWHERE}
    for page in OPENED_BY:
        assert "tests/docs/test_decisions.py" in PAGES[page]
    for page, test in ELSEWHERE.items():
        assert test in PAGES[page]
        assert (ROOT / test).exists()
