"""`ptxloom swizzle`: how to lay out a tile so that no access to it meets a bank conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.banks.swizzles import find_swizzles, make_tile
from ptxloom.cli.output import CLEAN, FINDINGS, Outcome, style_for
from ptxloom.views.atoms import swizzle_choices

if TYPE_CHECKING:
    from ptxloom.cli.arguments import Options


def run(options: Options) -> Outcome:
    """Search; that nothing helps is a finding."""
    found = find_swizzles(make_tile(*(options.tile or (0, 0)), options.element or "", options.pitch), options.accesses)
    code = CLEAN if found.free else FINDINGS
    match options.output_format:
        case "concise":
            return Outcome(swizzle_choices.concise(found), code)
        case "json":
            return Outcome(swizzle_choices.as_json(found), code)
        case _:
            return Outcome(swizzle_choices.full(found, style_for(options)), code)
