"""Turns a figure into an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.arguments.picture_arguments import PICTURES
from ptxloom.cli.results.output import CLEAN, Outcome

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.views.drawing.figure import Figure
    from ptxloom.views.drawing.scene import Scene


def wanted(options: Options) -> bool:
    """Whether the options request a picture."""
    return options.output_format in PICTURES


def drawn(drawing: Figure | Scene, options: Options, code: int = CLEAN, remark: str = "") -> Outcome:
    """A picture in the requested format."""
    from ptxloom.views.core.palette import DARK, LIGHT  # noqa: PLC0415 - only pictures need them
    from ptxloom.views.drawing.formats import as_bytes  # noqa: PLC0415 - likewise
    from ptxloom.views.drawing.scene import Appearance  # noqa: PLC0415 - likewise

    look = Appearance(DARK if options.dark else LIGHT, options.transparent)
    return Outcome("", code, remark, data=as_bytes(drawing, options.output_format, look))
