"""What every node of the tree is: an immutable record that knows where it stands.

Nodes are tuples underneath (their fields, then their position): making one costs what making a tuple costs, which is
what lets a full tree be built at megabytes a second. Test for `Node` before testing for `tuple`.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from ptxloom.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    N = TypeVar("N", bound="Node")
    _Record = object
else:
    _Record = tuple

_SCALARS = frozenset(("str", "int", "bool", "str | None", "int | None", "tuple[int | None, ...]", "tuple[str, ...]"))

NOWHERE = Source("", "<nowhere>")
"""The source of statements that were built by hand."""


if TYPE_CHECKING:
    raw: Callable[..., Any]
else:
    raw = tuple.__new__
    """Makes a node from (class, all its fields and then its positions), unchecked: for the parser."""


def position(*, default: Any, kw_only: bool = True) -> Any:
    """Declares a field that says where a node stands: given by keyword, ignored by `==` and `hash`."""
    return _Position(default) if kw_only else default


class _Position:
    __slots__ = ("default",)

    def __init__(self, default: object) -> None:
        self.default = default


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
        namespace |= {"__match_args__": payload, "__new__": _constructor(name, payload, positions, defaults)}
        deep = tuple(index for index, field in enumerate(payload) if annotations.get(field) not in _SCALARS)
        places = tuple(index for index, field in enumerate(payload + positions) if field in {"start", "end"})
        namespace["_moving"] = (deep, places, "source" in positions)
        for index, field in enumerate(payload + positions):
            namespace[field] = property(itemgetter(index), doc=f"The field `{field}`.")
        return super().__new__(mcs, name, bases, namespace)


def _constructor(
    name: str, payload: tuple[str, ...], positions: tuple[str, ...], defaults: dict[str, Any]
) -> Callable[..., Any]:
    """A `__new__` that takes the payload in order and the position by keyword.

    It is made from text, as `collections.namedtuple` makes its own: nothing else is as fast to call.
    """
    ordered = [f"{field}=_{field}" if field in defaults else field for field in payload]
    keyed = [f"{field}=_{field}" for field in positions]
    text = f"lambda _cls, {', '.join((*ordered, '*', *keyed))}: _new(_cls, ({', '.join(payload + positions)},))"
    scope: dict[str, Any] = {"_new": raw} | {f"_{field}": value for field, value in defaults.items()}
    made: Any = eval(text, scope)  # noqa: S307 - the text is made of our own field names
    made.__name__, made.__qualname__ = "__new__", name
    return made


class Node(_Record, metaclass=NodeType):
    """A piece of the tree. Equality and hash ignore where it stands.

    Attributes:
        start: The offset of its first character.
        end: The offset just after its last character.
    """

    end: int = position(default=0)
    start: int = position(default=0)

    _payload: ClassVar[tuple[str, ...]]
    _positions: ClassVar[tuple[str, ...]]
    _defaults: ClassVar[dict[str, Any]]
    _moving: ClassVar[tuple[tuple[int, ...], tuple[int, ...], bool]]  # which fields to move, which are offsets

    if not TYPE_CHECKING:

        def __reduce__(self) -> tuple[object, ...]:
            return raw, (type(self), tuple(self))

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

        Example:
            >>> from ptxloom.syntax.tree import Name
            >>> Name("%r1").replace(text="%r2")
            Name(text='%r2')
        """
        old: dict[str, Any] = {name: getattr(self, name) for name in self._payload + self._positions}
        return type(self)(**(old | changes))

    def span_in(self, source: Source) -> Span:
        """Where the node stands in the source that it was read from."""
        return Span(source, self.start, self.end)


class StatementNode(Node):
    """A node that also knows its source, so that it can say where it stands by itself."""

    source: Source = position(default=NOWHERE)

    @property
    def span(self) -> Span:
        """Where the statement stands."""
        return Span(self.source, self.start, self.end)


if TYPE_CHECKING:

    def fields_of(node: Node) -> tuple[object, ...]:
        """The fields of a node in order, without its position."""
        ...

    def moved(node: N, by: int, source: Source) -> N:
        """The same node, `by` characters further on in `source`."""
        ...

    def ended(node: N, end: int) -> N:
        """The same node, ending elsewhere."""
        ...

else:

    def fields_of(node: Node) -> tuple[object, ...]:
        """The fields of a node in order, without its position."""
        return tuple.__getitem__(node, slice(len(node._payload)))  # noqa: SLF001 - the other half of the class

    def ended(node: Node, end: int) -> Node:
        """The same node, ending elsewhere."""
        return raw(type(node), (*tuple.__getitem__(node, slice(-1)), end))  # a node's end is its last field

    def moved(node: Node, by: int, source: Source) -> Node:
        """The same node, `by` characters further on in `source`."""
        kind = type(node)
        deep, places, sourced = kind._moving  # noqa: SLF001 - the other half of the class
        values = list(node)
        for index in deep:
            value = values[index]
            if isinstance(value, Node):
                values[index] = moved(value, by, source)
            elif value:
                values[index] = tuple([moved(one, by, source) if isinstance(one, Node) else one for one in value])
        for index in places:
            values[index] += by
        if sourced:
            values[-3] = source
        return raw(kind, values)
