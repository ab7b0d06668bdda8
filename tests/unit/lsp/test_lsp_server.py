"""The server over standard input and output, driven by a client that is not ours."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from lsp_text import KERNEL

pytest.importorskip("pytest_lsp", reason="pytest-lsp, which brings pygls, is not installed")

from lsprotocol import types

from lsp_client import DIAGNOSTICS, URI, edited, here, opened, place, session, span

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_lsp import LanguageClient


def test_findings_follow_the_typing() -> None:
    async def body(client: LanguageClient) -> None:
        faded = await opened(client, KERNEL)
        assert {one.severity for one in faded} == {types.DiagnosticSeverity.Hint}
        assert [one.code for one in faded] == ["unused-name", "unused-name", "unreachable-code"]
        assert all([*(one.tags or ())] == [types.DiagnosticTag.Unnecessary] for one in faded)
        line = KERNEL[: KERNEL.index("ldmatrix")].count("\n")
        await edited(client, 2, (span(line, 4, 12), "ldmatrx"))
        await edited(client, 3, (span(line, 4, 11), "ldmatri"))
        await client.wait_for_notification(DIAGNOSTICS)
        [finding] = [one for one in client.diagnostics[URI] if one.severity == types.DiagnosticSeverity.Error]
        assert (finding.code, finding.source, finding.range) == ("unknown-instruction", "ptxloom", span(line, 4, 11))
        actions = await client.text_document_code_action_async(
            types.CodeActionParams(here(), finding.range, types.CodeActionContext([finding]))
        )
        [repair] = [one for one in actions or [] if isinstance(one, types.CodeAction) and one.is_preferred]
        assert repair.edit is not None
        assert repair.edit.changes is not None
        [edit] = repair.edit.changes[URI]
        await edited(client, 4, (edit.range, edit.new_text))
        await client.wait_for_notification(DIAGNOSTICS)
        assert list(client.diagnostics[URI]) == faded
        client.text_document_did_close(types.DidCloseTextDocumentParams(here()))

    session(body)


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 17), ("utf-16", 15), ("utf-32", 14)])
def test_columns_are_counted_as_the_client_counts_them(encoding: str, column: int) -> None:
    async def body(client: LanguageClient) -> None:
        text = ".version 9.0\n.target sm_90\n/* 𝄞 */ /* */ nop;\n"
        finding = next(one for one in await opened(client, text) if one.code == "unknown-instruction")
        assert finding.range.start == types.Position(2, column)
        await edited(client, 2, (span(2, column - 1, column), "\u2028\f\x1c"), (span(0, 0, 0), "// 𝄞𝄞\r\n"))
        await client.wait_for_notification(DIAGNOSTICS)
        rules = [one.code for one in client.diagnostics[URI]]
        assert "missing-directive" not in rules

    session(body, encodings=[encoding])


def test_everything_an_editor_asks() -> None:
    async def body(client: LanguageClient) -> None:
        await opened(client, KERNEL)
        at = place(KERNEL, "mov.u32 %r1", 9)
        hover = await client.text_document_hover_async(types.HoverParams(here(), place(KERNEL, "ldmatrix", 2)))
        assert hover is not None
        assert "| T0 | 0 | T0 V0:R0 |" in str(hover.contents)
        found = await client.text_document_definition_async(types.DefinitionParams(here(), at))
        [target] = found if isinstance(found, (list, tuple)) else []
        assert isinstance(target, types.Location)
        assert target.range.start == place(KERNEL, "%r<9>")
        read = place(KERNEL, "add.s32 %r2, %r1", len("add.s32 %r2, "))
        written = await client.text_document_definition_async(types.DefinitionParams(here(), read))
        assert written == [types.Location(URI, span(10, 17, 20))]
        declared = await client.text_document_declaration_async(types.DeclarationParams(here(), read))
        assert declared == [types.Location(URI, span(9, 14, 16))]
        context = types.ReferenceContext(include_declaration=True)
        named = await client.text_document_references_async(
            types.ReferenceParams(context=context, text_document=here(), position=at)
        )
        assert len(named or []) == 4
        marks = await client.text_document_document_highlight_async(types.DocumentHighlightParams(here(), at))
        assert [one.kind for one in marks or []] == [
            types.DocumentHighlightKind.Write,
            types.DocumentHighlightKind.Write,
            types.DocumentHighlightKind.Read,
            types.DocumentHighlightKind.Read,
        ]
        symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(here()))
        assert [one.name for one in symbols or []] == ["table", "dynamic", "twice", "k"]
        folds = await client.text_document_folding_range_async(types.FoldingRangeParams(here()))
        assert len(folds or []) == 3
        dot = place(KERNEL, "ldmatrix.sync.aligned", len("ldmatrix.sync.aligned."))
        items = await client.text_document_completion_async(types.CompletionParams(here(), dot))
        assert isinstance(items, types.CompletionList)
        assert {".m8n8", ".m16n16"} <= {one.label for one in items.items}
        comma = place(KERNEL, "add.s32 %r2, %r1", len("add.s32 %r2, "))
        told = await client.text_document_signature_help_async(types.SignatureHelpParams(here(), comma))
        assert told is not None
        assert (told.signatures[0].label, told.active_parameter) == ("add.s32 d, a, b", 1)
        opcode = types.CompletionItem("ldmatrix", kind=types.CompletionItemKind.Keyword)
        resolved = await client.completion_item_resolve_async(opcode)
        assert "## Syntax" in str(resolved.documentation)

    session(body)


def test_names_change_everywhere_or_not_at_all() -> None:
    async def body(client: LanguageClient) -> None:
        await opened(client, KERNEL)
        at = place(KERNEL, "mov.u32 %r1", 9)
        ready = await client.text_document_prepare_rename_async(types.PrepareRenameParams(here(), at))
        assert isinstance(ready, types.PrepareRenamePlaceholder)
        assert ready.placeholder == "%r"
        edit = await client.text_document_rename_async(
            types.RenameParams(text_document=here(), position=at, new_name="%i")
        )
        assert edit is not None
        assert edit.changes is not None
        assert len(edit.changes[URI]) == 10
        with pytest.raises(Exception, match="is taken"):
            await client.text_document_rename_async(
                types.RenameParams(text_document=here(), position=at, new_name="%p")
            )
        with pytest.raises(Exception, match="no name here"):
            await client.text_document_prepare_rename_async(types.PrepareRenameParams(here(), types.Position(0, 1)))

    session(body)


def test_colours_and_layout() -> None:
    async def body(client: LanguageClient) -> None:
        text = KERNEL.replace("    ", "  ")
        await opened(client, text)
        colours = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(here()))
        assert colours is not None
        some = await client.text_document_semantic_tokens_range_async(
            types.SemanticTokensRangeParams(here(), span(3, 0, 0))
        )
        assert some is not None
        assert len(some.data) < len(colours.data)
        options = types.FormattingOptions(tab_size=4, insert_spaces=False)
        edits = await client.text_document_formatting_async(types.DocumentFormattingParams(here(), options))
        assert len(edits or []) == 1
        lines = types.Range(types.Position(9, 0), types.Position(10, 0))
        edits = await client.text_document_range_formatting_async(
            types.DocumentRangeFormattingParams(here(), lines, options)
        )
        assert [one.new_text for one in edits or []] == ["\t.reg .b32 %r<3>;"]

    session(body)


def test_settings_are_heard() -> None:
    async def body(client: LanguageClient) -> None:
        [finding] = await opened(client, KERNEL)
        assert finding.code == "needs-target"
        settings = {"ptxloom": {"target": "sm_70", "ignore": ["needs-*", "un*"]}}
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        await client.wait_for_notification(DIAGNOSTICS)
        assert not client.diagnostics[URI]
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"ptxloom": {"target": "h100"}}))
        await client.wait_for_notification("window/showMessage")
        assert "sm_90a" in client.messages[-1].message

    session(body, options={"target": "sm_70", "ignore": ["un*"]})


def test_hints_are_shown_once_the_settings_want_them() -> None:
    told = asyncio.Event()

    async def body(client: LanguageClient) -> None:
        await opened(client, KERNEL)
        params = types.InlayHintParams(here(), types.Range(types.Position(0, 0), types.Position(99, 0)))
        assert not await client.text_document_inlay_hint_async(params)
        settings = {"ptxloom": {"inlayHints": True}}
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        await asyncio.wait_for(told.wait(), 60)
        found = await client.text_document_inlay_hint_async(params)
        wanted = [(f"m{at}", place(KERNEL, "{%r3, %r4", len("{%r3") + 5 * at)) for at in range(4)]
        assert [(one.label, one.position) for one in found or []] == wanted

    session(body, refreshed=told.set)


@pytest.mark.parametrize("way", ["beside", "folder"])
def test_line_information_leads_to_the_source(tmp_path: Path, way: str) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ("deep" if way == "beside" else ".") / "k.cu").write_text("")
    source = next(tmp_path.rglob("k.cu"))

    async def body(client: LanguageClient) -> None:
        uri = (tmp_path / "deep" / "k.ptx").as_uri()
        text = '.version 9.0\n.target sm_90\n.entry k() {\n/* \U0001d11e */ .loc 1 5 2\nret;\n}\n.file 1 "/x/k.cu"\n'
        item = types.TextDocumentItem(uri=uri, language_id="ptx", version=1, text=text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        params = types.DocumentLinkParams(types.TextDocumentIdentifier(uri))
        assert [*(await client.text_document_document_link_async(params) or ())] == [
            types.DocumentLink(span(6, 8, 17), source.as_uri()),
            types.DocumentLink(span(3, 9, 19), f"{source.as_uri()}#L5,2"),
        ]

    session(body, folder=tmp_path.as_uri() if way == "folder" else None)
