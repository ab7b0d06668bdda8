"""A scene as SVG: the same bytes for the same picture, as wide as its frame lets it be."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final, assert_never

from ptxloom.views.core.cells import harmless
from ptxloom.views.core.palette import Role
from ptxloom.views.drawing.scene import SIZE, Appearance, Box, Label, Path

if TYPE_CHECKING:
    from ptxloom.views.drawing.scene import Scene

FONT: Final = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_PLAIN: Final = re.compile(r"[ !#-%(-;=?-~]*").fullmatch
_DASHES: Final = " stroke-dasharray='3 3'"


def write(scene: Scene, look: Appearance) -> str:
    """An SVG document."""
    wide, high = f"{scene.width:g}", f"{scene.height:g}"
    lines = [
        (
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{wide}' height='{high}' viewBox='0 0 {wide} {high}' "
            f"style='max-width:100%;height:auto' role='img' font-family='{FONT}' font-size='{SIZE}'>"
        ),
        f"<title>{_text(scene.title)}</title>",
    ]
    if not look.transparent:
        lines.append(f"<rect width='{wide}' height='{high}' fill='{look.theme.ground}'/>")
    boxes = _Boxes(look)
    for mark in scene.marks:
        match mark:
            case Box():
                lines.append(boxes.text(mark))
            case Label():
                lines.append(_label(mark, look))
            case Path():
                lines.append(_path(mark, look))
            case _:
                assert_never(mark)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _text(text: str) -> str:
    """Text that neither markup nor a terminal takes for anything else."""
    return text if _PLAIN(text) else escape(harmless(text))


class _Boxes:
    """Boxes as text; what thousands of them have in common is worked out once."""

    def __init__(self, look: Appearance) -> None:
        self._look = look
        self._frames: dict[tuple[str, str, float, bool], str] = {}
        self._styles: dict[tuple[str, bool, bool], str] = {}

    def text(self, box: Box) -> str:
        """A rectangle, its lines of text, its tip."""
        kind = box.fill, box.frame, box.weight, box.dashed
        frame = self._frames.get(kind)
        if frame is None:
            frame = self._frames[kind] = _frame(box, self._look)
        out = f"<g><rect x='{box.x:g}' y='{box.y:g}' width='{box.width:g}' height='{box.height:g}'{frame}/>"
        if box.lines:
            looks = box.fill, box.left, box.bold
            style = self._styles.get(looks)
            if style is None:
                style = self._styles[looks] = _style(box, self._look)
            x = box.x + 4 if box.left else box.x + box.width / 2
            for y, line in zip(box.baselines, box.lines, strict=True):
                out += f"<text x='{x:g}' y='{y:g}'{style}{_spaces(line)}>{_text(line)}</text>"
        return f"{out}<title>{_text(box.tip)}</title></g>" if box.tip else f"{out}</g>"


def _frame(box: Box, look: Appearance) -> str:
    """The fill and frame of a rectangle."""
    fill = f" fill='{look.theme.colour(box.fill) if box.fill else 'none'}'"
    if not box.frame:
        return fill
    weight = f" stroke-width='{box.weight:g}'" if box.weight != 1 else ""
    return f"{fill} stroke='{edge(box, look)}'{weight}{_DASHES * box.dashed}"


def _style(box: Box, look: Appearance) -> str:
    """The text style of a box."""
    anchor = "" if box.left else " text-anchor='middle'"
    return f"{anchor} fill='{look.ink_on(box.fill)}'" + " font-weight='bold'" * box.bold


def edge(box: Box, look: Appearance) -> str:
    """The colour of an edge; a cell without a fill of its own has the line of the ground's own text."""
    return look.theme.colour(box.frame if box.fill or box.frame != Role.LINE else Role.FAINT)


def _spaces(text: str) -> str:
    """The attribute that preserves blanks, if a text has several in a row."""
    return " xml:space='preserve'" if "  " in text or text.startswith(" ") else ""


def _label(label: Label, look: Appearance) -> str:
    anchor = f" text-anchor='{label.anchor}'" if label.anchor != "start" else ""
    size = f" font-size='{label.size:g}'" if label.size != SIZE else ""
    bold = " font-weight='bold'" * label.bold
    ink = look.theme.colour(label.paint)
    style = f"{anchor}{size}{bold}{_spaces(label.text)}"
    return f"<text x='{label.x:g}' y='{label.y:g}' fill='{ink}'{style}>{_text(label.text)}</text>"


def _path(path: Path, look: Appearance) -> str:
    steps = "".join(f"{'L' if len(step) == 2 else 'C'}{' '.join(f'{at:g}' for at in step)}" for step in path.steps)
    paint = look.theme.colour(path.paint)
    way = f"<path d='M{path.start[0]:g} {path.start[1]:g}{steps}"
    if path.filled:
        return f"{way}z' fill='{paint}'/>"
    dash = f" stroke-dasharray='{' '.join(f'{at:g}' for at in path.dash)}'" if path.dash else ""
    return f"{way}' fill='none' stroke='{paint}' stroke-width='{path.width:g}'{dash}/>"
