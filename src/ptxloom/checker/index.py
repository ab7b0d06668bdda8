"""Which functions make a rule's findings, found in the source by uses of its id."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.checker.pages import rules
from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PACKAGE: Final = Path(__file__).parents[1]
_SEARCHED: Final = ("checker", "syntax")
"""The packages that make findings."""


@cache
def finders(rule: str) -> tuple[str, ...]:
    """The functions that make a rule's findings.

    Such a function uses the rule's id as the first argument of several in a call, or first in a tuple.

    Args:
        rule: The rule's id.

    Returns:
        Their full names, in alphabetical order.

    Raises:
        UsageError: There is no such rule.

    Example:
        >>> finders("unknown-instruction")
        ('ptxloom.checker.instruction.opcode.stranger',)
    """
    if rule not in rules():
        raise UsageError("rule", rule, "the id of a rule")
    return tuple(sorted(name for path in _files() for name in _in_file(path, rule)))


def _files() -> Iterator[Path]:
    return (path for folder in _SEARCHED for path in (_PACKAGE / folder).rglob("*.py"))


def _in_file(path: Path, rule: str) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    if f'"{rule}"' not in text:
        return
    tree = ast.parse(text)
    module = ".".join(("ptxloom", *path.relative_to(_PACKAGE).with_suffix("").parts))
    constants = _assigned(tree.body)
    for name, function in _functions(tree, module):
        values = {**constants, **_assigned(ast.walk(function))}
        if any(rule in _strings(said, values) for said in _said_first(function)):
            yield name


def _functions(tree: ast.Module | ast.ClassDef, outer: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions and methods of a module, by their full names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield f"{outer}.{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{outer}.{node.name}")


def _assigned(nodes: Iterator[ast.AST] | list[ast.stmt]) -> Mapping[str, ast.expr]:
    """The values assigned to plain names."""
    found: dict[str, ast.expr] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found[name] = value
            case _:
                pass
    return found


def _said_first(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The first elements of a function's tuples and of its calls with several arguments."""
    for node in ast.walk(function):
        match node:
            case ast.Call(args=[first, *rest], keywords=named) if rest or named:
                yield first
            case ast.Tuple(elts=[first, _, *_], ctx=ast.Load()):
                yield first
            case _:
                pass


def _strings(expression: ast.expr, values: Mapping[str, ast.expr]) -> set[str]:
    """The strings that an expression may evaluate to: its own, and those of the names in it, except in comparisons."""
    found: set[str] = set()
    waiting: list[ast.AST] = [expression]
    looked_up: set[str] = set()
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Compare():
                continue
            case ast.Constant(value=str() as text):
                found.add(text)
            case ast.Name(id=name) if name in values and name not in looked_up:
                looked_up.add(name)
                waiting.append(values[name])
            case _:
                waiting += ast.iter_child_nodes(node)
    return found
