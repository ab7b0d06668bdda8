"""What documents say beside console blocks: links lead somewhere, code runs, options exist, figures are true."""

import re
import shlex
import tomllib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from ptxloom.checker import check
from ptxloom.cli.command_line import VERBS, build_parser
from ptxloom.cli.launch_files.launch_file import read_launch
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from argparse import ArgumentParser

ROOT = Path(__file__).parents[2]
FOLDERS = (
    ".",
    "docs",
    "docs/decisions",
    "bench",
    "tests",
    "tests/kernels",
    "tests/recorded/profile",
    "editors",
    "editors/vscode",
)
DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).glob("*.md"))
TOLD = [name for name in DOCUMENTS if not name.startswith(("tests/", "bench/", "docs/decisions/", "docs/environment"))]
"""Those that tell a user what to type."""
OF_PYTEST = set(re.findall(r'"(--ptxloom[\w-]*)"', (ROOT / "src/ptxloom/pytest_plugin.py").read_text(encoding="utf-8")))
OTHERS = OF_PYTEST | {
    "--index-url",
    "--update",
    "--dump-ptx",
    "--install-extension",
    "--rm",
    "--tag",
    "--volume",
    "--query-gpu",
    "--format",
    "--junitxml",
}
"""Options of other programs that they mention."""

REFERENCE = ROOT / "docs/reference"
OF_THE_REFERENCE = set(
    re.findall(r'^    "([\w-]+)": ', (ROOT / "tools/docs/reference.py").read_text(encoding="utf-8"), re.MULTILINE)
)
"""The pages that it is made of, and folders of pages."""


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", read(name), re.DOTALL)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", read(name)):
        if "://" in target:
            continue
        path = (ROOT / name).parent.joinpath(target).resolve()
        if path.is_relative_to(REFERENCE):  # made when the site is built, and `make docs` looks for each page
            assert path.relative_to(REFERENCE).parts[0].removesuffix(".md") in OF_THE_REFERENCE, target
        else:
            assert path.exists(), target


def test_every_page_has_its_place_in_the_site() -> None:
    listed = {line for block in blocks("docs/index.md", "{toctree}") for line in block.splitlines()}
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"} <= listed


def hunks(diff: str) -> list[tuple[str, str, list[str]]]:
    """The pieces of a diff that stand together: the file, whether they are in it (" ") or not ("-"), the lines."""
    found: list[tuple[str, str, list[str]]] = []
    path, last = "", ""
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[4:]
        elif not line.startswith("@@"):
            sign = line[0].replace("+", " ")
            if sign != last:
                found.append((path, sign, []))
            found[-1][2].append(line[1:])
        last = "" if line.startswith(("+++ ", "@@")) else line[0].replace("+", " ")
    return found


def test_the_diff_of_an_instruction_is_that_of_its_files() -> None:
    pieces = [piece for block in blocks("CONTRIBUTING.md", "diff") for piece in hunks(block)]
    assert len({path for path, _, _ in pieces}) > 6
    assert len({(path, *lines) for path, _, lines in pieces}) == len(pieces), "a piece stands there twice"
    for path, sign, lines in pieces:
        text = "\n".join(lines)
        assert (f"\n{text}\n" in f"\n{read(path)}") is (sign == " "), f"{path}:\n{text}"


def test_the_diff_of_an_instruction_leaves_no_file_out() -> None:
    """Files of the package that name the instruction, its modules, effects or hazards, or the queue of clusters."""
    shown = {path for block in blocks("CONTRIBUTING.md", "diff") for path, _, _ in hunks(block)}
    words = re.compile(
        r"clusterlaunchcontrol|cluster_launch|try_cancel|\bREQUESTS\b|next_cluster|cancel the\s+launch of a cluster"
        r"|NOT_CANCELED|not-canceled|REQUESTED_AGAIN|requested-again"
    )
    package = ROOT / "src" / "ptxloom"
    files = [*package.rglob("*.py"), *package.rglob("*.toml"), *package.rglob("*.c"), *package.rglob("*.h")]
    speaking = {path.relative_to(ROOT).as_posix() for path in files if words.search(path.read_text(encoding="utf-8"))}
    assert speaking == {path for path in shown if path.startswith("src/")}


def options() -> dict[str, set[str]]:
    """By verb, what it takes."""
    (verbs,) = (action.choices for action in build_parser()._actions if action.dest == "verb")
    assert isinstance(verbs, dict)
    known = cast("dict[str, ArgumentParser]", verbs)
    return {verb: set(re.findall(r"--[a-z][a-z-]*", known[verb].format_help())) for verb in VERBS}


@pytest.mark.parametrize("name", TOLD)
def test_verbs_and_options_exist(name: str) -> None:
    known = options()
    every = set[str]().union(*known.values(), OTHERS, re.findall(r"--[a-z][a-z-]*", build_parser().format_help()))
    text = read(name)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= every
    for command in re.findall(r"(?:`|\$ )ptxloom ([a-z][^`\n]*)", text):
        verb, *words = shlex.split(command.partition(" | ")[0].partition(" -- ")[0])
        assert verb in known, command
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known[verb], command


def test_a_comment_silences_what_the_page_shows() -> None:
    (line,) = blocks("docs/continuous-integration.md", "ptx")
    head = ".version 9.0\n.target sm_90\n.entry k() {\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nmov.b64 %rd1, 0;\n"
    text = f"{head}@\nret;\n}}\n"
    silenced, loud = (check(parse(text.replace("@\n", one))) for one in (line, line.partition("//")[0]))
    assert [one.rule for one in silenced] == []
    assert [one.rule for one in loud] == ["duplicate-destination"]


def test_the_hooks_that_the_page_names_are_there() -> None:
    (page,) = (block for block in blocks("docs/continuous-integration.md", "yaml") if "hooks:" in block)
    named = re.findall(r"- id: (\S+)", page)
    assert named == re.findall(r"- id: (\S+)", read(".pre-commit-hooks.yaml"))
    entries = [shlex.split(entry) for entry in re.findall(r"entry: (.*)", read(".pre-commit-hooks.yaml"))]
    assert all(program == "ptxloom" and verb in VERBS for program, verb, *_ in entries)


def test_what_commits_are_judged_by_is_what_make_runs() -> None:
    """The hooks of this repository run the programs that `make` installs, as `make` does."""
    made = read("Makefile")
    entries = [shlex.split(entry) for entry in re.findall(r"entry: (.*)", read(".pre-commit-config.yaml"))]
    assert {program for program, *_ in entries} == {
        f".venv/bin/{name}" for name in ("ruff", "clang-format", "oxfmt", "oxlint", "lint-imports", "ptxloom")
    }
    for program, *words in entries:
        command = " ".join((f"$(BIN)/{Path(program).name}", *(word for word in words if word != "--force-exclude")))
        assert command in made or words[0] in VERBS, command


def test_every_launch_file_is_read() -> None:
    for path in (ROOT / "examples").rglob("*.toml"):
        assert read_launch(str(path)).ptx.is_file()


def test_the_figures_about_verdicts_are_those_of_the_page() -> None:
    said = re.search(r"on ([\d.]+) % of ([\d,]+) mutated instructions", read("docs/read-ptx.md"))
    row = re.search(r"(?m)^\| all \| ([\d,]+) \| [^|]+ \| (\d+) \|$", read("tests/recorded/ptxas/mutations.md"))
    assert said is not None
    assert row is not None
    cases, differ = (int(number.replace(",", "")) for number in row.groups())
    assert int(said[2].replace(",", "")) <= cases
    assert 100 * (cases - differ) / cases >= float(said[1])


def test_the_changelog_has_an_entry_to_come_and_the_version_is_one_truth() -> None:
    assert "## [Unreleased]" in read("CHANGELOG.md")
    assert "version" in tomllib.loads(read("pyproject.toml"))["project"]["dynamic"]


def test_what_the_makefile_calls_is_there() -> None:
    called = re.findall(r"--module (\S+) --function (\S+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert called
    assert all(callable(getattr(import_module(module), function)) for module, function in called)
