"""Conversations with the server over standard input and output, by a client that is not ours."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pytest_lsp", reason="pytest-lsp, which brings pygls, is not installed")

import pytest_lsp
from lsprotocol import types

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from pytest_lsp import LanguageClient

URI = "file:///a%20folder/k.ptx"
DIAGNOSTICS = "textDocument/publishDiagnostics"


@asynccontextmanager
async def connected(
    options: Any = None,
    encodings: list[str] | None = None,
    folder: str | None = None,
    refreshed: Callable[[], object] | None = None,
) -> AsyncGenerator[LanguageClient]:
    """A client with a server of its own, perhaps with a folder, perhaps one that asks for hints anew when told so."""
    client = pytest_lsp.make_test_lsp_client()
    start: Any = getattr(client, "start_io")  # noqa: B009 - its further arguments are untyped
    await start(sys.executable, "-W", "error", "-m", "ptxloom", "lsp")
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    if encodings is not None and capabilities.general is not None:
        capabilities.general.position_encodings = encodings
    if refreshed is not None and capabilities.workspace is not None:
        capabilities.workspace.inlay_hint = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
        answer: Callable[[None], object] = lambda _: refreshed()  # noqa: E731 - a type for its argument
        client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(answer)
    parameters = types.InitializeParams(
        capabilities=capabilities,
        initialization_options=options,
        workspace_folders=[types.WorkspaceFolder(folder, "work")] if folder else None,
    )
    await client.initialize_session(parameters)
    try:
        yield client
    finally:
        await client.shutdown_session()
        await client.stop()


async def opened(client: LanguageClient, text: str) -> list[types.Diagnostic]:
    """Open a text and wait for its diagnostics."""
    item = types.TextDocumentItem(uri=URI, language_id="ptx", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    await client.wait_for_notification(DIAGNOSTICS)
    return list(client.diagnostics[URI])


async def edited(client: LanguageClient, version: int, *changes: tuple[types.Range | None, str]) -> None:
    """Edit the open text."""
    made: list[Any] = [
        types.TextDocumentContentChangePartial(range=where, text=text)
        if where
        else types.TextDocumentContentChangeWholeDocument(text=text)
        for where, text in changes
    ]
    document = types.VersionedTextDocumentIdentifier(uri=URI, version=version)
    client.text_document_did_change(types.DidChangeTextDocumentParams(document, made))


def span(line: int, start: int, end: int) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, end))


def here() -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri=URI)


def place(text: str, piece: str, into: int = 0) -> types.Position:
    """The position of a piece of a text without characters beyond the basic plane."""
    before = text[: text.index(piece) + into]
    return types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)


def session(body: Callable[[LanguageClient], Awaitable[None]], **how: Any) -> None:
    """Run a test's conversation."""

    async def run() -> None:
        async with connected(**how) as client:
            await asyncio.wait_for(body(client), 120)

    asyncio.run(run())
