"""What an editor asks of a broken text with characters beyond the basic plane: every place is counted as it counts."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pytest_lsp", reason="pytest-lsp, which brings pygls, is not installed")

from lsprotocol import types

from lsp_client import DIAGNOSTICS, URI, edited, here, opened, session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_lsp import LanguageClient

ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
KINDS = ("comment", "string", "number", "keyword", "modifier", "type")
UNITS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
BROKEN = """\
.version 8.7
.target sm_100a
/* 𝄞é */ .visible .entry k(.param .u64 out)
{ // 𝄞
/* 𝄞 */ .reg .b32 %r<4>; .reg .b64 %rd<2>;
/* 𝄞𝄞 */ START: mov.b32 %r1, ]; // broken
/* 𝄞 */ add.s32 %r2, %r1, %r1; /* 𝄞 */ bra START;
/* 𝄞 */ stmatrix.sync.aligned.m16n8.x1.b8 [%r1], {%r2};
/* 𝄞 */ nosuch.b32 %r2;
/* 𝄞 */ add.
"""
"""Its last function is not closed, either."""


class Places:
    """Positions and ranges of a text as a client counts them, worked out from the bytes of each line."""

    def __init__(self, text: str, encoding: str) -> None:
        self.lines = text.split("\n")
        self.encoding = encoding

    def at(self, line: int, piece: str, nth: int = 0) -> types.Position:
        """Where the n-th `piece` of a line starts."""
        before = piece.join(self.lines[line].split(piece)[: nth + 1])
        return types.Position(line, len(before.encode(ENCODINGS[self.encoding])) // UNITS[self.encoding])

    def of(self, line: int, piece: str, nth: int = 0) -> types.Range:
        """Where the n-th `piece` of a line stands; it is ASCII."""
        start = self.at(line, piece, nth)
        return types.Range(start, types.Position(line, start.character + len(piece)))


@pytest.mark.parametrize("encoding", list(ENCODINGS))
def test_a_broken_text_is_served(encoding: str) -> None:
    async def body(client: LanguageClient) -> None:
        await opened(client, BROKEN)
        places = Places(BROKEN, encoding)
        await names_are_found(client, places)
        await questions_are_answered(client, places)
        await what_can_be_is_repaired(client, places)

    session(body, encodings=[encoding])


async def names_are_found(client: LanguageClient, places: Places) -> None:
    at = places.at(6, "%r1", 1)
    found = await client.text_document_definition_async(types.DefinitionParams(here(), at))
    assert found == [types.Location(URI, places.of(4, "%r"))]
    context = types.ReferenceContext(include_declaration=False)
    named = await client.text_document_references_async(types.ReferenceParams(context, here(), at))
    assert [one.range for one in named or []] == [
        *(places.of(6, "%r1", nth) for nth in range(2)),
        places.of(7, "%r1"),
    ]
    label = places.at(6, "START")
    marks = await client.text_document_document_highlight_async(types.DocumentHighlightParams(here(), label))
    assert [one.range for one in marks or []] == [places.of(5, "START"), places.of(6, "START")]
    ready = await client.text_document_prepare_rename_async(types.PrepareRenameParams(here(), label))
    assert ready == types.PrepareRenamePlaceholder(places.of(6, "START"), "START")
    edit = await client.text_document_rename_async(types.RenameParams(here(), label, "AGAIN"))
    assert edit is not None
    assert edit.changes is not None
    wanted = [places.of(5, "START"), places.of(6, "START")]
    assert list(edit.changes[URI]) == [types.TextEdit(one, "AGAIN") for one in wanted]


async def questions_are_answered(client: LanguageClient, places: Places) -> None:
    hover = await client.text_document_hover_async(types.HoverParams(here(), places.at(7, "m16n8")))
    assert hover is not None
    assert hover.range == places.of(7, ".m16n8")
    dot = types.Position(9, places.of(9, "add.").end.character)
    items = await client.text_document_completion_async(types.CompletionParams(here(), dot))
    assert isinstance(items, types.CompletionList)
    [one] = [one for one in items.items if one.label == ".sat"]
    assert one.text_edit == types.TextEdit(types.Range(places.at(9, ".", 0), dot), ".sat")
    told = await client.text_document_signature_help_async(types.SignatureHelpParams(here(), places.at(6, "%r1", 1)))
    assert told is not None
    assert (told.signatures[0].label, told.active_parameter) == ("add.s32 d, a, b", 2)
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(here()))
    [kernel] = [one for one in symbols or [] if isinstance(one, types.DocumentSymbol)]
    assert kernel.selection_range == places.of(2, "k")
    assert [one.name for one in kernel.children or []] == ["out", "START"]
    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(here()))
    assert [(one.start_line, one.end_line >= 8) for one in folds or []] == [(2, True)]
    colours = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(here()))
    assert colours is not None
    assert coloured(colours.data, places, 6, ".s32") == coloured(colours.data, places, 8, ".b32") == "type"
    options = types.FormattingOptions(tab_size=4, insert_spaces=False)
    whole = types.DocumentFormattingParams(here(), options)
    assert not await client.text_document_formatting_async(whole)


def coloured(data: Sequence[int], places: Places, line: int, piece: str) -> str:
    """The kind of word that stands at a piece of a line."""
    row = column = 0
    for at in range(0, len(data), 5):
        down, right, length, kind, _ = data[at : at + 5]
        row, column = row + down, right if down else column + right
        if (row, column, length) == (line, places.at(line, piece).character, len(piece)):
            return ["comment", "string", "number", "keyword", "modifier", "type"][kind]
    return ""


async def what_can_be_is_repaired(client: LanguageClient, places: Places) -> None:
    by_line = {one.range.start.line: one for one in client.diagnostics[URI]}
    assert {5, 7, 8, 9} <= by_line.keys()
    assert by_line[7].range == places.of(7, ".m16n8")
    assert by_line[8].range == places.of(8, "nosuch")
    params = types.CodeActionParams(here(), by_line[7].range, types.CodeActionContext([]))
    actions = await client.text_document_code_action_async(params)
    [repair] = [one for one in actions or [] if isinstance(one, types.CodeAction) and one.is_preferred]
    assert repair.edit is not None
    assert repair.edit.changes is not None
    changes = [(edit.range, edit.new_text) for edit in repair.edit.changes[URI]]
    await edited(client, 2, *changes)
    await client.wait_for_notification(DIAGNOSTICS)
    assert {one.range.start.line for one in client.diagnostics[URI]} == by_line.keys() - {7}


def message(content: dict[str, Any]) -> bytes:
    """A message as it goes over the wire."""
    body = json.dumps({"jsonrpc": "2.0", **content}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


HELLO = message({"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}})
SHUTDOWN = message({"id": 2, "method": "shutdown"})
EXIT = message({"method": "exit"})
UNKNOWN = message({"id": 3, "method": "no/such", "params": {}})
NOT_OPEN = message(
    {
        "id": 4,
        "method": "textDocument/hover",
        "params": {"textDocument": {"uri": "file:///none"}, "position": {"line": 7, "character": 7}},
    }
)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ([HELLO, UNKNOWN, NOT_OPEN, SHUTDOWN, EXIT], 0),
        ([HELLO, EXIT], 1),
        ([HELLO], 1),
        ([], 1),
    ],
)
def test_the_server_ends_as_the_protocol_wants(said: list[bytes], code: int) -> None:
    command = [sys.executable, "-m", "ptxloom", "lsp"]
    ended = subprocess.run(command, input=b"".join(said), capture_output=True, timeout=120, check=False)
    assert ended.returncode == code
    assert b"Traceback" not in ended.stderr
    answers = [json.loads(one.rpartition(b"}")[0] + b"}") for one in ended.stdout.split(b"\r\n\r\n")[1:]]
    wanted = [json.loads(one.partition(b"\r\n\r\n")[2]) for one in said]
    assert sorted(one["id"] for one in answers) == sorted(one["id"] for one in wanted if "id" in one)
    errors = {one["id"]: one["error"]["code"] for one in answers if "error" in one}
    assert errors == ({3: -32601} if UNKNOWN in said else {})


NOWHERE: list[Any] = [
    *({"line": -1, "character": 0}, {"line": 0, "character": -1}, {"line": 1 << 31, "character": 0}, {"line": 0}, {}),
    *({"line": "x", "character": 0}, {"line": None, "character": 0}, 7, None, []),
]


def test_every_request_of_what_the_protocol_does_not_have_is_answered() -> None:
    document = {"uri": URI}
    asked = [{"textDocument": document, "position": at} for at in NOWHERE]
    hovers = [message({"id": 10 + at, "method": "textDocument/hover", "params": one}) for at, one in enumerate(asked)]
    wrong: list[dict[str, Any]] = [
        {"id": 30, "method": "textDocument/hover", "params": 7},
        {"id": 31, "method": "textDocument/hover"},
        {"id": 32, "method": "textDocument/inlayHint", "params": {"textDocument": document, "range": {"start": 3}}},
        {"id": "33", "method": 7},
    ]
    edit = {"range": {"start": NOWHERE[0], "end": NOWHERE[0]}, "text": "x"}
    unasked: list[dict[str, Any]] = [
        {"method": "textDocument/didChange", "params": {"textDocument": document, "contentChanges": [edit]}},
        {"id": 34, "error": 3},
        {"id": {"a": 1}, "method": "textDocument/hover", "params": 3},
        {"method": [1]},
    ]
    said = [HELLO, *hovers, *map(message, wrong), *map(message, unasked), NOT_OPEN, SHUTDOWN, EXIT]
    command = [sys.executable, "-m", "ptxloom", "lsp"]
    ended = subprocess.run(command, input=b"".join(said), capture_output=True, timeout=120, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    answers = [json.loads(one.rpartition(b"}")[0] + b"}") for one in ended.stdout.split(b"\r\n\r\n")[1:]]
    errors = {one["id"]: one["error"] for one in answers if "error" in one}
    assert set(errors) == {*(10 + at for at in range(len(NOWHERE))), *(one["id"] for one in wrong)}
    assert {one["code"] for one in errors.values()} == {-32602}
    assert errors[10]["message"].startswith("textDocument/hover violates the protocol: Position.line should")
    logged = [one["params"]["message"] for one in answers if one.get("method") == "window/logMessage"]
    assert len(logged) == len(unasked)
    assert {4, 2} <= {one["id"] for one in answers if "result" in one}
