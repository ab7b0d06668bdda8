"""The text of the statement that is being written: from its start, possibly lines above, to the cursor."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom.lsp.document import Document

MOST_LINES: Final = 12
"""The most lines that are searched for a statement's start."""

_GUARD: Final = r"(?:@!?[\w$%]+\s+)?"
_LABEL: Final = r"[A-Za-z_$%][\w$]*\s*:(?!:)"
_BEFORE: Final = re.compile(rf"(?:.*;)?(?:[\s{{}}]|{_LABEL})*{_GUARD}", re.ASCII | re.DOTALL)
_BEGINS: Final = re.compile(r"\.|[a-z]\w*\.", re.ASCII)
_COMPLETE: Final = re.compile(r"\s*\.|.*[;{}:]\s*\Z", re.ASCII | re.DOTALL)
"""A line after which a new statement starts: that of a directive, or one with such an end."""
_INSTRUCTION: Final = re.compile(r"[a-z]\w*[.\s]", re.ASCII)


def unfinished(document: Document, offset: int) -> str | None:
    r"""The unfinished statement at an offset, without label and guard; None inside comments and strings.

    Example:
        >>> from ptxloom.lsp.document import Document
        >>> text = "{ L: @p mma.sync.aligned.m16n8k8\\n {a, b}, {"
        >>> unfinished(Document(text), len(text))
        'mma.sync.aligned.m16n8k8\\n {a, b}, {'
    """
    number = document.lines.position(offset).line
    line = _without_comments(document, document.lines.starts[number], offset)
    if line.count('"') % 2 or "//" in line or document.comment_at(offset):
        return None
    first = _rest(line)
    if _BEGINS.match(first):
        return first
    for above in range(number - 1, max(number - MOST_LINES, -1), -1):
        start, end = document.lines.starts[above], document.lines.starts[above + 1]
        text = _without_comments(document, start, end)
        if _COMPLETE.match(text):
            break
        line = text + line
        if _INSTRUCTION.match(rest := _rest(line)):
            return rest
    return first


def _rest(text: str) -> str:
    """The text after earlier statements, labels, braces of blocks and a guard."""
    begun = _BEFORE.match(text)
    return text[begun.end() :] if begun else text


def _without_comments(document: Document, start: int, end: int) -> str:
    """A range of text with blanks for comments, except one that is not closed yet."""
    text = document.text[start:end]
    comments = document.module.comments
    place = max(bisect_right(comments, start, key=lambda one: one[0]) - 1, 0)
    for first, last in comments[place:]:
        if first >= end:
            break
        if last <= end and last > start:
            cut = max(first, start) - start
            text = f"{text[:cut]}{' ' * (last - start - cut)}{text[last - start :]}"
    return text
