"""Patterns of `.gitignore`: what git's manual says, one by one, and what git itself says of random ones."""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from ptxloom.settings.git import forget, ignored_by
from ptxloom.settings.patterns import Patterns

if TYPE_CHECKING:
    from pathlib import Path

GIT = shutil.which("git")
TOKENS = [
    *"ab#! ?",
    "ab",
    "*",
    "**",
    "***",
    "[ab]",
    "[!a]",
    "[a-c]",
    "[b-a]",
    "[]a]",
    "[",
    "\\*",
    "\\ ",
    "a*",
    "*.x",
    "a.x",
]
NAMES = ["a", "b", "ab", "abc", "c", "a.x", "b.x", "]", "*"]


@pytest.mark.parametrize(
    ("lines", "path", "folder", "said"),
    [
        (["# a"], "# a", False, None),
        (["\\#a"], "#a", False, True),
        ([""], "a", False, None),
        (["a "], "a", False, True),
        (["a\\ "], "a ", False, True),
        (["*.ptx", "!k.ptx"], "d/k.ptx", False, False),
        (["!k.ptx", "*.ptx"], "d/k.ptx", False, True),
        (["build/"], "build", False, None),
        (["build/"], "x/build", True, True),
        (["/build"], "x/build", True, None),
        (["x/build"], "y/x/build", True, None),
        (["**/x/build"], "y/x/build", True, True),
        (["x/**"], "x", True, None),
        (["x/**"], "x/y/z", False, True),
        (["a/**/b"], "a/b", False, True),
        (["a/**/b"], "a/x/y/b", False, True),
        (["a*b"], "a/b", False, None),
        (["[", "a"], "a", False, True),
    ],
)
def test_what_the_manual_says(lines: list[str], path: str, folder: bool, said: bool | None) -> None:
    assert Patterns.of(lines).says(path, folder=folder) is said


def test_what_lies_in_a_folder_that_is_matched_is_covered() -> None:
    assert Patterns.of(["build/"]).cover("a/build/b/k.ptx")
    assert not Patterns.of(["build/"]).cover("a/build")


@pytest.mark.oracle
@pytest.mark.skipif(GIT is None, reason="git is not installed")
@pytest.mark.parametrize("seed", range(12))
def test_git_says_the_same_of_random_patterns(tmp_path: Path, seed: int) -> None:
    made = random.Random(seed)
    lines = [
        made.choice(["", "", "!"])
        + made.choice(["", "", "/"])
        + "/".join("".join(made.choices(TOKENS, k=made.randint(1, 2))) for _ in range(made.randint(1, 3)))
        + made.choice(["", "", "/", " "])
        for _ in range(4)
    ]
    paths = {"/".join(made.choices(NAMES, k=made.randint(1, 3))) for _ in range(20)}
    leaves = sorted(path for path in paths if not any(other.startswith(f"{path}/") for other in paths))
    for path in leaves:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "--stdin", "-z"]
    told = subprocess.run(asked, input="\0".join(leaves).encode(), capture_output=True, check=False).stdout
    patterns = Patterns.of(lines)
    assert [path for path in leaves if patterns.cover(path)] == [
        path for path in leaves if path in told.decode().split("\0")
    ]


def test_nearer_files_of_patterns_come_first_and_none_count_outside_of_a_repository(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("*.ptx\n", encoding="utf-8")
    (inner / ".gitignore").write_text("!kept.ptx\n", encoding="utf-8")
    forget()
    assert ignored_by(inner / "k.ptx", folder=False) is None
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("private/\n", encoding="utf-8")
    forget()
    assert ignored_by(inner / "k.ptx", folder=False) == tmp_path / ".gitignore"
    assert ignored_by(inner / "kept.ptx", folder=False) is None
    assert ignored_by(inner / "private", folder=True) == tmp_path / ".git" / "info" / "exclude"
