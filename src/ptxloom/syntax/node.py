"""What every node of the tree is: an immutable record that knows where it stands.

Nodes are tuples underneath (their fields, then their position): making one costs what making a tuple costs, which is
what lets a full tree be built at megabytes a second. Test for `Node` before testing for `tuple`.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

from ptxloom.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    N = TypeVar("N", bound="Node")
    _Record = object
else:
    _Record = tuple

NOWHERE = Source("", "<nowhere>")
"""The source of statements that were built by hand."""


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
        namespace["_tail"] = tuple((field, defaults[field]) for field in positions)
        namespace["__match_args__"] = payload
        for index, field in enumerate(payload + positions):
            namespace[field] = property(itemgetter(index), doc=f"The field `{field}`.")
        return super().__new__(mcs, name, bases, namespace)


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
    _tail: ClassVar[tuple[tuple[str, Any], ...]]

    if not TYPE_CHECKING:

        def __new__(cls, *values: object, **named: object) -> Self:  # noqa: D102 - the class says it
            fields = cls._payload
            if len(values) != len(fields):
                values += tuple(cls._fill(fields[len(values) :], named))
            values += tuple([named.pop(field, default) for field, default in cls._tail])
            if named or len(values) != len(fields) + len(cls._tail):
                message = f"{cls.__name__} has the fields {', '.join(fields)} and was given others or too many"
                raise TypeError(message)
            return tuple.__new__(cls, values)

        @classmethod
        def _fill(cls, fields: tuple[str, ...], named: dict[str, object]) -> Iterator[object]:
            for field in fields:
                if field in named:
                    yield named.pop(field)
                elif field in cls._defaults:
                    yield cls._defaults[field]
                else:
                    message = f"{cls.__name__} needs its field {field}"
                    raise TypeError(message)

        def __reduce__(self) -> tuple[object, ...]:
            return raw, (type(self), tuple(self))

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

    raw: Callable[..., Any]
else:
    raw = tuple.__new__
    """Makes a node from (class, all its fields and then its positions), unchecked: for the parser."""

    def fields_of(node: Node) -> tuple[object, ...]:
        """The fields of a node in order, without its position."""
        return tuple.__getitem__(node, slice(len(node._payload)))  # noqa: SLF001 - the other half of the class

    def moved(node: Node, by: int, source: Source) -> Node:
        """The same node, `by` characters further on in `source`."""
        payload = len(node._payload)  # noqa: SLF001 - the other half of the class
        values = [
            moved(value, by, source)
            if isinstance(value, Node)
            else tuple(moved(one, by, source) if isinstance(one, Node) else one for one in value)
            if isinstance(value, tuple)
            else value
            for value in tuple.__getitem__(node, slice(payload))
        ]
        values += (at + by if isinstance(at, int) else source for at in tuple.__getitem__(node, slice(payload, None)))
        return tuple.__new__(type(node), values)
