"""A fragment as a picture: every matrix as a grid, each cell its holder, the address lane beside each row.

Of a large one a block is drawn, and above it which lanes and registers hold all the blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.views.core.palette import hue
from ptxloom.views.core.style import LANES_PER_HUE
from ptxloom.views.core.svg import Box, draw
from ptxloom.views.fragments.folding import block_of
from ptxloom.views.fragments.places import sentence
from ptxloom.views.fragments.prefaces import evidence, matrix_title, title

if TYPE_CHECKING:
    from ptxloom.fragments import Element, Fragment
    from ptxloom.views.fragments.folding import Block

CELL_WIDTH: Final = 52
CELL_HEIGHT: Final = 32
MARGIN: Final = 8
LEFT: Final = 96  # room for the address lane and the row number
TOP: Final = 46  # room for the headline and what the map rests on
GAP: Final = 28  # between matrices
PER_LINE: Final = 2  # matrices beside each other
_BLOCK_WIDTH: Final = 84  # of a block in the overview
_LINE: Final = 16  # of text


def svg(fragment: Fragment) -> str:
    """The picture, with a tip on every cell that says it in words."""
    block = block_of(fragment)
    width = LEFT + CELL_WIDTH * block.columns
    height = TOP + CELL_HEIGHT * block.rows
    beside = min(PER_LINE, fragment.matrices)
    whole = beside * width + (beside - 1) * GAP
    boxes = [
        Box(MARGIN, MARGIN, max(whole, 7 * len(title(fragment)) + MARGIN), 18, (title(fragment),), bold=True),
        Box(MARGIN, MARGIN + 18, max(whole, 7 * len(evidence(fragment))), _LINE, (evidence(fragment),)),
    ]
    top = MARGIN + 40
    if block.repeats:
        boxes += _overview(fragment, block, top, whole)
        top = max(box.y + box.height for box in boxes) + GAP
    for matrix in range(fragment.matrices):
        x = MARGIN + matrix % PER_LINE * (width + GAP)
        y = top + matrix // PER_LINE * (height + GAP)
        boxes += _matrix(fragment, matrix, block, x, y)
    return draw(boxes, f"{title(fragment)}: which lane holds which element")


def _overview(fragment: Fragment, block: Block, y: int, width: int) -> list[Box]:
    """All blocks of the first matrix, each with the lanes and registers that hold it, and how they repeat."""
    boxes = [
        Box(MARGIN, y + _LINE * line, max(width, 7 * len(text)), _LINE, (text,))
        for line, text in enumerate(block.repeats)
    ]
    top = y + _LINE * len(block.repeats) + 10
    for column in range(0, fragment.columns, block.columns):
        x = MARGIN + LEFT + column // block.columns * _BLOCK_WIDTH
        boxes.append(Box(x, top, _BLOCK_WIDTH, 18, (_span("", column, column + block.columns - 1),)))
    for row in range(0, fragment.rows, block.rows):
        at = top + 20 + row // block.rows * CELL_HEIGHT
        boxes.append(Box(MARGIN, at, LEFT - 8, CELL_HEIGHT, (_span("rows ", row, row + block.rows - 1),)))
        boxes += [_block(fragment, block, (row, column), at) for column in range(0, fragment.columns, block.columns)]
    return boxes


def _block(fragment: Fragment, block: Block, first: tuple[int, int], y: int) -> Box:
    """One block: its lanes above, its registers below."""
    row, column = first
    held = [fragment.holder(row=row + r, column=column + c) for r in range(block.rows) for c in range(block.columns)]
    lanes, registers = (sorted({e[place] for e in held}) for place in (0, 1))
    texts = (_span("T", lanes[0], lanes[-1]), _span("R", registers[0], registers[-1]))
    x = MARGIN + LEFT + column // block.columns * _BLOCK_WIDTH
    where = f"rows {row} to {row + block.rows - 1}, columns {column} to {column + block.columns - 1}"
    return Box(
        x,
        y,
        _BLOCK_WIDTH,
        CELL_HEIGHT,
        texts,
        hue(lanes[0] // LANES),
        tip=f"{where}: {', '.join(texts)}",
    )


def _span(letter: str, first: int, last: int) -> str:
    return f"{letter}{first}" if first == last else f"{letter}{first} to {last}"


def _matrix(fragment: Fragment, matrix: int, block: Block, x: int, y: int) -> list[Box]:
    """One matrix, its upper left corner at (x, y)."""
    boxes = [Box(x + LEFT, y, CELL_WIDTH * block.columns, 18, (_title(fragment, matrix, block),), bold=True)]
    if fragment.addressed:
        boxes.append(Box(x, y + 18, 62, 18, ("address",)))
    boxes += [Box(x + LEFT + CELL_WIDTH * c, y + 18, CELL_WIDTH, 18, (str(c),)) for c in range(block.columns)]
    for number in range(block.rows):
        top = y + 38 + CELL_HEIGHT * number
        if fragment.addressed:
            lane = fragment.address_lane(matrix=matrix, row=number)
            tip = f"lane {lane} passes the address of row {number} of matrix {matrix}"
            boxes.append(Box(x + 8, top + 5, 46, CELL_HEIGHT - 10, (f"T{lane}",), _fill(lane), tip=tip))
        boxes.append(Box(x + 62, top, 30, CELL_HEIGHT, (str(number),)))
        held = (fragment.holder(matrix=matrix, row=number, column=c) for c in range(block.columns))
        boxes += [_cell(fragment, e, x + LEFT + CELL_WIDTH * e.column, top) for e in held]
    return boxes


def _title(fragment: Fragment, matrix: int, block: Block) -> str:
    """What a matrix is called, and which part of it is drawn."""
    part = f", rows 0 to {block.rows - 1}, columns 0 to {block.columns - 1}" * bool(block.repeats)
    return f"{matrix_title(fragment, matrix)}{part}"


def _cell(fragment: Fragment, element: Element, x: int, y: int) -> Box:
    """One element: the lane above, its value and register below."""
    thread, _, place = fragment.label(element).partition(" ")
    tip = sentence(fragment, element)
    return Box(x, y, CELL_WIDTH, CELL_HEIGHT, (thread, place), _fill(element.lane), tip=tip)


def _fill(lane: int) -> str:
    """The colour of a lane's group of four."""
    return hue(lane // LANES_PER_HUE)
