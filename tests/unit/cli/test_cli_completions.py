"""What shells complete, and the manual page: both name every verb and option."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from argparse_manpage.manpage import Manpage  # pyright: ignore[reportMissingTypeStubs]

from ptxloom.cli.command_line import VERBS, build_parser
from ptxloom.cli.usage.completions import SHELLS, completion

if TYPE_CHECKING:
    from argparse import ArgumentParser

Run = Callable[..., Any]

ROOT = Path(__file__).parents[3]
ASK = """
complete -p ptxloom >/dev/null || exit 1
asked=$(complete -p ptxloom | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
$asked; printf '%s\\n' "${COMPREPLY[@]}"
"""


def options() -> set[str]:
    (verbs,) = (action.choices for action in build_parser()._actions if action.dest == "verb")
    parsers = cast("dict[str, ArgumentParser]", verbs).values()
    return {option for parser in parsers for action in parser._actions for option in action.option_strings}


@pytest.mark.parametrize("shell", SHELLS)
def test_every_verb_and_option_is_completed(run: Run, shell: str) -> None:
    ran = run("--print-completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert [verb for verb in VERBS if verb not in ran.out] == []
    names = {option.lstrip("-") if shell in {"fish", "tcsh"} else option for option in options()}
    assert sorted(name for name in names if name not in ran.out) == []


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ptxloom", "expl"], {"explain"}),
        (["ptxloom", "check", "--watc"], {"--watch"}),
        (["ptxloom", "check", "--output-format", "sar"], {"sarif"}),
        (["ptxloom", "check", "--target", "sm_90"], {"sm_90", "sm_90a"}),
        (["ptxloom", "check", "--select", "missing-tr"], {"missing-trans"}),
        (["ptxloom", "check", "examples/vector_add.p"], {"examples/vector_add.ptx"}),
        (["ptxloom", "explain", "ldm"], {"ldmatrix"}),
    ],
)
def test_bash_offers(tmp_path: Path, words: list[str], offered: set[str]) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = tmp_path / "ask.bash"
    script.write_text(completion(build_parser(), "bash") + ASK, encoding="utf-8")
    done = subprocess.run(["bash", str(script), *words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {line.strip() for line in done.stdout.splitlines() if line.strip()} == offered


def test_a_shell_that_is_not_known_is_named(run: Run) -> None:
    ran = run("--print-completion", "sh")
    assert ran.code == 2
    assert "--print-completion is 'sh'; it must be bash, zsh, fish or tcsh" in ran.err


def test_the_manual_page_has_every_verb_and_option(tmp_path: Path) -> None:
    written: Any = Manpage(build_parser())
    page = str(written)
    plain = page.replace("\\-", "-").replace("\\fR", "").replace("\\fI", "").replace("\\fB", "")
    assert [verb for verb in VERBS if f"ptxloom {verb}" not in plain] == []
    assert sorted(option for option in options() if option not in {"-h", "--help"} and option not in plain) == []
    if shutil.which("groff"):
        (tmp_path / "p.1").write_text(page, encoding="utf-8")
        command = ["groff", "-man", "-Tutf8", "-ww", "-Wbreak", str(tmp_path / "p.1")]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stderr == ""
