"""The base of all nodes of the tree: an immutable record with a position.

Nodes are tuples underneath (their fields, then their source if they know it, their start and their size): making one
costs little more than making a tuple, which is what lets a full tree be built at megabytes a second. Test for `Node`
before testing for `tuple`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from ptxloom.diagnostics import UsageError
from ptxloom.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    N = TypeVar("N", bound="Node")
    _Record = object
else:
    _Record = tuple

_SCALARS = frozenset(("str", "int", "bool", "str | None", "int | None", "tuple[int | None, ...]", "tuple[str, ...]"))

NOWHERE = Source("", "<nowhere>")
"""The source of statements that were not parsed."""


if TYPE_CHECKING:

    def maker(kind: type[N]) -> Callable[[tuple[object, ...]], N]:
        """A function that makes nodes of a class from a tuple of all their items, unchecked: for the parser."""
        ...

    def getter(index: int, doc: str) -> property:
        """The attribute that is an item of a tuple."""
        ...

else:
    try:
        from _collections import _tuplegetter as getter  # what named tuples read their fields with
    except ImportError:
        from operator import itemgetter

        def getter(index: int, doc: str) -> property:
            """The attribute that is an item of a tuple."""
            return property(itemgetter(index), doc=doc)

    def maker(kind: type[Node]) -> Callable[[tuple[object, ...]], Node]:
        """A function that makes nodes of a class from a tuple of all their items, unchecked: for the parser."""
        return type.__call__.__get__(kind)  # bypasses the constructor, straight to `tuple.__new__`


def position(*, default: Any, kw_only: bool = True) -> Any:
    """Declares a field for the place of a node: set by keyword, ignored by `==` and `hash`."""
    return _Position(default) if kw_only else default


class _Position:
    __slots__ = ("default",)

    def __init__(self, default: object) -> None:
        self.default = default


_END = property(lambda node: node[-2] + node[-1], doc="The field `end`: the node's start plus its size.")


@dataclass_transform(frozen_default=True, field_specifiers=(position,))
class NodeType(type):
    """Turns a class body's annotations into the fields of a record."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> NodeType:
        """Make the class: payload fields first, then the inherited position fields."""
        annotations: dict[str, str] = namespace.get("__annotations__", {})
        payload: tuple[str, ...] = ()
        positions: tuple[str, ...] = ()
        defaults: dict[str, Any] = {}
        for base in bases:
            payload += getattr(base, "_payload", ())
            positions += getattr(base, "_positions", ())
            defaults |= getattr(base, "_defaults", {})
        for field, annotation in annotations.items():
            if annotation.startswith("ClassVar"):
                continue
            default = namespace.pop(field, _Position)
            if isinstance(default, _Position):
                positions = (field, *positions)
                defaults[field] = default.default
            else:
                payload += (field,)
                if default is not _Position:
                    defaults[field] = default
        positions = tuple(field for field in positions if field not in namespace)
        namespace |= {"__slots__": (), "_payload": payload, "_positions": positions, "_defaults": defaults}
        namespace["__match_args__"] = payload
        deep = tuple(index for index, field in enumerate(payload) if annotations.get(field) not in _SCALARS)
        place = (payload + positions).index("start")
        namespace["_moving"] = (deep, place, "source" in positions)
        for index, field in enumerate(payload + positions):
            namespace[field] = _END if field == "end" else getter(index, f"The field `{field}`.")
        made: Any = super().__new__(mcs, name, bases, namespace)
        made._constructor = _constructor(name, payload, positions, defaults, maker(made))  # noqa: SLF001 - its own
        return made

    if not TYPE_CHECKING:

        def __call__(cls, *fields: object, **named: object) -> Node:
            """Make a node: its fields in order or by name, its position by name."""
            return cls._constructor(*fields, **named)


def _constructor(
    name: str, payload: tuple[str, ...], positions: tuple[str, ...], defaults: dict[str, Any], make: Any
) -> Callable[..., Any]:
    """A function that makes a node from its payload in order and its position by keyword.

    It is compiled from text, like that of `collections.namedtuple`: nothing else is as fast to call.
    """
    ordered = [f"{field}=_{field}" if field in defaults else field for field in payload]
    keyed = [f"{field}=_{field}" for field in positions]
    held = ["end - start" if field == "end" else field for field in payload + positions]
    scope: dict[str, Any] = {"_make": make} | {f"_{field}": value for field, value in defaults.items()}
    text = f"lambda {', '.join((*ordered, '*', *keyed))}: _make(({', '.join(held)},))"
    made: Any = eval(text, scope)  # noqa: S307 - the text is made of our own field names
    made.__name__ = made.__qualname__ = name
    return made


class Node(_Record, metaclass=NodeType):
    """A piece of the tree. Equality and hash ignore its position.

    Attributes:
        start: The offset of its first character.
        end: The offset just after its last character.

    Example:
        >>> from ptxloom.syntax import parse
        >>> (statement,) = parse("add.f32 a, b, c;").statements
        >>> statement.start, statement.end, statement == parse("  add.f32 a,b,c;").statements[0]
        (0, 16, True)
    """

    end: int = position(default=0)
    start: int = position(default=0)

    _constructor: ClassVar[Any]
    _payload: ClassVar[tuple[str, ...]]
    _positions: ClassVar[tuple[str, ...]]
    _defaults: ClassVar[dict[str, Any]]
    _moving: ClassVar[
        tuple[tuple[int, ...], int, bool]
    ]  # the fields to move, the index of the start, whether there is a source

    if not TYPE_CHECKING:

        def __reduce__(self) -> tuple[object, ...]:
            return _remade, (type(self), tuple(self))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Node) and type(self) is type(other) and fields_of(self) == fields_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self).__name__, fields_of(self)))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in zip(self._payload, fields_of(self), strict=True))
        return f"{type(self).__name__}({inside})"

    def replace(self, **changes: Any) -> Self:
        """The same node with some fields changed.

        Args:
            changes: New values by the names of fields.

        Returns:
            A new node; this one stays unchanged.

        Example:
            >>> from ptxloom.syntax.tree import Name
            >>> Name("%r1").replace(text="%r2")
            Name(text='%r2')
        """
        old: dict[str, Any] = {name: getattr(self, name) for name in self._payload + self._positions}
        return type(self)(**(old | changes))

    def span_in(self, source: Source) -> Span:
        """The span of the node in the source that it was parsed from.

        Args:
            source: The module's source.

        Returns:
            A span that can quote the node.
        """
        return Span(source, self.start, self.end)


class StatementNode(Node):
    """A node with a source, and so with a place."""

    source: Source = position(default=NOWHERE)

    @property
    def span(self) -> Span:
        """The span of the statement."""
        return Span(self.source, self.start, self.end)


if TYPE_CHECKING:

    def fields_of(node: Node) -> tuple[object, ...]:
        """The fields of a node in order, without its position."""
        ...

    def children(node: Node) -> list[Node]:
        """The nodes directly inside a node, in the order of its fields."""
        ...

    def moved(node: N, by: int, source: Source) -> N:
        """The same node, `by` characters further on in `source`."""
        ...

    def ended(node: N, end: int) -> N:
        """The same node with another end."""
        ...

else:

    def fields_of(node: Node) -> tuple[object, ...]:
        """The fields of a node in order, without its position."""
        return tuple.__getitem__(node, slice(len(node._payload)))  # noqa: SLF001 - the other half of the class

    def children(node: Node) -> list[Node]:
        """The nodes directly inside a node, in the order of its fields."""
        if not isinstance(node, Node):
            raise UsageError("node", node, "a node of a module")
        found = []
        for index in type(node)._moving[0]:  # noqa: SLF001 - the other half of the class
            value = tuple.__getitem__(node, index)
            if isinstance(value, Node):
                found.append(value)
            elif value:
                found += [one for one in value if isinstance(one, Node)]
        return found

    def ended(node: Node, end: int) -> Node:
        """The same node with another end."""
        return _remade(type(node), (*tuple.__getitem__(node, slice(-1)), end - node.start))

    def moved(node: Node, by: int, source: Source) -> Node:
        """The same node, `by` characters further on in `source`."""
        kind = type(node)
        deep, place, sourced = kind._moving  # noqa: SLF001 - the other half of the class
        values = list(node)
        for index in deep:
            value = values[index]
            if isinstance(value, Node):
                values[index] = moved(value, by, source)
            elif value:
                values[index] = tuple([moved(one, by, source) if isinstance(one, Node) else one for one in value])
        values[place] += by
        if sourced:
            values[place - 1] = source
        return _remade(kind, values)

    def _remade(kind: type[Node], values: Iterable[object]) -> Node:
        """A node of a class with these items."""
        return tuple.__new__(kind, values)
