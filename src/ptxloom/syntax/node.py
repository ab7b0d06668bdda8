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

    if not TYPE_CHECKING:

        def __new__(cls, *values: object, **named: object) -> Self:  # noqa: D102 - the class says it
            fields = cls._payload
            if len(values) > len(fields):
                message = f"{cls.__name__} takes {len(fields)} positional fields, not {len(values)}"
                raise TypeError(message)
            rest = (fields + cls._positions)[len(values) :]
            defaults = cls._defaults
            try:
                values += tuple(named.pop(field) if field in named else defaults[field] for field in rest)
            except KeyError as missing:
                message = f"{cls.__name__} needs its field {missing}"
                raise TypeError(message) from None
            if named:
                message = f"{cls.__name__} has no field {next(iter(named))!r} left to set"
                raise TypeError(message)
            return tuple.__new__(cls, values)

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

    raw: Callable[..., Any]
else:
    raw = tuple.__new__
    """Makes a node from (class, all its fields and then its positions), unchecked: for the parser."""

    def fields_of(node: Node) -> tuple[object, ...]:
        """The fields of a node in order, without its position."""
        return tuple.__getitem__(node, slice(len(node._payload)))  # noqa: SLF001 - the other half of the class
