"""`ptxloom mcp`: tools of the Model Context Protocol, for assistants."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ptxloom.cli.results.output import Outcome
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.files.names import is_folder
from ptxloom.source import title
from ptxloom.tool_server.asking import Limits
from ptxloom.tool_server.folder import Folder
from ptxloom.tool_server.server import serve
from ptxloom.tool_server.tools import Desk

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options

_USUAL = Limits()


def run(options: Options) -> Outcome:
    """Serve until the client hangs up.

    Raises:
        PtxloomError: The folder is not a folder that may be read.
    """
    if not is_folder(options.file):
        raise PtxloomError(f"{title(options.file)} is not a folder")
    root = Path(options.file).resolve()
    if not os.access(root, os.R_OK | os.X_OK):
        raise PtxloomError(f"{title(options.file)} may not be read")
    seconds = _USUAL.seconds if options.timeout is None else options.timeout
    if not seconds > 0:
        raise UsageError("--timeout", seconds, "a number of seconds above 0")
    limits = Limits(seconds, options.memory_limit or _USUAL.memory_bytes, _USUAL.characters)
    serve(Desk(Folder(root, options.trust), limits))
    return Outcome("")
