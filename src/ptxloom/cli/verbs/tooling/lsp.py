"""`ptxloom lsp`: the language server, on standard input and output; it exits with 1 unless the client shut it down."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ptxloom.checker import Selection
from ptxloom.cli.results.output import Outcome, talk
from ptxloom.extras import needed
from ptxloom.isa import PtxVersion, Target
from ptxloom.lsp.settings import Settings

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options


def run(options: Options) -> Outcome:
    """Serve one editor until it disconnects.

    Raises:
        PtxloomError: pygls is not installed, or an option has an illegal value.
    """
    with needed():
        from ptxloom.lsp.features import serve  # noqa: PLC0415 - an extra
    if options.target is not None:
        Target.parse(options.target)
    if options.ptx_version is not None:
        PtxVersion.parse(options.ptx_version)
    settings = Settings(options.target, options.ptx_version, Selection.of(options.select, options.ignore))
    if sys.stdin is not None and sys.stdin.isatty():
        talk("ptxloom: waiting for an editor's messages on standard input; an editor starts this, not a person")
    code = serve(settings)
    if code:
        talk("ptxloom: the editor went away without saying goodbye (`shutdown`, then `exit`)")
    return Outcome("", code)
