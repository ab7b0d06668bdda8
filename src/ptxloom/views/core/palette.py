"""The colours of every picture: one palette for SVG, HTML, TeX, PNG, PDF and pages that draw by themselves.

Eight hues stay apart for colour-blind readers (CIEDE2000 of at least 12 between any two, and between each and white, in
normal vision and under the three dichromacies), black text reads on all of them (WCAG contrast of at least 7), and
neighbours differ in lightness, so that a print in black and white still shows where one group ends. No meaning hangs on
colour alone: cells are labelled. Within a group, every second lane has its hue's tint (CIEDE2000 of at least 4 from the
hue, of at least 7 from every other hue and tint).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from ptxloom.dataclass import dataclass

HUES: Final = ("#f2ce81", "#739cee", "#dcffd0", "#f48b91", "#c8c9ff", "#6ea548", "#9ad2bf", "#949ab0")
"""One a group: of four lanes, four banks, registers, matrices, rows; groups repeat after eight."""

TINTS: Final = ("#f5da9f", "#87aaf0", "#eaffe3", "#f6a0a5", "#dadaff", "#7fb05e", "#b8e0d2", "#a9aec0")
"""Each hue somewhat lighter, for every second lane of a group: still nearer to its hue than to any other."""

HEAT: Final = ("#fff7e4", "#ffe5b4", "#fdca84", "#f5a962", "#e8834f")
"""From cold to hot, each darker than the one before."""

ON_FILL: Final = "#000000"
"""The colour of text on a hue and on heat."""


class Role(StrEnum):
    """The purpose of a colour that differs on a dark background."""

    GROUND = "ground"
    INK = "ink"
    FAINT = "faint"
    LINE = "line"
    BLANK = "blank"
    OTHER = "other"
    ALARM = "alarm"
    CALM = "calm"


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a ground.

    Attributes:
        ground: Behind everything.
        ink: Text beside cells.
        faint: Text of less weight: axes, notes.
        line: Around cells.
        blank: A cell of which nothing is known.
        other: A cell that belongs to no group.
        alarm: What is wrong: conflicts, races.
        calm: The other side of what is wrong, and lines that lead somewhere.
    """

    ground: str
    ink: str
    faint: str
    line: str
    blank: str
    other: str
    alarm: str
    calm: str

    def colour(self, paint: str) -> str:
        """A colour as it is, or that of a role on this ground."""
        return paint if paint.startswith("#") else str(getattr(self, paint))


LIGHT: Final = Theme("#ffffff", "#111111", "#555555", "#444444", "#ffffff", "#eeeeee", "#b3261e", "#005a9c")
DARK: Final = Theme("#16181d", "#f2f2f2", "#b4b8c0", "#0b0c0f", "#23262d", "#3a3f49", "#ff9a8f", "#8ec5ff")


def hue(group: int) -> str:
    """The colour of a group."""
    return HUES[group % len(HUES)]


def heat(share: float) -> str:
    """The colour of a share of the most, from 0 to 1."""
    return HEAT[min(len(HEAT) - 1, int(len(HEAT) * share))]


def luminance(colour: str) -> float:
    """The relative luminance of a colour such as `#f2ce81`, from 0 to 1 (WCAG 2)."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21 (WCAG 2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
