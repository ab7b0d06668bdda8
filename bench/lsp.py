"""How long an editor waits: from a keystroke to the findings, and for what is asked in between.

`python bench/lsp.py [--repeat N]`, over an example and over its functions repeated up to 1 MB. Each keystroke makes a
new version of the text; best and median of N. The server itself adds its pause after the last keystroke and the
protocol's own work; the whole way over standard input and output is measured where pytest-lsp is installed.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxloom.lsp import completion, edits, hover, outline, tokens
from ptxloom.lsp.changes import ClientEdit, edited
from ptxloom.lsp.document import Document
from ptxloom.lsp.positions import Position

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "hgemm.ptx"


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeat", type=int, default=5)
    repeat = arguments.parse_args().repeat
    text = EXAMPLE.read_text(encoding="utf-8")
    print(f"{'text':10} {'what':28} {'best':>9} {'median':>9}")
    for size in (len(text), 1_000_000):
        name = f"{size / 1000:.0f} kB"
        measure(name, grown(text, size), repeat)


def grown(text: str, size: int) -> str:
    """The text with its functions repeated under new names up to a size."""
    start = text.index(".visible .entry")
    function = text[start : text.index("\n}\n", start) + 3]
    copies = range(max(0, (size - len(text)) // len(function)))
    return text + "".join(function.replace("hgemm", f"hgemm{number}") for number in copies)


def measure(name: str, text: str, repeat: int) -> None:
    """Every request on one text."""
    place = text.index("ldmatrix", len(text) // 2)
    row = Position(text.count("\n", 0, place), 4)
    whole = Document(text)
    names = whole.names
    register = next(one for one in names.occurrences if one.start > place)
    asked: dict[str, Callable[[], object]] = {
        "keystroke to findings": lambda: Document(edited(text, [ClientEdit(row, row, "x")])).findings,
        "5,000 edits at once": lambda: edited(text, [ClientEdit(row, row, "x")] * 5000),
        "names, once a version": lambda: Document(text).names,
        "hover": lambda: hover.hover(whole, place),
        "completion of qualifiers": lambda: completion.complete(whole, place + len("ldmatrix.sync.")),
        "completion of names": lambda: completion.complete(whole, register.start),
        "rename": lambda: edits.rename(whole, register.start, "%other"),
        "outline": lambda: outline.outline(whole),
        "colours of 100 lines": lambda: tokens.encode(whole, tokens.tokens(whole, place, place + 4000)),
        "colours of all": lambda: tokens.encode(whole, tokens.tokens(whole)),
    }
    for what, ask in asked.items():
        ask()
        report(name, what, [timed(ask) for _ in range(repeat)])
    if importlib.util.find_spec("pytest_lsp") is not None:
        report(name, "the whole way, with its pause", asyncio.run(over_the_wire(text, row, repeat)))


def timed(ask: Callable[[], object]) -> float:
    """Seconds that one request takes."""
    before = time.perf_counter()
    ask()
    return time.perf_counter() - before


def report(name: str, what: str, seconds: list[float]) -> None:
    """One row."""
    print(f"{name:10} {what:28} {min(seconds) * 1000:6.1f} ms {statistics.median(seconds) * 1000:6.1f} ms")


async def over_the_wire(text: str, row: Position, repeat: int) -> list[float]:
    """Seconds from each keystroke that a client sends to the findings that it gets."""
    import pytest_lsp  # noqa: PLC0415 - measured where it is installed
    from lsprotocol import types  # noqa: PLC0415 - likewise

    client: Any = pytest_lsp.make_test_lsp_client()
    await client.start_io(sys.executable, "-m", "ptxloom", "lsp")
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    await client.initialize_session(types.InitializeParams(capabilities=capabilities))
    uri, published = "file:///bench.ptx", "textDocument/publishDiagnostics"
    item = types.TextDocumentItem(uri=uri, language_id="ptx", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    await client.wait_for_notification(published)
    place = types.Position(row.line, row.column)
    seconds: list[float] = []
    for version in range(2, 2 + repeat):
        change = types.TextDocumentContentChangePartial(range=types.Range(place, place), text="x")
        document = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
        before = time.perf_counter()
        client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await client.wait_for_notification(published)
        seconds.append(time.perf_counter() - before)
    await client.shutdown_session()
    await client.stop()
    return seconds


if __name__ == "__main__":
    main()
