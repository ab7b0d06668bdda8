"""JSON Schema, made from the types of what is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from ptxloom.records import SPLICED, Absent, Record

if TYPE_CHECKING:
    from ptxloom.records import Json

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Final[dict[Any, str]] = {
    NoneType: "null", str: "string", int: "integer", float: "number", bool: "boolean", complex: "number"
}  # fmt: skip


class Shape(NamedTuple):
    """The schema of an object: its members by type, its name among the definitions, its description."""

    members: Mapping[str, Any]
    define: str = ""
    description: str = ""


def schema(
    hint: Any,
    title: str = "",
    *,
    shape_of: Callable[[Any], Shape | None] = lambda _: None,
    unions: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Json]:
    """The schema of a document.

    Args:
        hint: Its type.
        title: What it is.
        shape_of: The shapes of classes that are not records.
        unions: Unions that are definitions, by name.
    """
    made = _Schemas(shape_of, unions)
    body = made.of(hint)
    head: dict[str, Json] = {"$schema": DIALECT, **({"title": title} if title else {})}
    while (name := str(body.get("$ref", "")).rpartition("/")[2]) and not _mentions(made.definitions, name):
        body = made.definitions.pop(name)
    return {**head, **body, **({"$defs": {**made.definitions}} if made.definitions else {})}


def _mentions(definitions: dict[str, dict[str, Json]], name: str) -> bool:
    """Whether any definition refers to the one of this name."""
    return f"'#/$defs/{name}'" in str(definitions)


def shape_of_record(kind: type[Record]) -> Shape:
    """The members of a record, those of spliced ones among them."""
    members: dict[str, Any] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated and SPLICED in hint.__metadata__:
            members |= shape_of_record(get_args(hint)[0]).members
        else:
            members[name] = hint
    return Shape(members, kind.schema_name)


class _Schemas:
    """Schemas of types, and the definitions that they refer to."""

    def __init__(self, shape_of: Callable[[Any], Shape | None], unions: Mapping[str, Any]) -> None:
        self.definitions: dict[str, dict[str, Json]] = {}
        self._shape_of = shape_of
        self._unions = unions

    def of(self, hint: Any) -> dict[str, Json]:
        """The schema of a type."""
        if hint is Any:
            return {}
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            found: dict[str, Json] = self.of(arguments[0])
            for keywords in arguments[1:]:
                found |= keywords.words
        elif origin is Literal:
            found = {"const": arguments[0]} if len(arguments) == 1 else {"enum": [*arguments]}
        elif origin in {Union, UnionType}:
            found = self._union(arguments)
        elif origin in {tuple, list}:
            found = self._array(arguments)
        elif isinstance(origin, type) and issubclass(origin, Mapping):
            found = {"type": "object", "additionalProperties": self.of(arguments[1])}
        elif isinstance(hint, type) and issubclass(hint, Enum):
            found = {"enum": [one.value for one in hint]}
        else:
            found = self._object(hint)
        return found

    def _union(self, arguments: tuple[Any, ...]) -> dict[str, Json]:
        kinds = [one for one in arguments if one is not Absent]
        if len(kinds) == 1:
            return self.of(kinds[0])
        if all(kind in _PLAIN for kind in kinds):
            return {"type": [_PLAIN[kind] for kind in kinds]}
        parts: list[dict[str, Json]] = []
        for name, union in self._unions.items():
            members = get_args(union)
            if set(members) <= set(kinds):
                parts.append(self._defined(name, lambda members=members: {"anyOf": [self.of(one) for one in members]}))
                kinds = [one for one in kinds if one not in members]
        parts = [*map(self.of, sorted(kinds, key=lambda kind: kind is not NoneType)), *parts]
        return parts[0] if len(parts) == 1 else {"anyOf": [*parts]}

    def _array(self, arguments: tuple[Any, ...]) -> dict[str, Json]:
        if arguments[-1] is ... or len(set(arguments)) == 1:
            length = 0 if arguments[-1] is ... else len(arguments)
            limits = dict.fromkeys(("minItems", "maxItems"), length) if length else {}
            return {"type": "array", "items": self.of(arguments[0]), **limits}
        return {"type": "array", "prefixItems": [self.of(one) for one in arguments], "minItems": len(arguments)}

    def _object(self, hint: Any) -> dict[str, Json]:
        shape = self._shape(hint)
        return self._defined(shape.define, lambda: self._members(shape)) if shape.define else self._members(shape)

    def _defined(self, name: str, make: Callable[[], dict[str, Json]]) -> dict[str, Json]:
        """A reference to a definition, which is made when it is first met."""
        if name not in self.definitions:
            self.definitions[name] = {}  # it may mention itself
            self.definitions[name] = make()
        return {"$ref": f"#/$defs/{name}"}

    def _shape(self, hint: Any) -> Shape:
        found = self._shape_of(hint)
        if found is not None:
            return found
        if isinstance(hint, type) and issubclass(hint, Record):
            return shape_of_record(hint)
        raise TypeError(f"{hint!r} is nothing that JSON has a word for")

    def _members(self, shape: Shape) -> dict[str, Json]:
        optional = {name for name, hint in shape.members.items() if Absent in get_args(hint)}
        return {
            **({"description": shape.description} if shape.description else {}),
            "type": "object",
            "properties": {name: self.of(hint) for name, hint in shape.members.items()},
            "required": [name for name in shape.members if name not in optional],
            "additionalProperties": False,
        }
