"""`ptxloom schema`: the JSON Schema of what a verb prints, or of launch files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.json_schemas import NAMES, schema
from ptxloom.cli.results.output import Outcome
from ptxloom.views.core.json_text import to_text

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options


def run(options: Options) -> Outcome:
    """Print one schema, or list all."""
    if options.word is None:
        return Outcome("".join(f"{name}\n" for name in NAMES))
    return Outcome(to_text(schema(options.word)))
