"""A small SVG writer: rectangles and text, the same bytes for the same picture.

Colours are chosen to stay apart for colour-blind readers, and no meaning hangs on colour alone: every cell is labelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

FONT: Final = "font-family='DejaVu Sans Mono, Menlo, Consolas, monospace'"


@dataclass(frozen=True, slots=True)
class Box:
    """A labelled rectangle; `fill` is a colour, and an empty one draws the label alone."""

    x: int
    y: int
    width: int
    height: int
    lines: tuple[str, ...]
    fill: str = ""
    bold: bool = False
    tip: str = ""


def draw(boxes: Sequence[Box], title: str) -> str:
    """An SVG document with the same margin on all sides; `title` is what a screen reader says."""
    width = max(b.x + b.width for b in boxes) + min(b.x for b in boxes) + 1
    height = max(b.y + b.height for b in boxes) + min(b.y for b in boxes) + 1
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' "
        f"viewBox='0 0 {width} {height}' role='img' {FONT} font-size='11' text-anchor='middle'>"
    )
    lines = [head, f"<title>{escape(title)}</title>", f"<rect width='{width}' height='{height}' fill='#ffffff'/>"]
    lines += [_box(b) for b in boxes]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _box(box: Box) -> str:
    """A rectangle if it has a fill, its lines of text centred in it, and its tip."""
    parts: list[str] = []
    if box.fill:
        parts.append(
            f"<rect x='{box.x}' y='{box.y}' width='{box.width}' height='{box.height}' "
            f"fill='{box.fill}' stroke='#555555'/>"
        )
    step = 13
    first = box.y + box.height / 2 + 4 - step * (len(box.lines) - 1) / 2
    weight = " font-weight='bold'" if box.bold else ""
    for i, line in enumerate(box.lines):
        parts.append(f"<text x='{box.x + box.width / 2:g}' y='{first + i * step:g}'{weight}>{escape(line)}</text>")
    if box.tip:
        parts.append(f"<title>{escape(box.tip)}</title>")
    return f"<g>{''.join(parts)}</g>"
