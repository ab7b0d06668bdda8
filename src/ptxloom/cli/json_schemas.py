"""The JSON Schema of everything that a verb prints or reads as data: `ptxloom schema` prints them.

Tests hold one file, `schemas/outputs.json`, to what the verbs print. Trees, profiles and launch files have models of
their own, from which their schemas are made.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from ptxloom.cli.arguments.launch_keys import LAUNCH, TITLE
from ptxloom.diagnostics import UsageError
from ptxloom.isa.spelling import near_misses
from ptxloom.settings.toml_model import schema as toml_schema
from ptxloom.views.findings.finding_schema import finding_schema
from ptxloom.views.modules import tree_schema
from ptxloom.views.runs import profile_schema

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
OUTPUTS: Final = (
    "inspect", "check", "query", "graph", "diff", "map", "where", "banks", "swizzle", "atom", "descriptor", "tensormap",
    "run", "shared", "why", "sweep", "judge", "doctor",
)  # fmt: skip
"""Verbs whose `--output-format json` is described in the file."""
MADE: Final = {
    "parse": lambda: json.loads(tree_schema.schema()),
    "profile": lambda: json.loads(profile_schema.schema()),
    "launch-file": lambda: toml_schema(LAUNCH, TITLE),
}
NAMES: Final = (*OUTPUTS, *MADE)


def schema(name: str) -> dict[str, Any]:
    """The schema of a verb's JSON, of a profile, or of launch files.

    Raises:
        UsageError: Nothing of that name has one.
    """
    if name in MADE:
        return MADE[name]()
    if name not in OUTPUTS:
        near = near_misses(name, NAMES)
        raise UsageError("name", name, f"one of {', '.join(NAMES)}" if not near else f"such as {near[0]}")
    definitions = _definitions()
    used = _reached(name, definitions)
    return {
        "$schema": DIALECT,
        **definitions[name],
        **({"$defs": {one: definitions[one] for one in definitions if one in used}} if used else {}),
    }


def _definitions() -> dict[str, Any]:
    """All definitions by name, those of profiles and findings among them."""
    text = (Path(__file__).parent / "schemas" / "outputs.json").read_text(encoding="utf-8")
    profile = json.loads(profile_schema.schema())
    parts = profile.pop("$defs")
    profile.pop("$schema")
    return {**json.loads(text), **parts, "finding": finding_schema(), "profile": profile}


def _reached(name: str, definitions: dict[str, Any]) -> set[str]:
    """The definitions that one refers to, directly or not."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        named = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(definitions[waiting.pop()])))
        waiting += named - found
        found |= named
    return found
