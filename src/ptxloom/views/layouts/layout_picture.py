"""Layouts as grids: a layout's values, and for a thread-value layout who holds each element of the tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.layout import ComposedLayout, recast
from ptxloom.views.core.palette import hue
from ptxloom.views.core.style import LANES_PER_HUE
from ptxloom.views.core.svg import Box, draw

if TYPE_CHECKING:
    from ptxloom.atoms import CopyAtom, MmaAtom, TiledCopy, TiledMma
    from ptxloom.layout import Layout

CELL_WIDTH: Final = 40
CELL_HEIGHT: Final = 28
MARGIN: Final = 8
LEFT: Final = 34  # room for row numbers
TOP: Final = 40  # room for a headline and column numbers
GAP: Final = 24
MOST_CELLS: Final = 1 << 15

Cells = dict[tuple[int, int], tuple[tuple[str, ...], str, str]]  # (row, column) -> lines, fill, tip


def svg(layout: Layout | ComposedLayout) -> str:
    """A layout's values, its first mode down and the others across."""
    return draw(grid(str(layout), _values(layout), MARGIN, MARGIN), f"layout {layout}")


def _values(layout: Layout | ComposedLayout) -> Cells:
    rows = _rows(layout)
    cells: Cells = {}
    for index, value in enumerate(layout.offsets()):
        row, column = index % rows, index // rows
        cells[row, column] = ((str(value),), hue(value), f"({row}, {column}) goes to {value}")
    return cells


def _rows(layout: Layout | ComposedLayout) -> int:
    """The size of the first of several modes; a layout of one mode is drawn as a row."""
    inner = layout.inner if isinstance(layout, ComposedLayout) else layout
    return inner[0].size if inner.rank > 1 else 1


def text(layout: Layout | ComposedLayout) -> str:
    """The layout, and its values as a table where that fits a screen."""
    rows = _rows(layout)
    if layout.size > 32 * 32 or layout.size // rows > 32:
        return f"{layout}\n"
    values = layout.offsets()
    width = max(len(str(value)) for value in values) + 1
    lines = ["".join(f"{value:>{width}}" for value in values[row::rows]) for row in range(rows)]
    return "\n".join([str(layout), *lines]) + "\n"


def held(layout_tv: Layout, rows: int) -> Cells:
    """Who holds each element of a tile: threads and their values; several holders are counted."""
    cells: Cells = {}
    threads = layout_tv[0].offsets()
    values = layout_tv[1].offsets()
    more: dict[tuple[int, int], int] = {}
    for v, value in enumerate(values):
        for t, start in enumerate(threads):
            place = (start + value) % rows, (start + value) // rows
            if place in cells:
                more[place] = more.get(place, 0) + 1
                continue
            fill = hue(t // LANES_PER_HUE)
            cells[place] = ((f"T{t}", f"V{v}"), fill, f"thread {t}, value {v} holds ({place[0]}, {place[1]})")
    for place, count in more.items():
        lines, fill, tip = cells[place]
        cells[place] = ((f"{lines[0]}+{count}", lines[1]), fill, f"{tip}; so do {count} other places")
    return cells


def grid(title: str, cells: Cells, x: int, y: int) -> list[Box]:
    """Boxes of one grid with its title and the numbers of rows and columns, its corner at (x, y)."""
    rows, columns = 1 + max(row for row, _ in cells), 1 + max(column for _, column in cells)
    boxes = [Box(x, y, max(LEFT + CELL_WIDTH * columns, 7 * len(title)), 18, (title,), bold=True)]
    boxes += [Box(x + LEFT + CELL_WIDTH * c, y + 20, CELL_WIDTH, 16, (str(c),)) for c in range(columns)]
    boxes += [Box(x, y + TOP + CELL_HEIGHT * r, LEFT - 4, CELL_HEIGHT, (str(r),)) for r in range(rows)]
    for (row, column), (lines, fill, tip) in cells.items():
        left, top = x + LEFT + CELL_WIDTH * column, y + TOP + CELL_HEIGHT * row
        boxes.append(Box(left, top, CELL_WIDTH, CELL_HEIGHT, lines, fill, tip=tip))
    return boxes


def stacked(parts: list[tuple[str, Cells]], title: str) -> str:
    """Several grids under each other."""
    boxes: list[Box] = []
    y = MARGIN
    for name, cells in parts:
        boxes += grid(name, cells, MARGIN, y)
        y += TOP + CELL_HEIGHT * (1 + max(row for row, _ in cells)) + GAP
    return draw(boxes, title)


def tiled_copy(copy: TiledCopy) -> str:
    """Which thread names or holds which element, on both sides of a tiled copy."""
    rows = copy.tiler[0]
    sides = [("source", copy.layout_s_tv()), ("destination", copy.layout_d_tv())]
    return stacked([(f"{copy.atom}, {name}: {tv}", held(tv, rows)) for name, tv in sides], f"tiled copy {copy}")


def tiled_mma(mma: TiledMma) -> str:
    """Which thread holds which element of A, B and C."""
    m, n, _ = mma.tile_mnk
    parts = [
        ("A (m, k)", mma.layout_tv("a"), m),
        ("B (n, k)", mma.layout_tv("b"), n),
        ("C (m, n)", mma.layout_tv("c"), m),
    ]
    return stacked([(f"{name}: {tv}", held(tv, rows)) for name, tv, rows in parts], f"tiled mma {mma}")


def mma_atom(atom: MmaAtom) -> str:
    """Which thread holds which element of A, B and C of one mma."""
    m, n, _ = atom.shape_mnk
    parts = [("A (m, k)", atom.a_layout, m), ("B (n, k)", atom.b_layout, n), ("C (m, n)", atom.c_layout, m)]
    return stacked([(f"{name}: {tv}", held(tv, rows)) for name, tv, rows in parts], f"mma atom {atom}")


def copy_atom(atom: CopyAtom) -> str:
    """Which thread holds which element of the atom's tile, rows of 16 bytes down."""
    bits = atom.instruction.held.bits
    across = 128 // bits
    tv = recast(atom.ref_layout, 1, bits)
    flipped = {(c, r): cell for (r, c), cell in held(tv, across).items()}
    side = "destination" if atom.loads else "source"
    return stacked([(f"{atom}, {side}, rows of 16 bytes: {tv}", flipped)], f"copy atom {atom}")
