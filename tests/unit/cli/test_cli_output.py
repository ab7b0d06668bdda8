"""Where results go, and when they are coloured."""

import io
import sys

import pytest

from ptxloom.cli.command_line import read_arguments
from ptxloom.cli.results.output import style_for


class Terminal(io.StringIO):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ([], {}, True),
        (["--color", "never"], {}, False),
        (["-o", "out.txt"], {}, False),
        (["-o", "out.txt", "--color", "always"], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"NO_COLOR": ""}, True),
        ([], {"TERM": "dumb"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
    ],
)
def test_colour_on_a_terminal(
    arguments: list[str], environment: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert style_for(read_arguments(["map", "x", *arguments])).colour is coloured


def test_no_colour_into_a_file_or_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert not style_for(read_arguments(["map", "x"])).colour
