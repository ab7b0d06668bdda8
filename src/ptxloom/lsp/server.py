"""The server: the open documents, their versions, and when they are checked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from ptxloom import __version__
from ptxloom.diagnostics import PtxloomError
from ptxloom.lsp.changes import edited
from ptxloom.lsp.convert import change_of, diagnostic
from ptxloom.lsp.document import Document
from ptxloom.lsp.positions import Encoding
from ptxloom.lsp.settings import Settings, above_project, read_settings
from ptxloom.lsp.uris import is_broken, path_of
from ptxloom.settings import found as project_settings
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from ptxloom.lsp.changes import ClientEdit

    _Silence = Generator[Any, Any, None]
    """pygls' type of a notification's handler: it may call others, but ours do not."""

DELAY: Final = 0.1
"""Seconds without a keystroke after which a text is checked."""
DELAY_PER_CHARACTER: Final = 1e-7
"""Further seconds for every character: large texts are checked less often while the user types."""


def wrong_in(error: BaseException) -> str:
    """The error in a message: the innermost sentence of pygls' error, which nests one per part."""
    if isinstance(error, BaseExceptionGroup):
        return wrong_in(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return str(error) if error.__cause__ is None else wrong_in(error.__cause__)


class Protocol(LanguageServerProtocol):
    """Handles texts and edits itself: pygls ends lines where the protocol does not, such as at form feeds."""

    @property
    def _documents(self) -> Server:
        return cast("Server", self._server)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """The first request; pygls fails on a folder whose URI or path is malformed."""
        if params.root_uri is not None and is_broken(params.root_uri):
            params.root_uri = None
        if params.root_uri is not None or (params.root_path or "").startswith("//"):
            params.root_path = None
        return (yield from super().lsp_initialize(params))

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Read a message from its JSON; requests unknown to the protocol get their response here, not in pygls."""
        try:
            return super().structure_message(data)
        except (JsonRpcInvalidParams, JsonRpcInternalError) as error:
            said = f"{title(str(data.get('method')))} violates the protocol: {title(wrong_in(error))}"
            if "method" in data and isinstance(data.get("id"), int | str):
                self._send_response(data["id"], error=JsonRpcInvalidParams(said).to_response_error())
            else:
                told = types.LogMessageParams(types.MessageType.Warning, f"ptxloom: {said}")
                self._documents.window_log_message(told)
            return None

    def handle_message(self, message: Any) -> None:
        """Call a message's handler; refused messages have no handler."""
        if message is not None:
            super().handle_message(message)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> _Silence:
        """A document was opened: check it at once."""
        document = params.text_document
        self._documents.put(document.uri, document.text, document.version)
        self._documents.judge(document.uri)
        yield from ()

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> _Silence:
        """A document was edited: check it once the typing pauses."""
        document = params.text_document
        self._documents.change(document.uri, document.version, params.content_changes)
        yield from ()

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> _Silence:
        """A document was closed."""
        self._documents.close(params.text_document.uri)
        yield from ()


class Server(LanguageServer):
    """The open documents and their settings.

    Attributes:
        defaults: The command line's settings.
        settings: The client's settings.
        documents: By URI.
        dismissed: Whether the client has requested the shutdown.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - pygls leaves the rest of its arguments untyped
            "ptxloom", __version__, protocol_cls=Protocol
        )
        self.defaults: Final = settings or Settings()
        self.settings = self.defaults
        self.documents: Final[dict[str, Document]] = {}
        self.dismissed = False
        self._warned: Final[set[str]] = set()
        self._waiting: Final[dict[str, asyncio.TimerHandle]] = {}

    @property
    def encoding(self) -> Encoding:
        """The unit in which the client counts columns."""
        chosen = self.server_capabilities.position_encoding
        return Encoding(str(getattr(chosen, "value", chosen) or Encoding.UTF16))

    def document(self, uri: str) -> Document:
        """An open document; an empty one if it is not open."""
        return self.documents.get(uri) or Document("", uri)

    def source_folders(self, uri: str) -> list[Path]:
        """The folders for a document's compiled source: the workspace's folders, or the one beside it."""
        folders = [one.uri for one in self.workspace.folders.values()] or [self.workspace.root_uri or ""]
        found = [Path(path) for one in folders if (path := path_of(one)) != one]
        name = path_of(uri)
        return found if name == uri else [*found, Path(name).parent]

    def put(self, uri: str, text: str, version: int) -> None:
        """Take a text as the newest version of a document."""
        name = path_of(uri)
        if uri not in self.documents:
            project_settings.forget()
            if is_broken(uri):
                said = f"ptxloom: {title(uri)} is not a URI; the text is checked without its project's settings"
                self.window_log_message(types.LogMessageParams(types.MessageType.Warning, said))
        settings = self.settings if name == uri else self._of_file(Path(name))
        self.documents[uri] = Document(text, name, version=version, encoding=self.encoding, settings=settings)

    def _of_file(self, file: Path) -> Settings:
        """The settings for a file; the client gets a message if the project's cannot be read."""
        try:
            project = project_settings.settings_for(file)
            for sentence in project.passed_over:
                self._warn(sentence)
            return above_project(self.settings, project, file)
        except project_settings.BadSettings as error:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"ptxloom: {error}"))
            return self.settings

    def _warn(self, sentence: str) -> None:
        """Send the client a message once."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"ptxloom: {sentence}"))

    def change(self, uri: str, version: int, changes: Iterable[types.TextDocumentContentChangeEvent]) -> None:
        """Apply a client's edits, and check the text once the typing pauses."""
        text = self.document(uri).text
        parts: list[ClientEdit] = []
        for one in changes:
            if isinstance(one, types.TextDocumentContentChangePartial):
                parts.append(change_of(one))
            else:
                text = one.text
                parts.clear()
        self.put(uri, edited(text, parts, self.encoding), version)
        self._cancel(uri)
        delay = DELAY + DELAY_PER_CHARACTER * len(text)
        self._waiting[uri] = asyncio.get_running_loop().call_later(delay, self.judge, uri)

    def close(self, uri: str) -> None:
        """Forget a document and its diagnostics."""
        self._cancel(uri)
        self.documents.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def judge(self, uri: str) -> None:
        """Send the client the findings for a document, with its version."""
        self._cancel(uri)
        document = self.documents.get(uri)
        if document is None:
            return
        found = [diagnostic(document, uri, one) for one in document.findings]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, document.version))

    def configure(self, options: Any) -> None:
        """Take a client's settings, and check every open document with them."""
        try:
            self.settings = read_settings(options, self.defaults)
        except PtxloomError as error:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"ptxloom: {error}"))
            return
        project_settings.forget()
        for uri, document in list(self.documents.items()):
            self.put(uri, document.text, document.version)
            self.judge(uri)
        if self.documents and self._asks_again():
            self.workspace_inlay_hint_refresh(None)

    def _asks_again(self) -> bool:
        """Whether the client requests hints again when it is notified that they changed."""
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support)

    def _cancel(self, uri: str) -> None:
        timer = self._waiting.pop(uri, None)
        if timer is not None:
            timer.cancel()
