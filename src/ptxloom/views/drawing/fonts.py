"""The font of pictures that carry their own letters (PNG and PDF), so that they look alike on every machine."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

_NAMES: Final = {False: "DejaVuSansMono-subset.ttf", True: "DejaVuSansMono-Bold-subset.ttf"}


@cache
def font_data(*, bold: bool) -> bytes:
    """A TrueType font; its characters are all `ADVANCE` wide."""
    return files("ptxloom.views.drawing").joinpath("fonts", _NAMES[bold]).read_bytes()
