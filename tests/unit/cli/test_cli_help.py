"""What `--help` says is true: every example runs, every option says what it is for, every verb is described."""

import argparse
import io
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from ptxloom.cli.command_line import VERBS, build_parser
from ptxloom.cli.usage.examples import EXAMPLES, EXITS
from ptxloom.descriptors import encode_tiled

Run = Callable[..., Any]

SHOWN = Path(__file__).parents[3] / "examples"
WRONG_ALONE = {
    *("why launch.toml -o why.svg", "why -- python train.py"),
    "judge saxpy.ptx --against saxpy.py --verify v.json",
    *("fuzz --programs 64 --size 4:12", "fuzz --against gpu:0,gpu:3 --bundle found"),
    "fuzz 'add.*' 'cvt.*' --against interpreter",
    *("conform --report gpu.json", "conform 'mma.*' --full --cases 4096", "conform --verify gpu.json"),
}
"""Examples of what is not here: a kernel that is wrong, a program, a GPU and its report."""
COMMANDS = [
    command
    for name, shown in EXAMPLES.items()
    if name not in {"lsp", "exec", "mcp"}
    for command, _ in shown
    if command not in WRONG_ALONE
]


def parsers() -> dict[str, argparse.ArgumentParser]:
    (verbs,) = (action.choices for action in build_parser()._actions if action.dest == "verb")
    assert isinstance(verbs, dict)
    return cast("dict[str, argparse.ArgumentParser]", verbs)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples name."""
    (tmp_path / "kernels").mkdir()
    shutil.copy(SHOWN / "transpose.ptx", tmp_path / "kernels")
    for name in ("saxpy.ptx", "saxpy.py"):
        shutil.copy(SHOWN / name, tmp_path)
    for name in ("kernel.ptx", "old.ptx", "new.ptx"):
        shutil.copy(SHOWN / "hgemm.ptx", tmp_path / name)
    launch = (SHOWN / "hgemm.toml").read_text(encoding="utf-8").replace("hgemm.ptx", "kernel.ptx")
    (tmp_path / "launch.toml").write_text(launch, encoding="utf-8")
    made = encode_tiled("FLOAT16", 0x10000, (60, 30), (128,), (64, 8), swizzle="128B")
    (tmp_path / "map.bin").write_bytes(made.to_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_runs(run: Run, work: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setattr("webbrowser.open", bool)  # asked for an address, it says that it was shown
    if " | " in command:
        piped = io.TextIOWrapper(io.BytesIO((work / "kernel.ptx").read_bytes()))
        monkeypatch.setattr(sys, "stdin", piped)
        command = command.rpartition("ptxloom ")[2]
    ran = run(*shlex.split(command))
    assert ran.code in {0, 1}
    assert ran.code == 0 or command.startswith(("banks", "fmt --check"))
    assert "ptxloom:" not in ran.err
    assert ran.out or ran.err or list(work.glob("*.svg")) or command.startswith("diff")


def test_every_verb_has_examples_and_says_what_its_exit_codes_mean() -> None:
    assert list(EXAMPLES) == list(EXITS)
    assert set(EXAMPLES) == set(VERBS)
    for verb, shown in EXAMPLES.items():
        assert all(command.startswith(verb) or f" | ptxloom {verb}" in command for command, _ in shown)


def test_every_option_says_what_it_is_for() -> None:
    for verb, parser in parsers().items():
        for action in parser._actions:
            assert action.help, (verb, action.dest)


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_a_terminal_and_ends_with_examples(run: Run, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    ran = run(verb, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 100
    assert "\nexamples:\n" in ran.out
    assert "\nexit codes: 0 " in ran.out
    assert run("help", verb).out == ran.out


def test_help_of_everything_names_every_verb(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    ran = run("--help")
    assert run("help").out == ran.out
    assert max(map(len, ran.out.splitlines())) <= 110
    for verb, (summary, _) in VERBS.items():
        assert any(line.split()[:1] == [verb] and line.endswith(summary) for line in ran.out.splitlines())


@pytest.mark.parametrize("opens", [True, False])
def test_the_explorer_is_shown_by_the_browser_that_is_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, opens: bool
) -> None:
    asked: list[str] = []

    def browse(address: str) -> bool:
        asked.append(address)
        return opens

    monkeypatch.setattr("webbrowser.open", browse)
    target = tmp_path / "page.html"
    ran = run("web", "-o", str(target), "--open")
    assert asked == [target.as_uri()]
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert ("open it in a browser" in ran.err) is not opens
