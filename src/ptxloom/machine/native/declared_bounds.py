"""The number of elements of a table, from the field that points to it: `Annotated[Slice[u32], "threads * 2"]`."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, cast

from ptxloom.machine.native.language import record

if TYPE_CHECKING:
    from collections.abc import Callable


def bound_of(text: str, names: dict[str, object], spell: Callable[[str], ast.expr]) -> ast.expr:
    """The expression of a bound, in 64 bits; `spell` maps a name of the struct (or of a parameter) to an expression."""

    def path(node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Attribute):
            return ast.Attribute(path(node.value), node.attr)
        return spell(cast("ast.Name", node).id)

    def wide(node: ast.expr) -> ast.expr:
        match node:
            case ast.BinOp(left=left, op=operator, right=right):
                return ast.BinOp(wide(left), operator, wide(right))
            case ast.Call(func=function, args=[inner]):
                return ast.Call(function, [path(inner)], [])
            case ast.Name(id=name) if isinstance(names.get(name), int):
                return ast.Constant(cast("int", names[name]))
            case ast.Name() | ast.Attribute():
                return ast.Call(ast.Name("u64"), [path(node)], [])
            case _:
                return node

    return wide(ast.parse(text, mode="eval").body)


@cache
def bounding(struct: type) -> frozenset[str]:
    """The fields of a struct that hold the lengths of its tables."""
    texts = [kind.bound for kind in record(struct).kinds.values() if kind.bound]
    named = {node.id for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return frozenset(named & set(record(struct).kinds))
