"""`ptxloom emit`: a wrapper to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.atoms.wrappers import emit
from ptxloom.cli.results.output import Outcome
from ptxloom.layout import Swizzle

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options


def run(options: Options) -> Outcome:
    """Write the wrapper in the requested language."""
    swizzle = Swizzle(*options.swizzle) if options.swizzle is not None else None
    return Outcome(f"{emit(options.name or '', options.language, swizzle)}\n")
