"""Running a command as a user does, without a new process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from ptxloom.cli import main


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """The width of results is not set, whatever ran before."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def _run(*arguments: str) -> Ran:
        return run_captured(arguments, capsys)

    return _run


def run_captured(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> Ran:
    try:
        code = main(arguments)
    except SystemExit as exit_:  # argparse leaves this way
        code = int(exit_.code or 0)
    captured = capsys.readouterr()
    return Ran(code, captured.out, captured.err)
