"""`ptxloom map`: the whole fragment of an instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.instruction import fragment_of
from ptxloom.cli.output import Outcome, style_for
from ptxloom.views.fragments import maps

if TYPE_CHECKING:
    from ptxloom.cli.arguments import Options


def run(options: Options) -> Outcome:
    """Draw the fragment in the format asked for."""
    found = fragment_of(options)
    match options.output_format:
        case "concise":
            return Outcome(maps.concise(found))
        case "csv":
            return Outcome(maps.as_csv(found))
        case "markdown":
            return Outcome(maps.markdown(found))
        case "json":
            return Outcome(maps.as_json(found))
        case "svg":
            from ptxloom.views.fragments.fragment_picture import svg  # noqa: PLC0415 - only pictures need it

            return Outcome(svg(found))
        case _:
            return Outcome(maps.full(found, style_for(options)))
