"""No URI that a client sends loses a request or ends the server."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

from ptxloom.lsp.uris import is_broken, path_of

TEXT = ".version 8.0\n.target sm_80\n.address_size 64\nnonsense"
URIS = (
    "file://[::1",
    "file://[::1]/k.ptx",
    "file:///a%00b.ptx",
    "file:///a%ff.ptx",
    "file:///\ud800.ptx",
    "file:",
    "file:k.ptx",
    "file:///",
    "file:///dev/zero",
    "untitled:Untitled-1",
    "http://[",
    "",
    "a\nb",
    "//[",
    f"file:///{'x' * 5000}",
)


def conversation(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the server says to all messages, and to the end of the session."""
    last = [{"id": 99, "method": "shutdown"}, {"method": "exit"}]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in (*messages, *last)]
    sent = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "ptxloom", "lsp"],
        input=sent,
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert b"Traceback" not in done.stderr
    answers: list[dict[str, Any]] = []
    rest = done.stdout
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        size = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        answers.append(json.loads(rest[:size]))
        rest = rest[size:]
    return answers


def test_a_document_of_any_uri_is_judged() -> None:
    initialize: dict[str, Any] = {"id": 1, "method": "initialize", "params": {"capabilities": {}}}
    opened = [
        {
            "method": "textDocument/didOpen",
            "params": {"textDocument": {"uri": uri, "languageId": "ptx", "version": 1, "text": TEXT}},
        }
        for uri in URIS
    ]
    hovers: list[dict[str, Any]] = [
        {
            "id": 10 + number,
            "method": f"textDocument/{what}",
            "params": {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 2}},
        }
        for number, (uri, what) in enumerate((uri, what) for uri in URIS for what in ("hover", "documentLink"))
    ]
    said = conversation([initialize, {"method": "initialized", "params": {}}, *opened, *hovers])
    judged = {one["params"]["uri"] for one in said if one.get("method") == "textDocument/publishDiagnostics"}
    assert judged == set(URIS)
    assert all("error" not in one for one in said)
    assert {one["id"] for one in said if "id" in one} == {1, 99, *(one["id"] for one in hovers)}
    logged = [one["params"]["message"] for one in said if one.get("method") == "window/logMessage"]
    assert len(logged) == sum(map(is_broken, URIS))
    assert all("is not a URI; the text is checked" in one for one in logged)


@pytest.mark.parametrize("uri", ["file://[::1", "file:///a%00b", "//[", ""])
def test_a_session_begins_in_any_folder(uri: str) -> None:
    folders = [{"uri": uri, "name": "work"}]
    params: dict[str, Any] = {"capabilities": {}, "rootUri": uri, "rootPath": uri, "workspaceFolders": folders}
    link = {"id": 2, "method": "textDocument/documentLink", "params": {"textDocument": {"uri": uri}}}
    changed = {
        "method": "workspace/didChangeWorkspaceFolders",
        "params": {"event": {"added": folders, "removed": folders}},
    }
    said = conversation([{"id": 1, "method": "initialize", "params": params}, changed, link])
    assert {one["id"]: "error" in one for one in said if "id" in one} == {1: False, 2: False, 99: False}


def test_what_is_no_uri_stays_as_it_is() -> None:
    assert path_of("file://[::1") == "file://[::1"
    assert path_of("file:///a%20b/k.ptx") == "/a b/k.ptx"
    assert path_of("file:///C:/k.ptx") == "C:/k.ptx"
