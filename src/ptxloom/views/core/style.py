"""Colour for terminals: a style paints text or leaves it alone; nothing here asks whether there is a terminal."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Severity


class Ink(StrEnum):
    """The paint of a stretch of text: an SGR parameter of ECMA-48."""

    BOLD = "1"
    DIM = "2"
    RED = "1;31"
    YELLOW = "1;33"
    BLUE = "1;34"
    CYAN = "1;36"
    GREEN = "32"


SEVERITY_INK: Final = {Severity.ERROR: Ink.RED, Severity.WARNING: Ink.YELLOW, Severity.NOTE: Ink.CYAN}

# Eight hues that stay apart for colour-blind readers (Okabe and Ito), as 256-colour indices: one a group of four lanes.
GROUP_HUES: Final = (214, 75, 36, 227, 68, 173, 175, 250)
LANES_PER_HUE = 4  # lanes that share a colour: the quads in which the hardware hands out rows


@dataclass(frozen=True, slots=True)
class Style:
    """How text is painted; the plain style paints nothing.

    Attributes:
        colour: Whether there is any.
        columns: The width of the terminal that shows the text, if one does.
    """

    colour: bool = False
    columns: int | None = None

    def paint(self, text: str, ink: Ink) -> str:
        """`text` in one ink, reset after it."""
        return f"\x1b[{ink}m{text}\x1b[0m" if self.colour and text else text

    def hue(self, text: str, group: int) -> str:
        """`text` in the hue of a group (of lanes, of banks); groups repeat after eight."""
        return f"\x1b[38;5;{GROUP_HUES[group % len(GROUP_HUES)]}m{text}\x1b[0m" if self.colour and text else text


PLAIN: Final = Style()
