"""What `make full` leaves out is the same in each run, and not the whole of any question."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from sweeps import examples, mark_sweep, part_and_whole


@dataclass
class Found:
    """A test as pytest finds it."""

    nodeid: str
    every: int
    marks: list[str] = field(default_factory=list[str])

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return getattr(pytest.mark, name)(every=self.every).mark if self.every else None

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark.name)


def test_one_case_of_so_many_stays() -> None:
    found = [Found("a.py::small", 0)]
    found += [Found(f"a.py::{test}[{n}]", 3) for n in range(7) for test in ("one", "other")]
    before = Counter[str]()
    for item in found:
        mark_sweep(cast("pytest.Item", item), before)
    assert [item.nodeid for item in found if item.marks != ["sweep"]] == [
        "a.py::small",
        *(f"a.py::{test}[{n}]" for n in (0, 3, 6) for test in ("one", "other")),
    ]


def test_the_whole_of_a_question_is_a_sweep_and_its_part_is_none() -> None:
    part, whole = part_and_whole(3, 40)
    assert (part.values, list(part.marks)) == ((3,), [])
    assert (whole.values, [mark.name for mark in whole.marks]) == ((40,), ["sweep"])


def test_laws_try_more_where_more_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PTXLOOM_LAWS", raising=False)
    assert examples(30) == 30
    monkeypatch.setenv("PTXLOOM_LAWS", "4")
    assert examples(30) == 120


def test_what_is_left_out_is_listed_folder_by_folder() -> None:
    tests = Path(__file__).parents[1]
    partial = re.compile(r"mark\.sweep|mark\.sample\(|from sweeps import")
    folders = {
        path.relative_to(tests).parts[0]
        for path in tests.rglob("test_*.py")
        if path != Path(__file__) and partial.search(path.read_text(encoding="utf-8"))
    }
    table = (tests / "README.md").read_text(encoding="utf-8").partition("leaves to `make oracles`:")[2]
    assert set(re.findall(r"^\| `(\w+)/`", table, re.MULTILINE)) == folders
