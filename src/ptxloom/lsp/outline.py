"""The outline of a text, functions and their declarations, and its folding ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.lsp.names import NameKind
from ptxloom.syntax.printer import print_line
from ptxloom.syntax.tree import Block, Declaration, Function, Label, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.lsp.document import Document
    from ptxloom.syntax.tree import Statement


@dataclass(frozen=True, slots=True)
class Entry:
    """A named thing in the outline.

    Attributes:
        name: Its name.
        kind: Its kind.
        detail: A few words.
        start: The start of the whole.
        end: The end of the whole.
        name_start: The start of its name.
        inner: The entries in it.
    """

    name: str
    kind: NameKind
    detail: str
    start: int
    end: int
    name_start: int
    inner: tuple[Entry, ...] = ()


def outline(document: Document) -> tuple[Entry, ...]:
    """The declarations of a text: functions with parameters, shared memory and labels; variables of the module."""
    return tuple(_entries(document, document.module.statements))


def _entries(document: Document, statements: tuple[Statement, ...]) -> Iterator[Entry]:
    """The entries of a sequence of statements and of the blocks in it."""
    waiting = list(reversed(statements))
    while waiting:
        one = waiting.pop()
        match one:
            case Function():
                yield _function(document, one)
            case Declaration() if one.space != "reg":
                yield from _declared(one, NameKind.VARIABLE)
            case Label(name):
                yield Entry(name, NameKind.LABEL, "", one.start, one.end, one.start)
            case Block(inner):
                waiting += reversed(inner)
            case _:
                pass


def _function(document: Document, function: Function) -> Entry:
    kind = NameKind.KERNEL if function.kind == "entry" else NameKind.FUNCTION
    parameters = [
        entry for one in (*function.returns, *function.params) for entry in _declared(one, NameKind.PARAMETER)
    ]
    inside = _entries(document, function.body.statements) if function.body else ()
    found = document.names.module.declared.names.get(function.name)
    start = next(
        (one.start for one in document.names.between(function.start, function.end) if one.statement is function),
        found.start if found else function.start,
    )
    detail = f".{function.kind}" if function.body else f".{function.kind}, declared only"
    return Entry(function.name, kind, detail, function.start, function.end, start, (*parameters, *inside))


def _declared(declaration: Declaration, kind: NameKind) -> Iterator[Entry]:
    for one in declaration.declarators:
        shown = print_line(declaration.replace(declarators=(one.replace(initializer=None),))).rstrip(";")
        detail = shown.replace(f" {one.name}", " ", 1).strip()
        start, end = min(declaration.start, one.start), max(declaration.end, one.start + len(one.name))
        yield Entry(one.name, kind, detail, start, end, one.start)


def folds(document: Document) -> Iterator[tuple[int, int, str]]:
    """(start, end, what) of everything that spans lines: "region" for scopes, "comment" for comments in a row."""
    waiting = list(document.module.statements)
    while waiting:
        one = waiting.pop()
        match one:
            case Function(body=Block() as body):
                yield one.start, body.end, "region"
                waiting += [inner for inner in body.statements if isinstance(inner, Block)]
            case Block(inner):
                yield one.start, one.end, "region"
                waiting += [each for each in inner if isinstance(each, Block)]
            case Section():
                yield one.start, one.end, "region"
            case _:
                pass
    yield from _comments(document)


def _comments(document: Document) -> Iterator[tuple[int, int, str]]:
    """Comments alone on their lines, consecutive ones together."""
    text = document.text
    run: tuple[int, int] | None = None
    for start, end in document.module.comments:
        if not _alone(document, start, end):
            continue
        if run is not None and not text[run[1] : start].strip():
            run = run[0], end
            continue
        if run is not None:
            yield *run, "comment"
        run = start, end
    if run is not None:
        yield *run, "comment"


def _alone(document: Document, start: int, end: int) -> bool:
    """Whether a range of text has its lines to itself."""
    text, lines = document.text, document.lines
    before = text[lines.starts[lines.position(start).line] : start]
    behind = text[end : lines.end_of(lines.position(end).line)]
    return not before.strip() and not behind.strip()
