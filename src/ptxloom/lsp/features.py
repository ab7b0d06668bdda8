"""The features of the server: one handler per request, each a call of a function independent of the protocol."""

from __future__ import annotations

import gc
import logging
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from ptxloom.isa import instruction_page, known
from ptxloom.lsp import completion, definition, edits, hover, inlay, links, outline, signature, tokens
from ptxloom.lsp.convert import (
    code_action,
    completion_item,
    document_symbol,
    inlay_hint,
    offset_of,
    range_of,
    text_edits,
    workspace_edit,
)
from ptxloom.lsp.meaning import writes
from ptxloom.lsp.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.lsp.document import Document
    from ptxloom.lsp.names import Occurrence
    from ptxloom.lsp.settings import Settings

TRIGGERS: Final = [".", "%"]
RARELY: Final = (200_000, 20, 100)
"""The collector's thresholds: trees have no cycles, and scanning them takes longer than building them."""
LARGEST_COLOURED: Final = 4_000_000
"""The longest text with semantic tokens, in characters; the editor's own grammar colours longer ones."""
FIX_ALL: Final = types.CodeActionKind.SourceFixAll
LEGEND: Final = types.SemanticTokensLegend(
    token_types=[str(one) for one in tokens.Colour], token_modifiers=[str(one) for one in tokens.Trait]
)


def serve(settings: Settings) -> int:
    """Serve on standard input and output until the client exits; returns the exit code of the protocol."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_fault)
    gc.freeze()  # imported modules stay
    gc.set_threshold(*RARELY)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:  # pygls closes it before the process ends
        server = build(settings)
        server.start_io(sys.stdin.buffer, out)
    return 0 if server.dismissed else 1


def _is_fault(record: logging.LogRecord) -> bool:
    """Whether a record is an error of ours; for a refused request the response is enough."""
    error = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
    return not isinstance(error, JsonRpcInvalidParams) and "deserialize" not in str(record.msg)


def build(settings: Settings | None = None) -> Server:
    """A server with all features."""
    server = Server(settings)
    for method, handler, options in _FEATURES:
        server.feature(method, options)(handler)
    return server


def _initialized(server: Server, _: types.InitializedParams) -> None:
    """Do nothing: the client's settings were read with its options."""


def _initialize(server: Server, params: types.InitializeParams) -> None:
    server.configure(params.initialization_options)


def _shutdown(server: Server, _: None) -> None:
    server.dismissed = True


def _configured(server: Server, params: types.DidChangeConfigurationParams) -> None:
    server.configure(params.settings)


def _hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    document = server.document(params.text_document.uri)
    found = hover.hover(document, offset_of(document, params.position))
    if found is None:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, found.markdown)
    return types.Hover(content, range_of(document, found.start, found.end))


def _complete(server: Server, params: types.CompletionParams) -> types.CompletionList:
    document = server.document(params.text_document.uri)
    found = completion.complete(document, offset_of(document, params.position))
    return types.CompletionList(is_incomplete=False, items=[completion_item(document, one) for one in found])


def _signature(server: Server, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    document = server.document(params.text_document.uri)
    found = signature.signature(document, offset_of(document, params.position))
    if found is None:
        return None
    parameters = [types.ParameterInformation((one.start, one.end), one.about) for one in found.parameters]
    shown = types.SignatureInformation(found.label, found.about, parameters, found.active)
    return types.SignatureHelp([shown], active_signature=0, active_parameter=found.active)


def _resolve(_: Server, item: types.CompletionItem) -> types.CompletionItem:
    if item.kind == types.CompletionItemKind.Keyword and known(item.label):
        item.documentation = types.MarkupContent(types.MarkupKind.Markdown, instruction_page(item.label))
    return item


def _occurrences(server: Server, uri: str, position: types.Position) -> tuple[Document, list[Occurrence]]:
    document = server.document(uri)
    found = document.names.at(offset_of(document, position))
    return document, document.names.alike(found) if found else []


def _definition(server: Server, params: types.DefinitionParams) -> list[types.Location] | None:
    return _places(server, params.text_document.uri, params.position, definition.definitions)


def _declaration(server: Server, params: types.DeclarationParams) -> list[types.Location] | None:
    return _places(server, params.text_document.uri, params.position, definition.declarations)


def _places(
    server: Server, uri: str, position: types.Position, find: Callable[[Document, int], list[Occurrence]]
) -> list[types.Location] | None:
    document = server.document(uri)
    found = find(document, offset_of(document, position))
    return [types.Location(uri, range_of(document, one.start, one.end)) for one in found] or None


def _references(server: Server, params: types.ReferenceParams) -> list[types.Location]:
    uri = params.text_document.uri
    document, found = _occurrences(server, uri, params.position)
    wanted = [one for one in found if params.context.include_declaration or not one.declares]
    return [types.Location(uri, range_of(document, one.start, one.end)) for one in wanted]


def _highlight(server: Server, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
    document, found = _occurrences(server, params.text_document.uri, params.position)
    kinds = types.DocumentHighlightKind
    return [
        types.DocumentHighlight(
            range_of(document, one.start, one.end), kinds.Write if one.declares or writes(one) else kinds.Read
        )
        for one in found
    ]


def _hints(server: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
    document = server.document(params.text_document.uri)
    start, end = offset_of(document, params.range.start), offset_of(document, params.range.end)
    return [inlay_hint(document, one) for one in inlay.hints(document, start, end)]


def _links(server: Server, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
    document = server.document(params.text_document.uri)
    found = links.links(document, server.source_folders(params.text_document.uri))
    return [types.DocumentLink(range_of(document, one.start, one.end), one.target) for one in found]


def _prepare_rename(server: Server, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder:
    document = server.document(params.text_document.uri)
    try:
        found = edits.renameable(document, offset_of(document, params.position))
    except edits.CannotRename as error:
        raise JsonRpcInvalidParams(str(error)) from error
    stem = document.text[found.start : found.stem_end]
    return types.PrepareRenamePlaceholder(range_of(document, found.start, found.stem_end), stem)


def _rename(server: Server, params: types.RenameParams) -> types.WorkspaceEdit:
    uri = params.text_document.uri
    document = server.document(uri)
    try:
        changes = edits.rename(document, offset_of(document, params.position), params.new_name)
    except edits.CannotRename as error:
        raise JsonRpcInvalidParams(str(error)) from error
    return workspace_edit(document, uri, changes)


def _symbols(server: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    document = server.document(params.text_document.uri)
    return [document_symbol(document, one) for one in outline.outline(document)]


def _folds(server: Server, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    document = server.document(params.text_document.uri)
    position = document.lines.position
    rows = ((position(start).line, position(end).line, kind) for start, end, kind in outline.folds(document))
    return [types.FoldingRange(first, last, kind=kind) for first, last, kind in rows if last > first]


def _tokens(server: Server, params: types.SemanticTokensParams) -> types.SemanticTokens:
    document = server.document(params.text_document.uri)
    if len(document.text) > LARGEST_COLOURED:
        return types.SemanticTokens([])
    return types.SemanticTokens(tokens.encode(document, tokens.tokens(document)))


def _tokens_range(server: Server, params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
    document = server.document(params.text_document.uri)
    starts = document.lines.starts
    first = starts[min(params.range.start.line, len(starts) - 1)]
    last = document.lines.end_of(min(params.range.end.line, len(starts) - 1))
    return types.SemanticTokens(tokens.encode(document, tokens.tokens(document, first, last)))


def _format(server: Server, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    document = server.document(params.text_document.uri)
    return text_edits(document, edits.layout(document))


def _format_range(server: Server, params: types.DocumentRangeFormattingParams) -> list[types.TextEdit]:
    document = server.document(params.text_document.uri)
    start, end = offset_of(document, params.range.start), offset_of(document, params.range.end)
    return text_edits(document, edits.layout_of(document, start, end))


def _actions(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    uri = params.text_document.uri
    document = server.document(uri)
    only = params.context.only
    found: list[types.CodeAction] = []
    if _wanted(types.CodeActionKind.QuickFix, only):
        start, end = offset_of(document, params.range.start), offset_of(document, params.range.end)
        kind = types.CodeActionKind.QuickFix
        found += [code_action(document, uri, one, kind) for one in edits.actions(document, start, end)]
    if _wanted(FIX_ALL, only) and (every := edits.repair_all(document)) is not None:
        found.append(code_action(document, uri, every, FIX_ALL))
    return found


def _wanted(kind: types.CodeActionKind, only: Any) -> bool:
    """Whether a client requests actions of a kind or of a parent kind; without a filter, it requests all."""
    if only is None:
        return True
    names = [str(getattr(one, "value", one)) for one in only]
    return any(kind.value == name or kind.value.startswith(f"{name}.") for name in names)


_FEATURES: Final[tuple[tuple[str, Any, Any], ...]] = (
    (types.INITIALIZE, _initialize, None),
    (types.INITIALIZED, _initialized, None),
    (types.SHUTDOWN, _shutdown, None),
    (types.WORKSPACE_DID_CHANGE_CONFIGURATION, _configured, None),
    (types.TEXT_DOCUMENT_HOVER, _hover, None),
    (
        types.TEXT_DOCUMENT_COMPLETION,
        _complete,
        types.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=True),
    ),
    (types.TEXT_DOCUMENT_SIGNATURE_HELP, _signature, types.SignatureHelpOptions(trigger_characters=[" ", ","])),
    (types.COMPLETION_ITEM_RESOLVE, _resolve, None),
    (types.TEXT_DOCUMENT_DEFINITION, _definition, None),
    (types.TEXT_DOCUMENT_DECLARATION, _declaration, None),
    (types.TEXT_DOCUMENT_REFERENCES, _references, None),
    (types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, _highlight, None),
    (types.TEXT_DOCUMENT_INLAY_HINT, _hints, types.InlayHintOptions(resolve_provider=False)),
    (types.TEXT_DOCUMENT_DOCUMENT_LINK, _links, types.DocumentLinkOptions(resolve_provider=False)),
    (types.TEXT_DOCUMENT_PREPARE_RENAME, _prepare_rename, None),
    (types.TEXT_DOCUMENT_RENAME, _rename, types.RenameOptions(prepare_provider=True)),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, _symbols, None),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, _folds, None),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _tokens, LEGEND),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, _tokens_range, LEGEND),
    (types.TEXT_DOCUMENT_FORMATTING, _format, None),
    (types.TEXT_DOCUMENT_RANGE_FORMATTING, _format_range, None),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        _actions,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    ),
)
"""Each request, its handler, and the options that announce it to the client."""
