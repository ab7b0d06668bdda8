"""A scene as PDF: one page as large as the picture, its letters in it, no date."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final, assert_never

from reportlab.lib.colors import HexColor
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from ptxloom.views.core.cells import harmless
from ptxloom.views.drawing.fonts import font_data
from ptxloom.views.drawing.scene import SIZE, Appearance, Box, Label, Path, wide
from ptxloom.views.drawing.svg import edge

if TYPE_CHECKING:
    from ptxloom.views.drawing.scene import Scene

_POINTS: Final = 0.75  # in a pixel
_FONTS: Final = {False: "PtxloomMono", True: "PtxloomMonoBold"}


def write(scene: Scene, look: Appearance) -> bytes:
    """A PDF file, the same bytes each time."""
    for bold, name in _FONTS.items():
        pdfmetrics.registerFont(TTFont(name, BytesIO(font_data(bold=bold))))
    file = BytesIO()
    canvas = Canvas(file, (scene.width * _POINTS, scene.height * _POINTS), pageCompression=1, invariant=1)
    canvas.setTitle(harmless(scene.title))
    canvas.setCreator("ptxloom")
    canvas.transform(_POINTS, 0, 0, -_POINTS, 0, scene.height * _POINTS)  # from here on as on a screen: y goes down
    page = _Page(canvas, look)
    if not look.transparent:
        page.box(Box(0, 0, scene.width, scene.height, (), look.theme.ground, ""))
    for mark in scene.marks:
        match mark:
            case Box():
                page.box(mark)
            case Label():
                page.label(mark)
            case Path():
                page.path(mark)
            case _:
                assert_never(mark)
    canvas.showPage()
    canvas.save()
    return file.getvalue()


class _Page:
    """A page, and what draws on it."""

    def __init__(self, canvas: Canvas, look: Appearance) -> None:
        self._canvas, self._look = canvas, look

    def box(self, box: Box) -> None:
        """A rectangle and its text."""
        canvas = self._canvas
        if box.fill:
            canvas.setFillColor(HexColor(self._look.theme.colour(box.fill)))
        if box.frame:
            canvas.setStrokeColor(HexColor(edge(box, self._look)))
            canvas.setLineWidth(box.weight)
            canvas.setDash((3, 3) if box.dashed else ())
        if box.fill or box.frame:
            canvas.rect(box.x, box.y, box.width, box.height, int(bool(box.frame)), int(bool(box.fill)))
        ink = self._look.ink_on(box.fill)
        for y, line in zip(box.baselines, box.lines, strict=True):
            x = box.x + 4 if box.left else box.x + (box.width - wide(line)) / 2
            self._text(x, y, line, SIZE, ink, bold=box.bold)

    def label(self, label: Label) -> None:
        """A line of text."""
        back = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * wide(label.text, label.size)
        ink = self._look.theme.colour(label.paint)
        self._text(label.x - back, label.y, label.text, label.size, ink, bold=label.bold)

    def _text(self, x: float, y: float, text: str, size: float, ink: str, *, bold: bool) -> None:
        line = self._canvas.beginText()
        line.setTextTransform(1, 0, 0, -1, x, y)
        line.setFont(_FONTS[bold], size)
        line.setFillColor(HexColor(ink))
        line.textOut(harmless(text))
        self._canvas.drawText(line)

    def path(self, path: Path) -> None:
        """A line or an area."""
        canvas = self._canvas
        way = canvas.beginPath()
        way.moveTo(*path.start)
        for step in path.steps:
            if len(step) == 2:
                way.lineTo(*step)
            else:
                way.curveTo(*step)
        colour = HexColor(self._look.theme.colour(path.paint))
        canvas.setStrokeColor(colour)
        canvas.setFillColor(colour)
        canvas.setLineWidth(path.width)
        canvas.setDash(path.dash)
        canvas.drawPath(way, int(not path.filled), int(path.filled))
