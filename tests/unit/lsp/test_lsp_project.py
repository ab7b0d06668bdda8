"""The language server judges a file as its project says, where no client overrides it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pytest_lsp", reason="pytest-lsp, which brings pygls, is not installed")

from lsprotocol import types

from lsp_client import DIAGNOSTICS, session
from ptxloom.checker import Selection
from ptxloom.lsp.settings import Settings, above_project
from ptxloom.settings import found

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_lsp import LanguageClient

BROKEN = (
    ".version 9.0\n.target sm_90\n.entry k() {\n"
    ".reg .b32 a; .reg .b64 b;\nldmatrix.sync.m8n8.x1.b16 {a}, [b];\nret;\n}\n"
)


def project(tmp_path: Path, text: str) -> found.Settings:
    (tmp_path / "ptxloom.toml").write_text(text, encoding="utf-8")
    found.forget()
    return found.settings_for(tmp_path / "k.ptx")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Settings(), Settings("sm_80", "8.0", Selection(("missing-*",), ("sink", "missing-trans")))),
        (Settings(target="sm_90"), Settings("sm_90", "8.0", Selection(("missing-*",), ("sink", "missing-trans")))),
        (Settings(ptx_version="9.0"), Settings("sm_80", "9.0", Selection(("missing-*",), ("sink", "missing-trans")))),
        (
            Settings(selection=Selection.of(ignore=["no-form"])),
            Settings("sm_80", "8.0", Selection((), ("no-form", "missing-trans"))),
        ),
    ],
)
def test_what_is_asked_comes_first(tmp_path: Path, asked: Settings, expected: Settings) -> None:
    said = project(
        tmp_path,
        'target = "sm_80"\nptx-version = "8.0"\nselect = ["missing-*"]\nignore = ["sink"]\n'
        '[per-file-ignores]\n"k.ptx" = ["missing-trans"]\n',
    )
    assert above_project(asked, said, tmp_path / "k.ptx") == expected


@pytest.mark.parametrize(
    ("text", "rules"),
    [('ignore = ["missing-aligned"]', set[str]()), ("", {"missing-aligned"}), ("x = 1", {"missing-aligned"})],
)
def test_a_file_is_judged_as_its_project_says(tmp_path: Path, text: str, rules: set[str]) -> None:
    project_file = tmp_path / "ptxloom.toml"
    project_file.write_text(text, encoding="utf-8")
    uri = (tmp_path / "k.ptx").as_uri()

    async def body(client: LanguageClient) -> None:
        item = types.TextDocumentItem(uri=uri, language_id="ptx", version=1, text=BROKEN)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await client.wait_for_notification(DIAGNOSTICS)
        assert {one.code for one in client.diagnostics[uri]} == rules
        assert bool(client.messages) == text.startswith("x")
        assert all("means nothing" in one.message for one in client.messages)

    session(body)
