"""What the editors' files say is what the server and the instruction set say."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from corpus_files import CorpusFile, corpus_files
from ptxloom import __version__
from ptxloom.checker import Selection
from ptxloom.diagnostics import UsageError
from ptxloom.lsp.settings import Settings, read_settings
from ptxloom.syntax import instructions, parse
from tool_modules import loaded

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[3]
VSCODE = ROOT / "editors" / "vscode"


def script() -> ModuleType:
    """The script that writes the grammar."""
    return loaded(ROOT / "tools" / "editors" / "grammar.py")


def test_the_grammars_are_those_of_the_data() -> None:
    files: dict[Path, str] = script().files()
    assert {str(path.relative_to(ROOT / "editors")) for path in files} == {
        "vim/syntax/ptx.vim",
        "vscode/syntaxes/ptx.tmLanguage.json",
    }
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("file", corpus_files()[::20], ids=lambda file: file.name)
def test_the_grammar_knows_every_instruction(file: CorpusFile) -> None:
    patterns: list[dict[str, Any]] = script().textmate()["patterns"]
    [opcode] = [one["match"] for one in patterns if "1" in one.get("captures", {}) and "ldmatrix" in one["match"]]
    matches = re.compile(opcode)
    module = parse(file.read())
    for one in instructions(module):
        spelling = ".".join((one.opcode, *one.qualifiers))
        found = matches.match(f"{spelling} x")
        assert found is not None
        assert found[0] == spelling


def test_the_extension_offers_the_settings_that_the_server_reads() -> None:
    package: Any = json.loads((VSCODE / "package.json").read_text(encoding="utf-8"))
    offered: dict[str, Any] = package["contributes"]["configuration"]["properties"]
    default = {name.removeprefix("ptxloom."): one["default"] for name, one in offered.items()}
    assert default.pop("command") == ["ptxloom", "lsp"]
    assert read_settings(default, Settings()) == Settings()
    chosen = {
        "target": "sm_90a",
        "ptxVersion": "9.0",
        "select": ["missing-*"],
        "ignore": ["no-form"],
        "inlayHints": True,
    }
    assert set(chosen) == set(default)
    wanted = Settings("sm_90a", "9.0", Selection(("missing-*",), ("no-form",)), inlay_hints=True)
    assert read_settings(chosen, Settings()) == read_settings({"ptxloom": chosen}, Settings()) == wanted
    assert package["version"] == __version__


@pytest.mark.parametrize(
    "options",
    [
        {"target": 9},
        {"target": "h100"},
        {"ptxVersion": "nine"},
        {"select": "all"},
        {"ignore": [1]},
        {"inlayHints": "yes"},
        {"ignore": ["no-rule"]},
    ],
)
def test_settings_that_mean_nothing_are_refused(options: object) -> None:
    with pytest.raises(UsageError):
        read_settings(options, Settings())


def test_what_is_no_table_changes_nothing() -> None:
    default = Settings(target="sm_80")
    assert read_settings(None, default) is default
    assert read_settings([], default) is default
    assert read_settings({}, default) == default


def test_the_snippets_start_the_server() -> None:
    helix = tomllib.loads((ROOT / "editors" / "helix" / "languages.toml").read_text(encoding="utf-8"))
    assert helix["language-server"]["ptxloom"] == {"command": "ptxloom", "args": ["lsp"]}
    neovim = (ROOT / "editors" / "neovim" / "ptxloom.lua").read_text(encoding="utf-8")
    assert '{ "ptxloom", "lsp" }' in neovim
    [first, second] = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8").split("- id: ")[1:]
    assert "entry: ptxloom check\n" in first
    assert "entry: ptxloom fmt --write\n" in second
