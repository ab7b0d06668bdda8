"""What is printed as JSON: classes that declare its members, and `record`, which turns any value into JSON's terms.

A class derived from `Record` is an object of JSON, its annotations are the members in their order. From the same
annotations `ptxloom.records.schemas` makes the JSON Schema, so that no member is declared twice.

Example:
    >>> class Point(Record):
    ...     x: int
    ...     label: str | Absent = ABSENT
    >>> record((Point(x=1), Point(x=2, label="b")))
    [{'x': 1}, {'x': 2, 'label': 'b'}]
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Protocol,
    TypeAlias,
    TypeVar,
    cast,
    dataclass_transform,
    get_type_hints,
    runtime_checkable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""JSON as Python holds it."""


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = 0


ABSENT: Final = Absent.ABSENT
"""The value of a member that an object does not have; a member whose type allows it is optional."""


class Keywords:
    """Keywords of JSON Schema beside a type: `Annotated[int, Keywords(minimum=0)]`."""

    def __init__(self, **words: Json) -> None:
        """Take them by name."""
        self.words = words


SPLICED: Final = "spliced"
_T = TypeVar("_T")
Spliced: TypeAlias = Annotated[_T, SPLICED]
"""A record whose members stand among those of the record that holds it."""

Natural: TypeAlias = Annotated[int, Keywords(minimum=0)]
Positive: TypeAlias = Annotated[int, Keywords(minimum=1)]

_R = TypeVar("_R", bound="Record")
_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Record:
    """An object of JSON. The annotations of a subclass are its members.

    A class made with `define="name"` is a
    definition of that name in schemas; any other stands where it is used.
    """

    schema_name = ""

    def __init_subclass__(cls, *, define: str = "") -> None:
        """Note the name under which schemas define the class."""
        super().__init_subclass__()
        cls.schema_name = define

    if not TYPE_CHECKING:  # a type checker makes the signature of the annotations

        def __init__(self, **members: object) -> None:
            """Take all members by name."""
            wrong = members.keys() ^ {name for name in _names(type(self)) if name in members or not hasattr(self, name)}
            if wrong:
                raise TypeError(f"{type(self).__name__}: {', '.join(sorted(wrong))}")
            vars(self).update(members)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), tuple(vars(self).values())))

    def members(self) -> Iterator[tuple[str, object]]:
        """The members in their order, those of spliced records among them, without the absent ones."""
        for name, is_spliced in _layout(type(self)):
            value: object = getattr(self, name)
            if is_spliced:
                yield from cast("Record", value).members()
            elif value is not ABSENT:
                yield name, value


@cache
def _names(kind: type[Record]) -> tuple[str, ...]:
    return tuple(name for base in reversed(kind.__mro__) for name in vars(base).get("__annotations__", {}))


@cache
def _layout(kind: type[Record]) -> tuple[tuple[str, bool], ...]:
    """The fields of a record, and whether each is spliced."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple((name, SPLICED in getattr(hints[name], "__metadata__", ())) for name in _names(kind))


def taken(kind: type[_R], value: object, /, **others: object) -> _R:
    """A record of a value: its members are the value's attributes of the same names, except for `others`."""
    same = (name for name in _names(kind) if name not in others and (hasattr(value, name) or not hasattr(kind, name)))
    return kind(**{name: getattr(value, name) for name in same}, **others)


@runtime_checkable
class Recordable(Protocol):
    """A value that defines its own members."""

    def members(self) -> Iterator[tuple[str, object]]:
        """The members of its object, in their order."""
        ...


def record(value: object) -> Json:
    """A value in JSON's terms, without recursion: values may nest deeper than Python's stack.

    Records and mappings are objects; lists, tuples and arrays of NumPy are arrays; members of enumerations
    are their values; numbers that JSON has no word for are texts.
    """
    out: list[Json] = [None]
    waiting: list[tuple[Any, int | str, object]] = [(out, 0, value)]
    while waiting:
        holder, key, one = waiting.pop()
        if type(one) in _PLAIN:
            holder[key] = one if type(one) is not float or one - one == 0 else str(one)
            continue
        inside: Any = _inside(one)
        match inside:
            case dict():
                made: Any = dict.fromkeys(cast("dict[str, object]", inside))
                waiting += [(made, name, inner) for name, inner in cast("dict[str, object]", inside).items()]
            case list():
                made = [None] * len(cast("list[object]", inside))
                waiting += [(made, at, inner) for at, inner in enumerate(cast("list[object]", inside))]
            case _:
                waiting.append((holder, key, inside))
                continue
        holder[key] = made
    return out[0]


def _inside(value: object) -> object:
    """What a value that is not plain consists of: a dictionary, a list, or a simpler value."""
    found: object = str(value)
    match value:
        case Recordable():
            found = dict(value.members())
        case Mapping():
            found = dict(cast("Mapping[str, object]", value))
        case list() | tuple():
            found = list(cast("tuple[object, ...]", value))
        case Enum():
            found = value.value
        case int():
            found = int(value)
        case float():
            found = float(value)
        case _ if hasattr(value, "tolist"):
            found = cast("Any", value).tolist()
        case _:
            pass
    return found
