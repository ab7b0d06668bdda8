"""The shapes of every format: boxes with text, text, and lines, on a page measured in CSS pixels (1/96 inch)."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ptxloom.dataclass import dataclass
from ptxloom.views.core.palette import LIGHT, ON_FILL, Role, Theme

if TYPE_CHECKING:
    from ptxloom.views.drawing.figure import Grid

Point: TypeAlias = "tuple[float, float]"
Curve: TypeAlias = "tuple[float, float, float, float, float, float]"

SIZE: Final = 11
"""The default size of text, in pixels."""
ADVANCE: Final = 0.602
"""The width of a character as a part of its size: all fonts here have one width."""
LEADING: Final = 13
"""From a line of text to the next."""


def wide(text: str, size: float = SIZE) -> float:
    """The pixels that a text takes."""
    return len(text) * size * ADVANCE


class Box(NamedTuple):
    """A rectangle with lines of text in its middle.

    Attributes:
        x: Its left edge.
        y: Its upper edge.
        width: To its right edge.
        height: To its lower edge.
        lines: What stands in it.
        fill: A colour, a role, or nothing.
        frame: Likewise, of its edge.
        weight: Of its edge, in pixels.
        bold: Whether its text is.
        left: Whether its text begins at its left edge.
        tip: What it is, in words: shown where a pointer rests on it.
        dashed: Whether its edge is.
    """

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...] = ()
    fill: str = ""
    frame: str = Role.LINE
    weight: float = 1
    bold: bool = False
    left: bool = False
    tip: str = ""
    dashed: bool = False

    @property
    def baselines(self) -> tuple[float, ...]:
        """The baseline of each line of text."""
        first = self.y + self.height / 2 + 4
        if len(self.lines) == 1:
            return (first,)
        first -= LEADING * (len(self.lines) - 1) / 2
        return tuple([first + at * LEADING for at in range(len(self.lines))])


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text: `x` is where it begins, its middle, or its end, `y` its baseline."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    size: float = SIZE
    bold: bool = False
    paint: str = Role.INK


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points and along cubic curves, or the area that it encloses."""

    start: Point
    steps: tuple[Point | Curve, ...]
    paint: str = Role.INK
    width: float = 1
    dash: tuple[float, ...] = ()
    filled: bool = False


Mark: TypeAlias = Box | Label | Path


@dataclass(frozen=True, slots=True)
class Scene:
    """A page.

    Attributes:
        title: The text for screen readers.
        width: Of the page.
        height: Of the page.
        marks: The marks, in drawing order.
        tables: The same as tables, for screen readers.
    """

    title: str
    width: float
    height: float
    marks: tuple[Mark, ...]
    tables: tuple[Grid, ...] = ()


@dataclass(frozen=True, slots=True)
class Appearance:
    """The appearance of a scene: its background, and whether that is drawn."""

    theme: Theme = field(default=LIGHT)
    transparent: bool = False

    def ink_on(self, fill: str) -> str:
        """The colour of text on a fill: black on colours, the ground's own on all else."""
        return ON_FILL if fill.startswith("#") else self.theme.ink
