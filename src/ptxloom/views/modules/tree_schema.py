"""The JSON Schema of what `ptxloom parse --output-format json` prints, made from the classes of the tree."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Union, cast, get_args, get_origin, get_type_hints

from ptxloom.syntax import Node, tree
from ptxloom.syntax.node import StatementNode
from ptxloom.views.core.json_text import schema_of, to_text
from ptxloom.views.findings.finding_schema import finding_schema

if TYPE_CHECKING:
    from ptxloom.views.core.json_text import Value

_PLAIN: Final = {str: "string", int: "integer", bool: "boolean", NoneType: "null"}
_TEXT: Final[Value] = {"type": "string"}
_NUMBER: Final[Value] = {"type": "integer", "minimum": 0}
_TEXTS: Final[Value] = {"type": "array", "items": {"type": "string"}}
_COUNTS: Final[Value] = {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}}
_SPAN: Final[dict[str, Value]] = {
    name: {"type": "integer", "minimum": 1} for name in ("line", "column", "end_line", "end_column")
}


def schema() -> str:
    """The schema as JSON."""
    definitions: dict[str, Value] = {kind.__name__: _node(kind) for kind in _kinds()}
    definitions["Operand"] = _union(tree.Operand)
    definitions["Statement"] = _union(tree.Statement)
    definitions["finding"] = finding_schema()
    definitions["function"] = _function()
    return to_text(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "What ptxloom reads in PTX files",
            "description": "One object a file. `statements` is there where the tree was asked for.",
            "type": "array",
            "items": schema_of(
                {
                    "file": _TEXT,
                    "ptx_version": {"type": ["string", "null"], "pattern": r"^\d+\.\d+$"},
                    "target": _TEXTS,
                    "address_size": {"enum": [32, 64]},
                    "global_bytes": _NUMBER,
                    "constant_bytes": _NUMBER,
                    "shared_bytes": _NUMBER,
                    "dynamic_shared": {"type": "boolean"},
                    "external": _TEXTS,
                    "functions": {"type": "array", "items": {"$ref": "#/$defs/function"}},
                    "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
                    "statements": {"type": "array", "items": {"$ref": "#/$defs/Statement"}},
                },
                optional=("statements",),
            ),
            "$defs": definitions,
        }
    )


def _kinds() -> tuple[type[Node], ...]:
    """The classes of the tree, in the order of its module."""
    classes = (one for one in vars(tree).values() if isinstance(one, type) and issubclass(one, Node))
    return tuple(one for one in classes if one not in {Node, StatementNode})


def _node(kind: type[Node]) -> Value:
    """One class: its kind, its place, its fields."""
    hints = get_type_hints(kind)
    fields: dict[str, Value] = {name: _type(hints[name]) for name in cast("tuple[str, ...]", kind.__match_args__)}
    made = schema_of({"node": {"const": kind.__name__}, **_SPAN, **fields})
    return {"description": " ".join((kind.__doc__ or "").partition("\n\n")[0].split()), **made}


def _type(hint: Any) -> Value:
    """The schema of an annotation."""
    arguments = get_args(hint)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint in {tree.Operand, tree.Statement}:
        return {"$ref": f"#/$defs/{'Operand' if hint == tree.Operand else 'Statement'}"}
    if get_origin(hint) in {Union, UnionType}:
        return {"anyOf": [_type(one) for one in _without_operand(arguments)]}
    if get_origin(hint) is tuple and arguments[-1] is ...:
        return {"type": "array", "items": _type(arguments[0])}
    if get_origin(hint) is tuple:
        return {"type": "array", "prefixItems": [_type(one) for one in arguments], "minItems": len(arguments)}
    return {"$ref": f"#/$defs/{hint.__name__}"}


def _without_operand(arguments: tuple[Any, ...]) -> list[Any]:
    """The members of a union, those of an operand put together again."""
    operands = get_args(tree.Operand)
    if set(operands) <= set(arguments):
        return [*(one for one in arguments if one not in operands), tree.Operand]
    return [*arguments]


def _union(alias: Any) -> Value:
    return {"anyOf": [_type(one) for one in get_args(alias)]}


def _function() -> Value:
    loop = schema_of(
        {
            "label": _TEXT,
            "line": _NUMBER,
            "end_line": _NUMBER,
            "depth": {"type": "integer", "minimum": 1},
            "blocks": _NUMBER,
            "instructions": _NUMBER,
        }
    )
    return schema_of(
        {
            "name": _TEXT,
            "demangled": _TEXT,
            "kind": {"enum": ["entry", "func"]},
            "line": _NUMBER,
            "end_line": _NUMBER,
            "parameters": _TEXTS,
            "parameter_bytes": _NUMBER,
            "registers": _COUNTS,
            "shared_bytes": _NUMBER,
            "local_bytes": _NUMBER,
            "limits": _TEXTS,
            "instructions": _NUMBER,
            "classes": _COUNTS,
            "opcodes": _COUNTS,
            "blocks": _NUMBER,
            "loops": {"type": "array", "items": loop},
            "calls": _TEXTS,
        }
    )
