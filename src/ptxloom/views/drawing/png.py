"""A scene as PNG: two dots for a pixel, letters from the font that comes with us."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Final, assert_never

from PIL import Image, ImageDraw, ImageFont

from ptxloom.views.core.cells import harmless
from ptxloom.views.drawing.fonts import font_data
from ptxloom.views.drawing.scene import SIZE, Appearance, Box, Label, Path, wide
from ptxloom.views.drawing.svg import edge

if TYPE_CHECKING:
    from ptxloom.views.drawing.scene import Curve, Point, Scene

_DOTS: Final = 2  # for a pixel
_MOST_DOTS: Final = 40_000_000
_PIXELS_AN_INCH: Final = 96
_SMOOTH: Final = 2  # lines that are neither upright nor level are drawn so much larger, then made small
_PARTS: Final = 12  # straight pieces of a curve


def write(scene: Scene, look: Appearance) -> bytes:
    """A PNG file; of a very large scene with fewer dots, so that it can be opened."""
    dots = min(_DOTS, sqrt(_MOST_DOTS / (scene.width * scene.height)))
    smooth = _SMOOTH if any(isinstance(mark, Path) for mark in scene.marks) else 1
    canvas = _Canvas(scene, look, dots * smooth)
    for mark in scene.marks:
        match mark:
            case Box():
                canvas.box(mark)
            case Label():
                canvas.label(mark)
            case Path():
                canvas.path(mark)
            case _:
                assert_never(mark)
    image = canvas.image.reduce(smooth) if smooth > 1 else canvas.image
    file = BytesIO()
    image.save(file, "png", dpi=(_PIXELS_AN_INCH * dots, _PIXELS_AN_INCH * dots))
    return file.getvalue()


class _Canvas:
    """An image, and what draws on it in the scene's pixels."""

    def __init__(self, scene: Scene, look: Appearance, scale: float) -> None:
        self._look, self._scale = look, scale
        ground = (0, 0, 0, 0) if look.transparent else look.theme.ground
        size = (round(scene.width * scale), round(scene.height * scale))
        self.image = Image.new("RGBA" if look.transparent else "RGB", size, ground)
        self._draw = ImageDraw.Draw(self.image)
        self._fonts: dict[tuple[float, bool], ImageFont.FreeTypeFont] = {}

    def box(self, box: Box) -> None:
        """A rectangle and its text."""
        corners = [round(at * self._scale) for at in (box.x, box.y, box.x + box.width, box.y + box.height)]
        fill = self._look.theme.colour(box.fill) if box.fill else None
        weight = max(1, round(box.weight * self._scale))
        half = weight // 2
        x0, y0, x1, y1 = corners
        if box.frame and not box.dashed:
            frame = [x0 - half, y0 - half, x1 + half, y1 + half]
            self._draw.rectangle(frame, fill, edge(box, self._look), weight)
        elif fill is not None:
            self._draw.rectangle(corners, fill)
        if box.dashed:
            self._dashes(box)
        ink = self._look.ink_on(box.fill)
        for y, line in zip(box.baselines, box.lines, strict=True):
            x = box.x + 4 if box.left else box.x + (box.width - wide(line)) / 2
            self._text(x, y, line, SIZE, ink, bold=box.bold)

    def _dashes(self, box: Box) -> None:
        """A broken edge."""
        right, low = box.x + box.width, box.y + box.height
        corners = ((right, box.y), (right, low), (box.x, low), (box.x, box.y))
        self.path(Path((box.x, box.y), corners, box.frame, 1, (3, 3)))

    def label(self, label: Label) -> None:
        """A line of text."""
        back = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * wide(label.text, label.size)
        ink = self._look.theme.colour(label.paint)
        self._text(label.x - back, label.y, label.text, label.size, ink, bold=label.bold)

    def _text(self, x: float, y: float, text: str, size: float, ink: str, *, bold: bool) -> None:
        font = self._fonts.get((size, bold))
        if font is None:
            data = BytesIO(font_data(bold=bold))
            font = ImageFont.truetype(data, size * self._scale, layout_engine=ImageFont.Layout.BASIC)
            self._fonts[size, bold] = font
        at = x * self._scale, y * self._scale
        self._draw.text(at, harmless(text), ink, font, anchor="ls")

    def path(self, path: Path) -> None:
        """A line or an area."""
        points = [(x * self._scale, y * self._scale) for x, y in flat(path)]
        paint = self._look.theme.colour(path.paint)
        if path.filled:
            self._draw.polygon(points, paint)
            return
        width = max(1, round(path.width * self._scale))
        for piece in dashed(points, tuple(length * self._scale for length in path.dash)):
            self._draw.line(piece, paint, width, "curve")


def flat(path: Path) -> list[Point]:
    """The points of a path, its curves as straight pieces."""
    points: list[Point] = [path.start]
    for step in path.steps:
        match step:
            case (x, y):
                points.append((x, y))
            case _:
                points += _curve(points[-1], step)
    return points


def _curve(start: Point, step: Curve) -> list[Point]:
    """The points of a cubic curve, without the first."""
    (x, y), (ax, ay, bx, by, cx, cy) = start, step
    points: list[Point] = []
    for part in range(1, _PARTS + 1):
        t = part / _PARTS
        one, two, three, four = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
        points.append((one * x + two * ax + three * bx + four * cx, one * y + two * ay + three * by + four * cy))
    return points


def dashed(points: list[Point], dash: tuple[float, ...]) -> list[list[Point]]:
    """The pieces of a line that are drawn."""
    if not dash:
        return [points]
    pieces: list[list[Point]] = []
    at, left, drawn = 0, dash[0], True
    piece: list[Point] = [points[0]]
    for (x, y), (to_x, to_y) in pairwise(points):
        length = sqrt((to_x - x) ** 2 + (to_y - y) ** 2)
        done = 0.0
        while length - done > left:
            done += left
            here: Point = (x + (to_x - x) * done / length, y + (to_y - y) * done / length)
            if drawn:
                pieces.append([*piece, here])
            piece, drawn, at = [here], not drawn, (at + 1) % len(dash)
            left = dash[at]
        left -= length - done
        piece.append((to_x, to_y))
    return [*pieces, piece] if drawn else pieces
