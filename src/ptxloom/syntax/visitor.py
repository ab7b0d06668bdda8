"""Walks a tree: every node, or the instructions that match a pattern."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from types import NoneType
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError, must_be
from ptxloom.syntax.node import Node, children
from ptxloom.syntax.tree import Block, Function, Instruction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.syntax.module import Module


_OPEN: Final = re.compile(r"\[(?!!?+\]?+[^\]]*+\])")
"""An unclosed bracket of a character set."""


def walk(node: Node | Module) -> Iterator[Node]:
    """Every node of a tree, parents first, in the order of the fields; without a module itself.

    Args:
        node: A module or a node.

    Returns:
        An iterator; a node itself comes first.

    Raises:
        UsageError: `node` is neither.

    Example:
        >>> from ptxloom.syntax import parse
        >>> [type(node).__name__ for node in walk(parse("not.pred %p1, !%p2;"))]
        ['Instruction', 'Name', 'Unary', 'Name']
    """
    _must_be_tree(node)
    waiting: list[Node] = [node] if isinstance(node, Node) else list(reversed(node.statements))
    while waiting:
        at = waiting.pop()
        yield at
        waiting += reversed(children(at))


def instructions(node: Node | Module, pattern: str | None = None) -> Iterator[Instruction]:
    """The instructions of a tree in the order of the text, all or those that match a pattern.

    A bare opcode yields every instruction with it. A pattern with qualifiers is matched against the whole spelling:
    `*` stands for anything, dots included, and the pattern may stop before a dot of the spelling.

    Args:
        node: A module, function, block or any other node.
        pattern: An opcode or a spelling with `*`; by default all instructions.

    Returns:
        An iterator over them, nested blocks included.

    Raises:
        UsageError: `node` is not a tree, `pattern` is not a string, or a bracket in it is not closed.

    Example:
        >>> from ptxloom.syntax import parse
        >>> m = parse("ld.shared.v4.b32 {a,b,c,d}, [e]; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {a}, [e];")
        >>> [i.opcode for i in instructions(m, "ldmatrix.*.trans")]
        ['ldmatrix']
        >>> [i.opcode for i in instructions(m, "ld")]
        ['ld']
    """
    _must_be_tree(node)
    must_be(str | NoneType, "pattern", pattern, 'an opcode or a pattern, such as "ld.shared.*"')
    found = _instructions(node.statements if not isinstance(node, Node) else (node,))
    if pattern is None:
        return found
    if pattern.isidentifier():
        return (one for one in found if one.opcode == pattern)
    if _OPEN.search(pattern):
        legal = "without the bracket `[` that is not closed: brackets hold characters of which one is meant, as in [gs]"
        raise UsageError("pattern", pattern, legal)
    matches = _compiled(pattern).match
    return (one for one in found if matches(one.spelling))


def _instructions(nodes: Iterable[Node]) -> Iterator[Instruction]:
    waiting = list(reversed(tuple(nodes)))
    while waiting:
        at = waiting.pop()
        match at:
            case Instruction():
                yield at
            case Block(statements):
                waiting += reversed(statements)
            case Function(body=Block() as body):
                waiting.append(body)
            case _:
                pass


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(f"(?:{translate(pattern)[4:-3]})(?:\\..*)?\\Z", re.DOTALL)


def _must_be_tree(node: object) -> None:
    """Refuse anything except a node or a module.

    Raises:
        UsageError: It is neither.
    """
    if not isinstance(node, Node) and not hasattr(node, "statements"):
        raise UsageError("node", node, "a module, or a node of one")
