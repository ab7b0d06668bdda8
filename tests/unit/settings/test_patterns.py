"""Patterns of `.gitignore`: what git's manual says, one by one, and what git itself says of random ones."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from ptxloom.settings.git import forget, ignored_by
from ptxloom.settings.patterns import Patterns

if TYPE_CHECKING:
    from pathlib import Path

GIT = shutil.which("git")
OLD_STARS = re.compile(r"!?/?[^*?\[\\]*[^*?\[\\/]\*\*+(\\?/|[ \r]*$)")
TOKENS = [
    *"aab#! ?é-",
    *("ab", "*", "*", "**", "***", "/**/", "a*", "*b", "*.x", "a.x"),
    *("\\*", "\\ ", "\\/", "\\", "[", "]", "\0"),
    *("[ab]", "[!a]", "[^a]", "[a-c]", "[b-a]", "[]a]", "[!]a]", "[a-]", "[a-c-e]", "[\\]a]", "[a/b]", "[+--]", "[é]"),
    *(
        "[[:alpha:]]",
        "[[:digit:]a]",
        "[[:upper:][:punct:]]",
        "[[:nothing:]a]",
        "[[:a]",
        "[![:space:]]",
        "[[:]",
        "[[::]]",
    ),
]
NAMES = [
    "a",
    "b",
    "ab",
    "ab",
    "abc",
    "c",
    "a.x",
    "b.x",
    "]",
    "*",
    "é",
    "aé",
    "-",
    "[",
    "\\",
    "a b",
    "7",
    ":",
    "A",
    "aab",
    "a\\",
]


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


@pytest.mark.parametrize(
    ("line", "name", "matched"),
    [
        ("*a*a*b", "aab", True),
        ("*a*a*b", "ab", False),
        ("*ab", "aab", True),
        ("**/a*/**/*c", "x/ab/y/bc", True),
        ("a/**/**/b", "a/b", True),
        ("a**/b", "a/x/b", False),
        ("a**/b", "axx/b", True),
        ("?", "é", False),
        ("??", "é", True),
        ("[[:digit:]x]", "7", True),
        ("[[:digit:]x]", ":", False),
        ("[[:nonsense:]a]", "a", False),
        ("[[:a]", ":", True),
        ("[a-c-e]", "d", False),
        ("[a-c-e]", "-", True),
        ("[!a-c]", "d", True),
        ("a[!b]c", "a/c", False),
        ("x/[a/b]", "x/a", True),
        ("a\\", "a\\", False),
        ("a\0b", "a", True),
        ("a\\  ", "a ", True),
        ("a\\\\  ", "a\\", True),
    ],
)
def test_wildcards(line: str, name: str, matched: bool) -> None:
    assert bool(Patterns.of([line]).says(name)) is matched


@pytest.mark.oracle
@pytest.mark.skipif(GIT is None, reason="git is not installed")
@pytest.mark.parametrize("seed", range(8))
def test_git_says_the_same_of_random_patterns(tmp_path: Path, seed: int) -> None:
    """In many folders with patterns of their own; of `a**/b` an older git believes that it is `a/**/b`, nearly."""
    made = random.Random(seed)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    lines: dict[str, list[str]] = {}
    ours: dict[str, bool] = {}
    for folder in map(str, range(60)):
        leaves = _leaves(made, tmp_path / folder)
        lines[folder] = [_line(made, leaves) for _ in range(made.choice([1, 1, 1, 2, 4]))]
        patterns = Patterns.of(lines[folder])
        ours |= {f"{folder}/{leaf}": patterns.cover(leaf) for leaf in leaves}
        (tmp_path / folder / ".gitignore").write_text("\n".join(lines[folder]), encoding="utf-8")
    command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "--stdin", "-z"]
    asked = "\0".join(ours).encode()
    told = subprocess.run(command, input=asked, capture_output=True, check=False).stdout.decode().split("\0")
    wrong = [path for path, covered in ours.items() if covered != (path in told)]
    assert [(path, ours[path], lines[path.partition("/")[0]]) for path in wrong] == []
    assert 20 < sum(ours.values()) < len(ours) - 100


def _line(made: random.Random, leaves: list[str]) -> str:
    """A pattern drawn from nothing, or a path with some of its letters drawn anew."""
    while True:
        name = made.choice(leaves)
        parts = made.choice([name, "".join(made.choices([*NAMES, "/"], k=2))])
        line = (
            made.choice(["", "", "", "", "!"])
            + made.choice(["", "", "/", "**/"])
            + "".join(made.choice([letter, letter, letter, "*", made.choice(TOKENS)]) for letter in parts)
            + made.choice(["", "", "", "/", " ", "\r"])
        )
        if not OLD_STARS.match(line):
            return line


def _leaves(made: random.Random, folder: Path) -> list[str]:
    """Files made in a folder."""
    paths = {"/".join(made.choices(NAMES, k=made.randint(1, 3))) for _ in range(20)}
    leaves = sorted(path for path in paths if not any(other.startswith(f"{path}/") for other in paths))
    for path in leaves:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    return leaves


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
