"""Layouts as grids: a layout's values, and for a thread-value layout who holds each element of the tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import LANES
from ptxloom.layout import ComposedLayout, recast
from ptxloom.views.core.palette import HUES, hue
from ptxloom.views.core.style import LANES_PER_HUE
from ptxloom.views.drawing.figure import Cell, Cells, Figure, Grid, Legend

if TYPE_CHECKING:
    from ptxloom.atoms import CopyAtom, MmaAtom, TiledCopy, TiledMma
    from ptxloom.layout import Layout

MOST_CELLS: Final = 1 << 15
COLOUR_BY: Final = ("lane", "register")
_LABELS: Final = "T5 V1: thread 5 holds it as its value 1; T5+1: one other thread does, too."


def figure(layout: Layout | ComposedLayout) -> Figure:
    """A layout's values, its first mode down and the others across."""
    rows = _rows(layout)
    columns = layout.size // rows
    cells: Cells = {
        (index % rows, index // rows): Cell(
            (str(value),), hue(value), f"({index % rows}, {index // rows}) goes to {value}"
        )
        for index, value in enumerate(layout.offsets())
    }
    grid = _grid("", cells, rows, columns, ("mode 0", "mode 1"))
    legend = Legend(f"offsets; a colour for each remainder by {len(HUES)}", _numbered(""))
    return Figure(f"layout {layout}", ((grid,),), ("A cell holds the offset that its coordinates go to.",), legend)


def _grid(title: str, cells: Cells, rows: int, columns: int, axes: tuple[str, str]) -> Grid:
    names = tuple(map(str, range(rows))), tuple(map(str, range(columns)))
    return Grid(title, *names, cells, f"{axes[0]} ↓", f"{axes[1]} →")


def _numbered(letter: str) -> tuple[tuple[str, str], ...]:
    return tuple((colour, f"{letter}{at}") for at, colour in enumerate(HUES))


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


def held(layout_tv: Layout, rows: int, colour_by: str = "lane", *, across: bool = False) -> Cells:
    """The holders of each element of a tile, as threads and values; several holders are counted.

    Args:
        layout_tv: (thread, value) -> place in the tile, its first coordinate counted first.
        rows: The extent of that coordinate.
        colour_by: `lane`, four threads a colour, or `register`, a colour for each value.
        across: The first coordinate runs across, not down.

    Raises:
        UsageError: There is no such colour.
    """
    if colour_by not in COLOUR_BY:
        raise UsageError("colour_by", colour_by, f"one of {', '.join(COLOUR_BY)}")
    holders: dict[int, list[tuple[int, int]]] = {}
    threads = layout_tv[0].offsets()
    for v, value in enumerate(layout_tv[1].offsets()):
        for t, start in enumerate(threads):
            holders.setdefault(start + value, []).append((t, v))
    by_value = colour_by == "register"
    cells: dict[tuple[int, int], Cell] = {}
    for place, ((t, v), *others) in holders.items():
        row, column = place % rows, place // rows
        more, also = (f"+{len(others)}", f"; so do {len(others)} other places") if others else ("", "")
        tip = f"thread {t}, value {v} holds ({row}, {column}){also}"
        fill = hue(v if by_value else t // LANES_PER_HUE)
        cells[(column, row) if across else (row, column)] = Cell((f"T{t}{more}", f"V{v}"), fill, tip)
    return cells


def _legend(threads: int, colour_by: str) -> Legend:
    if colour_by == "register":
        return Legend(f"a colour for each value; V{len(HUES)} is as V0, and so on", _numbered("V"))
    again = f"; T{LANES} is as T0, and so on" if threads > LANES else ""
    first = range(0, LANES, LANES_PER_HUE)
    names = tuple((hue(at), f"T{start}–T{start + LANES_PER_HUE - 1}") for at, start in enumerate(first))
    return Legend(f"a colour for four threads{again}", names)


def tiled_copy(copy: TiledCopy, colour_by: str = "lane") -> Figure:
    """Which thread names or holds which element, on both sides of a tiled copy."""
    rows, columns = copy.tiler
    sides = (("source", copy.layout_s_tv()), ("destination", copy.layout_d_tv()))
    grids = tuple(
        _grid(f"{name}: {tv}", held(tv, rows, colour_by), rows, columns, ("row", "column")) for name, tv in sides
    )
    bands = (grids,) if columns <= LANES else tuple((grid,) for grid in grids)
    legend = _legend(copy.layout_d_tv()[0].size, colour_by)
    return Figure(f"tiled copy by {copy.atom}, {rows} x {columns}", bands, (str(copy), _LABELS), legend)


def tiled_mma(mma: TiledMma, colour_by: str = "lane") -> Figure:
    """Which thread holds which element of A, B and C."""
    layouts = mma.layout_tv("a"), mma.layout_tv("b"), mma.layout_tv("c")
    return _product(f"tiled mma {mma}", mma.tile_mnk, layouts, colour_by)


def mma_atom(atom: MmaAtom, colour_by: str = "lane") -> Figure:
    """Which thread holds which element of A, B and C of one mma."""
    return _product(f"mma atom {atom}", atom.shape_mnk, (atom.a_layout, atom.b_layout, atom.c_layout), colour_by)


def _product(title: str, shape: tuple[int, int, int], layouts: tuple[Layout, Layout, Layout], colour_by: str) -> Figure:
    """A left, B above, C in the corner between them."""
    m, n, k = shape
    a, b, c = layouts
    of_a = _grid(f"A: {a}", held(a, m, colour_by), m, k, ("m", "k"))
    of_b = _grid(f"B: {b}", held(b, n, colour_by, across=True), k, n, ("k", "n"))
    of_c = _grid(f"C: {c}", held(c, m, colour_by), m, n, ("m", "n"))
    notes = (_LABELS, "Layouts are (thread, value) -> m + M*k for A, n + N*k for B, m + M*n for C.")
    return Figure(title, ((None, of_b), (of_a, of_c)), notes, _legend(c[0].size, colour_by))


def copy_atom(atom: CopyAtom, colour_by: str = "lane") -> Figure:
    """Which thread holds which element of the atom's tile, rows of 16 bytes down."""
    bits = atom.instruction.held.bits
    across = 128 // bits
    tv = recast(atom.ref_layout, 1, bits)
    cells = held(tv, across, colour_by, across=True)
    rows = 1 + max(row for row, _ in cells)
    side = "destination" if atom.loads else "source"
    grid = _grid(f"{side}: {tv}", cells, rows, across, ("row of 16 bytes", f"{bits}-bit element"))
    notes = (_LABELS, "Matrix after matrix, eight rows each." if rows > 8 else "One matrix.")
    return Figure(f"copy atom {atom}: {atom.ptx}", ((grid,),), notes, _legend(LANES, colour_by))
