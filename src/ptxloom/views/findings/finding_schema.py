"""The JSON Schema of a finding, as `check`, `inspect` and `parse` print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.views.core.json_text import schema_of

if TYPE_CHECKING:
    from ptxloom.views.core.json_text import Value

_TEXT: Final[Value] = {"type": "string"}
_PLACE: Final[dict[str, Value]] = {
    "file": _TEXT,
    **{name: {"type": "integer", "minimum": 1} for name in ("line", "column", "end_line", "end_column")},
}


_PTX: Final[Value] = {"anyOf": [{"type": "null"}, schema_of(_PLACE)]}
_SOURCE_PLACE: Final[dict[str, Value]] = {**_PLACE, "ptx": _PTX}


def finding_schema() -> dict[str, Value]:
    """What `machine_readable.finding` writes."""
    fix = schema_of({"description": _TEXT, **_PLACE, "replacement": _TEXT, "safe": {"type": "boolean"}})
    return schema_of(
        {
            "rule": _TEXT,
            "severity": {"enum": ["error", "warning", "note"]},
            "message": _TEXT,
            **_SOURCE_PLACE,
            "label": _TEXT,
            "section": _TEXT,
            "help": _TEXT,
            "fix": {"anyOf": [{"type": "null"}, fix]},
            "related": {"type": "array", "items": schema_of({"message": _TEXT, **_SOURCE_PLACE})},
        }
    )
