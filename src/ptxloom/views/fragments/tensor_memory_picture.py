"""Pictures of tensor memory: the bands of `tensor_memory` as grids, the warp beside the lanes that it reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.views.core.palette import Role, hue
from ptxloom.views.drawing.figure import Cell as Drawn
from ptxloom.views.drawing.figure import Grid
from ptxloom.views.fragments.colouring import rows_together
from ptxloom.views.fragments.tensor_memory import QUARTER_LANES, bands, span, texts

if TYPE_CHECKING:
    from ptxloom.fragments import Fragment
    from ptxloom.views.fragments.tensor_memory import Band


def memory_grids(fragment: Fragment) -> tuple[Grid, ...]:
    """A picture of each CTA's tensor memory."""
    return tuple(_grid(fragment, cta) for cta in range(1 + fragment.is_pair))


def _grid(fragment: Fragment, cta: int) -> Grid:
    drawn = bands(fragment, cta)
    cells = {(r, c): _cell(fragment, band) for r, row in enumerate(drawn) for c, band in enumerate(row)}
    margin = {r: _warp(row[0].lanes) for r, row in enumerate(drawn)}
    owner = f" of CTA {cta} of the pair" * fragment.is_pair
    return Grid(
        f"tensor memory{owner}: {fragment.registers} column{'s' * (fragment.registers > 1)} from the address on",
        tuple(span(row[0].lanes) for row in drawn),
        tuple(span(band.columns) for band in drawn[0]),
        cells,
        "lane ↓",
        "column →",
        margin,
        "reached by",
    )


def _warp(lanes: tuple[int, int]) -> Drawn:
    """The warps that reach a band of lanes."""
    quarter = lanes[0] // QUARTER_LANES
    tip = f"lanes {span(lanes)}: warps w with w % 4 = {quarter} load and store here"
    return Drawn((f"warp {quarter}",), Role.OTHER, tip)


def _cell(fragment: Fragment, band: Band) -> Drawn:
    """The contents of a band in two lines; its colour is that of its rows, so that copies look alike."""
    if not band.held:
        return Drawn(("free",), Role.BLANK, f"lanes {span(band.lanes)}: this operand does not reach them")
    lines = texts(fragment, band.held)
    rows = sorted({e.row for e in band.held})
    tip = f"lanes {span(band.lanes)}, columns {span(band.columns)}: {', '.join(lines)}"
    group = rows[0] // rows_together(fragment)
    return Drawn(lines, hue(group), tip)
