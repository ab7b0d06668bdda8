"""`ptxloom map`: the whole fragment of an instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.results.output import Outcome, style_for
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.cli.sources.instruction import fragment_of, named
from ptxloom.views.fragments import maps

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.views.drawing.figure import Figure


def run(options: Options) -> Outcome:
    """Draw the fragment in the requested format; of a product whose operand is not named, a picture shows all three."""
    if wanted(options):
        return drawn(_figure(options), options)
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
        case _:
            return Outcome(maps.full(found, style_for(options)))


def _figure(options: Options) -> Figure:
    """The picture of the fragment, or of the three operands."""
    from ptxloom.views.fragments import fragment_picture, product_picture  # noqa: PLC0415 - only pictures need them

    instruction = named(options.instruction)
    if options.operand is None and isinstance(instruction, str) and product_picture.drawable(instruction):
        return product_picture.figure(instruction, options.colour_by)
    return fragment_picture.figure(fragment_of(options), options.colour_by)
