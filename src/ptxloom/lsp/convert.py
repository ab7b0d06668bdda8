"""Converts our values to the protocol's: positions, ranges, findings, edits, symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types

from ptxloom.checker.pages import HINTS
from ptxloom.diagnostics import Severity
from ptxloom.lsp.changes import ClientEdit
from ptxloom.lsp.completion import Sort
from ptxloom.lsp.names import NameKind
from ptxloom.lsp.positions import Position

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.lsp.completion import Proposal
    from ptxloom.lsp.document import Document
    from ptxloom.lsp.edits import Action, Edit
    from ptxloom.lsp.hints import Hint
    from ptxloom.lsp.outline import Entry

SOURCE: Final = "ptxloom"

_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}

_FADED: Final = frozenset(("unused-ignore", "unused-name", "unreachable-code"))
"""The rules about unnecessary code, which clients fade."""

_SYMBOLS: Final = {
    NameKind.REGISTER: types.SymbolKind.Variable,
    NameKind.VARIABLE: types.SymbolKind.Variable,
    NameKind.PARAMETER: types.SymbolKind.TypeParameter,
    NameKind.LABEL: types.SymbolKind.Key,
    NameKind.FUNCTION: types.SymbolKind.Function,
    NameKind.KERNEL: types.SymbolKind.Function,
}

_ITEMS: Final = {
    Sort.OPCODE: types.CompletionItemKind.Keyword,
    Sort.QUALIFIER: types.CompletionItemKind.EnumMember,
    Sort.TYPE: types.CompletionItemKind.TypeParameter,
    Sort.DIRECTIVE: types.CompletionItemKind.Keyword,
    Sort.REGISTER: types.CompletionItemKind.Variable,
    Sort.SPECIAL: types.CompletionItemKind.Constant,
    Sort.VARIABLE: types.CompletionItemKind.Variable,
    Sort.PARAMETER: types.CompletionItemKind.Variable,
    Sort.LABEL: types.CompletionItemKind.Reference,
    Sort.FUNCTION: types.CompletionItemKind.Function,
    Sort.COMPONENT: types.CompletionItemKind.Field,
    Sort.TARGET: types.CompletionItemKind.Value,
}


def offset_of(document: Document, position: types.Position) -> int:
    """The offset of a client's position."""
    return document.lines.offset(Position(position.line, position.character))


def range_of(document: Document, start: int, end: int) -> types.Range:
    """The client's range of two offsets."""
    first, last = document.lines.position(start), document.lines.position(end)
    return types.Range(types.Position(first.line, first.column), types.Position(last.line, last.column))


def change_of(change: types.TextDocumentContentChangePartial) -> ClientEdit:
    """A client's edit of a part of a text."""
    start, end = change.range.start, change.range.end
    return ClientEdit(Position(start.line, start.character), Position(end.line, end.character), change.text)


def diagnostic(document: Document, uri: str, finding: Diagnostic) -> types.Diagnostic:
    """A finding."""
    message = f"{finding.message}: {finding.label}" if finding.label else finding.message
    parts = [message, *([finding.help] if finding.help else [])]
    if finding.section:
        parts.append(f"PTX ISA {finding.section}")
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri, range_of(document, label.span.start, label.span.end)), label.text
        )
        for label in finding.related
    ]
    return types.Diagnostic(
        range=range_of(document, finding.span.start, finding.span.end),
        message="\n".join(parts),
        severity=types.DiagnosticSeverity.Hint if finding.rule in HINTS else _SEVERITIES[finding.severity],
        code=finding.rule,
        source=SOURCE,
        related_information=related or None,
        tags=[types.DiagnosticTag.Unnecessary] if finding.rule in _FADED else None,
    )


def text_edits(document: Document, edits: Iterable[Edit]) -> list[types.TextEdit]:
    """Changes of a text."""
    return [types.TextEdit(range_of(document, edit.start, edit.end), edit.text) for edit in edits]


def workspace_edit(document: Document, uri: str, edits: Iterable[Edit]) -> types.WorkspaceEdit:
    """Changes of one file."""
    return types.WorkspaceEdit(changes={uri: text_edits(document, edits)})


def code_action(document: Document, uri: str, action: Action, kind: types.CodeActionKind) -> types.CodeAction:
    """A code action."""
    return types.CodeAction(
        title=action.title,
        kind=kind,
        diagnostics=[diagnostic(document, uri, action.finding)] if action.finding else None,
        edit=workspace_edit(document, uri, action.edits),
        is_preferred=action.preferred or None,
    )


def completion_item(document: Document, proposal: Proposal) -> types.CompletionItem:
    """A completion item; clients sort by `sort_text`."""
    return types.CompletionItem(
        label=proposal.text,
        kind=_ITEMS[proposal.sort],
        detail=proposal.detail or None,
        sort_text=f"{proposal.rank:05}{proposal.text}",
        filter_text=proposal.text,
        text_edit=types.TextEdit(range_of(document, proposal.start, proposal.end), proposal.text),
    )


def inlay_hint(document: Document, hint: Hint) -> types.InlayHint:
    """A word shown in the text."""
    position = range_of(document, hint.offset, hint.offset).start
    return types.InlayHint(position, hint.label, tooltip=hint.about, padding_left=True)


def document_symbol(document: Document, entry: Entry) -> types.DocumentSymbol:
    """An entry of the outline; the name is within the whole, as the protocol requires."""
    name_end = entry.name_start + len(entry.name)
    return types.DocumentSymbol(
        name=entry.name or "(no name)",
        kind=_SYMBOLS[entry.kind],
        detail=entry.detail or None,
        range=range_of(document, min(entry.start, entry.name_start), max(entry.end, name_end)),
        selection_range=range_of(document, entry.name_start, name_end),
        children=[document_symbol(document, one) for one in entry.inner] or None,
    )
