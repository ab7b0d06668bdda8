"""`ptxloom emit`: a wrapper to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.atoms.emit import emit
from ptxloom.cli.output import Outcome

if TYPE_CHECKING:
    from ptxloom.cli.arguments import Options


def run(options: Options) -> Outcome:
    """Write the wrapper in the language asked for."""
    return Outcome(f"{emit(options.name or '', options.language)}\n")
