"""`ptxloom web`: the explorer as one HTML file."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cli.results.output import Outcome, write_below, write_whole
from ptxloom.source import title
from ptxloom.web import page

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options

NAME: Final = "explorer.html"


def run(options: Options) -> Outcome:
    """Write the page, and open it if requested."""
    path = Path(options.output or NAME)
    if options.output:
        write_whole(path, page())
    else:
        write_below(Path(), path, page())
    options.output = None  # it is written; the rest is a remark for people
    shown = options.open and webbrowser.open(path.resolve().as_uri())
    return Outcome("", remark=f"wrote {title(path)}" + ("" if shown else ": open it in a browser; it needs no network"))
