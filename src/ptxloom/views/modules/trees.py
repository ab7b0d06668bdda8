"""Syntax trees as text and as JSON, for any node: the fields that its class declares are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

from ptxloom.records import Keywords, Record
from ptxloom.syntax import Node
from ptxloom.views.core.cells import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.source import Source
    from ptxloom.syntax import Module
    from ptxloom.syntax.tree import Statement


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


class Heading(Record):
    """The values of a module's first directives."""

    ptx_version: Annotated[str | None, Keywords(pattern=r"^\d+\.\d+$")]
    target: tuple[str, ...]
    address_size: Literal[32, 64]


def heading(module: Module) -> Heading:
    """The first directives of a module as they are recorded."""
    return Heading(
        ptx_version=".".join(map(str, module.version)) if module.version[0] else None,
        target=module.target,
        address_size=cast("Literal[32, 64]", module.address_size),
    )


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


class Recorded:
    """A node of a tree as it is recorded: its kind and place, then its fields."""

    def __init__(self, node: Node, source: Source) -> None:
        self._node = node
        self._source = source

    def members(self) -> Iterator[tuple[str, object]]:
        """The members of the node's object."""
        line, column = self._source.location(self._node.start)
        end_line, end_column = self._source.location(self._node.end)
        yield from {"node": type(self._node).__name__, "line": line, "column": column}.items()
        yield from {"end_line": end_line, "end_column": end_column}.items()
        yield from ((name, recorded(value, self._source)) for name, value in _fields(self._node))


def recorded(value: object, source: Source) -> object:
    """A field of a node, the nodes in it as they are recorded."""
    match value:
        case Node():
            return Recorded(value, source)
        case tuple():
            return tuple(recorded(one, source) for one in cast("tuple[object, ...]", value))
        case _:
            return value
