"""Every block of code in a document is run, or judged by what reads such a file; what is shown is what comes out.

`pytest tests/docs --update` rewrites what commands print; a human reads the diff.
"""

from __future__ import annotations

import ast
import doctest
import json
import linecache
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import jsonschema
import pytest
import yaml

from ptxloom.cli import main
from ptxloom.cli.command_line import VERBS
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
FOLDERS = (".", "docs", "docs/decisions", "bench", "editors", "editors/vscode", "tests")
DOCUMENTS = sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).glob("*.md"))
FENCE = re.compile(r"(?ms)^( *)```([^\n]*)\n(.*?)^ *```$")
ELSEWHERE = {"diff", "{toctree}"}
"""What something else holds to the truth: `test_documents_true.py`, and the build of the site."""


class Block(NamedTuple):
    """A block of code: the line that it begins at, its language, its text."""

    line: int
    language: str
    text: str


def blocks(name: str) -> list[Block]:
    text = (ROOT / name).read_text(encoding="utf-8")
    found = ((text.count("\n", 0, m.start()) + 1, m[2].strip().split(" ")[0], m[3], m[1]) for m in FENCE.finditer(text))
    return [Block(line, language, re.sub(rf"(?m)^{indent}", "", body)) for line, language, body, indent in found]


def cases() -> Iterator[tuple[str, str]]:
    """Each document with each language that it has blocks of."""
    for name in DOCUMENTS:
        yield from ((name, language) for language in sorted({block.language for block in blocks(name)}))


@pytest.mark.parametrize(("name", "language"), [*cases()])
def test_code_is_right(
    name: str,
    language: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(ROOT)
    own = [block for block in blocks(name) if block.language == language]
    if language == "console":
        transcripts(name, own, capsys, update=bool(request.config.getoption("--update")))
    elif language == "python":
        python(name, own)
    elif language not in ELSEWHERE:
        for block in own:
            JUDGES[language](block.text)


def transcripts(name: str, own: list[Block], capsys: pytest.CaptureFixture[str], *, update: bool) -> None:
    for block in own:
        parts = [part for part in re.split(r"(?m)^(?=\$ )", block.text) if part]
        shown = "".join(transcript(part.partition("\n")[0], capsys) for part in parts)
        if update:
            path = ROOT / name
            path.write_text(path.read_text(encoding="utf-8").replace(block.text, shown), encoding="utf-8")
        else:
            assert block.text == shown, f"{name}:{block.line}"


def transcript(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """One command with the output it has now, cut where the document cuts it."""
    assert line.startswith("$ "), line
    command, _, cut = line.removeprefix("$ ").partition(" | head -")
    program, *words = shlex.split(command)
    if program == "ptxloom":
        os.environ.pop("COLUMNS", None)  # as wide as it is, whatever pytest's workers are given
        main(words)
        printed = capsys.readouterr().out
    else:
        assert program in {"cat", "diff", "sed"}, line
        printed = subprocess.run([program, *words], capture_output=True, text=True, check=False).stdout
    lines = printed.splitlines(keepends=True)
    return f"{line}\n{''.join(lines[: int(cut)] if cut else lines)}"


def python(name: str, own: list[Block]) -> None:
    """The examples of a document, in one namespace; what is written as tests is run by pytest."""
    lacking = {package for block in own for package in imported(block.text) if find_spec(package) is None}
    if lacking:
        pytest.skip(f"{', '.join(sorted(lacking))} not installed")
    shared: dict[str, object] = {"__name__": "__main__"}
    for block in own:
        where = f"{name}:{block.line}"
        if ">>> " in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, shared, where, name, block.line)
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0, where
            shared.update(test.globs)
        elif "def test_" not in block.text:
            linecache.cache[where] = (len(block.text), None, block.text.splitlines(keepends=True), where)  # for Triton
            exec(compile(block.text, where, "exec"), shared)  # noqa: S102 - it is ours
    tests = "\n\n".join(block.text for block in own if "def test_" in block.text)
    if tests:
        pytest_runs(tests)


def imported(code: str) -> set[str]:
    """The packages that an example imports."""
    bare = "\n".join(
        line.removeprefix(">>> ") for line in code.splitlines() if line.lstrip(">. ").startswith(("import ", "from "))
    )
    nodes = ast.walk(ast.parse(bare))
    return {
        alias.partition(".")[0]
        for node in nodes
        for alias in (
            [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }


def pytest_runs(tests: str) -> None:
    """The tests that a page shows pass where the page's reader runs them: in the repository's root."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "test_page.py"
        path.write_text(tests, encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--rootdir={folder}",
            "-c",
            "/dev/null",
        ]
        command += ["-p", "ptxloom.pytest_plugin", "--ptxloom", "--ptxloom-update", str(path)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout


def shell(text: str) -> None:
    """Commands that are typed once: their programs, targets and extras exist."""
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in text.splitlines():
        program, *words = shlex.split(line, comments=True) or ("",)
        match program.rpartition("/")[2]:
            case "make":
                assert all(re.search(rf"(?m)^{word}:", made) for word in words), line
            case "pip":
                extras = [extra for word in words for extra in re.findall(r"(?:^\.|ptxloom)\[([\w,]+)\]", word)]
                assert {one for extra in extras for one in extra.split(",")} <= {*project["optional-dependencies"]}, (
                    line
                )
            case "ptxloom":
                assert words[0] in VERBS, line
            case other:
                assert other in {"", "cd", "cp", "docker", "git", "ln", "npm", "npx", "pytest", "python", "code"}, line


def ptx(text: str) -> None:
    assert parse(text).diagnostics == ()


def toml(text: str) -> None:
    table = tomllib.loads(text)
    if "ptx" in table:
        jsonschema.validate(table, json.loads((ROOT / "docs/launch-file.schema.json").read_text(encoding="utf-8")))


def picture(command: str) -> None:
    """The command draws, by the function that the site is built with: the picture for dark pages."""
    sys.path.insert(0, str(ROOT / "tools" / "docs"))
    try:
        draw = __import__("drawing").draw
    finally:
        del sys.path[0]
    with TemporaryDirectory() as folder:
        made = draw(command.strip(), Path(folder), ("only-dark",))
        assert [path.read_text(encoding="utf-8")[:4] for path in made.values()] == ["<svg"]


JUDGES: dict[str, Callable[[str], object]] = {
    "{picture}": picture,
    "sh": shell,
    "ptx": ptx,
    "toml": toml,
    "yaml": yaml.safe_load,
    "json": json.loads,
}
"""By language, what finds fault with a block; a language that is not here has no place in a document."""
