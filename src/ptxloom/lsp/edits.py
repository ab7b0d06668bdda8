"""Changes to a text: renaming, repairs, ignored findings, layout."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.checker.findings.repairs import fixes_of
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, Severity
from ptxloom.isa.special import special_register
from ptxloom.lsp.document import Document
from ptxloom.syntax import format as laid_out
from ptxloom.syntax import parse
from ptxloom.syntax.tree import Block, Function
from ptxloom.views.modules.formatted import formatted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.lsp.names import Names, Occurrence

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]+", re.ASCII)
_MARK: Final = re.compile(r"ptxloom:\s*+ignore\s*+\[([^\[\]\n]*+)\]")


class CannotRename(PtxloomError):  # noqa: N818 - named after the message that it carries
    """A name cannot be changed as requested; the message says why."""


@dataclass(frozen=True, slots=True)
class Edit:
    """New text for `[start, end)`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """An action that an editor can offer.

    Attributes:
        title: Its effect, as an imperative.
        edits: The changes of the text.
        finding: The finding that it concerns; None if it concerns several.
        preferred: Whether it is a safe repair, not a guess that removes something.
    """

    title: str
    edits: tuple[Edit, ...]
    finding: Diagnostic | None = None
    preferred: bool = False


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits that do not overlap."""
    for edit in sorted(edits, key=lambda one: (one.start, one.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def renameable(document: Document, offset: int) -> Occurrence:
    """The renameable name at an offset.

    Raises:
        CannotRename: There is no name, or nothing declares it.
    """
    found = document.names.at(offset)
    if found is None:
        raise CannotRename("there is no name here that the text declares")
    if found.symbol is None:
        raise CannotRename(f"`{found.name}` is not declared in this file")
    return found


def rename(document: Document, offset: int, name: str) -> tuple[Edit, ...]:
    """The edits that respell a name everywhere; for a series (`%r<8>`) the stem of all members.

    Raises:
        CannotRename: There is nothing to rename, `name` is not a name, or some name would mean something else.
    """
    found = renameable(document, offset)
    symbol = found.symbol
    if symbol is not None and symbol.count is not None and not found.declares:
        name = name.removesuffix(found.name[len(symbol.name) :])  # the user typed a member instead of the stem
    if not _NAME.fullmatch(name) or special_register(name) is not None:
        raise CannotRename(f"`{name}` is not a name that PTX lets a program declare")
    places = document.names.of(symbol) if symbol is not None else []
    edits = tuple(Edit(one.start, one.stem_end, name) for one in places)
    after = Document(applied(document.text, edits)).names
    if _meanings(after) != _meanings(document.names):
        raise CannotRename(f"`{name}` is taken where this name is used: other names would mean something else")
    return edits


def _meanings(names: Names) -> list[tuple[int, bool]]:
    """For each occurrence, in the order of the text, the number of its symbol, and whether it is a declaration."""
    numbers: dict[object, int] = {}
    return [
        (numbers.setdefault(one.symbol if one.symbol is not None else one.name, len(numbers)), one.declares)
        for one in names.occurrences
    ]


def actions(document: Document, start: int, end: int) -> Iterator[Action]:
    """The actions for the findings that overlap a range of text."""
    for finding in document.findings:
        if finding.span.start > end or finding.span.end < start:
            continue
        fix = finding.fix
        if fix is not None:
            edit = Edit(fix.span.start, fix.span.end, fix.replacement)
            yield Action(_sentence(fix.description), (edit,), finding, preferred=fix.is_safe or bool(fix.replacement))
        if finding.rule != "unused-ignore":
            yield Action(f"Ignore `{finding.rule}` on this line", (_silence(document, finding),), finding)


def repair_all(document: Document) -> Action | None:
    """All safe fixes that do not overlap an earlier one; None if there are none."""
    told = (finding for finding in document.findings if finding.severity is not Severity.NOTE)
    edits = tuple(Edit(fix.span.start, fix.span.end, fix.replacement) for fix in fixes_of(told))
    return Action("Repair everything that ptxloom can repair safely", edits) if edits else None


def _sentence(description: str) -> str:
    return f"{description[:1].upper()}{description[1:]}"


def _silence(document: Document, finding: Diagnostic) -> Edit:
    """The edit that adds an ignore comment for a rule at the end of the line, or extends one."""
    line = document.lines.position(finding.span.start).line
    start, end = document.lines.starts[line], document.lines.end_of(line)
    old = _MARK.search(document.text, start, end)
    if old is not None:
        return Edit(old.end(1), old.end(1), f", {finding.rule}" if old[1].strip() else finding.rule)
    stop = start + len(document.text[start:end].rstrip())
    return Edit(stop, stop, f"  // ptxloom: ignore[{finding.rule}]")


def layout(document: Document) -> tuple[Edit, ...]:
    """The edit that formats a text; empty if it is formatted already, or has syntax errors."""
    if any(one.severity is Severity.ERROR for one in document.module.diagnostics):
        return ()
    text = formatted(document.module)
    return () if text is None else _difference(document.text, _ended(document, text), 0)


def layout_of(document: Document, start: int, end: int) -> tuple[Edit, ...]:
    """The edit that formats the lines between two offsets; empty if they are not whole statements."""
    first, last = document.lines.position(start).line, document.lines.position(max(start, end - 1)).line
    start, end = document.lines.starts[first], document.lines.end_of(last)
    text = document.text[start:end]
    module = parse(text)
    if module.diagnostics or not text.strip() or document.comment_at(start) or document.comment_at(end + 1):
        return ()
    if not {start + one.start for one in module.statements} <= set(_beginnings(document)):
        return ()
    depth = sum(1 for _ in document.names.module.at(max(start - 1, 0)).around()) - 1
    lines = laid_out(module).splitlines()
    indented = [line if not line or _is_label(line) else "\t" * depth + line for line in lines]
    return _difference(text, _ended(document, "\n".join(indented)), start)


def _beginnings(document: Document) -> Iterator[int]:
    """The offsets at which the statements of a text start."""
    waiting = list(document.module.statements)
    while waiting:
        one = waiting.pop()
        yield one.start
        match one:
            case Function(body=Block(inner)) | Block(inner):
                waiting += inner
            case _:
                pass


def _ended(document: Document, text: str) -> str:
    """A text with the line ends of a document."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in document.text else text


def _is_label(line: str) -> bool:
    return line.endswith(":") and not line[:1].isspace()


def _difference(old: str, new: str, start: int) -> tuple[Edit, ...]:
    """One edit from the first differing line to the last."""
    if old == new:
        return ()
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    skip = sum(map(len, before[:head]))
    kept = sum(map(len, before[len(before) - tail :]))
    replaced = "".join(after[head : len(after) - tail])
    return (Edit(start + skip, start + len(old) - kept, replaced),)
