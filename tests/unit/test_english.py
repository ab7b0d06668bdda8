"""Plain English in docstrings, comments, messages and pages: phrases that are never right, each with what to write."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
TEXTS: Final = tuple(
    sorted(
        [
            path
            for path in (ROOT / "src" / "ptxloom").rglob("*")
            if path.suffix in {".py", ".toml", ".md", ".c", ".h"} and path.is_file()
        ]
        + list((ROOT / "docs").rglob("*.md"))
        + [ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")]
    )
)
#: Programs of which docstrings and comments are read: their strings are names of cases, and input.
PROGRAMS: Final = tuple(
    path
    for folder in ("tests", "tools", "bench")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path != Path(__file__)
)
PAGES: Final = tuple(sorted([*(ROOT / "tests" / "spec").glob("*.md"), *(ROOT / "bench").glob("*.md")]))
NEVER: Final = {
    r"(?<!here )\b(?:is|are|was|were) none\b(?! of\b)": "`none` is not a noun: `does not exist`, `has no ...`",
    r"\b[Ss]o many\b(?! that\b| as\b| more\b)": "name the number: `count`, `n`, or `a number of`",
    r"\b[Nn]obody\b": "there is no person: `no other code`, `unwritten`, `never read`",
    r"\bas [\w`'. ]{1,30} (?:has|have|wants?) it\b": "`as in ...`, or `in the form of ...`",
    r"\b(?:is|are|was|were) told\b(?! apart\b)": "name who reports or passes it: `is reported`, `receives`",
    r"\b[Ww]hat (?:is|are|was) (?:said|told)\b": "name it: `the report`, `the declaration`",
    r"\btold apart\b": "`distinguished`",
    r"\ball the same\b": "`anyway`",
    r"\b[Bb]ut for\b(?! this\b)": "`except for`",
    r"\bpass(?:ed|es) over\b": "`skipped`, `ignored`",
    r"\bThere (?:is|are) (?:one|none)\.": "say of what: `ptxloom has one device`",
    r"\bany more\b": "`no longer`",
    r"\bgives? back\b": "functions return; memory is released",
    r"\bspeaks? of\b": "`describes`",
    r"\bof whom\b|\bthereof\b|\bwhereby\b": "two sentences",
    r"\bin the eyes of\b": "`racecheck's model of`, `for synccheck`",
    r"\bfound out\b": "`determined`, `computed once`",
    r"\bof its own accord\b": "`voluntarily`",
    r"\bput aside\b": "`staged`, `stored`",
    r"\b(?:a fault|faults) of ours\b": "`a bug in ptxloom`",
    r"\bof long ago\b": "`old`",
    r"\blooked into\b": "`opaque`, `examined`",
    r"\bcomes? by here\b": "`reaches this`, `imports this module`",
}
#: Phrases that are seldom right in sources and pages, with the most times that they may stand there: lower it with each
#: one that is mended.
AT_MOST: Final = {
    r"\b(?:is|are|was|were) asked\b": 60,
    r"\b(?:goes|go|went) on\b": 65,
    r"\b(?:lie|lies|lay)\b": 88,
    r"\bis no [a-z]+\b": 200,
    r"\bbehind\b": 300,
    r"\bwhich on\b": 10,
    r"\bheld? against\b": 6,
    r"\bHow many\b": 130,
    r"\bof which\b": 110,
    r"\banew\b": 22,
    r"\bworked out\b": 18,
    r"\bstands? (?:for|at|in|behind|before)\b": 180,
    r"\ba bit a lane\b|\bone a lane\b|\ba (?:word|line|bit|byte|value) a [a-z]+\b": 15,
}


def found(text: str) -> list[tuple[str, str]]:
    """The phrases of a text that are never right, with what to write instead."""
    flat = re.sub(r"\s+(?:(?:#|//|\*) )?", " ", text)
    return [(match.group(), instead) for phrase, instead in NEVER.items() for match in re.finditer(phrase, flat)]


def prose(text: str) -> Iterator[str]:
    """Docstrings and comments of a program."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def test_no_text_has_a_phrase_that_is_never_right() -> None:
    """Sources and pages."""
    wrong = [
        f"{path.relative_to(ROOT)}: {phrase!r}: {instead}"
        for path in (*TEXTS, *PAGES)
        for phrase, instead in found(path.read_text("utf-8"))
    ]
    assert not wrong, "\n".join(wrong)


def test_nor_has_what_explains_a_program() -> None:
    """Tests, tools and benchmarks."""
    wrong = [
        f"{path.relative_to(ROOT)}: {phrase!r}: {instead}"
        for path in PROGRAMS
        for text in prose(path.read_text("utf-8"))
        for phrase, instead in found(text)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("phrase", AT_MOST)
def test_what_is_seldom_right_becomes_rarer(phrase: str) -> None:
    """Sources and pages, the changelog apart."""
    texts = (
        re.sub(r"\s+(?:(?:#|//|\*) )?", " ", path.read_text("utf-8")) for path in TEXTS if path.stem != "CHANGELOG"
    )
    assert sum(len(re.findall(phrase, text)) for text in texts) <= AT_MOST[phrase]


@pytest.mark.parametrize(
    "text",
    [
        "A matrix that is none.",
        "Copies so\n    # many bytes.",
        "Memory that nobody wrote.",
        "The box as a tensor map has it.",
        "The server is told of it.",
    ],
)
def test_such_a_phrase_is_found(text: str) -> None:
    """Also across lines of a comment."""
    assert found(text)


@pytest.mark.parametrize(
    "text", ["None if there is none.", "is None", "so many that it ends", "Arrays are none of the inputs."]
)
def test_a_phrase_that_is_right_is_not(text: str) -> None:
    """Words that only look alike."""
    assert not found(text)
