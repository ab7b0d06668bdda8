"""The smallest changes that turn one node's text into another's."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ptxloom.syntax.lexer import Cursor
from ptxloom.syntax.printer import function_header, print_node
from ptxloom.syntax.tree import Block, Declaration, Function, Instruction, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.syntax.node import Node
    from ptxloom.syntax.tree import Predicate, Statement


class Rewritten(NamedTuple):
    """A range of the text and its replacement; `loose` text needs parentheses next to an operator."""

    start: int
    end: int
    text: str
    loose: bool = False


class Deleted(NamedTuple):
    """A deleted statement."""

    statement: Statement


class Inserted(NamedTuple):
    """Statements inserted after one of a block, or at its start."""

    scope: Block
    behind: Statement | None
    new: tuple[Statement, ...]


Change: TypeAlias = Rewritten | Deleted | Inserted


def differences(old: Node, new: Node, text: str) -> Iterator[Change]:
    """The changes that turn `old`, a node of `text`, into `new`, in the order of the text."""
    if old == new:
        return
    match old, new:
        case Instruction(), Instruction():
            yield from _instruction(old, new, text)
        case Vector(before), Vector(after) if len(before) == len(after):
            for one, other in zip(before, after, strict=True):
                yield from differences(one, other, text)
        case Block(), Block():
            yield from _statements(old, old.statements, new.statements, text)
        case Function(body=Block() as before), Function(body=Block() as after):
            if function_header(old) != function_header(new):
                head = text[old.start : before.start].rstrip()
                yield Rewritten(old.start, old.start + len(head), "\n".join(function_header(new)))
            yield from differences(before, after, text)
        case Declaration(), Declaration():
            ended = text.startswith(";", old.end - 1)  # a parameter has no semicolon
            yield Rewritten(old.start, old.end, print_node(new).removesuffix(";") + (";" if ended else ""))
        case _:
            loose = type(new).__name__ in {"Binary", "Ternary"}
            yield Rewritten(old.start, old.end, print_node(new), loose)


def _instruction(old: Instruction, new: Instruction, text: str) -> Iterator[Change]:
    """Guard, spelling and each operand separately, if the number of operands is the same."""
    if len(old.operands) != len(new.operands):
        yield Rewritten(old.start, old.end, print_node(new))
        return
    start, end = _spelling(old, text)
    yield from _guard(old.predicate, new.predicate, start)
    if old.spelling != new.spelling:
        yield Rewritten(start, end, new.spelling)
    for before, after in zip(old.operands, new.operands, strict=True):
        yield from differences(before, after, text)


def _spelling(node: Instruction, text: str) -> tuple[int, int]:
    """The range of opcode and qualifiers."""
    cursor = Cursor(text)
    cursor.seek(node.start if node.predicate is None else node.predicate.end)
    start, end = cursor.start, cursor.end
    cursor.advance()
    for _ in node.qualifiers:
        end = cursor.end
        cursor.advance()
    return start, end


def _guard(old: Predicate | None, new: Predicate | None, spelling: int) -> Iterator[Change]:
    if old is None and new is not None:
        yield Rewritten(spelling, spelling, f"{print_node(new)} ")
    elif old is not None and new is None:
        yield Rewritten(old.start, spelling, "")
    elif old is not None and new is not None and old != new:
        yield Rewritten(old.start, old.end, print_node(new))


def _statements(scope: Block, old: Sequence[Statement], new: Sequence[Statement], text: str) -> Iterator[Change]:
    """Equal statements stay; of the others, the first old one is changed to the first new one, and so on."""
    head = sum(1 for _ in takewhile(bool, map(_same, old, new)))
    limit = min(len(old), len(new)) - head
    tail = sum(1 for _ in takewhile(bool, map(_same, reversed(old[head:]), reversed(new[head:])))) if limit else 0
    middle, wanted = old[head : len(old) - tail], new[head : len(new) - tail]
    for tag, i, j, m, n in SequenceMatcher(None, middle, wanted, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for before, after in zip(middle[i:j], wanted[m:n], strict=False):
            yield from differences(before, after, text)
        paired = min(j - i, n - m)
        for gone in middle[i + paired : j]:
            yield Deleted(gone)
        if n - m > paired:
            at = head + i + paired
            yield Inserted(scope, old[at - 1] if at else None, tuple(wanted[m + paired : n]))


def _same(one: Node, other: Node) -> bool:
    return one == other
