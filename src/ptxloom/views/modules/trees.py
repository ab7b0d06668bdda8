"""Syntax trees as text and as JSON, whatever the nodes: what a class says its fields are is what is shown."""

from __future__ import annotations

from functools import partial
from operator import setitem
from typing import TYPE_CHECKING, cast

from ptxloom.syntax import Node
from ptxloom.views.core.cells import harmless
from ptxloom.views.findings.machine_readable import finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.source import Source
    from ptxloom.syntax import Module
    from ptxloom.syntax.tree import Statement
    from ptxloom.views.core.json_text import Value


def headline(module: Module) -> str:
    r"""A module in one line: name, version, target, address size.

    Example:
        >>> from ptxloom.syntax import parse
        >>> headline(parse(".version 9.0\n.target sm_90a\n.address_size 64\n", "k.ptx"))
        'k.ptx: PTX 9.0, target sm_90a, 64-bit addresses'
    """
    major, minor = module.version
    version = f"PTX {major}.{minor}" if major else "no .version"
    target = f"target {', '.join(module.target)}" if module.target else "no .target"
    return f"{module.source.title}: {version}, {target}, {module.address_size}-bit addresses"


def heading(module: Module) -> dict[str, Value]:
    """What the first directives of a module say, as JSON."""
    return {
        "ptx_version": ".".join(map(str, module.version)) if module.version[0] else None,
        "target": [*module.target],
        "address_size": module.address_size,
    }


def text(module: Module, statements: Sequence[Statement] | None = None) -> str:
    """One line a node: its kind, its place, its plain fields; what is inside it is indented.

    Args:
        module: The module.
        statements: Those to show; None stands for all of the module's.
    """
    lines: list[str] = []
    shown = module.statements if statements is None else statements
    waiting: list[tuple[int, str, Node]] = [(0, "", s) for s in reversed(shown)]
    while waiting:
        depth, name, node = waiting.pop()
        lines.append(f"{'  ' * depth}{name}{_line(node, module.source)}\n")
        waiting += reversed([(depth + 1, f"{field}: ", inner) for field, inner in _inner(node)])
    return harmless("".join(lines))


def _line(node: Node, source: Source) -> str:
    """A node without what is inside it."""
    line, column = source.location(node.start)
    last, end = source.location(node.end)
    plain = (
        f"{name}={value!r}" for name, value in _fields(node) if not _holds_nodes(value) and value not in ("", (), None)
    )
    return " ".join([f"{type(node).__name__} {line}:{column}-{last}:{end}", *plain])


def _fields(node: Node) -> Iterator[tuple[str, object]]:
    """The fields that a node's class names, in order."""
    return ((name, getattr(node, name)) for name in cast("tuple[str, ...]", type(node).__match_args__))


def _holds_nodes(value: object) -> bool:
    """Whether a field leads further into the tree."""
    match value:
        case Node():
            return True
        case tuple():
            return any(isinstance(v, Node) for v in cast("tuple[object, ...]", value))
        case _:
            return False


def _inner(node: Node) -> Iterator[tuple[str, Node]]:
    """The nodes inside a node, with the field that holds them."""
    for name, value in _fields(node):
        match value:
            case Node():
                yield name, value
            case tuple():
                yield from ((name, v) for v in cast("tuple[object, ...]", value) if isinstance(v, Node))
            case _:
                pass


def record(module: Module, statements: Sequence[Statement]) -> Value:
    """Statements as a JSON array, each node with its kind and place."""
    return _plain(tuple(statements), module.source)


def read_findings(module: Module) -> Value:
    """What could not be read, as a JSON array."""
    return [finding(d) for d in module.diagnostics]


def _plain(root: object, source: Source) -> Value:
    """A node or tuple of nodes as objects and lists; without recursion, for trees nest deeper than Python's stack."""
    out: list[Value] = [None]
    waiting: list[tuple[Callable[[Value], None], object]] = [(partial(setitem, out, 0), root)]
    while waiting:
        put, value = waiting.pop()
        match value:
            case Node():
                line, column = source.location(value.start)
                last, end = source.location(value.end)
                entry: dict[str, Value] = {"node": type(value).__name__, "line": line, "column": column}
                entry |= {"end_line": last, "end_column": end}
                fields = dict(_fields(value))
                entry |= dict.fromkeys(fields)
                waiting += [(partial(setitem, entry, name), inner) for name, inner in fields.items()]
                put(entry)
            case tuple():
                inside = cast("tuple[object, ...]", value)
                items: list[Value] = [None] * len(inside)
                waiting += [(partial(setitem, items, i), inner) for i, inner in enumerate(inside)]
                put(items)
            case str() | int() | float() | None:
                put(value)
            case _:
                put(str(value))
    return out[0]
