"""PTX in canonical form with every comment kept: what `fmt` writes.

The printer of `syntax` decides how a statement looks; this puts the comments back where they stood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxloom.syntax import parse, print_statements
from ptxloom.syntax.printer import print_line
from ptxloom.syntax.tree import Block, Function, Label, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.syntax import Module
    from ptxloom.syntax.tree import Data, Statement


@dataclass(frozen=True, slots=True)
class Line:
    """One line (or head of several) of output, and the stretch of source that it stands for."""

    start: int
    end: int
    depth: int
    text: str


def formatted(module: Module) -> str | None:
    """The module's canonical text; None if it could not be made without changing what it says."""
    writer = _Writer(module.source.text)
    comments = list(module.comments)
    for line in _lines(module.statements, 0):
        while comments and comments[0][0] < line.start:
            writer.comment(*comments.pop(0), line.depth + (line.text == "}"))
        writer.line(line)
        while comments and comments[0][0] < line.end:
            writer.comment(*comments.pop(0), line.depth, inside=True)
    for start, end in comments:
        writer.comment(start, end, 0)
    text = "".join(f"{line}\n" for line in writer.out)
    again = parse(text, module.source.name)
    same = again == module and not again.diagnostics and _comments(again) == _comments(module)
    return text if same else None


def _comments(module: Module) -> list[str]:
    """What the comments say."""
    return [module.source.text[start:end].rstrip() for start, end in module.comments]


class _Writer:
    """The output so far; it knows how far into the source it has come."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.out: list[str] = []
        self.at = 0  # the end of what was last written, in the source
        self.open = False  # whether a comment may still follow on the last line

    def line(self, line: Line) -> None:
        """A statement's line."""
        self._gap(line.start)
        self.out.append("\t" * line.depth + line.text)
        self.at, self.open = max(line.start, line.end), True

    def comment(self, start: int, end: int, depth: int, *, inside: bool = False) -> None:
        """A comment: beside the line it stood beside, else on a line of its own."""
        text = self.source[start:end].rstrip()
        beside = inside or "\n" not in self.source[self.at : start]
        if self.open and beside and self.out and not text.startswith("#"):
            self.out[-1] += f"\t{text}"
        else:
            self._gap(start)
            self.out.append("" if text.startswith("#") else "\t" * depth)
            self.out[-1] += text
        self.at = max(self.at, end)
        self.open = text.startswith("/*")

    def _gap(self, start: int) -> None:
        """One blank line where the source has one or more."""
        if self.out and self.source.count("\n", self.at, start) > 1 and self.out[-1].strip() != "{":
            self.out.append("")


def _lines(statements: Sequence[Statement | Data], depth: int) -> Iterator[Line]:
    """Every line of the output in order, blocks opened up."""
    waiting: list[Statement | Data | Line] = list(reversed(statements))
    depths = [depth] * len(waiting)
    while waiting:
        node, level = waiting.pop(), depths.pop()
        if isinstance(node, Line):
            yield node
            continue
        inner = list(_parts(node, level))
        waiting += [part for part, _ in reversed(inner)]
        depths += [at for _, at in reversed(inner)]


def _parts(node: Statement | Data, depth: int) -> Iterator[tuple[Statement | Data | Line, int]]:
    """A statement as lines and the statements inside it, each with its depth."""
    match node:
        case Block():
            yield Line(node.start, node.start + 1, depth, "{"), depth
            yield from ((s, depth + 1) for s in node.statements)
            yield Line(node.end - 1, node.end, depth, "}"), depth
        case Function(body=Block() as body):
            head = print_statements((node.replace(body=None),)).rstrip().removesuffix(";")
            yield Line(node.start, body.start, depth, head), depth
            yield body, depth
        case Function():
            yield Line(node.start, node.end, depth, print_statements((node,)).rstrip()), depth
        case Section():
            brace = node.source.text.find("{", node.start)
            yield Line(node.start, brace, depth, f".section {node.name}"), depth
            yield Line(brace, brace + 1, depth, "{"), depth
            yield from ((s, depth + 1) for s in node.contents)
            yield Line(node.end - 1, node.end, depth, "}"), depth
        case Label():
            yield Line(node.start, node.end, 0, f"{node.name}:"), 0
        case _:
            yield Line(node.start, node.end, depth, print_line(node)), depth
