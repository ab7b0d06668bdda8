"""Every picture format by name; formats that need a library import it on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.extras import needed
from ptxloom.views.drawing import page, svg, tikz
from ptxloom.views.drawing.figure import Figure
from ptxloom.views.drawing.placing import place
from ptxloom.views.drawing.scene import Appearance

if TYPE_CHECKING:
    from ptxloom.views.drawing.scene import Scene

FORMATS: Final = ("svg", "html", "tex", "png", "pdf")
_TEXTS: Final = {"svg": svg.write, "html": page.write, "tex": tikz.write}


def as_bytes(drawing: Figure | Scene, form: str, look: Appearance | None = None) -> bytes:
    """A picture as a file.

    Args:
        drawing: The drawing.
        form: One of `FORMATS`.
        look: The theme; light by default.

    Raises:
        UsageError: There is no such format.
    """
    scene = place(drawing) if isinstance(drawing, Figure) else drawing
    shown = look or Appearance()
    if form in _TEXTS:
        return _TEXTS[form](scene, shown).encode()
    if form not in FORMATS:
        raise UsageError("form", form, f"one of {', '.join(FORMATS)}")
    with needed():
        if form == "png":
            from ptxloom.views.drawing import png  # noqa: PLC0415 - of the extra `pictures`

            return png.write(scene, shown)
        from ptxloom.views.drawing import pdf  # noqa: PLC0415 - likewise

        return pdf.write(scene, shown)


def as_svg(drawing: Figure | Scene, look: Appearance | None = None) -> str:
    """A picture as SVG."""
    scene = place(drawing) if isinstance(drawing, Figure) else drawing
    return svg.write(scene, look or Appearance())
