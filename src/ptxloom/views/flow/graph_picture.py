"""A control-flow graph as a picture: a box a block, loops tinted by their depth, cycles on lines of their own."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Final

from ptxloom.names.demangling import demangled
from ptxloom.views.core.palette import Role, hue
from ptxloom.views.drawing.figure import Cell, Grid
from ptxloom.views.drawing.placing import TITLE_SIZE
from ptxloom.views.drawing.scene import LEADING, Box, Label, Path, Scene, wide
from ptxloom.views.flow.graph_layout import layered
from ptxloom.views.flow.graphs import goes_to, shown_code

if TYPE_CHECKING:
    from ptxloom.flow import BasicBlock, FlowGraph
    from ptxloom.views.drawing.scene import Mark
    from ptxloom.views.flow.graph_layout import Route

_MARGIN: Final = 16
_PAD: Final = 8
_HEAD: Final = 20
_LOOK: Final[dict[str, tuple[str, tuple[float, ...]]]] = {
    "next": (Role.INK, ()),
    "jump": (Role.INK, ()),
    "taken": (Role.CALM, ()),
    "passed": (Role.ALARM, (5, 3)),
    "table": (Role.CALM, (2, 2)),
}
_WORDS: Final = {"taken": "taken", "passed": "else", "table": "table"}


def scene(graph: FlowGraph, *, code: bool = False) -> Scene:
    """The picture; with `code`, every instruction of a block is written in its box."""
    texts = [_lines(block, code=code) for block in graph.blocks]
    sizes = [(wide(max(text, key=len)) + 2 * _PAD, _HEAD + LEADING * (len(text) - 1) + _PAD) for text in texts]
    edges = graph.edges
    order = (*graph.order, *sorted(graph.unreachable))
    drawing = layered(sizes, [(one.source, one.target) for one in edges], order)
    title = f"The control flow of {demangled(graph.function.name)}"
    marks: list[Mark] = [Label(_MARGIN, _MARGIN + 8, title, size=TITLE_SIZE, bold=True)]
    down = _MARGIN + _HEAD + 4
    for route, edge in zip(drawing.routes, edges, strict=True):
        moved = replace(route, points=tuple((x + _MARGIN, y + down) for x, y in route.points))
        marks += [_path(moved, edge.kind), _arrow(moved), *_word(moved, edge.kind)]
    depth = _depths(graph)
    for block, text, size, (x, y) in zip(graph.blocks, texts, sizes, drawing.corners, strict=True):
        marks += _box(graph, block, text, (x + _MARGIN, y + down, *size), depth[block.number])
    bottom = drawing.height + down + _MARGIN
    entries = [
        (Role.OTHER, "in no loop"),
        *((hue(at), f"in {at + 1} loop{'s' * (at > 0)}") for at in range(max(depth))),
    ]
    for paint, text in entries if max(depth) else []:
        marks += [Box(_MARGIN, bottom, 12, 12, (), paint), Label(_MARGIN + 18, bottom + 10, text)]
        bottom += LEADING + 5
    width = max(drawing.width + 2 * _MARGIN, wide(title, TITLE_SIZE) + 2 * _MARGIN)
    return Scene(title, ceil(width), ceil(bottom + _MARGIN / 2), tuple(marks), (_table(graph, texts),))


def _table(graph: FlowGraph, texts: list[list[str]]) -> Grid:
    """The blocks, for those who do not see the lines."""
    cells = {
        (block.number, column): Cell((text,))
        for block in graph.blocks
        for column, text in enumerate(("; ".join(texts[block.number]), goes_to(graph, block) or "nowhere"))
    }
    rows = tuple(str(block.number) for block in graph.blocks)
    return Grid("blocks", rows, ("holds", "goes to"), cells, "block", listing=True)


def _depths(graph: FlowGraph) -> list[int]:
    """In how many loops each block is."""
    depth = [0] * len(graph.blocks)
    for loop in graph.loops:
        for number in loop.own:
            depth[number] = loop.depth
    return depth


def _lines(block: BasicBlock, *, code: bool) -> list[str]:
    """A block's head, and its code."""
    labels = " ".join(block.labels)
    head = f"block {block.number}" + (f"  {labels}" if labels else "")
    return [head, *shown_code(block, code=code)]


def _box(
    graph: FlowGraph, block: BasicBlock, text: list[str], frame: tuple[float, float, float, float], depth: int
) -> list[Mark]:
    x, y, width, height = frame
    fill = Role.OTHER if not depth else hue(depth - 1)
    where = f"{goes_to(graph, block) or 'nowhere'}; in {depth} loop{'s' * (depth != 1)}"
    unreachable = block.number in graph.unreachable
    head, *rest = text
    box = Box(x, y, width, height, (), fill, tip=f"block {block.number}: goes to {where}", dashed=unreachable)
    first = Box(x + _PAD - 4, y + 2, width - _PAD, _HEAD - 2, (head,), fill, "", bold=True, left=True)
    if not rest:
        return [box, first]
    lines = Box(x + _PAD - 4, y + _HEAD, width - _PAD, LEADING * len(rest), tuple(rest), fill, "", left=True)
    return [box, first, lines]


def _path(route: Route, kind: str) -> Path:
    """A smooth line through the points of a route."""
    (x, y), *rest = route.points
    start = x, y
    steps: list[tuple[float, float] | tuple[float, float, float, float, float, float]] = []
    for to_x, to_y in rest:
        middle = (y + to_y) / 2
        straight = x == to_x or y == to_y
        steps.append((to_x, to_y) if straight else (x, middle, to_x, middle, to_x, to_y))
        x, y = to_x, to_y
    paint, dash = _LOOK[kind]
    return Path(start, tuple(steps), paint, 2 if route.backwards else 1.2, dash)


def _arrow(route: Route) -> Path:
    """A triangle at the end of a route, pointing the way it came."""
    (_, from_y), (x, y) = route.points[-2:]
    if from_y == y:  # back into the side of its own box
        return Path((x, y), ((x + 6, y - 4), (x + 6, y + 4)), Role.INK, filled=True)
    back = -6 if from_y < y else 6
    return Path((x, y), ((x - 4, y + back), (x + 4, y + back)), Role.INK, filled=True)


def _word(route: Route, kind: str) -> list[Mark]:
    """The label of a line, next to its start."""
    word = _WORDS.get(kind, "")
    (x, y), (_, to_y) = route.points[:2]
    down = 12 if to_y > y else -6
    return [Label(x + 4, y + down, word, size=9, paint=Role.FAINT)] if word else []
