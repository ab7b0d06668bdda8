"""`ptxloom swizzle`: how to lay out a tile so that no access to it meets a bank conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.banks.swizzles import find_swizzles
from ptxloom.banks.tiles import make_tile
from ptxloom.cli.results.output import Outcome, style_for
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.views.atoms import swizzle_choices
from ptxloom.views.descriptors import swizzle_picture

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options


def run(options: Options) -> Outcome:
    """Search, and print what was found; that every layout has conflicts is a result, too."""
    found = find_swizzles(make_tile(*(options.tile or (0, 0)), options.element or "", options.pitch), options.accesses)
    if wanted(options):
        return drawn(swizzle_picture.figure(found), options)
    match options.output_format:
        case "concise":
            return Outcome(swizzle_choices.concise(found))
        case "json":
            return Outcome(swizzle_choices.as_json(found))
        case _:
            return Outcome(swizzle_choices.full(found, style_for(options)))
