"""JSON as every view writes it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.views.core.cells import visible

if TYPE_CHECKING:
    from ptxloom.source import Span

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"

_NOT_ASCII: Final = re.compile(r"[^\n -~]")


def to_text(value: Value) -> str:
    """JSON as we print it: indented, keys in the order given, one line feed at the end; nothing steers a terminal."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return _NOT_ASCII.sub(_escaped, text) + "\n"


def schema_of(properties: dict[str, Value], optional: tuple[str, ...] = ()) -> dict[str, Value]:
    """The JSON Schema of an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _escaped(found: re.Match[str]) -> str:
    """A character as JSON can say it, if it must not be printed as it is."""
    return found[0] if visible(found[0]) == found[0] else json.dumps(found[0])[1:-1]


def place(span: Span) -> dict[str, Value]:
    """A span as file, lines and columns, all from 1; the end is just after the last character."""
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }
