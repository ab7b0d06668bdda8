"""A control-flow graph as an SVG picture: a box a block, loops tinted by their depth, cycles on lines of their own."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from ptxloom.views.core.cells import width
from ptxloom.views.core.palette import hue
from ptxloom.views.core.svg import FONT
from ptxloom.views.flow.graph_layout import layered
from ptxloom.views.flow.graphs import goes_to, shown_code

if TYPE_CHECKING:
    from ptxloom.flow import BasicBlock, FlowGraph
    from ptxloom.views.flow.graph_layout import Route

_MARGIN: Final = 16
_LINE: Final = 14
_LETTER: Final = 6.7
_PAD: Final = 8
_HEAD: Final = 20
_LOOK: Final = {
    "next": "stroke='#333333'",
    "jump": "stroke='#333333'",
    "taken": "stroke='#0072b2'",
    "passed": "stroke='#b25000' stroke-dasharray='5 3'",
    "table": "stroke='#0072b2' stroke-dasharray='2 2'",
}
_WORDS: Final = {"taken": "taken", "passed": "else", "table": "table"}


def svg(graph: FlowGraph, *, code: bool = False) -> str:
    """An SVG document; with `code`, every instruction of a block is written in its box."""
    texts = [_lines(block, code=code) for block in graph.blocks]
    sizes = [(max(map(width, text)) * _LETTER + 2 * _PAD, _HEAD + _LINE * (len(text) - 1) + _PAD) for text in texts]
    edges = graph.edges
    order = (*graph.order, *sorted(graph.unreachable))
    drawing = layered(sizes, [(one.source, one.target) for one in edges], order)
    wide, high = drawing.width + 2 * _MARGIN, drawing.height + 2 * _MARGIN + _HEAD
    title = f"The control flow of {graph.function.name}"
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{wide:.0f}' height='{high:.0f}' "
        f"viewBox='0 0 {wide:.0f} {high:.0f}' role='img' {FONT} font-size='11'>"
    )
    lines = [
        head,
        f"<title>{escape(title)}</title>",
        f"<rect width='{wide:.0f}' height='{high:.0f}' fill='#ffffff'/>",
        f"<text x='{_MARGIN}' y='{_MARGIN + 4}' font-weight='bold'>{escape(graph.function.name)}</text>",
        f"<g transform='translate({_MARGIN} {_MARGIN + _HEAD})'>",
    ]
    for route, edge in zip(drawing.routes, edges, strict=True):
        lines.append(_path(route, edge.kind))
    depth = _depths(graph)
    for block, text, size, corner in zip(graph.blocks, texts, sizes, drawing.corners, strict=True):
        lines.append(_box(graph, block, text, (*corner, *size), depth[block.number]))
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _depths(graph: FlowGraph) -> list[int]:
    """In how many loops each block is."""
    depth = [0] * len(graph.blocks)
    for loop in graph.loops:
        for number in loop.blocks:
            depth[number] += 1
    return depth


def _lines(block: BasicBlock, *, code: bool) -> list[str]:
    """A block's head, and its code."""
    labels = " ".join(block.labels)
    head = f"block {block.number}" + (f"  {labels}" if labels else "")
    return [head, *shown_code(block, code=code)]


def _box(
    graph: FlowGraph, block: BasicBlock, text: list[str], frame: tuple[float, float, float, float], depth: int
) -> str:
    x, y, wide, high = frame
    fill = "#f4f4f4" if not depth else hue(depth - 1)
    stroke = "#999999' stroke-dasharray='3 3" if block.number in graph.unreachable else "#333333"
    where = f"{goes_to(graph, block) or 'nowhere'}; in {depth} loop{'s' * (depth != 1)}"
    parts = [
        f"<rect x='{x:.1f}' y='{y:.1f}' width='{wide:.1f}' height='{high:.1f}' rx='3' fill='{fill}' stroke='{stroke}'/>"
    ]
    for at, line in enumerate(text):
        bold = " font-weight='bold'" if at == 0 else ""
        parts.append(
            f"<text x='{x + _PAD:.1f}' y='{y + 15 + _LINE * at:.1f}'{bold} xml:space='preserve'>{escape(line)}</text>"
        )
    return f"<g><title>block {block.number}: goes to {escape(where)}</title>{''.join(parts)}</g>"


def _path(route: Route, kind: str) -> str:
    """A smooth line through the points of a route, its head and its word."""
    (x, y), *rest = route.points
    parts = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        straight = x == to_x or y == to_y
        parts.append(
            f"L{to_x:.1f} {to_y:.1f}"
            if straight
            else f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
        )
        x, y = to_x, to_y
    weight = "2" if route.backwards else "1.2"
    line = f"<path d='{''.join(parts)}' fill='none' {_LOOK[kind]} stroke-width='{weight}'/>"
    return line + _arrow(route) + _word(route, kind)


def _arrow(route: Route) -> str:
    """A triangle at the end of a route, pointing the way it came."""
    (_, from_y), (x, y) = route.points[-2:]
    if from_y == y:  # back into the side of its own box
        return f"<path d='M{x:.1f} {y:.1f}l6 -4v8z' fill='#333333'/>"
    sign = -1 if from_y < y else 1
    return f"<path d='M{x:.1f} {y:.1f}l-4 {6 * sign}h8z' fill='#333333'/>"


def _word(route: Route, kind: str) -> str:
    """What a line means, beside where it starts."""
    word = _WORDS.get(kind, "")
    if not word:
        return ""
    (x, y), (_, to_y) = route.points[:2]
    down = 12 if to_y > y else -6
    return f"<text x='{x + 4:.1f}' y='{y + down:.1f}' font-size='9' fill='#444444'>{word}</text>"
