"""`ptxloom check --select --ignore`: which rules are reported, and what that does to the exit code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TEXT = """.version 9.0
.target sm_90
.entry k() {
.reg .b32 a; .reg .b64 b;
ldmatrix.sync.m8n8.x1.b16 {a}, [b];
ldmatrix.sync.aligned.m8n8.x1.b16 a, [b];
ret;
}
"""


@pytest.fixture
def broken(tmp_path: Path) -> str:
    path = tmp_path / "broken.ptx"
    path.write_text(TEXT)
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ([], ["missing-aligned", "missing-braces"]),
        (["--select", "missing-aligned"], ["missing-aligned"]),
        (["--select", "missing-*"], ["missing-aligned", "missing-braces"]),
        (["--ignore", "missing-aligned"], ["missing-braces"]),
        (["--select", "missing-*", "--ignore", "missing-braces"], ["missing-aligned"]),
        (["--ignore", "missing-aligned,missing-braces"], []),
        (["--ignore", "missing-aligned", "--ignore", "missing-braces"], []),
        (["--select", "unused-ignore"], []),
    ],
)
def test_only_what_is_selected_is_told(run: Run, broken: str, arguments: list[str], rules: list[str]) -> None:
    ran = run("check", broken, "--output-format", "concise", *arguments)
    assert [line.rpartition("[")[2].rstrip("]") for line in ran.out.splitlines()] == rules
    assert ran.code == bool(rules)


def test_a_rule_that_is_none_is_an_error(run: Run, broken: str) -> None:
    ran = run("check", broken, "--ignore", "missing-brace")
    assert ran.code == 2
    assert "did you mean `missing-braces`?" in ran.err


def test_a_comment_silences_on_the_command_line_too(run: Run, broken: str) -> None:
    text = Path(broken).read_text().replace("];", "]; // ptxloom: ignore")
    Path(broken).write_text(text)
    assert run("check", broken).code == 0
