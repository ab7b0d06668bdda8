"""One layout for every module: a statement per line, a tab per scope, comments and single blank lines kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptxloom.diagnostics import must_be
from ptxloom.syntax.lexer import Cursor
from ptxloom.syntax.module import A_MODULE, Module
from ptxloom.syntax.printer import function_header, print_line
from ptxloom.syntax.tree import Block, Data, Function, Label, Malformed, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.syntax.tree import Statement


def format(module: Module) -> str:  # noqa: A001 - `fmt` and every formatter call it so
    """The text of a module in the one layout, comments and single blank lines kept.

    Formatting is idempotent, and keeps the tree. A comment on the line of a statement
    stays after it, and one inside a statement moves there. Malformed text is left unchanged.

    Example:
        >>> from ptxloom.syntax import parse
        >>> format(parse("L:mov.u32   %r1,1;")).splitlines()
        ['L:', 'mov.u32 %r1, 1;']
    """
    must_be(Module, "module", module, A_MODULE)
    writer = _Writer(module)
    for statement in module.statements:
        for line in _lines(statement, 0):
            writer.line(line)
    writer.comments_before(len(module.source.text) + 1, 0)
    return "".join(line + "\n" for line in writer.out)


class _Line(NamedTuple):
    """Text for [start, end) of the source."""

    start: int
    end: int
    depth: int
    text: list[str]
    outdent: int = 0  # how much less indented than the comments around it


def _lines(node: Statement | Data, depth: int) -> Iterator[_Line]:
    match node:
        case Block(statements):
            yield _Line(node.start, node.start + 1, depth, ["{"])
            for one in statements:
                yield from _lines(one, depth + 1)
            yield _Line(node.end - 1, node.end, depth, ["}"], outdent=1)
        case Function(body=Block() as body):
            yield _Line(node.start, body.start, depth, function_header(node))
            yield from _lines(body, depth)
        case Function():
            yield _Line(node.start, node.end, depth, function_header(node))
        case Section(name, contents):
            at = Cursor(node.source.text)
            at.seek(node.start)
            while at.here != "{" and at.kind != "end":
                at.advance()
            yield _Line(node.start, at.start, depth, [f".section {name}"])
            yield _Line(at.start, at.end, depth, ["{"])
            for one in contents:
                yield from _lines(one, depth + 1)
            yield _Line(node.end - 1, node.end, depth, ["}"], outdent=1)
        case Label(name):
            yield _Line(node.start, node.end, 0, [f"{name}:"], outdent=depth)
        case Malformed(text):
            yield _Line(node.start, node.start + len(text), depth, [text])
        case _:
            yield _Line(node.start, node.end, depth, [print_line(node)])


class _Writer:
    """The output lines, and the progress through the source's comments."""

    def __init__(self, module: Module) -> None:
        self.out: list[str] = []
        self._text = module.source.text
        self._comments = module.comments
        self._next = 0  # the first comment that is not written yet
        self._behind = 0  # the end in the source of the last written text
        self._open = False  # whether a comment may follow on the last line

    def line(self, line: _Line) -> None:
        """Write the comments before a line, the line, and after it the comments inside it."""
        self.comments_before(line.start, line.depth + line.outdent)
        self._gap(line.start, closing=line.text == ["}"])
        tabs = "\t" * line.depth
        self.out += [tabs + text for text in line.text]
        self._behind, self._open = max(self._behind, line.start), True
        if self._text[line.start : line.end] != line.text[0]:
            self.comments_before(line.end, line.depth + line.outdent, inside=True)
        while self._next < len(self._comments) and self._comments[self._next][0] < line.end:
            self._next += 1  # it was written with the line, which is verbatim from the source
        self._behind = max(self._behind, line.end)

    def comments_before(self, offset: int, depth: int, *, inside: bool = False) -> None:
        """Write every comment that starts before `offset`, on the last line if it was there, or `inside` it."""
        while self._next < len(self._comments) and self._comments[self._next][0] < offset:
            start, end = self._comments[self._next]
            text = self._text[start:end].rstrip()
            beside = inside or self._text.find("\n", self._behind, start) < 0
            if self._open and beside and text[0] != "#":
                self.out[-1] += f"\t{text}"
            else:
                self._gap(start, closing=False)
                self.out.append(text if text[0] == "#" else "\t" * depth + text)
            self._open = text[0] == "/" and text[1] == "*"
            self._behind = max(self._behind, end)
            self._next += 1

    def _gap(self, start: int, *, closing: bool) -> None:
        """Keep one blank line if the source has any, except at the edges of a scope."""
        wanted = self._text.count("\n", self._behind, start) > 1
        if wanted and self.out and not closing and self.out[-1].strip() != "{":
            self.out.append("")
