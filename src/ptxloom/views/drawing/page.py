"""A scene as a page that opens by itself: the picture, and the same as tables for those who do not see it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ptxloom.views.core.cells import harmless
from ptxloom.views.drawing import svg

if TYPE_CHECKING:
    from ptxloom.views.drawing.figure import Cell, Grid
    from ptxloom.views.drawing.scene import Appearance, Scene


def write(scene: Scene, look: Appearance) -> str:
    """An HTML document without anything from elsewhere."""
    theme = look.theme
    style = (
        f"body{{font-family:sans-serif;margin:1em;background:{theme.ground};color:{theme.ink}}}"
        f"table{{border-collapse:collapse;margin:1em 0;font-family:{svg.FONT};font-size:12px}}"
        f"th,td{{border:1px solid {theme.faint};padding:2px 6px;text-align:center}}caption{{text-align:left}}"
        "div,details{overflow-x:auto}summary{cursor:pointer;margin:1em 0}"
    )
    tables = "".join(_table(grid, look) for grid in scene.tables)
    details = f"<details>\n<summary>The same as tables</summary>\n{tables}</details>\n" if tables else ""
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>{_text(scene.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1 style='font-size:1.1em'>{_text(scene.title)}</h1>\n"
        f"<div>\n{svg.write(scene, look)}</div>\n{details}</main>\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return escape(harmless(text))


def _table(grid: Grid, look: Appearance) -> str:
    """A grid; heads name the row and column of a cell."""
    margin, named = grid.margin, any(grid.rows)
    caption = ". ".join(filter(None, (grid.title, *grid.notes, grid.column_axis and f"across: {grid.column_axis}")))
    lines = ["<table>", f"<caption>{_text(caption)}</caption>"]
    if any(grid.columns):
        heads = [
            *([grid.margin_axis] if margin is not None else []),
            *([grid.row_axis] if named else []),
            *grid.columns,
        ]
        lines.append("<tr>" + "".join(f"<th scope='col'>{_text(name)}</th>" for name in heads) + "</tr>")
    for row, name in enumerate(grid.rows):
        parts = [] if margin is None else [_cell(margin.get(row), look)]
        parts += [f"<th scope='row'>{_text(name)}</th>"] * named
        parts += [_cell(grid.cells.get((row, column)), look) for column in range(len(grid.columns))]
        lines.append(f"<tr>{''.join(parts)}</tr>")
    return "\n".join([*lines, "</table>"]) + "\n"


def _cell(cell: Cell | None, look: Appearance) -> str:
    if cell is None:
        return "<td></td>"
    fill = look.theme.colour(cell.fill)
    edge = f";outline:2px solid {look.theme.alarm}" * cell.alarm
    tip = f" title='{_text(cell.tip)}'" if cell.tip else ""
    style = f"background:{fill};color:{look.ink_on(cell.fill)}{edge}"
    return f"<td style='{style}'{tip}>{_text(' '.join(cell.lines))}</td>"
