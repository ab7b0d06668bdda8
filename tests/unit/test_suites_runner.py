"""What `make suites` says of other projects' tests: only failures that are not known are an error."""

from pathlib import Path
from types import ModuleType

import pytest

from tool_modules import loaded

TOOLS = Path(__file__).parents[2] / "tools" / "suites"
KNOWN = {"TestCopies.test_wide": "its kernel is wrong"}


@pytest.fixture
def runner() -> ModuleType:
    return loaded(TOOLS / "run.py")


def test_a_known_failure_is_no_error_and_a_new_one_is(runner: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = {
        "a.b.TestCopies.test_wide": runner.Outcome("failed", "wrong"),
        "a.b.TestCopies.test_narrow": runner.Outcome("passed"),
        "a.c": runner.Outcome("skipped", "no library"),
    }
    assert runner.row("b", "1.0", outcomes, KNOWN) == "| b | 1.0 | 1 | 1 | 1 | 1 |"
    assert runner.summary(outcomes, KNOWN) == 0
    assert "failed, as is known:\n  a.b.TestCopies.test_wide: its kernel is wrong\n" in capsys.readouterr().out
    outcomes["a.b.OtherTestCopies.test_wide"] = runner.Outcome("failed", "wrong, too")
    assert runner.row("b", "1.0", outcomes, KNOWN) == "| b | 1.0 | 1 | 2 | 1 | 1 |"
    assert runner.summary(outcomes, KNOWN) == 1
    assert "nothing is known of it:\n  a.b.OtherTestCopies.test_wide: wrong, too\n" in capsys.readouterr().out


def test_what_is_known_to_fail_and_passes_is_told(runner: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.summary({"a.b.TestCopies.test_wide": runner.Outcome("passed")}, KNOWN) == 0
    assert "known.toml says that they fail:\n  a.b.TestCopies.test_wide\n" in capsys.readouterr().out


def test_what_is_known_says_why(runner: ModuleType) -> None:
    known: dict[str, str] = runner.read_known(TOOLS / "known.toml")
    assert known
    assert all(why and "." in test for test, why in known.items())
