"""A text of a megabyte, served while it is edited: everything an editor asks between two keystrokes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pytest_lsp", reason="pytest-lsp, which brings pygls, is not installed")

from lsprotocol import types

from lsp_client import DIAGNOSTICS, URI, edited, here, opened, place, session, span

if TYPE_CHECKING:
    from pytest_lsp import LanguageClient

EXAMPLE = Path(__file__).parents[3] / "examples" / "hgemm.ptx"
COPIES = 50
LABEL = "$L__BB0_6"
MARK = "// the one in the middle\n"


def large() -> str:
    """The example's kernel many times over, one of them marked."""
    text = EXAMPLE.read_text(encoding="utf-8")
    start = text.index(".visible .entry")
    kernel = text[start : text.index("\n}\n", start) + 3]
    copies = [kernel.replace("hgemm", f"hgemm{number}") for number in range(COPIES)]
    copies[COPIES // 2] = copies[COPIES // 2].replace("\tldmatrix", f"\t{MARK}\tldmatrix", 1)
    return text + "".join(copies)


def test_a_large_text_is_served() -> None:
    text = large()
    assert len(text) > 900_000

    async def body(client: LanguageClient) -> None:
        assert not [one for one in await opened(client, text) if one.severity == types.DiagnosticSeverity.Error]
        line = place(text, MARK).line + 1
        await edited(client, 2, (span(line, 1, 9), "ldmatri"))
        at = types.Position(line, 8)
        found = await client.text_document_completion_async(types.CompletionParams(here(), at))
        assert isinstance(found, types.CompletionList)
        assert "ldmatrix" in {one.label for one in found.items}
        await client.wait_for_notification(DIAGNOSTICS)
        [wrong] = [one for one in client.diagnostics[URI] if one.severity == types.DiagnosticSeverity.Error]
        assert (wrong.code, wrong.range) == ("unknown-instruction", span(line, 1, 8))
        context = types.CodeActionContext([wrong])
        actions = await client.text_document_code_action_async(types.CodeActionParams(here(), wrong.range, context))
        assert next(one.title for one in actions or []).endswith("`ldmatrix`")
        await edited(client, 3, (span(line, 1, 8), "ldmatrix"))
        hover = await client.text_document_hover_async(types.HoverParams(here(), at))
        assert hover is not None
        assert "| T0 | 0 | T0 V0:R0 |" in str(hover.contents)
        end = place(text, f"{LABEL}:", 2)  # a label of each kernel's braces
        edit = await client.text_document_rename_async(types.RenameParams(here(), end, "$END"))
        assert edit is not None
        assert edit.changes is not None
        assert [one.range.start.line for one in edit.changes[URI]] == [214, 482]
        folds = await client.text_document_folding_range_async(types.FoldingRangeParams(here()))
        bodies = [one for one in folds or [] if one.kind == types.FoldingRangeKind.Region]
        assert len(bodies) >= COPIES + 1
        symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(here()))
        assert f"hgemm{COPIES - 1}" in {one.name for one in symbols or []}

    session(body)
