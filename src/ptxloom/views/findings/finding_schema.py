"""The JSON Schema of a finding, as `check`, `inspect` and `parse` print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom.views.core.json_text import Value

_TEXT: Final[Value] = {"type": "string"}
_PLACE: Final[dict[str, Value]] = {
    "file": _TEXT,
    **{name: {"type": "integer", "minimum": 1} for name in ("line", "column", "end_line", "end_column")},
}


def finding_schema() -> dict[str, Value]:
    """What `machine_readable.finding` writes."""
    fix = _object({"description": _TEXT, **_PLACE, "replacement": _TEXT, "safe": {"type": "boolean"}})
    return _object(
        {
            "rule": _TEXT,
            "severity": {"enum": ["error", "warning", "note"]},
            "message": _TEXT,
            **_PLACE,
            "label": _TEXT,
            "section": _TEXT,
            "help": _TEXT,
            "fix": {"anyOf": [{"type": "null"}, fix]},
            "related": {"type": "array", "items": _object({"message": _TEXT, **_PLACE})},
        }
    )


def _object(properties: dict[str, Value]) -> dict[str, Value]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
