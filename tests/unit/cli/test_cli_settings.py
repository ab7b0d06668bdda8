"""`ptxloom.toml` and `[tool.ptxloom]`: which count for a file, what the command line changes, what a slip gets."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from ptxloom.cli.sources.project import forget
from ptxloom.settings.keys import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]

BROKEN = """.version 9.0
.target sm_90
.entry k() {
.reg .b32 a; .reg .b64 b;
ldmatrix.sync.m8n8.x1.b16 {a}, [b];
ldmatrix.sync.aligned.m8n8.x1.b16 a, [b];
ret;
}
"""
BOTH = ["missing-aligned", "missing-braces"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two broken files, one of them in `generated`, in which the command runs."""
    (tmp_path / "generated").mkdir()
    for name in ("k.ptx", "generated/g.ptx"):
        (tmp_path / name).write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    forget()
    return tmp_path


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    forget()


def told(run: Run, *arguments: str) -> list[str]:
    """The rules told of each file, as `file rule`."""
    found: list[dict[str, Any]] = json.loads(run("check", *arguments, "--output-format", "json").out)
    return [f"{one['file']} {one['rule']}" for one in found]


def rules(run: Run, *arguments: str) -> list[str]:
    return [one.partition(" ")[2] for one in told(run, *arguments)]


@pytest.mark.parametrize(
    ("text", "arguments", "left"),
    [
        ('ignore = ["missing-braces"]', [], BOTH[:1]),
        ('select = ["missing-braces"]', [], BOTH[1:]),
        ('ignore = ["missing-braces"]', ["--ignore", "missing-aligned"], []),
        ('ignore = ["missing-braces"]', ["--select", "missing-*"], BOTH),
        ('select = ["missing-braces"]', ["--select", "missing-aligned"], BOTH[:1]),
        ('ignore = ["missing-*"]', ["--isolated"], BOTH),
        ('[per-file-ignores]\n"k.ptx" = ["missing-*"]', [], []),
        ('[per-file-ignores]\n"g*/" = ["missing-*"]', [], BOTH),
        ('[per-file-ignores]\n"k.ptx" = ["missing-aligned"]', ["--select", "missing-*"], BOTH[1:]),
        ('target = "sm_70"', [], ["missing-aligned", "needs-target", "missing-braces"]),
        ('target = "sm_70"', ["--target", "sm_90"], BOTH),
        ('ptx-version = "6.0"', ["--ptx-version", "9.0"], BOTH),
    ],
)
def test_settings_and_what_the_command_line_says_come_together(
    run: Run, project: Path, text: str, arguments: list[str], left: list[str]
) -> None:
    write(project / "ptxloom.toml", text)
    assert sorted(rules(run, "k.ptx", *arguments)) == sorted(left)


def test_the_nearest_file_counts_and_its_own_name_comes_before_pyproject(run: Run, project: Path) -> None:
    write(project / "pyproject.toml", '[tool.ptxloom]\nignore = ["missing-aligned"]')
    assert told(run, ".") == ["generated/g.ptx missing-braces", "k.ptx missing-braces"]
    write(project / "generated" / "ptxloom.toml", 'ignore = ["missing-braces"]')
    assert told(run, ".") == ["generated/g.ptx missing-aligned", "k.ptx missing-braces"]
    write(project / "ptxloom.toml", 'ignore = ["missing-*"]')
    assert told(run, ".") == ["generated/g.ptx missing-aligned"]
    assert told(run, ".", "--config", "pyproject.toml") == ["generated/g.ptx missing-braces", "k.ptx missing-braces"]
    write(project / "generated" / "pyproject.toml", "[project]\nname = 'other'")
    assert told(run, ".") == ["generated/g.ptx missing-aligned"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ignor = []", "the file holds 'ignor', which means nothing; did you mean ignore?"),
        ('select = "missing-trans"', "the file has select = 'missing-trans'; it must be texts in brackets"),
        ('ignore = ["missing-tran"]', "did you mean `missing-trans`?"),
        ('per-file-ignores = { "a" = ["nonsense"] }', "ignore is 'nonsense'; it must be a rule's id"),
        ('target = "hopper"', "target is 'hopper'; it must be"),
        ('ptx-version = "new"', "ptx_version is 'new'; it must be"),
        (
            'ptx-version = "99999999999999999999.9"',
            "ptx_version is '99999999999999999999.9'; it must be a version such",
        ),
        ("respect-gitignore = 1", "has respect-gitignore = 1; it must be true or false"),
        ("target = ", "this is not TOML"),
        ("a = " + "[" * 5000, "TOML"),
    ],
)
def test_a_slip_is_a_sentence_that_names_the_file(run: Run, project: Path, text: str, said: str) -> None:
    write(project / "ptxloom.toml", text)
    ran = run("check", "k.ptx")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"ptxloom: {project}/ptxloom.toml: ")
    assert said in ran.err.replace("nested too deeply", "TOML")


def test_a_table_that_is_none_is_told_in_pyproject(run: Run, project: Path) -> None:
    write(project / "pyproject.toml", "[tool]\nptxloom = 1")
    assert "tool.ptxloom is 1; it must be a table" in run("check", "k.ptx").err
    write(project / "pyproject.toml", "[tool.ptxloom]\nselekt = []")
    assert "tool.ptxloom holds 'selekt', which means nothing; did you mean select?" in run("check", "k.ptx").err


@pytest.mark.parametrize(
    "arguments",
    [["--exclude", "generated"], ["--exclude", "g.ptx"], ["--exclude", "*/g*"], ["--exclude", "generated/"]],
)
def test_excluded_files_are_passed_over_in_folders(run: Run, project: Path, arguments: list[str]) -> None:
    assert {one.split()[0] for one in told(run, str(project), *arguments)} == {f"{project}/k.ptx"}
    assert rules(run, "generated/g.ptx", *arguments) == BOTH
    ran = run("check", "generated", "--exclude", "*.ptx")
    assert ran.code == 2
    assert ran.err.endswith(
        "there is no .ptx or .cu file in this directory that is not left out (1 is; -v tells why)\n"
    )


def test_exclude_in_settings_is_relative_to_them(run: Run, project: Path) -> None:
    write(project / "ptxloom.toml", 'exclude = ["/generated"]')
    assert {one.split()[0] for one in told(run, ".")} == {"k.ptx"}
    write(project / "ptxloom.toml", 'exclude = ["/g.ptx"]')
    assert {one.split()[0] for one in told(run, ".")} == {"k.ptx", "generated/g.ptx"}


def test_what_git_ignores_is_passed_over_unless_that_is_not_wanted(run: Run, project: Path) -> None:
    subprocess.run(["git", "init", "-q", project], check=True)
    write(project / ".gitignore", "generated/\n")
    assert {one.split()[0] for one in told(run, ".")} == {"k.ptx"}
    assert len(told(run, ".", "--no-respect-gitignore")) == 4
    assert rules(run, "generated") == BOTH
    write(project / "ptxloom.toml", "respect-gitignore = false")
    assert len(told(run, ".")) == 4


def test_verbose_tells_which_settings_count_and_what_is_left_out(run: Run, project: Path) -> None:
    write(project / "ptxloom.toml", 'exclude = ["generated"]')
    said = run("check", ".", "-v").err.splitlines()
    assert said[:2] == ["ptxloom: settings: ptxloom.toml", "ptxloom: left out: generated (exclude in the settings)"]
    assert run("check", ".").err == "2 errors in 1 file; ptxloom.toml leaves out 1\n"


def test_standard_input_goes_by_a_name(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project / "generated" / "ptxloom.toml", 'ignore = ["missing-braces"]')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BROKEN.encode())))
    assert told(run, "-", "--stdin-filename", "generated/new.ptx") == ["generated/new.ptx missing-aligned"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BROKEN.encode())))
    assert "ldmatrix.sync.aligned.m8n8.x1.b16 {a}" in run("check", "-", "--stdin-filename", "n.ptx", "--fix").out
    assert not (project / "n.ptx").exists()


def test_the_schema_accepts_what_counts_and_refuses_slips(run: Run) -> None:
    known: Any = json.loads(run("check", "--settings-schema").out)
    jsonschema.Draft202012Validator.check_schema(known)
    judge: Any = jsonschema.Draft202012Validator(known)
    assert set(known["properties"]) == {key.name for key in SETTINGS.keys}
    assert judge.is_valid({"target": "sm_90a", "per-file-ignores": {"a": ["x"]}, "exclude": ["b"], "ignore": []})
    assert not judge.is_valid({"targets": "sm_90a"})
    assert not judge.is_valid({"ignore": "missing-trans"})
    assert not judge.is_valid({"per-file-ignores": {"a": "x"}})


def test_a_file_that_hides_findings_is_named_in_the_summary(run: Run, project: Path) -> None:
    assert "ptxloom.toml" not in run("check", "k.ptx").err
    write(project / "ptxloom.toml", 'ignore = ["missing-braces"]\nexclude = ["generated/"]')
    assert run("check", "k.ptx").err == "1 error in 1 file; ptxloom.toml hides 1 more\n"
    assert run("check", ".").err.endswith("; ptxloom.toml hides 1 more; ptxloom.toml leaves out 1\n")
    assert "ptxloom.toml" not in run("check", "k.ptx", "--ignore", "missing-braces").err
    assert "ptxloom.toml" not in run("check", "k.ptx", "--config", "ptxloom.toml").err


def test_settings_above_the_repository_do_not_count(run: Run, project: Path) -> None:
    write(project / "ptxloom.toml", 'ignore = ["missing-*"]')
    write(project / "pyproject.toml", "[tool.ptxloom]\nignore = ['missing-*']")
    assert rules(run, "generated/g.ptx") == []
    (project / "generated" / ".git").mkdir()
    forget()
    ran = run("check", "generated/g.ptx", "generated/g.ptx")
    assert ran.code == 1
    sentence = "ptxloom: {0} does not count: {0} is above the repository; `--config FILE` has it count\n"
    told = [sentence.format(project / name) for name in ("ptxloom.toml", "pyproject.toml")]
    assert ran.err.startswith("".join(told))
    assert ran.err.count("does not count") == 2
    write(project / "generated" / "ptxloom.toml", 'ignore = ["missing-*"]')
    assert rules(run, "generated/g.ptx") == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
@pytest.mark.parametrize("name", ["ptxloom.toml", "pyproject.toml"])
def test_settings_that_others_can_write_do_not_count(run: Run, project: Path, name: str) -> None:
    table = "[tool.ptxloom]\n" if name == "pyproject.toml" else ""
    write(project / name, f"{table}ignore = ['missing-*']")
    assert rules(run, "k.ptx") == []
    (project / name).chmod(0o666)
    forget()
    ran = run("check", "k.ptx")
    assert ran.code == 1
    assert f"{name} does not count: {project / name} can be written by others" in ran.err
    (project / name).write_text("[[[ no TOML")
    forget()
    ran = run("check", "k.ptx")
    assert (ran.code, "does not count" in ran.err) == (1, name == "ptxloom.toml")
    (project / name).write_text(f"{table}ignore = ['missing-*']")
    (project / name).chmod(0o644)
    if os.geteuid() == 0:
        os.chown(project / name, 54321, 54321)
        forget()
        ran = run("check", "k.ptx")
        assert ran.code == 1
        assert "belongs to another user" in ran.err
