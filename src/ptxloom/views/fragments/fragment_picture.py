"""A fragment as a picture: every matrix as a grid, each cell its holder, the address lane beside each row.

Of a large one a block is drawn, and above it which lanes and registers hold all the blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.views.core.palette import Role, hue
from ptxloom.views.core.style import LANES_PER_HUE
from ptxloom.views.drawing.figure import Cell, Figure, Grid
from ptxloom.views.fragments.colouring import group_of
from ptxloom.views.fragments.folding import Block, block_of
from ptxloom.views.fragments.legends import legend
from ptxloom.views.fragments.places import sentence
from ptxloom.views.fragments.prefaces import axis_names, evidence, matrix_title, preface, title
from ptxloom.views.fragments.tensor_memory_picture import memory_grids

if TYPE_CHECKING:
    from collections.abc import Collection

    from ptxloom.fragments import Element, Fragment

PER_LINE: Final = 2  # matrices beside each other


def figure(fragment: Fragment, colour_by: str = "lane", only: Collection[Element] | None = None) -> Figure:
    """The picture, with a tooltip on every cell that describes it.

    Args:
        fragment: The fragment.
        colour_by: What a colour stands for.
        only: The highlighted elements; the others have no colour.
    """
    block = block_of(fragment) if only is None else Block(fragment.rows, fragment.columns, ())
    grids = [matrix_grid(fragment, matrix, block, colour_by, only=only) for matrix in range(fragment.matrices)]
    bands = [tuple(grids[at : at + PER_LINE]) for at in range(0, len(grids), PER_LINE)]
    if fragment.in_tensor_memory:
        bands.insert(0, memory_grids(fragment))
        notes = (*preface(fragment)[1:-1], evidence(fragment))
        return Figure(title(fragment), tuple(bands), notes, legend(fragment, colour_by))
    if block.repeats:
        bands.insert(0, (_overview(fragment, block),))
    notes = (reading(fragment), *block.repeats, evidence(fragment))
    return Figure(title(fragment), tuple(bands), notes, legend(fragment, colour_by))


def reading(fragment: Fragment) -> str:
    """The meaning of a cell's label, by an example."""
    example = fragment.at(5, min(1, fragment.values_per_lane - 1))
    value = fragment.value_of(example)
    bits = f"{fragment.width} bits an element"
    return (
        f"{fragment.label(example)}: lane 5 holds it as its value {value}, in its register {example.register}; {bits}."
    )


def matrix_grid(
    fragment: Fragment,
    matrix: int,
    block: Block,
    colour_by: str = "lane",
    *,
    only: Collection[Element] | None = None,
    named: str = "",
) -> Grid:
    """One matrix, or the block of it that is drawn."""
    part = f", rows 0 to {block.rows - 1}, columns 0 to {block.columns - 1}" * bool(block.repeats)
    held = [
        fragment.holder(matrix=matrix, row=row, column=column)
        for row in range(block.rows)
        for column in range(block.columns)
    ]
    cells = {(e.row, e.column): _cell(fragment, e, colour_by, only) for e in held}
    margin = None
    if fragment.addressed:
        meant = None if only is None else {e.row for e in only if e.matrix == matrix}
        margin = {row: _address(fragment, matrix, row, meant) for row in range(block.rows)}
    down, across = axis_names(fragment)
    return Grid(
        f"{named or matrix_title(fragment, matrix)}{part}",
        tuple(map(str, range(block.rows))),
        tuple(map(str, range(block.columns))),
        cells,
        f"{down} ↓",
        f"{across} →",
        margin,
        "address",
    )


def _address(fragment: Fragment, matrix: int, row: int, meant: Collection[int] | None) -> Cell:
    """The lane whose address names a row."""
    lane = fragment.address_lane(matrix=matrix, row=row)
    fill = hue(lane // LANES_PER_HUE) if meant is None or row in meant else Role.BLANK
    return Cell((f"T{lane}",), fill, f"lane {lane} passes the address of row {row} of matrix {matrix}")


def _cell(fragment: Fragment, element: Element, colour_by: str, only: Collection[Element] | None) -> Cell:
    """One element: the lane above, its value and register below."""
    if fragment.in_tensor_memory:
        texts = tuple(fragment.label(element).rsplit(" ", 1))
    else:
        texts = tuple(fragment.label(element).split(" ", 1))
    meant = only is None or element in only
    fill = hue(group_of(fragment, element, colour_by)) if meant else Role.BLANK
    return Cell(texts, fill, sentence(fragment, element), bold=meant and only is not None)


def _overview(fragment: Fragment, block: Block) -> Grid:
    """All blocks of the first matrix, each with the lanes and registers that hold it."""
    rows, columns = range(0, fragment.rows, block.rows), range(0, fragment.columns, block.columns)
    down, across = axis_names(fragment)
    return Grid(
        f"all blocks of {block.rows} x {block.columns}, with the lanes and registers that hold them",
        tuple(_span("", row, row + block.rows - 1) for row in rows),
        tuple(_span("", column, column + block.columns - 1) for column in columns),
        {
            (r, c): _block(fragment, block, row, column)
            for r, row in enumerate(rows)
            for c, column in enumerate(columns)
        },
        f"{down} ↓",
        f"{across} →",
    )


def _block(fragment: Fragment, block: Block, row: int, column: int) -> Cell:
    """One block: its lanes above, its registers below."""
    held = [fragment.holder(row=row + r, column=column + c) for r in range(block.rows) for c in range(block.columns)]
    lanes, registers = (sorted({e[place] for e in held}) for place in (0, 1))
    texts = (_span("T", lanes[0], lanes[-1]), _span("R", registers[0], registers[-1]))
    where = f"rows {row} to {row + block.rows - 1}, columns {column} to {column + block.columns - 1}"
    return Cell(texts, hue(lanes[0] // LANES), f"{where}: {', '.join(texts)}")


def _span(letter: str, first: int, last: int) -> str:
    return f"{letter}{first}" if first == last else f"{letter}{first}–{letter}{last}"
