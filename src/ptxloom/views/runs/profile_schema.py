"""The JSON Schema of a profile: the `profile` of `ptxloom run --profile --output-format json` and of `inspect`'s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.views.core.json_text import schema_of, to_text
from ptxloom.views.runs.profiles import VERSION

if TYPE_CHECKING:
    from ptxloom.views.core.json_text import Value

_NUMBER: Final[Value] = {"type": "integer", "minimum": 0}
_LINE: Final[Value] = {"type": "integer", "minimum": 1}
_TEXT: Final[Value] = {"type": "string"}
_MEANINGS: Final = {
    "executions": "warp instructions, those whose predicate holds in no lane included",
    "lanes": "lanes that took part, over all executions",
    "wavefronts": "passes of shared memory",
    "ideal_wavefronts": "what these would be without bank conflicts",
    "conflicts": "wavefronts beyond the ideal",
    "sectors": "32-byte sectors of global memory asked for",
    "ideal_sectors": "what these would be if the lanes' bytes lay side by side",
    "divergent": "branches that sent the lanes of a warp to different places",
    "bulk_global_bytes": "bytes of global memory that bulk copies read or wrote; of a box, those inside of the tensor",
    "bulk_shared_bytes": "the same of shared memory; of a box, all that a load fills; of a multicast, in each CTA",
}


def schema() -> str:
    """The schema as JSON."""
    remedy = schema_of(
        {
            "line": _LINE,
            "array": _TEXT,
            "conflicts": _NUMBER,
            "says": _TEXT,
            "changes": {"type": "array", "items": {"$ref": "#/$defs/change"}},
        }
    )
    source: Value = {"type": ["string", "null"]}
    instruction: dict[str, Value] = {"line": _LINE, "instruction": _TEXT, "function": _TEXT, "source": source}
    definitions: dict[str, Value] = {"counts": schema_of(_counts()), "change": _change(), "remedy": remedy}
    return to_text(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "What a run of a PTX kernel cost",
            **schema_of(
                {
                    "version": {"const": VERSION},
                    "kernel": _TEXT,
                    "demangled": _TEXT,
                    "totals": {"$ref": "#/$defs/counts"},
                    "instructions": {"type": "array", "items": schema_of({**instruction, **_counts()})},
                    "sources": {"type": "array", "items": schema_of({"file": _TEXT, "line": _NUMBER, **_counts()})},
                    "remedies": {"type": "array", "items": {"$ref": "#/$defs/remedy"}},
                }
            ),
            "$defs": definitions,
        }
    )


def _counts() -> dict[str, Value]:
    cost: Value = {"type": "number", "minimum": 0, "description": "what tables are sorted by; no prediction of time"}
    numbers: dict[str, Value] = {
        name: {"type": "integer", "minimum": 0, "description": meaning} for name, meaning in _MEANINGS.items()
    }
    return {"cost": cost, **numbers}


def _change() -> dict[str, Value]:
    integers: Value = {"type": "integer"}
    return schema_of(
        {
            "swizzle": {"type": ["array", "null"], "items": integers, "minItems": 3, "maxItems": 3},
            "element_bits": {"type": "integer", "minimum": 8},
            "pitch": {"type": ["array", "null"], "items": _LINE, "minItems": 2, "maxItems": 2},
            "conflicts_left": _NUMBER,
        }
    )
